package sizes

import "github.com/anynpu/anynpu/conformance/nnapi"

// Images of NNAPI are NHWC, those of ONNX NCHW.

func (b *both) toNCHW(x string) string {
	return b.node("Transpose", []string{x}, attr{"perm", []int64{0, 3, 1, 2}})
}

func (b *both) toNHWC(x string) string {
	return b.node("Transpose", []string{x}, attr{"perm", []int64{0, 2, 3, 1}})
}

// images picks images whose channels are known.
func (b *both) images() (x val, ok bool) {
	return b.some(func(v val) bool {
		return len(v.dims) == 4 && !v.dims[3].open() && v.dims[3].n[0] <= 32 && elements(v.dims) < mostElements/2
	})
}

// moves picks how a window moves, and tells the operands and attributes of that.
func (b *both) moves(x val, kernel bool) (w [2]window, out []dim, in []uint32, attrs []attr) {
	for k := range w {
		w[k] = window{kernel: int64(1 + b.IntN(3)), stride: int64(1 + b.IntN(2)), dilation: 1}
		if b.IntN(2) == 0 {
			w[k].kernel, w[k].stride = 3, 1
		}
		if kernel {
			w[k].before, w[k].after = int64(b.IntN(int(w[k].kernel))), int64(b.IntN(int(w[k].kernel)))
		}
		out = append(out, w[k].of(x.dims[1+k]))
	}
	for _, v := range []int64{w[1].before, w[1].after, w[0].before, w[0].after, w[1].stride, w[0].stride} {
		in = append(in, b.scalar(v))
	}
	return w, out, in, []attr{{"kernel_shape", []int64{w[0].kernel, w[1].kernel}},
		{"strides", []int64{w[0].stride, w[1].stride}},
		{"pads", []int64{w[0].before, w[1].before, w[0].after, w[1].after}}}
}

// image is a convolution.
func (b *both) image() bool {
	x, ok := b.images()
	if !ok {
		return false
	}
	w, out, in, attrs := b.moves(x, true)
	if empty(out) {
		return false
	}
	c, n := x.dims[3].n[0], int64(1+b.IntN(20))
	filter, at, _ := b.numbers(n, w[0].kernel, w[1].kernel, c)
	bias, biasAt, _ := b.numbers(n)
	y := b.node("Conv", []string{b.toNCHW(x.name), b.toNCHW(filter), bias}, attrs...)
	y, act := b.activation(b.toNHWC(y))
	in = append(append([]uint32{b.at[x.name], at, biasAt}, in...), act)
	b.made("CONV_2D", y, []dim{x.dims[0], out[0], out[1], fixed(n)}, false, in...)
	return true
}

// channels is a convolution of each channel by itself.
func (b *both) channels() bool {
	x, ok := b.images()
	if !ok {
		return false
	}
	w, out, in, attrs := b.moves(x, true)
	if empty(out) {
		return false
	}
	c := x.dims[3].n[0]
	filter, at, _ := b.numbers(1, w[0].kernel, w[1].kernel, c)
	bias, biasAt, _ := b.numbers(c)
	f := b.node("Transpose", []string{filter}, attr{"perm", []int64{3, 0, 1, 2}})
	y := b.node("Conv", []string{b.toNCHW(x.name), f, bias}, append(attrs, attr{"group", c})...)
	y, act := b.activation(b.toNHWC(y))
	in = append(append([]uint32{b.at[x.name], at, biasAt}, in...), b.scalar(1), act)
	b.made("DEPTHWISE_CONV_2D", y, []dim{x.dims[0], out[0], out[1], x.dims[3]}, false, in...)
	return true
}

func (b *both) pooled() bool {
	x, ok := b.images()
	if !ok {
		return false
	}
	w, out, in, attrs := b.moves(x, false)
	if empty(out) {
		return false
	}
	k := b.IntN(2)
	y := b.toNHWC(b.node([]string{"MaxPool", "AveragePool"}[k], []string{b.toNCHW(x.name)}, attrs...))
	in = append(append([]uint32{b.at[x.name]}, in...), b.scalar(w[1].kernel), b.scalar(w[0].kernel), b.scalar(0))
	dims := []dim{x.dims[0], out[0], out[1], x.dims[3]}
	b.made([]string{"MAX_POOL_2D", "AVERAGE_POOL_2D"}[k], y, dims, false, in...)
	return true
}

// resized resamples to a size that is known.
func (b *both) resized() bool {
	x, ok := b.images()
	if !ok {
		return false
	}
	h, w := int64(1+b.IntN(12)), int64(1+b.IntN(12))
	to := b.node("Concat", []string{b.node("Slice", []string{b.node("Shape", []string{b.toNCHW(x.name)}), b.ints(0),
		b.ints(2)}), b.ints(h, w)}, attr{"axis", int64(0)})
	y := b.node("Resize", []string{b.toNCHW(x.name), "", "", to}, attr{"mode", "linear"},
		attr{"coordinate_transformation_mode", "asymmetric"})
	b.made("RESIZE_BILINEAR", b.toNHWC(y), []dim{x.dims[0], fixed(h), fixed(w), x.dims[3]}, false, b.at[x.name],
		b.scalar(w), b.scalar(h))
	return true
}

// coded is a product of codes.
func (b *both) coded() bool {
	x, ok := b.exactInput(func(v val) bool { return len(v.dims) == 2 && !v.dims[1].open() })
	if !ok {
		return false
	}
	k, n := x.dims[1].n[0], int64(1+b.IntN(40))
	codes, bias := make([]byte, n*k), make([]int64, n)
	for i := range codes {
		codes[i] = byte(b.IntN(200) + 28)
	}
	for i := range bias {
		bias[i] = int64(b.IntN(4001) - 2000)
	}
	const scale, filterScale, step = 0.125, 0.015625, 0.25
	asymm := nnapi.TensorQuant8Asymm
	rows := sizesOf(x.dims[:1])[0]
	from := b.operand(operand{code: asymm, dims: []uint32{rows, uint32(k)}, scale: scale, zero: 128})
	w := b.operand(operand{code: asymm, dims: []uint32{uint32(n), uint32(k)}, scale: filterScale, zero: 128,
		value: codes})
	c := b.operand(operand{code: nnapi.TensorInt32, dims: []uint32{uint32(n)}, scale: scale * filterScale,
		value: int32Bytes(bias...)})
	to := b.operand(operand{code: asymm, dims: []uint32{rows, uint32(n)}, scale: step, zero: 120})
	b.calls.operations = append(b.calls.operations, operation{"QUANTIZE", []uint32{b.at[x.name]}, []uint32{from}},
		operation{"FULLY_CONNECTED", []uint32{from, w, c, b.scalar(0)}, []uint32{to}})

	code, s, z := b.maker.quantized(x.name, scale, 128)
	filter := b.node("DequantizeLinear", []string{b.constant(constant{dtype: uint8s, dims: []int64{n, k}, data: codes}),
		b.constant(real(filterScale)), b.constant(constant{dtype: uint8s, data: []byte{128}})})
	added := make([]float32, n)
	for i := range added {
		added[i] = float32(bias[i]) * scale * filterScale
	}
	y := b.node("Gemm", []string{b.node("DequantizeLinear", []string{code, s, z}), filter,
		b.constant(floats([]int64{n}, added))}, attr{"transB", int64(1)})
	b.ended(y, []dim{x.dims[0], fixed(n)})
	v := b.outs[len(b.outs)-1]
	b.calls.operations = append(b.calls.operations, operation{"DEQUANTIZE", []uint32{to}, []uint32{b.value(v)}})
	return true
}
