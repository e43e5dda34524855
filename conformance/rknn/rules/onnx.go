package rules

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Element types of ONNX.
const (
	onnxFloat = 1
	onnxUint8 = 2
	onnxInt8  = 3
	onnxInt16 = 5
	onnxInt32 = 6
	onnxInt64 = 7
	onnxBool  = 9
	onnxHalf  = 10
)

// model is an ONNX model under construction.
type model struct{ graph, props []byte }

func field(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func number(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

// value appends a ValueInfoProto; a negative size is open, equal ones are the same.
func (m *model) value(n protowire.Number, name string, elem int64, dims []int64) *model {
	var shape []byte
	for _, d := range dims {
		dim := number(nil, 1, d)
		if d < 0 {
			dim = field(nil, 2, fmt.Append(nil, "n", -d))
		}
		shape = field(shape, 1, dim)
	}
	tensor := field(number(nil, 1, elem), 2, shape)
	m.graph = field(m.graph, n, field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor)))
	return m
}

func (m *model) input(name string, elem int64, dims ...int64) *model {
	return m.value(11, name, elem, dims)
}

func (m *model) output(name string, elem int64, dims ...int64) *model {
	return m.value(12, name, elem, dims)
}

func (m *model) inner(name string, elem int64, dims ...int64) *model {
	return m.value(13, name, elem, dims)
}

func nodeOf(domain, op, out string, in ...string) []byte {
	var n []byte
	for _, i := range in {
		n = field(n, 1, []byte(i))
	}
	n = field(field(field(n, 2, []byte(out)), 3, []byte("node_"+out)), 4, []byte(op))
	if domain != "" {
		n = field(n, 7, []byte(domain))
	}
	return n
}

func (m *model) node(op, out string, in ...string) *model {
	m.graph = field(m.graph, 1, nodeOf("", op, out, in...))
	return m
}

// custom appends a node of the domain "board" with the attributes alpha, a real, and beta, an integer.
func (m *model) custom(op, out string, alpha float32, beta int64, in ...string) *model {
	n := nodeOf("board", op, out, in...)
	real := protowire.AppendFixed32(protowire.AppendTag(field(nil, 1, []byte("alpha")), 2, protowire.Fixed32Type),
		math.Float32bits(alpha))
	n = field(n, 5, number(real, 20, 1))
	n = field(n, 5, number(number(field(nil, 1, []byte("beta")), 3, beta), 20, 2))
	m.graph = field(m.graph, 1, n)
	return m
}

// constant appends a constant; without dims it has one element and rank 0.
func (m *model) constant(name string, elem int64, raw []byte, dims ...int64) *model {
	var t []byte
	for _, d := range dims {
		t = number(t, 1, d)
	}
	m.graph = field(m.graph, 5, field(field(number(t, 2, elem), 8, []byte(name)), 9, raw))
	return m
}

// meta appends a pair of metadata; value is shown as JSON unless it is a string.
func (m *model) meta(key string, value any) *model {
	text, ok := value.(string)
	if !ok {
		b, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	m.props = field(m.props, 14, field(field(nil, 1, []byte(key)), 2, []byte(text)))
	return m
}

func (m *model) bytes() []byte {
	b := field(number(nil, 1, 8), 7, field(m.graph, 2, []byte("rules")))
	b = field(b, 8, number(nil, 2, 17))
	b = field(b, 8, number(field(nil, 1, []byte("board")), 2, 1))
	return append(b, m.props...)
}

func realBytes(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// relu is y = max(x, 0).
func relu(dims ...int64) *model {
	return (&model{}).node("Relu", "y", "x").input("x", onnxFloat, dims...).output("y", onnxFloat, dims...)
}

// same is y = x.
func same(elem int64, dims ...int64) *model {
	return (&model{}).node("Identity", "y", "x").input("x", elem, dims...).output("y", elem, dims...)
}

// add is y = a + b.
func add(dims ...int64) *model {
	return (&model{}).node("Add", "y", "a", "b").input("a", onnxFloat, dims...).input("b", onnxFloat, dims...).output("y",
		onnxFloat, dims...)
}

// quantized is y = Relu(x) with x and y quantized to int8 with this scale and zero point.
func quantized(scale float32, zero int8, dims ...int64) *model {
	m := (&model{}).constant("s", onnxFloat, realBytes(scale)).constant("z", onnxInt8, []byte{byte(zero)})
	m.node("QuantizeLinear", "a", "x", "s", "z").node("DequantizeLinear", "b", "a", "s", "z").node("Relu", "c", "b")
	m.node("QuantizeLinear", "d", "c", "s", "z").node("DequantizeLinear", "y", "d", "s", "z")
	return m.input("x", onnxFloat, dims...).output("y", onnxFloat, dims...)
}

// dynamic is y = max(x, 0) of 1 x 2 x n x 3 for three n, the largest in the middle.
func dynamic() *model {
	return relu(1, 2, -1, 3).meta("anynpu.input.x.shapes", [][]int{{1, 2, 2, 3}, {1, 2, 4, 3}, {1, 2, 1, 3}})
}

// codedConv is y = Softmax(Relu(Conv(x, w))) with everything up to the Softmax between QuantizeLinear and
// DequantizeLinear.
func codedConv() *model {
	m := (&model{}).constant("s", onnxFloat, realBytes(0.5)).constant("z", onnxInt8, []byte{0}).constant("w", onnxInt8,
		make([]byte, 135), 5, 3, 3, 3)
	m.node("QuantizeLinear", "a", "x", "s", "z").node("DequantizeLinear", "b", "a", "s", "z").node("DequantizeLinear", "f",
		"w", "s", "z")
	m.node("Conv", "c", "b", "f").node("Relu", "d", "c").node("QuantizeLinear", "e", "d", "s",
		"z").node("DequantizeLinear", "g", "e", "s", "z")
	return m.node("Softmax", "y", "g").input("x", onnxFloat, 1, 3, 4, 4).output("y", onnxFloat, 1, 5, 2, 2)
}

// linearConv is one QLinearConv.
func linearConv() *model {
	m := (&model{}).constant("s", onnxFloat, realBytes(0.5)).constant("z", onnxInt8, []byte{0}).constant("w", onnxInt8,
		make([]byte, 135), 5, 3, 3, 3)
	return m.node("QLinearConv", "y", "x", "s", "z", "w", "s", "z", "s", "z").input("x", onnxInt8, 1, 3, 4, 4).output("y",
		onnxInt8, 1, 5, 2, 2)
}
