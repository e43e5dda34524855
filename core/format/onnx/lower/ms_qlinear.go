package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var msQLinearOperators = []Operator{
	{microsoft, "QLinearAdd", 1, qlinearBinary(func() graph.Op { return &op.Add{} })},
	{microsoft, "QLinearMul", 1, qlinearBinary(func() graph.Op { return &op.Mul{} })},
	{microsoft, "QLinearConcat", 1, lowerQLinearConcat},
	{microsoft, "QLinearGlobalAveragePool", 1, qlinearUnary(5, func(n *node) (graph.Op, error) {
		return &op.AveragePool{Global: true, ChannelsLast: n.int("channels_last", 0) != 0}, nil
	})},
	{microsoft, "QLinearAveragePool", 1, qlinearUnary(4, func(n *node) (graph.Op, error) {
		w, err := n.window()
		return &op.AveragePool{Kernel: w.kernel, Strides: w.strides, Pads: w.pads, AutoPad: w.auto, Ceil: w.ceil,
			CountPads: n.int("count_include_pad", 0) != 0, ChannelsLast: n.int("channels_last", 0) != 0}, err
	})},
	{microsoft, "QLinearSigmoid", 1, qlinearUnary(4, func(*node) (graph.Op, error) { return &op.Sigmoid{}, nil })},
	{microsoft, "QLinearLeakyRelu", 1, qlinearUnary(4, func(n *node) (graph.Op, error) {
		return &op.LeakyRelu{Alpha: n.float("alpha", 0.01)}, nil
	})},
	{microsoft, "QLinearSoftmax", 1, lowerQLinearSoftmax},
	{microsoft, "QLinearWhere", 1, lowerQLinearWhere},
	{microsoft, "NhwcMaxPool", 1, lowerNhwcMaxPool},
	{microsoft, "QGemm", 1, lowerQGemm},
	{microsoft, "QLinearConv", 1, lowerQLinearConv},
	{microsoft, "QuantizeLinear", 1, lowerQuantize},
	{microsoft, "DequantizeLinear", 1, lowerDequantize},
}

// qlinearBinary: a, its scale and zero point, b, its scale and zero point, those of the result.
func qlinearBinary(f func() graph.Op) lowering {
	return func(n *node) error {
		if err := n.want(7, 8); err != nil {
			return err
		}
		if !n.has(3) {
			return fault.New(fault.File, "input 3 is missing")
		}
		if err := n.singleScales(1, 2, 4, 5, 6, 7); err != nil {
			return err
		}
		return n.codes(n.b.Add(f(), n.dequantized(n.arg(0), 1, 1), n.dequantized(n.arg(3), 4, 1)), 6, 0)
	}
}

// qlinearUnary: x, its scale and zero point, those of the result.
func qlinearUnary(least int, f func(n *node) (graph.Op, error)) lowering {
	return func(n *node) error {
		if err := n.wantCodes(least); err != nil {
			return err
		}
		o, err := f(n)
		if err != nil {
			return err
		}
		return n.codes(n.b.Add(o, n.dequantized(n.arg(0), 1, 1)), 3, 0)
	}
}

// wantCodes checks the inputs of an operator of one quantized tensor.
func (n *node) wantCodes(least int) error {
	if n := len(n.p.Node.In); n < least || n > 5 {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(least, 5, "input"), n)
	}
	for _, i := range []int{0, 1, 3} {
		if !n.has(i) {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	return n.singleScales(1, 2, 3, 4)
}

// lowerQLinearConcat: the scale and zero point of y, then each operand with its own.
func lowerQLinearConcat(n *node) error {
	count := len(n.p.Node.In)
	if count < 5 || count%3 != 2 {
		return fault.New(fault.File, "want a scale, a zero point and three inputs for each operand, got %d", count)
	}
	if n.p.Attrs["axis"] == nil {
		return fault.New(fault.File, "attribute axis is missing")
	}
	var all []graph.Value
	for i := 2; i < count; i += 3 {
		if err := n.singleScales(i+1, i+2); err != nil {
			return err
		}
		all = append(all, n.dequantized(n.arg(i), i+1, 1))
	}
	return n.codes(n.b.Add(&op.Concat{Axis: n.int("axis", 0)}, all...), 0, 2)
}

// lowerQLinearSoftmax: below 13 of attribute opset it works on the input flattened to two dimensions at axis. The codes
// of 1 are whole, as in ONNX Runtime: the scale is 1/floor(1/scale).
func lowerQLinearSoftmax(n *node) error {
	if err := n.wantCodes(4); err != nil {
		return err
	}
	opset := n.int("opset", 0)
	if opset < 1 {
		return fault.New(fault.File, "attribute opset: %d", opset)
	}
	x, axis := n.dequantized(n.arg(0), 1, 1), n.int("axis", -1)
	var y graph.Value
	if opset >= 13 {
		y = n.b.Add(&op.Softmax{Axis: axis}, x)
	} else {
		y = n.b.Add(&op.Softmax{Axis: -1}, n.b.Add(&op.Flatten{Axis: axis}, x))
		y = n.b.Add(&op.Reshape{}, y, n.b.Add(&op.Shape{}, x))
	}
	whole := n.b.Add(&op.Floor{}, n.b.Add(&op.Reciprocal{}, n.arg(3)))
	n.in[3] = n.b.Add(&op.Reciprocal{}, whole)
	return n.codes(y, 3, 0)
}

// lowerQGemm: a and b with scales and zero points, those of b also per column; int32 c, whose scale is the product of
// theirs; and the scale and zero point of y, without which the result is real.
func lowerQGemm(n *node) error {
	if err := n.want(6, 9); err != nil {
		return err
	}
	if err := n.singleScales(1, 2, 7, 8); err != nil {
		return err
	}
	o := &op.MatMul{TransposeA: n.int("transA", 0) != 0, TransposeB: n.int("transB", 0) != 0}
	axis := int64(1)
	if o.TransposeB {
		axis = 0
	}
	y := n.b.Add(o, n.dequantized(n.arg(0), 1, 1), n.dequantized(n.arg(3), 4, axis))
	if n.has(6) {
		scale := n.b.Add(&op.Mul{}, n.arg(1), n.arg(4))
		y = n.b.Add(&op.Add{}, y, n.b.Add(&op.Mul{}, n.b.Add(&op.Cast{To: tensor.Float32}, n.arg(6)), scale))
	}
	y, err := n.scaled(y, n.float("alpha", 1))
	if err != nil {
		return err
	}
	if !n.has(7) {
		return n.result(y)
	}
	return n.codes(y, 7, 0)
}

// lowerQLinearWhere: a condition, two operands, each with its scale and zero point, and those of the result.
func lowerQLinearWhere(n *node) error {
	if err := n.want(9, 9); err != nil {
		return err
	}
	if err := n.singleScales(2, 3, 5, 6, 7, 8); err != nil {
		return err
	}
	return n.codes(n.b.Add(&op.Where{}, n.arg(0), n.dequantized(n.arg(1), 2, 1), n.dequantized(n.arg(4), 5, 1)), 7, 1)
}

// lowerNhwcMaxPool: codes are in the order of the numbers that they stand for.
func lowerNhwcMaxPool(n *node) error {
	w, err := n.window()
	if err != nil {
		return err
	}
	return n.emit(&op.MaxPool{Kernel: w.kernel, Strides: w.strides, Dilations: w.dilations, Pads: w.pads, AutoPad: w.auto,
		Ceil: w.ceil, ChannelsLast: true}, n.arg(0))
}
