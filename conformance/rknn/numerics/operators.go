package numerics

import (
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// Operators of ONNX, each computed as its definition says, one element after the other.

// window is how a filter moves over an image: pads are top, left, bottom, right.
type window struct {
	kernel, strides, dilations [2]int
	pads                       [4]int
	group                      int
	ceil, countPads            bool
}

// filled has 1 where nothing is said.
func (w window) filled() window {
	for i := range 2 {
		w.strides[i], w.dilations[i] = max(w.strides[i], 1), max(w.dilations[i], 1)
	}
	w.group = max(w.group, 1)
	return w
}

// attrs are the attributes of ONNX.
func (w window) attrs() rknn.Attrs {
	return rknn.Attrs{"kernel_shape": w.kernel[:], "strides": w.strides[:], "pads": w.pads[:], "dilations": w.dilations[:]}
}

// out is the size of the result of an axis, 0 for height.
func (w window) out(axis, in int) int {
	room := in + w.pads[axis] + w.pads[axis+2] - (w.kernel[axis]-1)*w.dilations[axis] - 1
	n := room/w.strides[axis] + 1
	if w.ceil && room%w.strides[axis] != 0 && n*w.strides[axis] < in+w.pads[axis] {
		n++
	}
	return n
}

// taps calls f for each place of the filter over the pixel (h, w) of the result that lies on the image.
func (w window) taps(h, x, height, width int, f func(kernel, row, col int)) {
	for i := range w.kernel[0] {
		for j := range w.kernel[1] {
			row := h*w.strides[0] - w.pads[0] + i*w.dilations[0]
			col := x*w.strides[1] - w.pads[1] + j*w.dilations[1]
			if row >= 0 && row < height && col >= 0 && col < width {
				f(i*w.kernel[1]+j, row, col)
			}
		}
	}
}

// accumulate adds to a plane of a convolution what the filter of one plane of the image gives.
func (w window) accumulate(out []float64, columns int, in []float64, height, width int, filter []float64) {
	for k, f := range filter[:w.kernel[0]*w.kernel[1]] {
		left := k%w.kernel[1]*w.dilations[1] - w.pads[1] // column of the image for column 0 of the result
		from := max(0, (w.strides[1]-1-left)/w.strides[1])
		for h := range len(out) / columns {
			row := h*w.strides[0] - w.pads[0] + k/w.kernel[1]*w.dilations[0]
			if row < 0 || row >= height {
				continue
			}
			line := in[row*width:][:width]
			for col := from; col < columns && left+col*w.strides[1] < width; col++ {
				out[h*columns+col] += f * line[left+col*w.strides[1]]
			}
		}
	}
}

// conv is Conv with an optional bias.
func (b *build) conv(x, filter, bias value, w window) value {
	w.kernel = [2]int{filter.dims[2], filter.dims[3]}
	w = w.filled()
	n, c, height, width := x.dims[0], x.dims[1], x.dims[2], x.dims[3]
	m, per := filter.dims[0], filter.dims[1]
	y := newTensor(n, m, w.out(0, height), w.out(1, width))
	for plane := range n * m {
		im, out := plane%m, y.v[plane*y.dims[2]*y.dims[3]:][:y.dims[2]*y.dims[3]]
		first := plane/m*c + im/(m/w.group)*per
		if bias.name != "" {
			for i := range out {
				out[i] = bias.v[im]
			}
		}
		for ic := range per {
			in := x.v[(first+ic)*height*width:][:height*width]
			w.accumulate(out, y.dims[3], in, height, width, filter.v[(im*per+ic)*w.kernel[0]*w.kernel[1]:])
		}
	}
	attrs := w.attrs()
	attrs["group"] = w.group
	if bias.name == "" {
		return b.op("Conv", attrs, y, x, filter)
	}
	return b.op("Conv", attrs, y, x, filter, bias)
}

// pool is MaxPool or AveragePool.
func (b *build) pool(x value, average bool, w window) value {
	w = w.filled()
	height, width := x.dims[2], x.dims[3]
	y := newTensor(x.dims[0], x.dims[1], w.out(0, height), w.out(1, width))
	i := 0
	for plane := range x.dims[0] * x.dims[1] {
		for h := range y.dims[2] {
			for col := range y.dims[3] {
				most, sum, n := math.Inf(-1), 0.0, 0
				w.taps(h, col, height, width, func(_, row, col int) {
					v := x.v[(plane*height+row)*width+col]
					most, sum, n = math.Max(most, v), sum+v, n+1
				})
				if w.countPads {
					n = w.kernel[0] * w.kernel[1]
				}
				if y.v[i] = most; average {
					y.v[i] = sum / float64(n)
				}
				i++
			}
		}
	}
	attrs := w.attrs()
	if w.ceil {
		attrs["ceil_mode"] = 1
	}
	if !average {
		return b.op("MaxPool", attrs, y, x)
	}
	delete(attrs, "dilations")
	if w.countPads {
		attrs["count_include_pad"] = 1
	}
	return b.op("AveragePool", attrs, y, x)
}

// globalAverage is GlobalAveragePool.
func (b *build) globalAverage(x value) value {
	area := x.dims[2] * x.dims[3]
	y := newTensor(x.dims[0], x.dims[1], 1, 1)
	for i, v := range x.v {
		y.v[i/area] += v / float64(area)
	}
	return b.op("GlobalAveragePool", nil, y, x)
}

// product is MatMul of [..., M, K] and [K, N], or of as many dimensions.
func (b *build) product(x, w value) value {
	r := len(x.dims)
	m, k, n := x.dims[r-2], x.dims[r-1], w.dims[len(w.dims)-1]
	dims := append(append([]int(nil), x.dims[:r-1]...), n)
	y := newTensor(dims...)
	step := k * n
	if len(w.dims) == 2 {
		step = 0
	}
	for batch := range count(x.dims[:r-2]) {
		for i := range m {
			row := y.v[(batch*m+i)*n:][:n]
			for p := range k {
				a := x.v[(batch*m+i)*k+p]
				for j, v := range w.v[batch*step+p*n:][:n] {
					row[j] += a * v
				}
			}
		}
	}
	return b.op("MatMul", nil, y, x, w)
}

// unary is an operator of one element.
func (b *build) unary(op string, attrs rknn.Attrs, x value, f func(float64) float64) value {
	return b.op(op, attrs, x.mapped(f), x)
}

func (b *build) relu(x value) value {
	return b.unary("Relu", nil, x, func(v float64) float64 { return math.Max(v, 0) })
}

func (b *build) neg(x value) value {
	return b.unary("Neg", nil, x, func(v float64) float64 { return 0 - v })
}

// clip is Clip.
func (b *build) clip(x value, lo, hi float64) value {
	y := x.mapped(func(v float64) float64 { return min(max(v, lo), hi) })
	return b.op("Clip", nil, y, x, b.scalar(x.elem, lo), b.scalar(x.elem, hi))
}

// binary is an operator of two elements, with broadcasting.
func (b *build) binary(op string, x, z value, f func(a, b float64) float64) value {
	r := max(len(x.dims), len(z.dims))
	dims := make([]int, r)
	at := func(d []int, i int) int { // size of dimension i of the result in an operand
		if k := i - (r - len(d)); k >= 0 {
			return d[k]
		}
		return 1
	}
	for i := range dims {
		dims[i] = max(at(x.dims, i), at(z.dims, i))
	}
	y := newTensor(dims...)
	offset := func(d []int, index []int) int {
		o := 0
		for i := range index {
			if n := at(d, i); n > 1 {
				o = o*n + index[i]
			}
		}
		return o
	}
	each(dims, func(index []int, i int) { y.v[i] = f(x.v[offset(x.dims, index)], z.v[offset(z.dims, index)]) })
	return b.op(op, nil, y, x, z)
}

func (b *build) add(x, z value) value {
	return b.binary("Add", x, z, func(p, q float64) float64 { return p + q })
}

func (b *build) mul(x, z value) value {
	return b.binary("Mul", x, z, func(p, q float64) float64 { return p * q })
}

// concat is Concat.
func (b *build) concat(axis int, in ...value) value {
	dims := append([]int(nil), in[0].dims...)
	dims[axis] = 0
	for _, x := range in {
		dims[axis] += x.dims[axis]
	}
	y := newTensor(dims...)
	s, base := strides(dims), 0
	for _, x := range in {
		each(x.dims, func(at []int, i int) {
			o := base * s[axis]
			for d, k := range at {
				o += k * s[d]
			}
			y.v[o] = x.v[i]
		})
		base += x.dims[axis]
	}
	return b.op("Concat", rknn.Attrs{"axis": axis}, y, in...)
}

// slice is Slice of one axis, end not included; step may be negative.
func (b *build) slice(x value, axis, start, end, step int) value {
	dims, n := append([]int(nil), x.dims...), 0
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		n++
	}
	dims[axis] = n
	y, s := newTensor(dims...), strides(x.dims)
	each(dims, func(at []int, i int) {
		o := 0
		for d, k := range at {
			if d == axis {
				k = start + k*step
			}
			o += k * s[d]
		}
		y.v[i] = x.v[o]
	})
	if end < 0 {
		end = -x.dims[axis] - 1
	}
	return b.op("Slice", nil, y, x, b.integers(start), b.integers(end), b.integers(axis), b.integers(step))
}

