package hbdnn

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model and how the API shows it.
type port struct {
	*model.Port
	at          int     // of the program's inputs, the first that it is
	dims        []int64 // in the model's order; of an image those of its bytes, or of luma
	chroma      []int64 // of an image whose pairs are an input of their own, the next one
	description         // what programs are told
	order       []int   // of the dimensions in a program's memory, nil: the model's
	gaps        bool    // alignedShape is larger than validShape
	numbers     bool    // float32 numbers where the model has codes that the API cannot describe
	source      string  // one sentence of the port, for programs that ask
	lists       boundary.Block
}

// kinds are the element types that programs see.
var kinds = map[tensor.DType]int32{
	tensor.Bool: typeU8, tensor.Int8: typeS8, tensor.Uint8: typeU8, tensor.Float16: typeF16, tensor.Int16: typeS16,
	tensor.Uint16: typeU16, tensor.Float32: typeF32, tensor.Int32: typeS32, tensor.Uint32: typeU32,
	tensor.Float64: typeF64, tensor.Int64: typeS64, tensor.Uint64: typeU64,
}

// newPort decides how the API shows a port with these sizes (section 6, section 11). Inputs whose metadata name pixels
// are images, and codes are described by shifts where that is asked for.
func newPort(of *model.Port, dims []int64, input, shift bool) (*port, error) {
	p := &port{Port: of, dims: dims}
	n, ok := tensor.Count(dims)
	if len(dims) > maxDims || !ok || n > math.MaxInt32/8 || n == 0 {
		return nil, fault.New(fault.Shape, "%q has the shape %v: want at most %d dimensions and 1 to %d elements", p.Name, dims,
			maxDims, math.MaxInt32/8)
	}
	kind, ok := kinds[p.Type]
	if !ok {
		return nil, fault.New(fault.Type, "%q has elements of type %v, which the API has no type for", p.Name, p.Type)
	}
	p.kind, p.layout = kind, layoutNone
	if len(dims) == 4 {
		p.layout = layoutNCHW
	}
	if p.Image != nil {
		p.setImage()
	} else {
		p.setTensor(input, shift)
	}
	p.source = fmt.Sprintf("%s: %s %v", p.Name, typeName(p.kind), p.valid)
	return p, nil
}

// setTensor describes a port of numbers.
func (p *port) setTensor(input, shift bool) {
	p.valid = p.dims
	if input && len(p.dims) == 4 && p.Info.Layout == "nhwc" {
		p.order, p.layout = tensor.ChannelsLast(4), layoutNHWC
		p.valid = permuted(p.dims, p.order)
	}
	if why := p.setQuant(shift); why != "" {
		caution("codes are described by scales, although anynpu.quantization is shift", "name", p.Name, "because", why)
	}
	p.aligned = p.valid
	if p.quant != quantNone {
		p.aligned = aimed().pad(p.valid, p.layout, elementSize(p.kind), input)
		p.gaps = !slices.Equal(p.aligned, p.valid)
	}
	for len(p.aligned) < 4 {
		p.aligned = append(slices.Clip(p.aligned), 1)
	}
	p.setStride()
}

// setStride describes memory in which tensors have alignedShape.
func (p *port) setStride() {
	p.bytes = max(1, elementSize(p.kind)) // components of images are bytes
	p.stride = make([]int64, len(p.valid))
	for i := len(p.valid) - 1; i >= 0; i-- {
		p.stride[i] = p.bytes
		p.bytes *= p.aligned[i]
	}
}

func permuted(dims []int64, order []int) []int64 {
	out := make([]int64, len(dims))
	for i, d := range order {
		out[i] = dims[d]
	}
	return out
}

// direct reports whether the program's memory has the elements as the model has them, so that nothing is converted.
func (p *port) direct() bool { return !p.numbers }

// view is the memory of a piece as that part of the model's tensor.
func (p *port) view(one *piece) mem.View {
	v := mem.View{Buf: one.buf, Type: tensor.T(p.Type, p.sized(p.dims, one.batch)...)}
	if !p.gaps || one.dense {
		return v.In(p.order)
	}
	v.Strides = tensor.RowMajor(p.aligned)
	if p.order != nil {
		own := make([]int64, len(p.order))
		for i, d := range p.order {
			own[d] = v.Strides[i]
		}
		v.Strides = own
	}
	return v
}

// arrangement says where elements lie in memory without gaps, for n of the model's batch.
func (p *port) arrangement(batch int64) convert.Arrangement {
	dims := slices.Clone(p.dims)
	if batch > 0 && len(dims) > 0 {
		dims[0] = batch
	}
	l := convert.Layout{}
	if p.order != nil {
		l.Order = convert.NHWC
	}
	return convert.Arrange(dims, l)
}

// load converts what a program gave, without gaps and for a part of the batch, to the model's elements in NCHW.
func (p *port) load(dst, src []byte, batch int64) {
	dims := slices.Clone(p.dims)
	if len(dims) > 0 {
		dims[0] = batch
	}
	s := convert.Source{Type: tensor.Float32, Arrangement: p.arrangement(batch)}
	t := p.Tensor
	t.Normalization = convert.Normalization{} // mean and deviation are those of images
	t.Load(dst, convert.Arrange(dims, convert.Layout{}), src, &s)
}

// coreBytes is the number of bytes of the model's elements.
func (p *port) coreBytes() int64 {
	n, _ := tensor.T(p.Type, p.dims...).ByteSize()
	if p.chroma != nil {
		pairs, _ := tensor.T(p.Type, p.chroma...).ByteSize()
		n += pairs
	}
	return n
}
