package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var quantOperators = []Operator{
	{"", "QuantizeLinear", 10, lowerQuantize},
	{"", "DequantizeLinear", 10, lowerDequantize},
	{"", "QLinearConv", 10, lowerQLinearConv},
	{"", "QLinearMatMul", 10, lowerQLinearMatMul},
}

// lowerQuantize: the result has the type of the zero point, else that of output_dtype, else uint8.
func lowerQuantize(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	to, err := n.dtype("output_dtype")
	if err != nil {
		return err
	}
	switch {
	case n.has(2):
		to = n.fact(2).DType
	case to == 0:
		to = tensor.Uint8
	}
	return n.sayAxis(n.emit(&op.Quantize{Axis: n.int("axis", 1), Block: n.int("block_size", 0), To: to,
		Saturate: n.int("saturate", 1) != 0}, n.in...))
}

// lowerDequantize: the result has the type of the scale unless output_dtype (opset 23) names another.
func lowerDequantize(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	to, err := n.dtype("output_dtype")
	if err != nil {
		return err
	}
	if to == 0 {
		to = n.fact(1).DType
	}
	err = n.emit(&op.Dequantize{Axis: n.int("axis", 1), Block: n.int("block_size", 0), To: to}, n.in...)
	return n.sayAxis(err)
}

// sayAxis adds to an error of a node with scales per channel that the axis is the default.
func (n *node) sayAxis(err error) error {
	if err != nil && n.p.Attrs["axis"] == nil && n.fact(1).Shape.Rank() > 0 {
		return fault.Wrap(err, "attribute axis is not given and 1 by default")
	}
	return err
}

// dequantized returns input i as real values, with the scale and zero point of inputs s and s+1; axis for those that
// are given per channel.
func (n *node) dequantized(v graph.Value, s int, axis int64) graph.Value {
	return n.b.Add(&op.Dequantize{Axis: axis, To: tensor.Float32}, v, n.arg(s), n.arg(s+1))
}

// requantized makes y, quantized with inputs s and s+1, output 0.
func (n *node) requantized(y graph.Value, s int) error {
	return n.emit(&op.Quantize{To: n.fact(s + 1).DType, Saturate: true}, y, n.arg(s), n.arg(s+1))
}

// lowerQLinearConv: x, its scale and zero point, w, its scale and zero point, those of y, and an int32 bias with scale
// x_scale * w_scale. The operator of com.microsoft may have the channels last.
func lowerQLinearConv(n *node) error {
	if err := n.want(8, 9); err != nil {
		return err
	}
	groups := n.int("group", 1)
	auto, err := n.autoPad()
	if err != nil {
		return err
	}
	w, err := n.movedFilter(n.dequantized(n.arg(3), 4, 0), false, groups)
	if err != nil {
		return err
	}
	in := []graph.Value{n.dequantized(n.arg(0), 1, 1), w}
	if n.has(8) {
		scale := n.b.Add(&op.Mul{}, n.arg(1), n.arg(4))
		in = append(in, n.b.Add(&op.Mul{}, n.b.Add(&op.Cast{To: tensor.Float32}, n.arg(8)), scale))
	}
	y := n.b.Add(&op.Conv{Strides: n.ints("strides"), Dilations: n.ints("dilations"), Pads: n.ints("pads"), AutoPad: auto,
		Groups: groups, ChannelsLast: n.int("channels_last", 0) != 0}, in...)
	return n.requantized(y, 6)
}

// lowerQLinearMatMul: per-row scales of a lie on its second last dimension, per-column scales of b on its last.
func lowerQLinearMatMul(n *node) error {
	if err := n.want(8, 8); err != nil {
		return err
	}
	ra, err := n.rank(0)
	if err != nil {
		return err
	}
	if d := n.fact(1).DType; d != tensor.Float32 && d != tensor.Invalid && d != tensor.Float16 && d != tensor.BFloat16 {
		return fault.New(fault.Type, "input 1: want a float scale, got %v", d)
	}
	a := n.dequantized(n.arg(0), 1, int64(max(ra-2, 0)))
	b := n.dequantized(n.arg(3), 4, -1)
	return n.requantized(n.b.Add(&op.MatMul{}, a, b), 6)
}
