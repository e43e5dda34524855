package hbucp

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a model and how the API shows it.
type port struct {
	*model.Port
	name    string
	at      int            // among those of the program
	numeric convert.Tensor // its elements without mean and deviation, which only images have
	dims    []int64        // in the model's order, of a tensor's part of the batch
	full    []int64        // in the model's order
	order   []int          // of the dimensions in a program's memory, nil: the model's
	codes   *convert.Codes // that programs see of real numbers, nil: none
	element tensor.DType   // in a program's memory

	kind   int32
	shape  []int64 // its sizes in a program's memory
	valid  []int64 // as reported: a size that only a run tells is open
	stride []int64 // in bytes, as reported: one that the program chooses is open
	bytes  int64   // alignedByteSize
	given  bool    // the program chooses strides

	quant, axis, length int32
	scale, zero         uintptr // in C memory
	lists               boundary.Block
}

// newPort decides how the API shows a port with these sizes. Inputs whose metadata name pixels are images.
func newPort(of *model.Port, at int, dims []int64) (*port, error) {
	p := &port{Port: of, name: of.Name, at: at, dims: dims, full: dims, numeric: of.Tensor, element: of.Type}
	p.numeric.Normalization = convert.Normalization{}
	n, ok := tensor.Count(dims)
	if len(dims) > maxDims || !ok || n > math.MaxInt64/1024 || n == 0 {
		return nil, fault.New(fault.Shape, "%q has the shape %v: want at most %d dimensions and at least 1 "+
			"element [hbucp-shape-dimensions-element]", p.name, dims,
			maxDims)
	}
	kind, ok := kinds[p.Type]
	if !ok {
		return nil, fault.New(fault.Type, "%q has elements of type %v, which the API has no type for "+
			"[hbucp-elements-type-api]", p.name, p.Type)
	}
	p.kind = kind
	return p, nil
}

// setNumbers describes a port that is no image.
func (p *port) setNumbers(input bool) {
	p.setOrder(input)
	p.describeQuant()
	p.lay()
}

// setOrder has programs see a port in the order that its metadata name, else in the model's own.
func (p *port) setOrder(input bool) {
	p.order, _ = api.OrderOf(p.Port, p.dims, input)
	p.shape = p.dims
	if p.order != nil {
		p.shape = make([]int64, len(p.dims))
		for i, d := range p.order {
			p.shape[i] = p.dims[d]
		}
	}
}

// lay describes the memory that a port of numbers takes.
func (p *port) lay() {
	size := int64(p.element.Bits() / 8)
	p.stride = dense(p.shape, size)
	if gap := aimed().rows; gap > 0 && (p.kind == typeS8 || p.kind == typeS16) {
		for i := len(p.shape) - 2; i >= 0; i-- {
			p.stride[i] = p.stride[i+1] * p.shape[i+1]
			if i == len(p.shape)-2 {
				p.stride[i] = roundUp(p.stride[i], gap)
			}
		}
	}
	p.bytes = size
	if len(p.shape) > 0 {
		p.bytes = p.stride[0] * p.shape[0]
	}
	p.bytes = roundUp(p.bytes, byteAlignment)
	p.valid = p.shape
	if p.Bound != nil {
		p.valid = slices.Clone(p.shape)
		for i := range p.valid {
			if p.Open[p.modelDim(i)] {
				p.valid[i] = open
			}
		}
	}
}

// modelDim is the model's dimension that a program sees as number i.
func (p *port) modelDim(i int) int {
	if p.order != nil {
		return p.order[i]
	}
	return i
}

