package lower

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A float model computes with codes where the metadata say how a board stores values (anynpu.value.NAME.stored): such a
// value is quantized and dequantized at once, and constant filters that are applied to codes are quantized as well. A
// model that quantizes by itself stays as it is.

// quantizers are the operators by which a model quantizes by itself.
var quantizers = []string{"QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger",
	"MatMulInteger", "DynamicQuantizeLinear"}

// stores reports whether values of the model are to be stored as the metadata say.
func (m *Lowering) stores(g *proto.Graph) bool {
	return m.opt.Quantize && !slices.ContainsFunc(g.Nodes, func(n *proto.Node) bool {
		return n.Domain == "" && slices.Contains(quantizers, n.OpType) ||
			n.Domain == microsoft && (strings.HasPrefix(n.OpType, "Q") || strings.Contains(n.OpType, "Quantize"))
	})
}

// codeTypes are the types of codes by the names that the metadata have for them.
var codeTypes = map[string]tensor.DType{"int8": tensor.Int8, "int16": tensor.Int16}

// encoded returns what stands for the value v of a name in the main graph: v itself, or what its codes stand for.
func (sc *Scope) encoded(name proto.Name, v graph.Value) graph.Value {
	if sc != sc.m.main || name.Frame != 0 {
		return v
	}
	s := sc.m.meta.Values[name.Text].Stored
	if s == nil || s.Scale == 0 || v == graph.None {
		return v
	}
	if f := sc.b.Fact(v); f.DType != tensor.Float32 || f.Const != nil {
		return v
	}
	sc.m.Coded++
	return Rounded(sc.b, v, s)
}

// Rounded returns what the codes of v stand for.
func Rounded(b *graph.Builder, v graph.Value, s *metadata.Stored) graph.Value {
	d := codeTypes[s.Type]
	zero := make([]byte, d.Bits()/8)
	tensor.PutInt(d, zero, 0, int64(s.Zero))
	scale, z := b.Float32(s.Scale), b.Const("", tensor.T(d), zero)
	q := b.Add(&op.Quantize{Axis: 1, To: d, Saturate: true}, v, scale, z)
	return b.Add(&op.Dequantize{Axis: 1, To: tensor.Float32}, q, scale, z)
}
