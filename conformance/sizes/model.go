// Package sizes makes random ONNX models whose inputs have open sizes and whose operands follow from these: weights of
// products, shapes, paddings, conditions. Each is run with five sizes one after the other, up and down, in one
// execution, made anew and restored from its saved form, through each API that takes open sizes. What comes is compared
// with the reference kernels, which know nothing of plans and of earlier runs.
package sizes

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The element types of ONNX that models use.
const (
	float  = 1
	uint8s = 2
	int8s  = 3
	int32s = 6
	int64s = 7
	bools  = 9
)

// msg is a protobuf message, built field by field.
type msg []byte

func (m msg) str(num protowire.Number, s string) msg {
	return protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
}

func (m msg) num(num protowire.Number, v int64) msg {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(v))
}

func (m msg) sub(num protowire.Number, s msg) msg { return m.str(num, string(s)) }

// attr is an attribute; its value is an int64, a float32, a string, a []int64, a constant or a body.
type attr struct {
	name  string
	value any
}

func (a attr) message() msg {
	m := msg(nil).str(1, a.name)
	switch v := a.value.(type) {
	case int64:
		return m.num(3, v).num(20, 2)
	case float32:
		m = protowire.AppendFixed32(protowire.AppendTag(m, 2, protowire.Fixed32Type), math.Float32bits(v))
		return m.num(20, 1)
	case string:
		return m.str(4, v).num(20, 3)
	case []int64:
		for _, x := range v {
			m = m.num(8, x)
		}
		return m.num(20, 7)
	case constant:
		return m.sub(5, v.message("")).num(20, 4)
	case *builder:
		return m.sub(6, v.message()).num(20, 5)
	}
	panic(fmt.Sprintf("sizes: an attribute of type %T", a.value))
}

// constant is a tensor of a model.
type constant struct {
	dtype int64
	dims  []int64
	data  []byte
}

func (c constant) message(name string) msg {
	m := msg(nil)
	for _, d := range c.dims {
		m = m.num(1, d)
	}
	return m.num(2, c.dtype).str(8, name).str(9, string(c.data))
}

func longs(v ...int64) constant {
	c := constant{dtype: int64s, dims: []int64{int64(len(v))}}
	for _, x := range v {
		c.data = binary.LittleEndian.AppendUint64(c.data, uint64(x))
	}
	return c
}

func long(v int64) constant {
	c := longs(v)
	c.dims = nil
	return c
}

func floats(dims []int64, v []float32) constant {
	c := constant{dtype: float, dims: dims}
	for _, x := range v {
		c.data = binary.LittleEndian.AppendUint32(c.data, math.Float32bits(x))
	}
	return c
}

func real(v float32) constant { return floats(nil, []float32{v}) }

// builder is a graph under construction.
type builder struct {
	nodes, consts, in, out []msg
	prefix                 string
	count                  int
}

// name returns a name that no other value of the model has.
func (b *builder) name() string {
	b.count++
	return fmt.Sprint(b.prefix, "v", b.count)
}

func (b *builder) constant(c constant) string {
	name := b.name()
	b.consts = append(b.consts, c.message(name))
	return name
}

func (b *builder) ints(v ...int64) string { return b.constant(longs(v...)) }

// declare is a ValueInfoProto; a size without a number is open, with a name of its own or the given one.
func declare(name string, dtype int64, dims []any) msg {
	var shape msg
	for _, d := range dims {
		switch d := d.(type) {
		case int64:
			shape = shape.sub(1, msg(nil).num(1, d))
		case string:
			shape = shape.sub(1, msg(nil).str(2, d))
		}
	}
	return msg(nil).str(1, name).sub(2, msg(nil).sub(1, msg(nil).num(1, dtype).sub(2, shape)))
}

// node adds a node with one output and returns its name; an empty input is absent.
func (b *builder) node(op string, in []string, attrs ...attr) string {
	return b.nodeN(op, 1, in, attrs...)[0]
}

func (b *builder) nodeN(op string, n int, in []string, attrs ...attr) []string {
	var m msg
	for _, s := range in {
		m = m.str(1, s)
	}
	var out []string
	for range n {
		out = append(out, b.name())
		m = m.str(2, out[len(out)-1])
	}
	m = m.str(4, op)
	for _, a := range attrs {
		m = m.sub(5, a.message())
	}
	b.nodes = append(b.nodes, m)
	return out
}

func (b *builder) message() msg {
	m := msg(nil).str(2, "sizes")
	for _, f := range []struct {
		num  protowire.Number
		list []msg
	}{{1, b.nodes}, {5, b.consts}, {11, b.in}, {12, b.out}} {
		for _, x := range f.list {
			m = m.sub(f.num, x)
		}
	}
	return m
}

// file is the model, with metadata by key.
func (b *builder) file(meta [][2]string) []byte {
	m := msg(nil).num(1, 8).sub(7, b.message()).sub(8, msg(nil).num(2, 17))
	for _, x := range meta {
		m = m.sub(14, msg(nil).str(1, x[0]).str(2, x[1]))
	}
	return m
}