// dense are the strides of memory without gaps, in bytes.
func dense(shape []int64, size int64) []int64 {
	out := make([]int64, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = size
		size *= shape[i]
	}
	return out
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// describeQuant describes the real numbers of quantized values (section 5.6).
func (p *port) describeQuant() {
	q := p.PerAxis
	if q == nil && p.Quant != nil {
		q = tensor.PerTensor(p.Quant.Scale, int32(p.Quant.Zero))
	}
	if q == nil {
		return
	}
	axis := q.Axis
	if p.order != nil {
		axis = slices.Index(p.order, q.Axis)
	}
	if p.Type == tensor.Int32 && len(q.Scale) == 1 && len(p.shape) > 0 { // programs index them by channel
		axis = len(p.shape) - 1
		n := int(p.shape[axis])
		q = &tensor.Quant{Scale: slices.Repeat(q.Scale, n), Zero: slices.Repeat([]int32{q.ZeroAt(0)}, n)}
	}
	p.describeScales(q, axis)
}

// describeScales stores the scales, and behind them the zero points.
func (p *port) describeScales(q *tensor.Quant, axis int) {
	n := len(q.Scale)
	var list []byte
	for _, s := range q.Scale {
		list = binary.NativeEndian.AppendUint32(list, math.Float32bits(s))
	}
	for i := range n {
		list = binary.NativeEndian.AppendUint32(list, uint32(q.ZeroAt(i)))
	}
	boundary.SetSlice(&p.lists, list)
	p.quant, p.axis, p.length = quantScale, int32(axis), int32(n)
	p.scale = p.lists.Addr()
	p.zero = p.scale + 4*uintptr(n)
}

// setCodes describes an output of real numbers as the codes that the metadata name, if they do.
func (p *port) setCodes(im *model.Model) error {
	kind, q, err := im.ShownCodes(p.Port, p.shape)
	if err != nil || q == nil {
		return err
	}
	p.kind, p.element = kinds[kind], kind
	p.codes = model.CodesOf(q.Scale, p.dims, p.modelDim(q.Axis))
	p.describeScales(q, q.Axis)
	p.lay()
	return nil
}

// store writes a program's struct. sizes come from a run; nil: they are known before.
func (p *port) store(to *TensorProperties, sizes []int64) {
	*to = TensorProperties{kind: p.kind, quant: p.quant, axis: p.axis, bytes: p.bytes}
	if p.quant != quantNone {
		to.scaleLen, to.scale, to.zeroLen, to.zero = p.length, p.scale, p.length, p.zero
	}
	if sizes == nil {
		sizes = p.valid
	}
	to.valid.rank = int32(len(sizes))
	for i, n := range sizes {
		to.valid.dims[i], to.stride[i] = int32(n), p.stride[i]
	}
}

// plane is the port as an execution has it.
func (p *port) plane() *io.Port { return &io.Port{Tensor: &p.numeric, At: p.at, Dims: p.full} }

// resizer says whether an image is one of which a region is scaled to the model's size.
func (p *port) resizer() bool { return p.Image != nil && p.Image.Source == "resizer" }

// planeOf are the sizes of a tensor of an image as the model has them, for those that a program sees, and its steps.
func (p *port) planeOf(shape, steps []int64) (dims, own []int64) {
	switch pixel := p.Image.Decode.Pixel; {
	case pixel.Semiplanar() && p.Image.Part != model.ImageChroma:
		return shape[:3], steps[:3]
	case pixel == op.PixelGray && len(p.dims) == 4 && !p.Image.Decode.Interleaved: // [N,1,H,W]
		return []int64{shape[0], 1, shape[1], shape[2]}, []int64{steps[0], steps[0], steps[1], steps[2]}
	}
	return shape, steps
}

// operand is memory with these sizes and strides, as a program sees them, as core wants it.
func (p *port) operand(b mem.Buffer, shape, stride []int64) io.Operand {
	size := int64(p.element.Bits() / 8)
	steps := make([]int64, len(stride))
	for i, s := range stride {
		steps[i] = s / size
	}
	dims, own := p.dims, steps // in the model's order
	switch {
	case p.Image != nil:
		dims, own = p.planeOf(shape, steps)
	case p.order != nil:
		own = make([]int64, len(steps))
		for i, d := range p.order {
			own[d] = steps[i]
		}
	}
	o := io.Own(mem.View{Buf: b, Type: tensor.T(p.element, dims...), Strides: own})
	o.Codes = p.codes
	return o
}
