package export

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func typeRules() []rule {
	return []rule{
		on(exportCast),
		on(func(n *node, _ *op.Convert) error { return n.set(0, n.x(0), n.dtype(0)) }),
		on(func(n *node, _ *op.Identity) error {
			return n.move([]int{0}, func(x []string) (string, error) { return x[0], nil })
		}),
		on(func(n *node, _ *op.Declare) error { n.put(0, n.code(0)); return nil }),
		on(func(n *node, o *op.BitCast) error {
			n.needs(26)
			n.put(0, n.one("BitCast", []string{n.code(0)}, elementType("to", o.To)))
			return nil
		}),
		on(func(n *node, o *op.Quantize) error {
			to := n.made(0).DType
			if n.dtype(0) == tensor.Float64 {
				return refuse("QuantizeLinear has no numbers of float64")
			}
			in := n.codes()
			for i := range 2 { // before opset 23 both have one type, and the quotient is one of float32
				in[i] = n.x(i)
				if n.dtype(i) != tensor.Float32 {
					in[i] = n.cast(in[i], tensor.Float32)
				}
			}
			if !n.has(2) && to != tensor.Uint8 {
				attrs := n.coding(o.Axis, o.Block, o.Saturate, elementType("output_dtype", to))
				return n.plain("QuantizeLinear", in, attrs...)
			}
			n.put(0, n.one("QuantizeLinear", in, n.coding(o.Axis, o.Block, o.Saturate)...))
			return nil
		}),
		on(func(n *node, o *op.Dequantize) error {
			scale, d := n.code(1), n.dtype(1)
			if to := n.made(0).DType; d != to && d != tensor.Float32 {
				scale, d = n.cast(scale, tensor.Float32), tensor.Float32
			}
			if d == tensor.Float64 {
				scale, d = n.cast(scale, tensor.Float32), tensor.Float32
			}
			y := n.one("DequantizeLinear", []string{n.code(0), scale, n.code(2)}, n.coding(o.Axis, o.Block, true)...)
			return n.set(0, y, d)
		}),
		on(func(n *node, _ *op.DynamicQuantize) error {
			for k, v := range n.emit("DynamicQuantizeLinear", 3, n.xs()) {
				n.put(k, v)
			}
			return nil
		}),
	}
}

// coding are the attributes of QuantizeLinear and DequantizeLinear.
func (n *node) coding(axis, block int64, saturate bool, more ...attr) []attr {
	if n.fact(1).Shape.Rank() != 0 {
		more = append(more, number("axis", axis))
	}
	if block > 0 {
		more = append(more, number("block_size", block))
	}
	if !saturate && n.made(0).DType.IsFloat() {
		more = append(more, number("saturate", 0))
	}
	return more
}

// exportCast: where ONNX leaves numbers beyond a type open, elementary operators do as core does.
func exportCast(n *node, o *op.Cast) error {
	x, from := n.code(0), n.fact(0).DType
	to := o.To
	switch {
	case from == to:
		n.put(0, x)
		return nil
	case !to.IsInt():
		var more []attr
		if !o.Saturate && to.IsFloat() && to.Bits() == 8 {
			more = append(more, number("saturate", 0))
		}
		if to == tensor.Float8E8M0 {
			n.needs(typesSince[to])
			more = append(more, text("round_mode", [...]string{"up", "nearest", "down"}[o.Powers]))
		}
		n.put(0, n.one("Cast", []string{x}, append(more, elementType("to", to))...))
		return nil
	case from == tensor.Bool:
	case from.IsFloat() && o.OutOfRange == op.CastSaturate:
		if from.Bits() < 32 {
			x, from = n.cast(x, tensor.Float32), tensor.Float32
		}
		x = n.one("Where", []string{n.one("IsNaN", []string{x}), n.number(from, 0), x})
		x = n.one("Mul", []string{n.one("Floor", []string{n.one("Abs", []string{x})}), n.one("Sign", []string{x})})
		n.put(0, n.saturate(x, from, to))
		return nil
	case from.IsFloat() && to.Bits() < 64: // the low bits of the integer
		x = n.cast(x, tensor.Int64)
	case from.IsInt() && o.OutOfRange == op.CastSaturate:
		x = n.limited(x, from, to)
	}
	n.put(0, n.castInt(x, to))
	return nil
}

// limited are integers of type from, those beyond the type to at its limits.
func (n *node) limited(x string, from, to tensor.DType) string {
	lo, hi := tensor.IntLimits(to)
	least, most := tensor.IntLimits(from)
	if from == tensor.Uint64 {
		most = -1
	}
	low, high := "", ""
	if from.IsSigned() && least < lo {
		low = n.int64Of(from, lo)
	}
	if to != tensor.Uint64 && (from == tensor.Uint64 || most > hi) {
		high = n.int64Of(from, hi)
	}
	if low == "" && high == "" {
		return x
	}
	return n.one("Clip", []string{x, low, high})
}

// int64Of is a constant of an integer type that is exact for all of them.
func (n *node) int64Of(d tensor.DType, v int64) string {
	t := tensor.New(d)
	tensor.PutInt(d, t.Data, 0, v)
	return n.constant("", d, nil, t.Data)
}
