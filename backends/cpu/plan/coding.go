package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// quantParams is what the 8-bit codes of a value mean, whether a type of the graph says so or QuantizeLinear and
// DequantizeLinear nodes do: scale * (code - zero). The codes are unsigned, those of int8 have 128 added.
type quantParams struct {
	scale    float32
	zero     int32
	typ      tensor.DType // that the graph gives the codes
	rounding rounding
}

// rounding says which code stands for a number in the middle between two.
type rounding uint8

const (
	halfEven rounding = iota // QuantizeLinear's
	halfAway                 // from zero: that of quantized types
)

// quantParamsOfType returns what a quantized type with one scale says.
func quantParamsOfType(t tensor.Type) quantParams {
	c := quantParams{scale: t.Quant.Scale[0], zero: t.Quant.ZeroAt(0), typ: t.DType, rounding: halfAway}
	if t.DType == tensor.Int8 {
		c.zero += 128
	}
	return c
}

// isQuant8 reports whether v is quantized to 8 bits with one scale, of known, non-empty shape.
func (v *value) isQuant8() bool {
	q := v.typ.Quant
	return v.dims != nil && (v.typ.DType == tensor.Int8 || v.typ.DType == tensor.Uint8) && q.IsPerTensor() &&
		v.count() > 0 && usableScale(q.Scale[0])
}

// flip is what turns codes as the graph has them into unsigned ones, and back.
func (c quantParams) flip() byte {
	if c.typ == tensor.Int8 {
		return 128
	}
	return 0
}

// limits are the least and the largest code, and the zero point, as the graph has them.
func (c quantParams) limits() (lo, hi, zero int64) {
	lo, hi = tensor.IntLimits(c.typ)
	if zero = int64(c.zero); c.typ == tensor.Int8 {
		zero -= 128
	}
	return lo, hi, zero
}

// quantParamsOfNode returns what a QuantizeLinear or DequantizeLinear node says that 8-bit codes mean, ok false when it
// is not one scale that kernels take.
func quantParamsOfNode(g *network, n *graph.Node, typ tensor.DType) (d quantParams, ok bool) {
	if typ != tensor.Int8 && typ != tensor.Uint8 || n.In[1] == graph.None || g.values[n.In[1]].data == nil ||
		blockwise(n) {
		return d, false
	}
	c, ok := scaleZeroOfNode(g, n, typ)
	if !ok || !usableScale(c.scale) {
		return d, false
	}
	d = quantParams{scale: c.scale, zero: int32(c.zero), typ: typ}
	if typ == tensor.Int8 {
		d.zero += 128
	}
	return d, true
}

// blockwise reports whether a node quantizes or dequantizes blocks of elements.
func blockwise(n *graph.Node) bool {
	switch o := n.Op.(type) {
	case *op.Quantize:
		return o.Block != 0
	case *op.Dequantize:
		return o.Block != 0
	}
	return false
}

// of returns the code of a number.
func (c quantParams) of(v float32) uint8 {
	var y [1]uint8
	kernel.EncodeU8(y[:], []float32{v}, c.scale, int(c.zero))
	return y[0]
}

// scaleZero is a constant scale with its zero point, for the whole tensor.
type scaleZero struct {
	scale, zero float32
	typ         tensor.DType
}

// scaleZeroOfNode returns the scale and zero point of a node; ok is false when they are not one constant pair for
// integers of up to 16 bits.
func scaleZeroOfNode(g *network, n *graph.Node, typ tensor.DType) (c scaleZero, ok bool) {
	s := g.constant(n.In[1])
	if len(s) != 1 || len(g.values[n.In[1]].dims) > 1 || !typ.IsInt() || typ.Bits() > 16 {
		return c, false
	}
	c = scaleZero{scale: s[0], typ: typ}
	if given(n.In, 2) {
		z, known := g.ints(n.In, 2)
		if !known || len(z) != 1 {
			return c, false
		}
		c.zero = float32(z[0])
	}
	return c, true
}

func usableScale(s float32) bool { return s > 1e-30 && s < 1e30 }

// codeSlack is how far beyond the last code kernels may read.
const codeSlack = kernel.IntDepth - 1
