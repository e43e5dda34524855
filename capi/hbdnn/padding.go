package hbdnn

import "github.com/anynpu/anynpu/capi/hb"

// padding says which way a copy between a tensor and a padded one goes.
type padding int

const (
	adds    padding = iota // to the padded one, whose other elements become zeros
	removes                // from the padded one
)

// dnnAddPadding copies a tensor into a larger one, whose other elements become zeros.
func dnnAddPadding(output uintptr, outShape *TensorShape, input uintptr, inShape *TensorShape, kind int32) error {
	return pad(output, outShape, input, inShape, kind, "inputShape", "outputShape", adds)
}

// dnnRemovePadding copies the front part of a tensor.
func dnnRemovePadding(output uintptr, outShape *TensorShape, input uintptr, inShape *TensorShape, kind int32) error {
	return pad(output, outShape, input, inShape, kind, "outputShape", "inputShape", removes)
}

// pad copies the common part of two tensors of four dimensions, which is all of the one called small.
func pad(output uintptr, outShape *TensorShape, input uintptr, inShape *TensorShape, kind int32, small, large string,
	way padding) (err error) {
	out, err := four("outputShape", outShape, layoutNHWC, 1)
	if err != nil {
		return err
	}
	in, err := four("inputShape", inShape, layoutNHWC, 1)
	if err != nil {
		return err
	}
	element, err := sizeOf(kind)
	if err != nil {
		return err
	}
	part, whole := in, out
	if way == removes {
		part, whole = out, in
	}
	for i := range part {
		if part[i] > whole[i] {
			return invalid("%s.dimensionSize[%d] is %d: %s has only %d "+
				"[hbdnn-dimension-size-pad]", small, i, part[i], large, whole[i])
		}
	}
	src, dst, err := ranges(input, product(in)*element, output, product(out)*element)
	if err != nil {
		return err
	}
	return hb.Guarded(errArgument, "input or output: memory", func() error {
		if way == adds {
			clear(dst)
		}
		from, to := strides(layoutNHWC, in), strides(layoutNHWC, out)
		for a := range part[0] {
			for b := range part[1] {
				for c := range part[2] {
					read, write := a*from[0]+b*from[1]+c*from[2], a*to[0]+b*to[1]+c*to[2]
					copy(dst[write*element:][:part[3]*element], src[read*element:])
				}
			}
		}
		return nil
	})
}

// dnnAddPaddingWithStride copies a tensor without gaps to one with strides, in bytes; the gaps become zeros.
func dnnAddPaddingWithStride(output, input uintptr, dims []uint32, stride []int32, element uint32) error {
	since("hbDNNAddPaddingWithStride", "1.18")
	return strided(output, input, dims, stride, element, adds)
}

// dnnRemovePaddingWithStride copies a tensor with strides to one without gaps.
func dnnRemovePaddingWithStride(output, input uintptr, dims []uint32, stride []int32, element uint32) error {
	since("hbDNNRemovePaddingWithStride", "1.18")
	return strided(output, input, dims, stride, element, removes)
}

func strided(output, input uintptr, dims []uint32, stride []int32, element uint32, way padding) (err error) {
	dense, whole := int64(element), int64(element)
	if element == 0 || element > 8 {
		return invalid("elementSize is %d: want 1 to 8 bytes [hbdnn-element-size-bytes]", element)
	}
	for i := len(dims) - 1; i >= 0; i-- {
		switch {
		case dims[i] == 0 || int64(dims[i]) > maxBytes/dense:
			return invalid("dim[%d] is %d: want at least 1, and fewer than 2^46 bytes in all "+
				"[hbdnn-dim-fewer-bytes]", i, dims[i])
		case int64(stride[i]) < whole:
			return invalid("stride[%d] is %d: the elements that it steps over have %d bytes "+
				"[hbdnn-stride-steps-bytes]", i, stride[i], whole)
		case int64(stride[i]) > maxBytes/int64(dims[i]):
			return invalid("stride[%d] is %d: %d steps of it are too many bytes "+
				"[hbdnn-stride-steps-bytes-strided]", i, stride[i], dims[i])
		}
		dense *= int64(dims[i])
		whole = int64(stride[i]) * int64(dims[i])
	}
	in, out := dense, whole
	if way == removes {
		in, out = whole, dense
	}
	src, dst, err := ranges(input, in, output, out)
	if err != nil {
		return err
	}
	return hb.Guarded(errArgument, "input or output: memory", func() error {
		if way == adds {
			clear(dst)
		}
		index := make([]uint32, len(dims))
		for at := int64(0); at < dense; at += int64(element) {
			far := int64(0)
			for i, k := range index {
				far += int64(k) * int64(stride[i])
			}
			if way == adds {
				copy(dst[far:][:element], src[at:])
			} else {
				copy(dst[at:][:element], src[far:])
			}
			for i := len(index) - 1; i >= 0; i-- {
				if index[i]++; index[i] < dims[i] {
					break
				}
				index[i] = 0
			}
		}
		return nil
	})
}
