// Package onnxtest writes small ONNX models for tests.
package onnxtest

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// ONNX element types.
const (
	Float  = 1
	Uint8  = 2
	Int8   = 3
	Uint16 = 4
	Int16  = 5
	Int32  = 6
	Int64  = 7
	Bool   = 9
	Half   = 10
)

// Model is an ONNX model under construction, of opset 17.
type Model struct{ graph, props []byte }

func field(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func number(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

// value appends an input (field 11) or output (field 12).
func (m *Model) value(n protowire.Number, name string, elem int64, dims ...int64) *Model {
	var shape []byte
	for _, d := range dims {
		dim := number(nil, 1, d)
		if d < 0 {
			dim = field(nil, 2, []byte("n"))
		}
		shape = field(shape, 1, dim)
	}
	tensor := field(number(nil, 1, elem), 2, shape)
	m.graph = field(m.graph, n, field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor)))
	return m
}

// Input appends an input; a size of -1 is the open dimension n.
func (m *Model) Input(name string, elem int64, dims ...int64) *Model {
	return m.value(11, name, elem, dims...)
}

// Output appends an output, as Input does.
func (m *Model) Output(name string, elem int64, dims ...int64) *Model {
	return m.value(12, name, elem, dims...)
}

// Node appends a node with one result.
func (m *Model) Node(op, out string, in ...string) *Model {
	var n []byte
	for _, i := range in {
		n = field(n, 1, []byte(i))
	}
	m.graph = field(m.graph, 1, field(field(field(n, 2, []byte(out)), 3, []byte(op+"_"+out)), 4, []byte(op)))
	return m
}

// With appends a node with one result and attributes that are lists of integers.
func (m *Model) With(op, out string, ints map[string][]int64, in ...string) *Model {
	var n []byte
	for _, i := range in {
		n = field(n, 1, []byte(i))
	}
	n = field(field(field(n, 2, []byte(out)), 3, []byte(op+"_"+out)), 4, []byte(op))
	for _, name := range slices.Sorted(maps.Keys(ints)) {
		a := field(nil, 1, []byte(name))
		if one := ints[name]; name == "group" || name == "axis" {
			a = number(number(a, 3, one[0]), 20, 2)
		} else {
			for _, v := range one {
				a = number(a, 8, v)
			}
			a = number(a, 20, 7)
		}
		n = field(n, 5, a)
	}
	m.graph = field(m.graph, 1, n)
	return m
}

// Foreign appends a node of the domain "acme" with attributes, each a field 5 of the node.
func (m *Model) Foreign(op, out string, attrs []byte, in ...string) *Model {
	var n []byte
	for _, i := range in {
		n = field(n, 1, []byte(i))
	}
	n = field(field(field(field(n, 2, []byte(out)), 3, []byte(op+"_"+out)), 4, []byte(op)), 7, []byte("acme"))
	m.graph = field(m.graph, 1, append(n, attrs...))
	return m
}

// If appends a node whose branches are the graphs of other models, each of one output.
func (m *Model) If(out, cond string, then, otherwise *Model) *Model {
	n := field(field(field(field(nil, 1, []byte(cond)), 2, []byte(out)), 3, []byte("If_"+out)), 4, []byte("If"))
	for name, branch := range map[string]*Model{"then_branch": then, "else_branch": otherwise} {
		n = append(n, Attribute(name, 5, field(nil, 6, field(branch.graph, 2, []byte(name))))...)
	}
	m.graph = field(m.graph, 1, n)
	return m
}

// Declare appends a value_info.
func (m *Model) Declare(name string, elem int64, dims ...int64) *Model {
	return m.value(13, name, elem, dims...)
}

// Scalar appends a constant of one element.
func (m *Model) Scalar(name string, elem int64, raw []byte) *Model {
	return m.Constant(name, elem, raw)
}

// Constant appends a constant, its elements as ONNX's raw_data has them.
func (m *Model) Constant(name string, elem int64, raw []byte, dims ...int64) *Model {
	var t []byte
	for _, d := range dims {
		t = number(t, 1, d)
	}
	m.graph = field(m.graph, 5, field(field(number(t, 2, elem), 8, []byte(name)), 9, raw))
	return m
}

// Unranked appends an input and an output without shapes.
func (m *Model) Unranked(in, out string, elem int64) *Model {
	return m.unranked(11, in, elem).unranked(12, out, elem)
}

// UnrankedOutput appends an output without a shape.
func (m *Model) UnrankedOutput(name string, elem int64) *Model { return m.unranked(12, name, elem) }

func (m *Model) unranked(n protowire.Number, name string, elem int64) *Model {
	m.graph = field(m.graph, n, field(field(nil, 1, []byte(name)), 2, field(nil, 1, number(nil, 1, elem))))
	return m
}

// Attribute returns an attribute for Foreign: value holds its other fields, typ is its type in AttributeProto.
func Attribute(name string, typ int64, value []byte) []byte {
	return field(nil, 5, number(append(field(nil, 1, []byte(name)), value...), 20, typ))
}

// Number returns a field of AttributeProto that is an integer.
func Number(n protowire.Number, v int64) []byte { return number(nil, n, v) }

// Meta appends metadata.
func (m *Model) Meta(key, value string) *Model {
	m.props = field(m.props, 14, field(field(nil, 1, []byte(key)), 2, []byte(value)))
	return m
}

// Bytes returns the file.
func (m *Model) Bytes() []byte {
	b := field(number(nil, 1, 8), 7, field(m.graph, 2, []byte("test")))
	return append(field(b, 8, number(nil, 2, 17)), m.props...)
}
