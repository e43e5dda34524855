package hbdnn

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model and how the API shows it.
type port struct {
	*model.Port
	at          int            // of the program's inputs or outputs, the first that it is
	numeric     convert.Tensor // its elements without mean and deviation, which are those of images
	dims        []int64        // in the model's order; of an image those of its bytes, or of luma
	chroma      []int64        // of an image whose pairs are an input of their own, the next one
	description                // what programs are told
	order       []int          // of the dimensions in a program's memory, nil: the model's
	gaps        bool           // alignedShape is larger than validShape
	numbers     bool           // float32 numbers where the model has codes that the API cannot describe
	source      string         // one sentence of the port, for programs that ask
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
	p := &port{Port: of, dims: dims, numeric: of.Tensor}
	p.numeric.Normalization = convert.Normalization{}
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

// operand is the memory of a piece as core wants it.
func (p *port) operand(one *piece) io.Operand {
	o := io.Own(p.view(one))
	if p.gaps && !one.dense {
		o.Gaps = io.Gaps{Valid: p.valid, Sizes: p.aligned}
	}
	if p.numbers {
		l := convert.Layout{}
		if p.order != nil {
			l.Order = convert.NHWC
		}
		o.As = convert.Source{Type: tensor.Float32, Arrangement: convert.Arrange(p.sized(p.dims, one.batch), l)}
	}
	return o
}

// planes is how many inputs or outputs of the program the port is.
func (p *port) planes() int {
	if p.chroma != nil {
		return 2
	}
	return 1
}

// plane is one of them.
func (p *port) plane(k int) *io.Port {
	return &io.Port{Tensor: &p.numeric, At: p.at + k, Dims: [][]int64{p.dims, p.chroma}[k]}
}
