package rknn

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Element types of ONNX.
const (
	ONNXFloat  = 1
	ONNXUint8  = 2
	ONNXInt8   = 3
	ONNXUint16 = 4
	ONNXInt16  = 5
	ONNXInt32  = 6
	ONNXInt64  = 7
	ONNXBool   = 9
	ONNXHalf   = 10
	ONNXDouble = 11
	ONNXUint32 = 12
)

// Model is an ONNX model under construction.
type Model struct {
	Opset        int64 // of ai.onnx; 0: 17
	graph, props []byte
}

func field(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func number(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

// value appends a ValueInfoProto; a negative size is open, equal ones are the same.
func (m *Model) value(n protowire.Number, name string, elem int64, dims []int64) *Model {
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

// Input appends an input of the model.
func (m *Model) Input(name string, elem int64, dims ...int64) *Model {
	return m.value(11, name, elem, dims)
}

// Output appends an output of the model.
func (m *Model) Output(name string, elem int64, dims ...int64) *Model {
	return m.value(12, name, elem, dims)
}

// Unshaped appends an output of which the model does not say the shape.
func (m *Model) Unshaped(name string, elem int64) *Model {
	m.graph = field(m.graph, 12, field(field(nil, 1, []byte(name)), 2, field(nil, 1, number(nil, 1, elem))))
	return m
}

// Inner says the type of another value.
func (m *Model) Inner(name string, elem int64, dims ...int64) *Model {
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

// Node appends a node without attributes, with one output.
func (m *Model) Node(op, out string, in ...string) *Model {
	m.graph = field(m.graph, 1, nodeOf("", op, out, in...))
	return m
}

// Attrs are the attributes of a node by name: int, []int, float32, []float32, string or []string.
type Attrs map[string]any

// Op appends a node of ai.onnx.
func (m *Model) Op(op string, outs, ins []string, attrs Attrs) *Model {
	return m.op("", op, outs, ins, attrs)
}

// CustomOp appends a node of the domain "board".
func (m *Model) CustomOp(op string, outs, ins []string, attrs Attrs) *Model {
	return m.op("board", op, outs, ins, attrs)
}

func (m *Model) op(domain, op string, outs, ins []string, attrs Attrs) *Model {
	var n []byte
	if domain != "" {
		n = field(n, 7, []byte(domain))
	}
	for _, i := range ins {
		n = field(n, 1, []byte(i))
	}
	for _, o := range outs {
		n = field(n, 2, []byte(o))
	}
	n = field(field(n, 3, []byte("node_"+outs[0])), 4, []byte(op))
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		n = field(n, 5, attribute(name, attrs[name]))
	}
	m.graph = field(m.graph, 1, n)
	return m
}

// attribute is an AttributeProto.
func attribute(name string, value any) []byte {
	a, kind := field(nil, 1, []byte(name)), int64(0)
	real := func(n protowire.Number, v float32) {
		a = protowire.AppendFixed32(protowire.AppendTag(a, n, protowire.Fixed32Type), math.Float32bits(v))
	}
	switch v := value.(type) {
	case float32:
		real(2, v)
		kind = 1
	case int:
		a, kind = number(a, 3, int64(v)), 2
	case string:
		a, kind = field(a, 4, []byte(v)), 3
	case []float32:
		for _, x := range v {
			real(7, x)
		}
		kind = 6
	case []int:
		for _, x := range v {
			a = number(a, 8, int64(x))
		}
		kind = 7
	case []string:
		for _, x := range v {
			a = field(a, 9, []byte(x))
		}
		kind = 8
	default:
		panic(fmt.Sprintf("rknn: attribute of type %T", value))
	}
	return number(a, 20, kind)
}

// Custom appends a node of the domain "board" with the attributes alpha, a real, and beta, an integer.
func (m *Model) Custom(op, out string, alpha float32, beta int64, in ...string) *Model {
	n := nodeOf("board", op, out, in...)
	n = field(field(n, 5, attribute("alpha", alpha)), 5, attribute("beta", int(beta)))
	m.graph = field(m.graph, 1, n)
	return m
}

// Constant appends a constant; without dims it has one element and rank 0.
func (m *Model) Constant(name string, elem int64, raw []byte, dims ...int64) *Model {
	var t []byte
	for _, d := range dims {
		t = number(t, 1, d)
	}
	m.graph = field(m.graph, 5, field(field(number(t, 2, elem), 8, []byte(name)), 9, raw))
	return m
}

// External appends a constant whose elements are in another file; entries are pairs of keys and values of
// external_data.
func (m *Model) External(name string, elem int64, entries []string, dims ...int64) *Model {
	var t []byte
	for _, d := range dims {
		t = number(t, 1, d)
	}
	t = field(number(t, 2, elem), 8, []byte(name))
	for i := 0; i < len(entries); i += 2 {
		t = field(t, 13, field(field(nil, 1, []byte(entries[i])), 2, []byte(entries[i+1])))
	}
	m.graph = field(m.graph, 5, number(t, 14, 1))
	return m
}

// Meta appends a pair of metadata; value is shown as JSON unless it is a string.
func (m *Model) Meta(key string, value any) *Model {
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

// Metadata are the pairs of Meta as they can be appended to any model's file.
func (m *Model) Metadata() []byte { return m.props }

// Bytes is the file.
func (m *Model) Bytes() []byte {
	b := field(number(nil, 1, 10), 7, field(m.graph, 2, []byte("rules")))
	b = field(b, 8, number(nil, 2, cmp.Or(m.Opset, 17)))
	b = field(b, 8, number(field(nil, 1, []byte("board")), 2, 1))
	return append(b, m.props...)
}

// RealBytes are float32 numbers as a constant holds them.
func RealBytes(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
