// Package onnx reads ONNX models (ai.onnx opsets 7 to 23) into graphs: the wire format, the limits that guard against
// hostile files, and the lowering of operators to the vocabulary of core/op. The numbers of the wire format are those
// of the ONNX project's onnx.proto.
package onnx

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Limits of what is read. They are far above any real model and keep a hostile one from taking memory or time.
const (
	maxName  = 1 << 16 // bytes of a name or other string
	maxRank  = 64
	maxDepth = 16      // graphs inside graphs
	maxNodes = 1 << 17 // nodes of a model, all graphs and functions together
	maxAttrs = 1 << 10 // attributes of a node
	// memory of parts, with what the graph keeps of them, is asked for by so many
	partsAtOnce, partBytes = 1 << 10, 1 << 10

	// messages and names of a model, all together: two bytes of a file can make one, which takes hundreds in memory
	maxParts = 1 << 20
)

// model is ModelProto.
type model struct {
	irVersion int64
	producer  string
	graph     *graphProto
	opsets    map[string]int64 // domain ("" is ai.onnx) to version
	functions []*functionProto
	meta      map[string]string
	nodes     int // counted against maxNodes
	parts     int // counted against maxParts
}

// count bounds the parts of a model.
func (m *model) count() error {
	if m.parts++; m.parts > maxParts {
		return fault.New(fault.File, "model: more than %d nodes, tensors, values, attributes and names", maxParts)
	}
	if m.parts%partsAtOnce == 0 {
		return fault.Wrap(mem.Admit(partsAtOnce*partBytes), "model: %d nodes, tensors, values, attributes and names", m.parts)
	}
	return nil
}

// graphProto is GraphProto.
type graphProto struct {
	name   string
	nodes  []*nodeProto
	inits  []*tensorProto
	sparse int // sparse initializers, which are refused
	in     []*valueInfo
	out    []*valueInfo
	values []*valueInfo
}

// nodeProto is NodeProto.
type nodeProto struct {
	name, opType, domain string
	overload             string // which of several functions of one name
	in, out              []string
	attrs                map[string]*attribute
	reads                []string // see needs
	index                int      // position in the model, counted over its main graph
}

// attribute is AttributeProto.
type attribute struct {
	name, ref string // ref: the attribute of the enclosing function whose value this is
	typ       int64
	f         float32
	i         int64
	s         []byte
	t         *tensorProto
	g         *graphProto
	floats    []float32
	ints      []int64
	strings   [][]byte
	graphs    []*graphProto
}

// tensorProto is TensorProto. raw and the values of typed fields are views of the file or decoded numbers; exactly one
// is used.
type tensorProto struct {
	name     string
	dims     []int64
	dtype    int64
	raw      []byte
	hasRaw   bool
	floats   []float32
	ints     []int64 // int32_data, int64_data and uint64_data
	doubles  []float64
	strings  int
	external map[string]string
	location int64 // 1: external
}

// valueInfo is ValueInfoProto with a tensor type.
type valueInfo struct {
	name   string
	dtype  int64 // 0: not a tensor or not known
	kind   string
	ranked bool
	dims   []dimension
}

// dimension is a size or a name, or neither.
type dimension struct {
	value int64
	known bool
	param string
}

// functionProto is FunctionProto.
type functionProto struct {
	name, domain string
	overload     string
	in, out      []string
	attrs        []string
	defaults     map[string]*attribute
	nodes        []*nodeProto
	opsets       map[string]int64
}

