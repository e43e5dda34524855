package export

import (
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// quantization are the constants of a quantization and how they belong to elements.
type quantization struct {
	dims  []int64 // of scale and zero points
	attrs []attr
	q     *tensor.Quant
}

// quantizationOf reads the quantization of a tensor of a type.
func quantizationOf(t tensor.Type) (quantization, error) {
	q := t.Quant
	if q.IsPerTensor() {
		return quantization{q: q}, nil
	}
	if q.Axis < 0 || t.Shape.Ranked && q.Axis >= len(t.Shape.Dims) {
		return quantization{}, refuse("scales along an axis that the tensor does not have")
	}
	c := quantization{dims: []int64{int64(len(q.Scale))}, attrs: []attr{number("axis", int64(q.Axis))}, q: q}
	if q.Block == 0 {
		return c, nil
	}
	dims, ok := t.Shape.Ints()
	if !ok {
		return c, refuse("scales of blocks of a tensor of unknown sizes")
	}
	c.dims = append([]int64(nil), dims...)
	c.dims[q.Axis] = (dims[q.Axis] + int64(q.Block) - 1) / int64(q.Block)
	if count, ok := tensor.Count(c.dims); !ok || count != int64(len(q.Scale)) {
		return c, refuse("scales of blocks of another number than the tensor has")
	}
	c.attrs = append(c.attrs, number("block_size", int64(q.Block)))
	return c, nil
}

func (c quantization) scales() []float64 {
	x := make([]float64, len(c.q.Scale))
	for i, v := range c.q.Scale {
		x[i] = float64(v)
	}
	return x
}

func (c quantization) zeros() []float64 {
	x := make([]float64, len(c.q.Scale))
	for i := range x {
		x[i] = float64(c.q.ZeroAt(i))
	}
	return x
}

// shift reports whether a zero point is not 0.
func (c quantization) shift() bool {
	for _, z := range c.q.Zero {
		if z != 0 {
			return true
		}
	}
	return false
}

// spread is the shape with which the constants of a tensor of rank r are broadcast to its elements.
func (c quantization) spread(r int) []int64 {
	if len(c.dims) != 1 {
		return c.dims
	}
	dims := make([]int64, max(r, c.q.Axis+1)) // of an unknown rank, which is refused, as many as there must be
	for i := range dims {
		dims[i] = 1
	}
	dims[c.q.Axis] = c.dims[0]
	return dims
}

// linear are the types that DequantizeLinear takes, and with a zero point.
func linear(d tensor.DType, shifted bool) bool {
	switch d {
	case tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int4, tensor.Uint4,
		tensor.Int2, tensor.Uint2:
		return true
	case tensor.Int32:
		return !shifted
	}
	return false
}

// dequantize makes real numbers of the integers v of a type.
func (n *node) dequantize(v string, t tensor.Type) string {
	c, err := quantizationOf(t)
	if err != nil || len(t.Quant.Scale) == 0 {
		n.fail(err)
		return v
	}
	if linear(t.DType, c.shift()) {
		in := []string{v, n.list1(tensor.Float32, c.dims, c.scales()...)}
		// of int8 along an axis ONNX Runtime would make uint8 with one zero point for all
		along := t.DType == tensor.Int8 && len(c.dims) > 0
		if t.DType != tensor.Int32 && (c.shift() || t.DType.IsUnsigned() || along) {
			in = append(in, n.list1(t.DType, c.dims, c.zeros()...))
		}
		return n.one("DequantizeLinear", in, c.attrs...)
	}
	if t.Quant.Block > 0 || t.Shape.Rank() < 0 && !t.Quant.IsPerTensor() {
		n.fail(refuse("a quantized tensor of %v with blocks, or of an unknown number of dimensions", t.DType))
	}
	y := n.cast(v, tensor.Float64)
	dims := c.dims
	if dims != nil {
		dims = c.spread(t.Shape.Rank())
	}
	if c.shift() {
		y = n.one("Sub", []string{y, n.list1(tensor.Float64, dims, c.zeros()...)})
	}
	y = n.one("Mul", []string{y, n.list1(tensor.Float64, dims, c.scales()...)})
	return n.cast(y, tensor.Float32)
}

// quantize makes integers of type t of the numbers v of type d.
func (n *node) quantize(v string, d tensor.DType, t tensor.Type) string {
	c, err := quantizationOf(t)
	if err != nil || len(t.Quant.Scale) == 0 {
		n.fail(err)
		return v
	}
	if n.opt.QuantizeLinear && t.DType != tensor.Int32 && linear(t.DType, true) {
		if d != tensor.Float32 {
			v = n.cast(v, tensor.Float32)
		}
		return n.one("QuantizeLinear", []string{v, n.list1(tensor.Float32, c.dims, c.scales()...), n.list1(t.DType, c.dims,
			c.zeros()...)}, c.attrs...)
	}
	if t.Quant.Block > 0 || t.Shape.Rank() < 0 && !t.Quant.IsPerTensor() {
		n.fail(refuse("a quantized result with blocks, or of an unknown number of dimensions"))
	}
	if d != tensor.Float64 {
		v = n.cast(v, tensor.Float64)
	}
	dims := c.dims
	if dims != nil {
		dims = c.spread(t.Shape.Rank())
	}
	zero := n.list1(tensor.Float64, dims, c.zeros()...)
	v = n.one("Div", []string{v, n.list1(tensor.Float64, dims, c.scales()...)})
	if c.shift() {
		v = n.one("Add", []string{v, zero})
	}
	v = n.one("Where", []string{n.one("IsNaN", []string{v}), zero, v})
	return n.saturate(n.roundAway(v, tensor.Float64), tensor.Float64, t.DType)
}

// roundAway rounds numbers of type d to the nearest integers, halves away from zero: the magnitude's floor and one more
// where a half or more is left, which is exact.
func (n *node) roundAway(v string, d tensor.DType) string {
	size := n.one("Abs", []string{v})
	floor := n.one("Floor", []string{size})
	up := n.one("GreaterOrEqual", []string{n.one("Sub", []string{size, floor}), n.number(d, 0.5)})
	whole := n.one("Add", []string{floor, n.cast(up, d)})
	return n.one("Mul", []string{whole, n.one("Sign", []string{v})})
}

// saturate makes integers of type to of whole numbers of a float type, the nearest limit of those beyond them. NaN must
// not occur.
func (n *node) saturate(v string, from, to tensor.DType) string {
	lo, hi := tensor.IntLimits(to)
	top := float64(hi)
	if to == tensor.Uint64 {
		top = math.MaxUint64
	}
	if mantissa(from) >= to.Bits() {
		v = n.one("Clip", []string{v, n.number(from, float64(lo)), n.number(from, top)})
		return n.castInt(v, to)
	}
	// The largest integer is no number of the float type: numbers above it take it from a constant.
	over := n.one("GreaterOrEqual", []string{v, n.number(from, top)})
	most := n.constant("", to, nil, allOnes(to))
	v = n.one("Max", []string{v, n.number(from, float64(lo))})
	v = n.one("Where", []string{over, n.number(from, 0), v})
	return n.one("Where", []string{over, most, n.cast(v, to)})
}

// castInt converts whole numbers in range, and integers by their low bits; those of 2 and 4 bits come from 8-bit ones,
// which more runtimes convert.
func (n *node) castInt(v string, to tensor.DType) string {
	switch to {
	case tensor.Int4, tensor.Int2:
		v = n.cast(v, tensor.Int8)
	case tensor.Uint4, tensor.Uint2:
		v = n.cast(v, tensor.Uint8)
	}
	return n.cast(v, to)
}

// allOnes are the bytes of the largest integer of a type.
func allOnes(d tensor.DType) []byte {
	b := make([]byte, d.Bits()/8)
	for i := range b {
		b[i] = 0xff
	}
	if d.IsSigned() {
		b[len(b)-1] = 0x7f
	}
	return b
}

// mantissa is the number of bits of the integers that a float type has all of.
func mantissa(d tensor.DType) int {
	switch d {
	case tensor.Float64:
		return 53
	case tensor.Float32:
		return 24
	case tensor.Float16:
		return 11
	case tensor.BFloat16:
		return 8
	}
	return 0
}
