package numerics

import (
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// codes say how reals are quantized: with a type of ONNX, a scale and a zero point.
type codes struct {
	elem  int64
	scale float32
	zero  int
}

// kindOf is the type of the API for a type of ONNX, as attributes report it: reals are FLOAT16.
func kindOf(elem int64) uint32 {
	switch elem {
	case rknn.ONNXUint8:
		return rknn.Uint8
	case rknn.ONNXInt8:
		return rknn.Int8
	case rknn.ONNXUint16:
		return rknn.Uint16
	case rknn.ONNXInt16:
		return rknn.Int16
	case rknn.ONNXInt32:
		return rknn.Int32
	case rknn.ONNXUint32:
		return rknn.Uint32
	case rknn.ONNXInt64:
		return rknn.Int64
	case rknn.ONNXBool:
		return rknn.Bool
	}
	return rknn.Float16
}

// rangeOf is the least and the greatest integer of a type of the API.
func rangeOf(kind uint32) (lo, hi float64) {
	switch kind {
	case rknn.Uint8:
		return 0, 255
	case rknn.Int8:
		return -128, 127
	case rknn.Uint16:
		return 0, 65535
	case rknn.Int16:
		return -32768, 32767
	case rknn.Int32:
		return math.MinInt32, math.MaxInt32
	case rknn.Uint32:
		return 0, math.MaxUint32
	case rknn.Bool:
		return 0, 1
	}
	return math.MinInt64, math.MaxInt64
}

// code quantizes a float32: rint(v / scale) + zp, halves to even, saturating; NaN gives zp.
func (q *codes) code(v float32) float64 {
	if v != v {
		return float64(q.zero)
	}
	lo, hi := rangeOf(kindOf(q.elem))
	return min(max(math.RoundToEven(float64(v/q.scale))+float64(q.zero), lo), hi)
}

// real is what a code stands for: one float32 multiplication.
func (q *codes) real(code float64) float64 {
	return float64(float32(code-float64(q.zero)) * q.scale)
}

// port is an input or output of a model, as the API's notes say that programs see it.
type port struct {
	name      string
	elem      int64 // type in ONNX; of a quantized one that of the reals
	dims      []int // in the model's order
	quant     *codes
	mean, std []float32 // per channel of what programs give; nil: 0 and 1
	swapped   bool      // programs give red first, the model wants blue first
	planar    bool      // an input that programs give in NCHW
	output    bool
}

// kind is the type that attributes report.
func (p *port) kind() uint32 {
	if p.quant != nil {
		return kindOf(p.quant.elem)
	}
	return kindOf(p.elem)
}

func (p *port) reals() bool {
	return p.quant == nil && (p.elem == rknn.ONNXFloat || p.elem == rknn.ONNXHalf || p.elem == rknn.ONNXDouble)
}

// pick is the entry of a list of one number or one per channel.
func pick(list []float32, channel int, other float32) float32 {
	switch len(list) {
	case 0:
		return other
	case 1:
		return list[0]
	}
	return list[channel]
}

// coded tells whether elements of a type are codes already: those of a quantized port's own type, but for UINT8, in
// which images are handed over.
func (p *port) coded(kind uint32) bool {
	return p.quant != nil && kind == p.kind() && kind != rknn.Uint8
}

// arrives is the element of the model that an element x of a type in a channel of the program's becomes.
func (p *port) arrives(kind uint32, x float64, channel int) float64 {
	if kind == rknn.Bool && x != 0 {
		x = 1
	}
	if p.coded(kind) {
		return x
	}
	if p.quant != nil || p.reals() {
		v := float32(x)
		if p.mean != nil || p.std != nil {
			v = (v - pick(p.mean, channel, 0)) / pick(p.std, channel, 1)
		}
		if p.quant != nil {
			return p.quant.code(v)
		}
		return p.rounded(float64(v))
	}
	if p.elem == rknn.ONNXBool {
		if x != 0 {
			return 1
		}
		return 0
	}
	if x != x {
		return 0
	}
	lo, hi := rangeOf(p.kind())
	return min(max(math.Trunc(x), lo), hi)
}

// rounded is a real as the model's type holds it.
func (p *port) rounded(v float64) float64 {
	switch p.elem {
	case rknn.ONNXHalf:
		return halfOf(v)
	case rknn.ONNXFloat:
		return float64(float32(v))
	}
	return v
}

// leaves is an element of the model as a program gets it, in the reported type or as float32.
func (p *port) leaves(kind uint32, v float64) float64 {
	switch {
	case kind == rknn.Float32 && p.quant != nil:
		return p.quant.real(v)
	case kind == rknn.Float32:
		return float64(float32(v))
	case kind == rknn.Float16:
		return halfOf(v)
	}
	return v
}

// format is the order of elements in which programs give an input, or get an output by rknn_outputs_get.
func (p *port) format() uint32 {
	switch {
	case len(p.dims) != 4:
		return rknn.Undefined
	case p.output || p.planar:
		return rknn.NCHW
	}
	return rknn.NHWC
}

// lanes is C2 of the native layout: 16 bytes, 8 on the smaller boards.
func lanes(board string, kind uint32) int {
	if board == "" || board == "rk3588" || board == "rk3576" {
		return 16 / elemBytes(kind)
	}
	return 8 / elemBytes(kind)
}

// dimsIn are the sizes in a format; of NC1HWC2 with c2 lanes.
func (p *port) dimsIn(format uint32, c2 int) []int {
	d := p.dims
	switch format {
	case rknn.NHWC:
		return []int{d[0], d[2], d[3], d[1]}
	case rknn.NC1HWC2:
		return []int{d[0], (d[1] + c2 - 1) / c2, d[2], d[3], c2}
	}
	return d
}

// attr is what a query command must answer for the port on a board.
func (p *port) attr(cmd, index int, board string) rknn.TensorAttr {
	kind, format := p.kind(), p.format()
	c2 := lanes(board, kind)
	switch {
	case len(p.dims) != 4 || p.planar:
	case cmd == rknn.QueryNHWCInput, cmd == rknn.QueryNHWCOutput:
		format = rknn.NHWC
	case cmd == rknn.QueryNativeOutput, cmd == rknn.QueryCurrentNatOut:
		format = rknn.NC1HWC2
	}
	dims := p.dimsIn(format, c2)
	a := rknn.TensorAttr{Index: uint32(index), Rank: uint32(len(dims)), Elems: uint32(count(dims)), Format: format,
		Kind: kind, Scale: 1}
	for i, d := range dims {
		a.Dims[i] = uint32(d)
	}
	copy(a.Name[:255], p.name)
	a.Size = a.Elems * uint32(elemBytes(kind))
	a.SizeWithStride = a.Size
	switch {
	case p.quant != nil:
		a.Qnt, a.Zp, a.Scale = rknn.QntAffine, int32(p.quant.zero), p.quant.scale
	case p.reals():
		a.Qnt = rknn.QntAffine
	}
	if !p.output && format == rknn.NHWC {
		a.WStride = a.Dims[2]
	}
	if p.output && format == rknn.NCHW {
		a.SizeWithStride = max(a.Size, uint32(count(p.dimsIn(rknn.NC1HWC2, c2))*elemBytes(kind)))
	}
	return a
}

// place is where the element with an index in the model's order lies in a format, counted in elements; rows is the
// number of rows that each image takes.
func (p *port) place(format uint32, at []int, c2, rows int) int {
	d := p.dims
	switch {
	case len(d) != 4:
		i := 0
		for k, n := range d {
			i = i*n + at[k]
		}
		return i
	case format == rknn.NHWC:
		return ((at[0]*rows+at[2])*d[3]+at[3])*d[1] + at[1]
	case format == rknn.NC1HWC2:
		c1 := (d[1] + c2 - 1) / c2
		return (((at[0]*c1+at[1]/c2)*rows+at[2])*d[3]+at[3])*c2 + at[1]%c2
	}
	return ((at[0]*d[1]+at[1])*rows+at[2])*d[3] + at[3]
}

// laid are the elements of the model in a format as a program gets them in a type; lanes without a channel hold zp or
// 0.
func (p *port) laid(y tensor, kind, format uint32, c2 int) []float64 {
	dims := p.dims
	if len(p.dims) == 4 {
		dims = p.dimsIn(format, c2)
	}
	out := make([]float64, count(dims))
	if p.quant != nil && kind != rknn.Float32 {
		for i := range out {
			out[i] = float64(p.quant.zero)
		}
	}
	rows := 0
	if len(p.dims) == 4 {
		rows = p.dims[2]
	}
	each(p.dims, func(at []int, i int) { out[p.place(format, at, c2, rows)] = p.leaves(kind, y.v[i]) })
	return out
}

// taken are the model's elements of what a program gives in its format with that many rows per image. raw elements are
// the model's own; others are converted from a type.
func (p *port) taken(x []float64, kind uint32, raw bool, rows int) tensor {
	return p.takenFrom(x, kind, p.format(), raw, rows)
}

// takenFrom is taken of elements in a format.
func (p *port) takenFrom(x []float64, kind, format uint32, raw bool, rows int) tensor {
	y := newTensor(p.dims...)
	from := make([]int, len(p.dims))
	each(p.dims, func(at []int, i int) {
		copy(from, at)
		channel := p.channel(at)
		if p.swapped && !raw && p.dims[1] >= 3 && at[1] <= 2 { // what follows blue stays
			from[1] = 2 - at[1]
			channel = from[1]
		}
		v := x[p.place(format, from, 1, rows)]
		switch {
		case raw && p.reals():
			y.v[i] = p.rounded(v)
		case raw:
			y.v[i] = v
		default:
			y.v[i] = p.arrives(kind, v, channel)
		}
	})
	return y
}

// channel is the entry of lists per channel for an element: dimension 1 of images, the last of other ranks.
func (p *port) channel(at []int) int {
	if len(at) == 4 {
		return at[1]
	}
	return 0
}
