// Package bombs makes models that are small as files and large in meaning: sizes of 2^40 elements, loops without end,
// windows of a million taps. Whoever loads one gets an error or a program, soon and within the memory that there is.
package bombs

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The element types of ONNX that bombs use.
const (
	float  = 1
	uint8s = 2
	int8s  = 3
	int32s = 6
	int64s = 7
	bools  = 9
	half   = 10
	double = 11
)

// msg is a protobuf message, built field by field.
type msg []byte

func (m msg) str(num protowire.Number, s string) msg {
	return protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
}

func (m msg) num(num protowire.Number, v int64) msg {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(v))
}

func (m msg) real(num protowire.Number, v float32) msg {
	return protowire.AppendFixed32(protowire.AppendTag(m, num, protowire.Fixed32Type), math.Float32bits(v))
}

func (m msg) sub(num protowire.Number, s msg) msg { return m.str(num, string(s)) }

// attr is an attribute; its value is an int64, a float32, a string, a []int64, a []float32, a tensor or a graph.
type attr struct {
	name  string
	value any
}

func (a attr) message() msg {
	m := msg(nil).str(1, a.name)
	switch v := a.value.(type) {
	case int64:
		m = m.num(3, v).num(20, 2)
	case float32:
		m = m.real(2, v).num(20, 1)
	case string:
		m = m.str(4, v).num(20, 3)
	case []int64:
		for _, x := range v {
			m = m.num(8, x)
		}
		m = m.num(20, 7)
	case []float32:
		for _, x := range v {
			m = m.real(7, x)
		}
		m = m.num(20, 6)
	case constant:
		m = m.sub(5, v.message("")).num(20, 4)
	case *graph:
		m = m.sub(6, v.message()).num(20, 5)
	}
	return m
}

// constant is a tensor of a few numbers.
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

func floats(v ...float32) constant {
	c := constant{dtype: float, dims: []int64{int64(len(v))}}
	for _, x := range v {
		c.data = binary.LittleEndian.AppendUint32(c.data, math.Float32bits(x))
	}
	return c
}

func real(v float32) constant {
	c := floats(v)
	c.dims = nil
	return c
}

func truth(v byte) constant { return constant{dtype: bools, data: []byte{v}} }

// graph is a graph under construction.
type graph struct {
	nodes, consts []msg
	in, out       []msg
	prefix        string
	count         int
}

// name returns a name that no other value of the model has.
func (g *graph) name() string {
	g.count++
	return g.prefix + string(rune('a'+g.count%26)) + itoa(g.count/26)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// constant adds an initializer.
func (g *graph) constant(c constant) string {
	name := g.name()
	g.consts = append(g.consts, c.message(name))
	return name
}

// input adds an input; sizes below 0 are open.
func (g *graph) input(dtype int64, dims ...int64) string {
	name := g.name()
	g.in = append(g.in, value(name, dtype, dims, true))
	return name
}

// parameter adds an input of unknown shape, as bodies have.
func (g *graph) parameter(dtype int64) string {
	name := g.name()
	g.in = append(g.in, value(name, dtype, nil, false))
	return name
}

// output adds an output of unknown shape.
func (g *graph) output(name string, dtype int64) {
	g.out = append(g.out, value(name, dtype, nil, false))
}

func value(name string, dtype int64, dims []int64, ranked bool) msg {
	t := msg(nil).num(1, dtype)
	if ranked {
		var shape msg
		for i, d := range dims {
			if d < 0 {
				shape = shape.sub(1, msg(nil).str(2, "d"+itoa(i)))
			} else {
				shape = shape.sub(1, msg(nil).num(1, d))
			}
		}
		t = t.sub(2, shape)
	}
	return msg(nil).str(1, name).sub(2, msg(nil).sub(1, t))
}

// node adds a node with one output and returns its name; an empty input is absent.
func (g *graph) node(op string, in []string, attrs ...attr) string {
	return g.nodeN(op, 1, in, attrs...)[0]
}

func (g *graph) nodeN(op string, n int, in []string, attrs ...attr) []string {
	var m msg
	for _, s := range in {
		m = m.str(1, s)
	}
	var out []string
	for range n {
		out = append(out, g.name())
		m = m.str(2, out[len(out)-1])
	}
	m = m.str(4, op)
	for _, a := range attrs {
		m = m.sub(5, a.message())
	}
	g.nodes = append(g.nodes, m)
	return out
}

func (g *graph) message() msg {
	m := msg(nil).str(2, "bomb")
	for _, f := range []struct {
		num  protowire.Number
		list []msg
	}{{1, g.nodes}, {5, g.consts}, {11, g.in}, {12, g.out}} {
		for _, x := range f.list {
			m = m.sub(f.num, x)
		}
	}
	return m
}

// model returns the file.
func (g *graph) model() []byte {
	return msg(nil).num(1, 8).sub(7, g.message()).sub(8, msg(nil).num(2, 17))
}
