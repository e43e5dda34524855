package rules

import (
	"encoding/binary"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// relu is y = max(x, 0).
func relu(dims ...int64) *model {
	return (&model{}).Node("Relu", "y", "x").Input("x", onnxFloat, dims...).Output("y", onnxFloat, dims...)
}

// same is y = x.
func same(elem int64, dims ...int64) *model {
	return (&model{}).Node("Identity", "y", "x").Input("x", elem, dims...).Output("y", elem, dims...)
}

// add is y = a + b.
func add(dims ...int64) *model {
	return (&model{}).Node("Add", "y", "a", "b").Input("a", onnxFloat, dims...).Input("b", onnxFloat, dims...).Output("y",
		onnxFloat, dims...)
}

// quantized is y = Relu(x) with x and y quantized to int8 with this scale and zero point.
func quantized(scale float32, zero int8, dims ...int64) *model {
	m := (&model{}).Constant("s", onnxFloat, rknn.RealBytes(scale)).Constant("z", onnxInt8, []byte{byte(zero)})
	m.Node("QuantizeLinear", "a", "x", "s", "z").Node("DequantizeLinear", "b", "a", "s", "z").Node("Relu", "c", "b")
	m.Node("QuantizeLinear", "d", "c", "s", "z").Node("DequantizeLinear", "y", "d", "s", "z")
	return m.Input("x", onnxFloat, dims...).Output("y", onnxFloat, dims...)
}

// quantized16 is y = x with x and y in int16 of this scale and zero point.
func quantized16(scale float32, zero int16, dims ...int64) *model {
	m := (&model{}).Constant("s", onnxFloat, rknn.RealBytes(scale)).
		Constant("z", onnxInt16, []byte{byte(zero), byte(zero >> 8)})
	m.Node("QuantizeLinear", "a", "x", "s", "z").Node("DequantizeLinear", "b", "a", "s", "z").Node("Identity", "c", "b")
	m.Node("QuantizeLinear", "d", "c", "s", "z").Node("DequantizeLinear", "y", "d", "s", "z")
	return m.Input("x", onnxFloat, dims...).Output("y", onnxFloat, dims...)
}

// dynamic is y = max(x, 0) of 1 x 2 x n x 3 for three n, the largest in the middle.
func dynamic() *model {
	return relu(1, 2, -1, 3).Meta("anynpu.input.x.shapes", [][]int{{1, 2, 2, 3}, {1, 2, 4, 3}, {1, 2, 1, 3}})
}

// positions is y[c, w, k] = sum over h of x[c, h, w] * h * (k+1) for k up to columns and three heights: the second
// operand of the product is computed of the height.
func positions(columns int) *model {
	var index, step []byte
	for _, i := range []uint64{0, 1, 2} {
		index = binary.LittleEndian.AppendUint64(index, i)
	}
	for k := range columns {
		step = append(step, rknn.RealBytes(float32(k+1))...)
	}
	m := (&model{}).Constant("zero", onnxInt64, index[:8]).Constant("one", onnxInt64, index[8:16])
	m.Constant("two", onnxInt64, index[16:]).Constant("axis", onnxInt64, index[8:16], 1)
	m.Constant("steps", onnxFloat, step, 1, int64(columns))
	m.Op("Transpose", []string{"t"}, []string{"x"}, rknn.Attrs{"perm": []int{0, 1, 3, 2}})
	m.Node("Shape", "s", "x").Node("Gather", "n", "s", "two").Node("Range", "r", "zero", "n", "one")
	m.Op("Cast", []string{"f"}, []string{"r"}, rknn.Attrs{"to": onnxFloat})
	m.Node("Unsqueeze", "u", "f", "axis").Node("Mul", "p", "u", "steps").Node("MatMul", "y", "t", "p")
	m.Input("x", onnxFloat, 1, 2, -1, 3).Output("y", onnxFloat, 1, 2, 3, int64(columns))
	return m.Meta("anynpu.input.x.shapes", [][]int{{1, 2, 2, 3}, {1, 2, 5, 3}, {1, 2, 1, 3}})
}

// codedConv is y = Softmax(Relu(Conv(x, w))) with everything up to the Softmax between QuantizeLinear and
// DequantizeLinear.
func codedConv() *model {
	m := (&model{}).Constant("s", onnxFloat, rknn.RealBytes(0.5)).Constant("z", onnxInt8, []byte{0})
	m.Constant("w", onnxInt8, make([]byte, 135), 5, 3, 3, 3)
	m.Node("QuantizeLinear", "a", "x", "s", "z").Node("DequantizeLinear", "b", "a", "s", "z").Node("DequantizeLinear", "f",
		"w", "s", "z")
	m.Node("Conv", "c", "b", "f").Node("Relu", "d", "c").Node("QuantizeLinear", "e", "d", "s",
		"z").Node("DequantizeLinear", "g", "e", "s", "z")
	return m.Node("Softmax", "y", "g").Input("x", onnxFloat, 1, 3, 4, 4).Output("y", onnxFloat, 1, 5, 2, 2)
}

// linearConv is one QLinearConv.
func linearConv() *model {
	m := (&model{}).Constant("s", onnxFloat, rknn.RealBytes(0.5)).Constant("z", onnxInt8, []byte{0})
	m.Constant("w", onnxInt8, make([]byte, 135), 5, 3, 3, 3)
	return m.Node("QLinearConv", "y", "x", "s", "z", "w", "s", "z", "s", "z").Input("x", onnxInt8, 1, 3, 4, 4).Output("y",
		onnxInt8, 1, 5, 2, 2)
}
