package export

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// message is a protobuf message under construction. Large byte fields are kept as they are, not copied: parts follow
// one another in the file.
type message struct {
	parts [][]byte
	size  int64
}

// kept is the length from which bytes become a part of their own.
const kept = 4096

func (m *message) raw(b []byte) {
	m.size += int64(len(b))
	if len(b) >= kept {
		m.parts = append(m.parts, b, nil) // what follows is not appended to b
		return
	}
	if len(m.parts) == 0 {
		m.parts = append(m.parts, nil)
	}
	last := len(m.parts) - 1
	m.parts[last] = append(m.parts[last], b...)
}

func (m *message) varint(n protowire.Number, v int64) {
	m.raw(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(v)))
}

func (m *message) float(n protowire.Number, v float32) {
	m.raw(protowire.AppendFixed32(protowire.AppendTag(nil, n, protowire.Fixed32Type), math.Float32bits(v)))
}

func (m *message) bytes(n protowire.Number, b []byte) {
	m.raw(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.BytesType), uint64(len(b))))
	m.raw(b)
}

func (m *message) text(n protowire.Number, s string) {
	if s != "" {
		m.bytes(n, []byte(s))
	}
}

func (m *message) message(n protowire.Number, o *message) {
	m.raw(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.BytesType), uint64(o.size)))
	m.size += o.size
	if o.size < kept {
		m.size -= o.size
		for _, p := range o.parts {
			m.raw(p)
		}
		return
	}
	m.parts = append(append(m.parts, o.parts...), nil)
}

// Numbers of AttributeProto.AttributeType.
const (
	attrFloat  = 1
	attrInt    = 2
	attrString = 3
	attrTensor = 4
	attrGraph  = 5
	attrFloats = 6
	attrInts   = 7
	attrTexts  = 8
)

// attr is an attribute of a node.
type attr struct {
	name string
	of   message
	ints []int64 // of numbers
}

func newAttr(name string, typ int64, fill func(m *message)) attr {
	a := attr{name: name}
	a.of.text(1, name)
	fill(&a.of)
	a.of.varint(20, typ)
	return a
}

func number(name string, v int64) attr {
	return newAttr(name, attrInt, func(m *message) { m.varint(3, v) })
}

func flag(name string, v bool) attr {
	if v {
		return number(name, 1)
	}
	return number(name, 0)
}

func numbers(name string, v ...int64) attr {
	a := newAttr(name, attrInts, func(m *message) {
		for _, x := range v {
			m.varint(8, x)
		}
	})
	a.ints = v
	return a
}

func real(name string, v float32) attr {
	return newAttr(name, attrFloat, func(m *message) { m.float(2, v) })
}

func reals(name string, v []float32) attr {
	return newAttr(name, attrFloats, func(m *message) {
		for _, x := range v {
			m.float(7, x)
		}
	})
}

func text(name, v string) attr {
	return newAttr(name, attrString, func(m *message) { m.bytes(4, []byte(v)) })
}

func texts(name string, v []string) attr {
	return newAttr(name, attrTexts, func(m *message) {
		for _, x := range v {
			m.bytes(9, []byte(x))
		}
	})
}

func body(name string, g *message) attr {
	return newAttr(name, attrGraph, func(m *message) { m.message(6, g) })
}

func tensorOf(name string, t *message) attr {
	return newAttr(name, attrTensor, func(m *message) { m.message(5, t) })
}

// elementNumber is TensorProto.DataType of an element type.
func elementNumber(d tensor.DType) int64 { return proto.ElementType(d) }

func elementType(name string, d tensor.DType) attr { return number(name, elementNumber(d)) }
