package hbdnn

import (
	"encoding/binary"
	"fmt"
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
	at          int            // of the program's inputs or outputs, the first that it is
	numeric     convert.Tensor // its elements without mean and deviation, which only images have
	dims        []int64        // in the model's order; of an image those of its bytes, or of luma
	chroma      []int64        // of an image whose pairs are an input of their own, the next one
	description                // as programs see it
	order       []int          // of the dimensions in a program's memory, nil: the model's
	gaps        bool           // alignedShape is larger than validShape
	codes       *convert.Codes // that programs see of real numbers, nil: none
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

// codeTypes are the elements of outputs of real numbers that programs see as codes.
var codeTypes = map[int32]tensor.DType{typeS8: tensor.Int8, typeS16: tensor.Int16, typeS32: tensor.Int32}

// newPort decides how the API shows a port with these sizes (section 6, section 11). Inputs whose metadata name pixels
// are images, and codes are described by shifts where that is asked for.
func newPort(of *model.Port, dims []int64, input, shift bool) (*port, error) {
	p := &port{Port: of, dims: dims, numeric: of.Tensor}
	p.numeric.Normalization = convert.Normalization{}
	n, ok := tensor.Count(dims)
	if len(dims) > maxDims || !ok || n > math.MaxInt32/8 || n == 0 {
		return nil, fault.New(fault.Shape, "%q has the shape %v: want at most %d dimensions and 1 to %d elements "+
			"[hbdnn-shape-dimensions-elements]", p.Name,
			dims, maxDims, math.MaxInt32/8)
	}
	kind, ok := kinds[p.Type]
	if !ok {
		return nil, fault.New(fault.Type, "%q has elements of type %v, which the API has no type for "+
			"[hbdnn-elements-type-api]", p.Name, p.Type)
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
	p.setOrder(input)
	if why := p.setQuant(shift); why != "" {
		caution("codes are described by scales, although anynpu.quantization is shift "+
			"[hbdnn-codes-described-scales]", "name", p.Name, "because", why)
	}
	p.align(input)
}

// align describes the memory that a port of numbers takes.
func (p *port) align(input bool) {
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

// setOrder has programs see a port in the order that its metadata name, else in the model's own.
func (p *port) setOrder(input bool) {
	p.valid = p.dims
	order, last := api.OrderOf(p.Port, p.dims, input)
	if last {
		p.layout = layoutNHWC
	}
	if p.order = order; order != nil {
		p.valid = permuted(p.dims, order)
	}
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
	v := mem.View{Buf: one.buf, Type: tensor.T(p.element(), p.sized(p.dims, one.batch)...)}
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

// element is the type of elements in memory, but for codes that are shown as numbers.
func (p *port) element() tensor.DType {
	if p.codes != nil {
		return codeTypes[p.kind]
	}
	return p.Type
}

// operand is the memory of a piece as core wants it.
func (p *port) operand(one *piece) io.Operand {
	o := io.Own(p.view(one))
	o.Codes = p.codes
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

// setQuant describes codes, as shifts if the metadata ask for them. Codes with a zero point that the API cannot
// describe are shown as the numbers they stand for. It returns why there are no shifts, if the metadata ask for them.
func (p *port) setQuant(shift bool) (why string) {
	q := p.PerAxis
	if q == nil && p.Quant != nil {
		q = tensor.PerTensor(p.Quant.Scale, int32(p.Quant.Zero))
	}
	switch {
	case q == nil:
		return ""
	case slices.ContainsFunc(q.Zero, tooWide):
		p.kind, p.numbers = typeF32, true
		if p.order != nil && p.Last { // as they lie
			p.order, p.layout, p.valid = nil, layoutNHWC, p.dims
		}
		return ""
	case p.Type == tensor.Int32 && len(q.Scale) == 1 && len(p.dims) > 0: // programs index them by channel
		axis := len(p.dims) - 1
		if p.order != nil {
			axis = p.order[axis]
		}
		n := int(p.dims[axis])
		q = &tensor.Quant{Scale: slices.Repeat(q.Scale, n), Zero: slices.Repeat([]int32{q.ZeroAt(0)}, n), Axis: axis}
	}
	p.length, p.axis = int32(len(q.Scale)), int32(q.Axis)
	if p.order != nil {
		p.axis = int32(slices.Index(p.order, q.Axis))
	}
	if shift {
		shifts, why := shiftsOf(q)
		if why == "" {
			boundary.SetSlice(&p.lists, shifts)
			p.quant, p.first = quantShift, p.lists.Addr()
			return ""
		}
		defer func() { p.describeScales(q) }()
		return why
	}
	p.describeScales(q)
	return ""
}

// describeScales stores the scales, and behind them the zero points. A single one stands there as often as the port has
// channels, by which programs index that do not look at the length.
func (p *port) describeScales(q *tensor.Quant) {
	n := len(q.Scale)
	if n == 1 && len(p.valid) == 4 {
		n = int(max(p.valid[1], p.valid[3]))
	}
	var list []byte
	for i := range n {
		list = binary.NativeEndian.AppendUint32(list, math.Float32bits(q.Scale[i%len(q.Scale)]))
	}
	for i := range n {
		list = append(list, byte(int8(q.ZeroAt(i%len(q.Scale)))))
	}
	boundary.SetSlice(&p.lists, list)
	p.quant, p.first = quantScale, p.lists.Addr()
	p.zero = p.first + 4*uintptr(n)
}

// batch is the first size of a port, 0 for a port without sizes.
func (p *port) batch() int64 {
	if len(p.valid) == 0 {
		return 0
	}
	return p.valid[0]
}

// sized is a shape with another batch, which a port without sizes has not.
func (p *port) sized(dims []int64, batch int64) []int64 {
	if batch == 0 || len(dims) == 0 || dims[0] == batch {
		return dims
	}
	out := slices.Clone(dims)
	out[0] = batch
	return out
}

// imageTypes are the types of images. NV21 is shown as NV12: the API has no name for it.
var imageTypes = map[op.Pixel]int32{op.PixelGray: typeY, op.PixelRGB: typeRGB, op.PixelBGR: typeBGR,
	op.PixelYUV444: typeYUV444, op.PixelNV12: typeNV12, op.PixelNV21: typeNV12}

// setImage describes bytes of pixels (section 6, section 11).
func (p *port) setImage() {
	pixel := p.Image.Decode.Pixel
	n, h, w := p.Image.Size(p.dims)
	p.kind, p.layout = imageTypes[pixel], layoutNCHW
	p.valid = []int64{n, pixel.Components(), h, w}
	if p.interleaved() {
		p.layout, p.valid = layoutNHWC, []int64{n, h, w, pixel.Components()}
	}
	p.aligned = p.valid
	if p.kind != typeY && p.kind != typeNV12 {
		p.setStride()
		return
	}
	p.aligned = slices.Clone(p.valid)
	p.aligned[3] = roundUp(w, widthAlignment)
	if p.kind == typeNV12 {
		p.aligned[1] = aimed().channels
	}
	p.bytes = n * p.imageBytes(p.aligned[3])
}

// interleaved reports whether the components of a pixel lie side by side; of a single one that is the same.
func (p *port) interleaved() bool {
	return p.Image.Decode.Interleaved && p.Image.Decode.Pixel.Components() > 1
}

// imageBytes is the size of one image whose rows lie pitch bytes apart.
func (p *port) imageBytes(pitch int64) int64 {
	_, h, _ := p.Image.Size(p.dims)
	switch {
	case p.kind == typeNV12:
		return h * pitch * 3 / 2
	case p.interleaved() || p.kind == typeY:
		return h * pitch
	}
	return h * pitch * p.Image.Decode.Pixel.Components()
}
