package proto

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
)

func Parse(b []byte) (*Model, error) {
	m := &Model{Opsets: map[string]int64{}, Meta: map[string]string{}}
	err := EachField("model", b, func(f Field) (err error) {
		switch f.Num {
		case 1:
			m.IRVersion = int64(f.value)
		case 2:
			m.Producer, err = f.Text("producer name", MaxName)
		case 7:
			if m.Graph != nil {
				return fault.New(fault.File, "model: two graphs")
			}
			m.Graph, err = m.parseGraph(f, 0)
		case 8:
			if err = m.Count(); err == nil {
				err = parseOpset(f, m.Opsets)
			}
		case 14:
			if err = m.Count(); err == nil {
				err = parseEntry(f, "metadata", m.Meta)
			}
		case 25:
			var fn *Function
			if fn, err = m.parseFunction(f); err == nil {
				m.Functions = append(m.Functions, fn)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.Graph == nil {
		return nil, fault.New(fault.File, "model: no graph: not an ONNX model, or a truncated one")
	}
	return m, nil
}

func parseOpset(f Field, to map[string]int64) error {
	var domain string
	var version int64
	err := EachField("opset", f.Bytes, func(f Field) (err error) {
		switch f.Num {
		case 1:
			domain, err = f.Text("opset domain", MaxName)
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

func parseEntry(f Field, what string, to map[string]string) error {
	var key, value string
	err := EachField(what, f.Bytes, func(f Field) (err error) {
		switch f.Num {
		case 1:
			key, err = f.Text(what+" key", MaxName)
		case 2:
			value, err = f.Text(what+" value", 1<<24)
		}
		return err
	})
	if err == nil {
		to[key] = value
	}
	return err
}

func (m *Model) parseGraph(f Field, depth int) (*Graph, error) {
	if err := f.want(protowire.BytesType, "graph"); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fault.New(fault.File, "model: graphs nested more than %d deep", maxDepth)
	}
	g := &Graph{}
	err := EachField("graph", f.Bytes, func(f Field) (err error) {
		switch f.Num {
		case 1:
			var n *Node
			if n, err = m.parseNode(f, depth); err == nil {
				n.Index = len(g.Nodes)
				g.Nodes = append(g.Nodes, n)
			}
		case 2:
			g.Name, err = f.Text("graph name", MaxName)
		case 5:
			var t *Tensor
			if t, err = m.parseTensor(f); err == nil {
				g.Inits = append(g.Inits, t)
			}
		case 11, 12, 13:
			var v *ValueInfo
			if v, err = m.ParseValueInfo(f); err != nil {
				return err
			}
			switch f.Num {
			case 11:
				g.In = append(g.In, v)
			case 12:
				g.Out = append(g.Out, v)
			default:
				g.Values = append(g.Values, v)
			}
		case 15:
			g.Sparse++
		}
		return err
	})
	return g, err
}

func (m *Model) parseNode(f Field, depth int) (*Node, error) {
	if err := f.want(protowire.BytesType, "node"); err != nil {
		return nil, err
	}
	if m.nodes++; m.nodes > MaxNodes {
		return nil, fault.New(fault.File, "model: more than %d nodes", MaxNodes)
	}
	n := &Node{Attrs: map[string]*Attribute{}}
	err := EachField("node", f.Bytes, func(f Field) error {
		if err := m.Count(); err != nil {
			return err
		}
		var err error
		var s string
		switch f.Num {
		case 1:
			s, err = f.Text("node input", MaxName)
			n.In = append(n.In, s)
		case 2:
			s, err = f.Text("node output", MaxName)
			n.Out = append(n.Out, s)
		case 3:
			n.Name, err = f.Text("node name", MaxName)
		case 4:
			n.OpType, err = f.Text("node operator", MaxName)
		case 7:
			n.Domain, err = f.Text("node domain", MaxName)
		case 8:
			n.Overload, err = f.Text("node overload", MaxName)
		case 5:
			var a *Attribute
			if a, err = m.parseAttribute(f, depth); err == nil {
				if n.Attrs[a.Name] != nil {
					return fault.New(fault.File, "node %q: attribute %s is given twice", n.Name, a.Name)
				}
				n.Attrs[a.Name] = a
			}
			if len(n.Attrs) > maxAttrs {
				return fault.New(fault.File, "node %q: more than %d attributes", n.Name, maxAttrs)
			}
		}
		return err
	})
	if n.Domain == "ai.onnx" {
		n.Domain = ""
	}
	return n, err
}

func (m *Model) parseAttribute(f Field, depth int) (*Attribute, error) {
	if err := m.Count(); err != nil {
		return nil, err
	}
	a := &Attribute{}
	err := EachField("attribute", f.Bytes, func(f Field) (err error) {
		switch f.Num {
		case 1:
			a.Name, err = f.Text("attribute name", MaxName)
		case 21:
			a.Ref, err = f.Text("attribute reference", MaxName)
		case 20:
			a.Type = int64(f.value)
		case 2:
			var v []float32
			if v, err = f.appendFloats(nil, "attribute"); err == nil && len(v) > 0 {
				a.F = v[0]
			}
		case 3:
			a.I = int64(f.value)
		case 4:
			a.S = f.Bytes
		case 5:
			a.T, err = m.parseTensor(f)
		case 6:
			a.G, err = m.parseGraph(f, depth+1)
		case 7:
			a.Floats, err = f.appendFloats(a.Floats, "attribute")
		case 8:
			a.Ints, err = f.AppendInts(a.Ints, "attribute")
		case 9:
			a.Strings = append(a.Strings, f.Bytes)
			err = m.Count()
		case 11:
			var g *Graph
			if g, err = m.parseGraph(f, depth+1); err == nil {
				a.Graphs = append(a.Graphs, g)
			}
		}
		return err
	})
	return a, err
}

func (m *Model) parseTensor(f Field) (*Tensor, error) {
	if err := m.Count(); err != nil {
		return nil, err
	}
	if err := f.want(protowire.BytesType, "tensor"); err != nil {
		return nil, err
	}
	t := &Tensor{}
	err := EachField("tensor", f.Bytes, func(f Field) (err error) {
		switch f.Num {
		case 1:
			t.Dims, err = f.AppendInts(t.Dims, "tensor dims")
			if len(t.Dims) > MaxRank {
				return fault.New(fault.File, "tensor %q: more than %d dimensions", t.Name, MaxRank)
			}
		case 2:
			t.DType = int64(f.value)
		case 4:
			t.Floats, err = f.appendFloats(t.Floats, "tensor")
		case 5, 7, 11:
			t.Ints, err = f.AppendInts(t.Ints, "tensor")
		case 6:
			t.Strings++
		case 8:
			t.Name, err = f.Text("tensor name", MaxName)
		case 9:
			t.Raw, t.HasRaw = f.Bytes, true
		case 10:
			t.Doubles, err = f.appendDoubles(t.Doubles, "tensor")
		case 13:
			if t.External == nil {
				t.External = map[string]string{}
			}
			if err = m.Count(); err == nil {
				err = parseEntry(f, "external data", t.External)
			}
		case 14:
			t.Location = int64(f.value)
		}
		return err
	})
	return t, err
}

// ParseTensor reads a TensorProto that is a message of its own.
func ParseTensor(b []byte) (*Tensor, error) {
	return (&Model{}).parseTensor(Field{Type: protowire.BytesType, Bytes: b})
}

func (m *Model) parseFunction(f Field) (*Function, error) {
	fn := &Function{Defaults: map[string]*Attribute{}, Opsets: map[string]int64{}}
	err := EachField("function", f.Bytes, func(f Field) error {
		if err := m.Count(); err != nil {
			return err
		}
		var err error
		var s string
		switch f.Num {
		case 1:
			fn.Name, err = f.Text("function name", MaxName)
		case 4:
			s, err = f.Text("function input", MaxName)
			fn.In = append(fn.In, s)
		case 5:
			s, err = f.Text("function output", MaxName)
			fn.Out = append(fn.Out, s)
		case 6:
			s, err = f.Text("function attribute", MaxName)
			fn.Attrs = append(fn.Attrs, s)
		case 7:
			var n *Node
			if n, err = m.parseNode(f, 1); err == nil {
				fn.Nodes = append(fn.Nodes, n)
			}
		case 9:
			err = parseOpset(f, fn.Opsets)
		case 10:
			fn.Domain, err = f.Text("function domain", MaxName)
		case 11:
			var a *Attribute
			if a, err = m.parseAttribute(f, 1); err == nil {
				fn.Defaults[a.Name] = a
			}
		case 13:
			fn.Overload, err = f.Text("function overload", MaxName)
		}
		return err
	})
	if fn.Domain == "ai.onnx" {
		fn.Domain = ""
	}
	return fn, err
}

func (m *Model) ParseValueInfo(f Field) (*ValueInfo, error) {
	if err := m.Count(); err != nil {
		return nil, err
	}
	if err := f.want(protowire.BytesType, "value"); err != nil {
		return nil, err
	}
	v := &ValueInfo{}
	err := EachField("value", f.Bytes, func(f Field) (err error) {
		switch f.Num {
		case 1:
			v.Name, err = f.Text("value name", MaxName)
		case 2:
			err = v.parseType(f)
		}
		return err
	})
	return v, err
}

// parseType reads TypeProto: a tensor's element type and shape; of other kinds only the name.
func (v *ValueInfo) parseType(f Field) error {
	return EachField("type", f.Bytes, func(f Field) error {
		switch f.Num {
		case 1:
			v.Kind = "tensor"
			return EachField("tensor type", f.Bytes, func(f Field) error {
				switch f.Num {
				case 1:
					v.DType = int64(f.value)
				case 2:
					return v.parseShape(f)
				}
				return nil
			})
		case 4:
			v.Kind = "sequence"
		case 5:
			v.Kind = "map"
		case 8:
			v.Kind = "sparse tensor"
		case 9:
			v.Kind = "optional"
		}
		return nil
	})
}

func (v *ValueInfo) parseShape(f Field) error {
	v.Ranked = true
	return EachField("shape", f.Bytes, func(f Field) error {
		if f.Num != 1 {
			return nil
		}
		if len(v.Dims) == MaxRank {
			return fault.New(fault.File, "value %q: more than %d dimensions", v.Name, MaxRank)
		}
		var d Dimension
		err := EachField("dimension", f.Bytes, func(f Field) (err error) {
			switch f.Num {
			case 1:
				d.Value, d.Known = int64(f.value), true
			case 2:
				d.Param, err = f.Text("dimension name", MaxName)
			}
			return err
		})
		v.Dims = append(v.Dims, d)
		return err
	})
}