// pad is Pad of an image with a value: top, left, bottom, right.
func (b *build) pad(x value, with float64, p [4]int) value {
	y := newTensor(x.dims[0], x.dims[1], x.dims[2]+p[0]+p[2], x.dims[3]+p[1]+p[3])
	for i := range y.v {
		y.v[i] = with
	}
	s := strides(y.dims)
	each(x.dims, func(at []int, i int) { y.v[at[0]*s[0]+at[1]*s[1]+(at[2]+p[0])*s[2]+at[3]+p[1]] = x.v[i] })
	return b.op("Pad", nil, y, x, b.integers(0, 0, p[0], p[1], 0, 0, p[2], p[3]), b.scalar(x.elem, with))
}

// transpose is Transpose.
func (b *build) transpose(x value, perm ...int) value {
	return b.op("Transpose", rknn.Attrs{"perm": perm}, x.permuted(perm...), x)
}

// reshape is Reshape to constant sizes; 0 and -1 are those of ONNX.
func (b *build) reshape(x value, sizes ...int) value {
	dims, rest := append([]int(nil), sizes...), -1
	for i, d := range dims {
		switch d {
		case 0:
			dims[i] = x.dims[i]
		case -1:
			rest, dims[i] = i, 1
		}
	}
	if rest >= 0 {
		dims[rest] = len(x.v) / count(dims)
	}
	return b.op("Reshape", nil, tensor{dims, x.v}, x, b.integers(sizes...))
}

