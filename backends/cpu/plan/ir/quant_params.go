package ir

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// QuantParams map the 8-bit quantized values of a value to real numbers, whether a type of the graph says so or
// QuantizeLinear and DequantizeLinear nodes do: scale * (code - zero). The codes are unsigned, those of int8 have 128
// added.
type QuantParams struct {
	Scale    float32
	Zero     int32
	DType    tensor.DType // that the graph gives the codes
	Rounding rounding
}

// rounding says which code stands for a number in the middle between two.
type rounding uint8

const (
	halfEven rounding = iota // QuantizeLinear's
	HalfAway                 // from zero: that of quantized types
)

// QuantParamsOfType returns what a quantized type with one scale says.
func QuantParamsOfType(t tensor.Type) QuantParams {
	c := QuantParams{Scale: t.Quant.Scale[0], Zero: t.Quant.ZeroAt(0), DType: t.DType, Rounding: HalfAway}
	if t.DType == tensor.Int8 {
		c.Zero += 128
	}
	return c
}

// IsQuant8 reports whether v is quantized to 8 bits with one scale, of known, non-empty shape.
func (v *Value) IsQuant8() bool {
	q := v.Type.Quant
	return v.Dims != nil && (v.Type.DType == tensor.Int8 || v.Type.DType == tensor.Uint8) && q.IsPerTensor() &&
		v.Count() > 0 && UsableScale(q.Scale[0])
}

// Flip makes unsigned codes of those that the graph has, and back, by exclusive or.
func (c QuantParams) Flip() byte {
	if c.DType == tensor.Int8 {
		return 128
	}
	return 0
}

// Limits are the least and the largest code, and the zero point, as the graph has them.
func (c QuantParams) Limits() (lo, hi, zero int64) {
	lo, hi = tensor.IntLimits(c.DType)
	if zero = int64(c.Zero); c.DType == tensor.Int8 {
		zero -= 128
	}
	return lo, hi, zero
}

// QuantParamsOfNode returns what a QuantizeLinear or DequantizeLinear node says that 8-bit codes mean, ok false when it
// is not one scale that kernels take.
func QuantParamsOfNode(g *Network, n *graph.Node, typ tensor.DType) (d QuantParams, ok bool) {
	if typ != tensor.Int8 && typ != tensor.Uint8 || n.In[1] == graph.None || g.Values[n.In[1]].Data == nil ||
		Blockwise(n) {
		return d, false
	}
	c, ok := ScaleZeroOfNode(g, n, typ)
	if !ok || !UsableScale(c.Scale) {
		return d, false
	}
	d = QuantParams{Scale: c.Scale, Zero: int32(c.Zero), DType: typ}
	if typ == tensor.Int8 {
		d.Zero += 128
	}
	return d, true
}

// Blockwise reports whether a node quantizes or dequantizes blocks of elements.
func Blockwise(n *graph.Node) bool {
	switch o := n.Op.(type) {
	case *op.Quantize:
		return o.Block != 0
	case *op.Dequantize:
		return o.Block != 0
	}
	return false
}

// Of returns the code of a number.
func (c QuantParams) Of(v float32) uint8 {
	var y [1]uint8
	kernel.EncodeU8(y[:], []float32{v}, c.Scale, int(c.Zero))
	return y[0]
}

// ScaleZero is a constant scale with its zero point, for the whole tensor.
type ScaleZero struct {
	Scale, Zero float32
	Typ         tensor.DType
}

// ScaleZeroOfNode returns the scale and zero point of a node; ok is false when they are not one constant pair for
// integers of up to 16 bits.
func ScaleZeroOfNode(g *Network, n *graph.Node, typ tensor.DType) (c ScaleZero, ok bool) {
	s := g.Constant(n.In[1])
	if len(s) != 1 || len(g.Values[n.In[1]].Dims) > 1 || !typ.IsInt() || typ.Bits() > 16 {
		return c, false
	}
	c = ScaleZero{Scale: s[0], Typ: typ}
	if Given(n.In, 2) {
		z, known := g.Ints(n.In, 2)
		if !known || len(z) != 1 {
			return c, false
		}
		c.Zero = float32(z[0])
	}
	return c, true
}

// UsableScale reports whether kernels divide and multiply by s without loss of range.
func UsableScale(s float32) bool { return s > 1e-30 && s < 1e30 }

// CodeSlack is how far beyond the last code kernels may read.
const CodeSlack = kernel.IntDepth - 1