func parseModel(b []byte) (*model, error) {
	m := &model{opsets: map[string]int64{}, meta: map[string]string{}}
	err := eachField("model", b, func(f field) (err error) {
		switch f.num {
		case 1:
			m.irVersion = int64(f.value)
		case 2:
			m.producer, err = f.text("producer name", maxName)
		case 7:
			if m.graph != nil {
				return fault.New(fault.File, "model: two graphs")
			}
			m.graph, err = m.parseGraph(f, 0)
		case 8:
			if err = m.count(); err == nil {
				err = parseOpset(f, m.opsets)
			}
		case 14:
			if err = m.count(); err == nil {
				err = parseEntry(f, "metadata", m.meta)
			}
		case 25:
			var fn *functionProto
			if fn, err = m.parseFunction(f); err == nil {
				m.functions = append(m.functions, fn)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.graph == nil {
		return nil, fault.New(fault.File, "model: no graph: not an ONNX model, or a truncated one")
	}
	return m, nil
}

func parseOpset(f field, to map[string]int64) error {
	var domain string
	var version int64
	err := eachField("opset", f.bytes, func(f field) (err error) {
		switch f.num {
		case 1:
			domain, err = f.text("opset domain", maxName)
		case 2:
			version = int64(f.value)
		}
		return err
	})
	if domain == "ai.onnx" {
		domain = ""
	}
	to[domain] = version
	return err
}

func parseEntry(f field, what string, to map[string]string) error {
	var key, value string
	err := eachField(what, f.bytes, func(f field) (err error) {
		switch f.num {
		case 1:
			key, err = f.text(what+" key", maxName)
		case 2:
			value, err = f.text(what+" value", 1<<24)
		}
		return err
	})
	if err == nil {
		to[key] = value
	}
	return err
}

func (m *model) parseGraph(f field, depth int) (*graphProto, error) {
	if err := f.want(protowire.BytesType, "graph"); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fault.New(fault.File, "model: graphs nested more than %d deep", maxDepth)
	}
	g := &graphProto{}
	err := eachField("graph", f.bytes, func(f field) (err error) {
		switch f.num {
		case 1:
			var n *nodeProto
			if n, err = m.parseNode(f, depth); err == nil {
				n.index = len(g.nodes)
				g.nodes = append(g.nodes, n)
			}
		case 2:
			g.name, err = f.text("graph name", maxName)
		case 5:
			var t *tensorProto
			if t, err = m.parseTensor(f); err == nil {
				g.inits = append(g.inits, t)
			}
		case 11, 12, 13:
			var v *valueInfo
			if v, err = m.parseValueInfo(f); err != nil {
				return err
			}
			switch f.num {
			case 11:
				g.in = append(g.in, v)
			case 12:
				g.out = append(g.out, v)
			default:
				g.values = append(g.values, v)
			}
		case 15:
			g.sparse++
		}
		return err
	})
	return g, err
}

func (m *model) parseNode(f field, depth int) (*nodeProto, error) {
	if err := f.want(protowire.BytesType, "node"); err != nil {
		return nil, err
	}
	if m.nodes++; m.nodes > maxNodes {
		return nil, fault.New(fault.File, "model: more than %d nodes", maxNodes)
	}
	n := &nodeProto{attrs: map[string]*attribute{}}
	err := eachField("node", f.bytes, func(f field) error {
		if err := m.count(); err != nil {
			return err
		}
		var err error
		var s string
		switch f.num {
		case 1:
			s, err = f.text("node input", maxName)
			n.in = append(n.in, s)
		case 2:
			s, err = f.text("node output", maxName)
			n.out = append(n.out, s)
		case 3:
			n.name, err = f.text("node name", maxName)
		case 4:
			n.opType, err = f.text("node operator", maxName)
		case 7:
			n.domain, err = f.text("node domain", maxName)
		case 8:
			n.overload, err = f.text("node overload", maxName)
		case 5:
			var a *attribute
			if a, err = m.parseAttribute(f, depth); err == nil {
				if n.attrs[a.name] != nil {
					return fault.New(fault.File, "node %q: attribute %s is given twice", n.name, a.name)
				}
				n.attrs[a.name] = a
			}
			if len(n.attrs) > maxAttrs {
				return fault.New(fault.File, "node %q: more than %d attributes", n.name, maxAttrs)
			}
		}
		return err
	})
	if n.domain == "ai.onnx" {
		n.domain = ""
	}
	return n, err
}

func (m *model) parseAttribute(f field, depth int) (*attribute, error) {
	if err := m.count(); err != nil {
		return nil, err
	}
	a := &attribute{}
	err := eachField("attribute", f.bytes, func(f field) (err error) {
		switch f.num {
		case 1:
			a.name, err = f.text("attribute name", maxName)
		case 21:
			a.ref, err = f.text("attribute reference", maxName)
		case 20:
			a.typ = int64(f.value)
		case 2:
			var v []float32
			if v, err = f.appendFloats(nil, "attribute"); err == nil && len(v) > 0 {
				a.f = v[0]
			}
		case 3:
			a.i = int64(f.value)
		case 4:
			a.s = f.bytes
		case 5:
			a.t, err = m.parseTensor(f)
		case 6:
			a.g, err = m.parseGraph(f, depth+1)
		case 7:
			a.floats, err = f.appendFloats(a.floats, "attribute")
		case 8:
			a.ints, err = f.appendInts(a.ints, "attribute")
		case 9:
			a.strings = append(a.strings, f.bytes)
			err = m.count()
		case 11:
			var g *graphProto
			if g, err = m.parseGraph(f, depth+1); err == nil {
				a.graphs = append(a.graphs, g)
			}
		}
		return err
	})
	return a, err
}

func (m *model) parseTensor(f field) (*tensorProto, error) {
	if err := m.count(); err != nil {
		return nil, err
	}
	if err := f.want(protowire.BytesType, "tensor"); err != nil {
		return nil, err
	}
	t := &tensorProto{}
	err := eachField("tensor", f.bytes, func(f field) (err error) {
		switch f.num {
		case 1:
			t.dims, err = f.appendInts(t.dims, "tensor dims")
			if len(t.dims) > maxRank {
				return fault.New(fault.File, "tensor %q: more than %d dimensions", t.name, maxRank)
			}
		case 2:
			t.dtype = int64(f.value)
		case 4:
			t.floats, err = f.appendFloats(t.floats, "tensor")
		case 5, 7, 11:
			t.ints, err = f.appendInts(t.ints, "tensor")
		case 6:
			t.strings++
		case 8:
			t.name, err = f.text("tensor name", maxName)
		case 9:
			t.raw, t.hasRaw = f.bytes, true
		case 10:
			t.doubles, err = f.appendDoubles(t.doubles, "tensor")
		case 13:
			if t.external == nil {
				t.external = map[string]string{}
			}
			if err = m.count(); err == nil {
				err = parseEntry(f, "external data", t.external)
			}
		case 14:
			t.location = int64(f.value)
		}
		return err
	})
	return t, err
}

func (m *model) parseFunction(f field) (*functionProto, error) {
	fn := &functionProto{defaults: map[string]*attribute{}, opsets: map[string]int64{}}
	err := eachField("function", f.bytes, func(f field) error {
		if err := m.count(); err != nil {
			return err
		}
		var err error
		var s string
		switch f.num {
		case 1:
			fn.name, err = f.text("function name", maxName)
		case 4:
			s, err = f.text("function input", maxName)
			fn.in = append(fn.in, s)
		case 5:
			s, err = f.text("function output", maxName)
			fn.out = append(fn.out, s)
		case 6:
			s, err = f.text("function attribute", maxName)
			fn.attrs = append(fn.attrs, s)
		case 7:
			var n *nodeProto
			if n, err = m.parseNode(f, 1); err == nil {
				fn.nodes = append(fn.nodes, n)
			}
		case 9:
			err = parseOpset(f, fn.opsets)
		case 10:
			fn.domain, err = f.text("function domain", maxName)
		case 11:
			var a *attribute
			if a, err = m.parseAttribute(f, 1); err == nil {
				fn.defaults[a.name] = a
			}
		case 13:
			fn.overload, err = f.text("function overload", maxName)
		}
		return err
	})
	if fn.domain == "ai.onnx" {
		fn.domain = ""
	}
	return fn, err
}

func (m *model) parseValueInfo(f field) (*valueInfo, error) {
	if err := m.count(); err != nil {
		return nil, err
	}
	if err := f.want(protowire.BytesType, "value"); err != nil {
		return nil, err
	}
	v := &valueInfo{}
	err := eachField("value", f.bytes, func(f field) (err error) {
		switch f.num {
		case 1:
			v.name, err = f.text("value name", maxName)
		case 2:
			err = v.parseType(f)
		}
		return err
	})
	return v, err
}

// parseType reads TypeProto: a tensor's element type and shape; of other kinds only the name.
func (v *valueInfo) parseType(f field) error {
	return eachField("type", f.bytes, func(f field) error {
		switch f.num {
		case 1:
			v.kind = "tensor"
			return eachField("tensor type", f.bytes, func(f field) error {
				switch f.num {
				case 1:
					v.dtype = int64(f.value)
				case 2:
					return v.parseShape(f)
				}
				return nil
			})
		case 4:
			v.kind = "sequence"
		case 5:
			v.kind = "map"
		case 8:
			v.kind = "sparse tensor"
		case 9:
			v.kind = "optional"
		}
		return nil
	})
}

func (v *valueInfo) parseShape(f field) error {
	v.ranked = true
	return eachField("shape", f.bytes, func(f field) error {
		if f.num != 1 {
			return nil
		}
		if len(v.dims) == maxRank {
			return fault.New(fault.File, "value %q: more than %d dimensions", v.name, maxRank)
		}
		var d dimension
		err := eachField("dimension", f.bytes, func(f field) (err error) {
			switch f.num {
			case 1:
				d.value, d.known = int64(f.value), true
			case 2:
				d.param, err = f.text("dimension name", maxName)
			}
			return err
		})
		v.dims = append(v.dims, d)
		return err
	})
}
