package rknn

import spec "github.com/anynpu/anynpu/core/spec/rknn"

import "github.com/anynpu/anynpu/core/tensor"

// affine is the API's form of the quantization of a port: reals and quantized integers are affine, other integers are
// not.
func (p *port) affine() (spec.QntType, int32, float32) {
	switch {
	case p.Quant != nil:
		return spec.QntAffine, int32(p.Quant.Zero), p.Quant.Scale
	case p.Type.IsFloat():
		return spec.QntAffine, 0, 1
	}
	return spec.QntNone, 0, 1
}

// attr fills the attributes of a tensor in a format (section 3.1).
func (p *port) attr(index uint32, dims []int64, f spec.Format, input bool) spec.TensorAttr {
	a := spec.TensorAttr{Index: index, Format: f, Kind: p.kind}
	setText(a.Name[:], p.Name)
	a.Qnt, a.Zp, a.Scale = p.affine()
	shown := dims
	switch {
	case f == spec.NHWC:
		shown = []int64{dims[0], dims[2], dims[3], dims[1]}
	case f == spec.NC1HWC2:
		_, c1, c2 := p.native(dims, input)
		shown = []int64{dims[0], c1, dims[2], dims[3], c2}
	}
	n := int64(1)
	for i, d := range shown {
		a.Dims[i] = uint32(d)
		n *= d
	}
	a.Rank, a.Elems, a.Size = uint32(len(shown)), uint32(n), uint32(n*p.kind.Size())
	a.SizeWithStride = a.Size
	if input && f == spec.NHWC {
		a.WStride = uint32(dims[3])
	}
	return a
}

// inputAttr is the answer to the queries of input attributes.
func (p *port) inputAttr(index uint32, dims []int64) spec.TensorAttr {
	return p.attr(index, dims, p.format(true), true)
}

// nativeInputAttr is the format of the NPU: the general one unless the file of a converted model has another.
func (p *port) nativeInputAttr(index uint32, dims []int64) spec.TensorAttr {
	f, _, _ := p.native(dims, true)
	return p.attr(index, dims, f, true)
}

// outputAttr is the general one: its size with strides lets a buffer of it hold the native format as well.
func (p *port) outputAttr(index uint32, dims []int64) spec.TensorAttr {
	a := p.attr(index, dims, p.format(false), false)
	a.SizeWithStride = max(a.Size, p.nativeAttr(index, dims).Size)
	return a
}

// nativeAttr is the format of the NPU: NC1HWC2 for rank 4, unless the file of a converted model has another.
func (p *port) nativeAttr(index uint32, dims []int64) spec.TensorAttr {
	f, _, _ := p.native(dims, false)
	return p.attr(index, dims, f, false)
}

// nhwcAttr is the NHWC variant for rank 4.
func (p *port) nhwcAttr(index uint32, dims []int64) spec.TensorAttr {
	f := p.format(false)
	if f == spec.NCHW {
		f = spec.NHWC
	}
	return p.attr(index, dims, f, false)
}

// coreType is core's type of the port with sizes.
func (p *port) coreType(dims []int64) tensor.Type { return tensor.T(p.Type, dims...) }

// coreBytes is the number of bytes that core needs for the port.
func (p *port) coreBytes(dims []int64) int64 {
	n, _ := p.coreType(dims).ByteSize()
	return n
}