// lines calls f with the elements of x along an axis, for each line of them; f may change them.
func lines(x tensor, axis int, f func(line []float64)) {
	step, n := strides(x.dims)[axis], x.dims[axis]
	line := make([]float64, n)
	for first := range x.v {
		if first/step%n != 0 {
			continue
		}
		for i := range line {
			line[i] = x.v[first+i*step]
		}
		f(line)
		for i := range line {
			x.v[first+i*step] = line[i]
		}
	}
}

// copied has elements of its own.
func (x tensor) copied() tensor { return x.mapped(func(v float64) float64 { return v }) }

// softmax is Softmax.
func (b *build) softmax(x value, axis int) value {
	y := x.copied()
	lines(y, axis, func(line []float64) {
		most, sum := math.Inf(-1), 0.0
		for _, v := range line {
			most = math.Max(most, v)
		}
		for i, v := range line {
			line[i] = math.Exp(v - most)
			sum += line[i]
		}
		for i := range line {
			line[i] /= sum
		}
	})
	return b.op("Softmax", rknn.Attrs{"axis": axis}, y, x)
}

// reduce is ReduceSum, ReduceMax or ReduceMean of an axis that stays with size 1; the axes are an attribute where opset
// 17 has them there.
func (b *build) reduce(op string, x value, axis int) value {
	dims := append([]int(nil), x.dims...)
	dims[axis] = 1
	y, i := newTensor(dims...), 0
	lines(x.copied(), axis, func(line []float64) {
		sum, most := 0.0, math.Inf(-1)
		for _, v := range line {
			sum, most = sum+v, math.Max(most, v)
		}
		switch op {
		case "ReduceMax":
			sum = most
		case "ReduceMean":
			sum /= float64(len(line))
		}
		y.v[i] = sum
		i++
	})
	if op == "ReduceSum" {
		return b.op(op, rknn.Attrs{"keepdims": 1}, y, x, b.integers(axis))
	}
	return b.op(op, rknn.Attrs{"keepdims": 1, "axes": []int{axis}}, y, x)
}

// enlarged is Resize by whole factors, each pixel repeated.
func (b *build) enlarged(x value, rows, cols int) value {
	y := newTensor(x.dims[0], x.dims[1], x.dims[2]*rows, x.dims[3]*cols)
	each(y.dims, func(at []int, i int) {
		y.v[i] = x.v[((at[0]*x.dims[1]+at[1])*x.dims[2]+at[2]/rows)*x.dims[3]+at[3]/cols]
	})
	scales := tensor{[]int{4}, []float64{1, 1, float64(rows), float64(cols)}}
	return b.op("Resize", rknn.Attrs{"mode": "nearest", "coordinate_transformation_mode": "asymmetric",
		"nearest_mode": "floor"}, y, x, absent, b.reals(scales))
}

// normalized is BatchNormalization with a variance of 1 and an epsilon of 0.
func (b *build) normalized(x, scale, bias, mean value) value {
	y := newTensor(x.dims...)
	each(x.dims, func(at []int, i int) {
		c := at[1]
		y.v[i] = (x.v[i]-mean.v[c])*scale.v[c] + bias.v[c]
	})
	ones := newTensor(x.dims[1])
	for i := range ones.v {
		ones.v[i] = 1
	}
	return b.op("BatchNormalization", rknn.Attrs{"epsilon": float32(0)}, y, x, scale, bias, mean, b.reals(ones))
}

// dequantized is a constant of codes behind DequantizeLinear, with a scale for each entry of dimension 0.
func (b *build) dequantized(codes tensor, scales tensor) value {
	q := b.constant(rknn.ONNXInt8, codes)
	s, z := b.reals(scales), b.constant(rknn.ONNXInt8, newTensor(scales.dims...))
	step := len(codes.v) / codes.dims[0]
	y := codes.copied()
	for i := range y.v {
		y.v[i] *= scales.v[i/step]
	}
	v := b.op("DequantizeLinear", rknn.Attrs{"axis": 0}, y, q, s, z)
	v.elem = rknn.ONNXFloat
	return v
}
