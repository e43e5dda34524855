package onnx

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// Detail is a graph of a model, a body, or a function, as the file has it.
type Detail struct {
	Name         string
	In, Out      []Port
	Initializers []*Constant
	Sparse       int // sparse initializers, of which nothing else is told
	Nodes        []NodeDetail
}

// NodeDetail is a node in the place that the file gives it.
type NodeDetail struct {
	Index      int
	Name       string
	Operator   string // "domain.Type" outside ai.onnx
	In, Out    []Operand
	Attributes []Attribute // by name
}

// Operand is an input or output of a node with the known part of its type. An empty name: it is left out.
type Operand struct {
	Port
	Initializer *Constant // nil: it is none
}

// Attribute is an attribute of a node. Value is a float32, int64, Text, *Constant, *Detail, or a slice of one of
// these; a string is the name of the function's attribute that it takes; nil: of the value nothing is read.
type Attribute struct {
	Name  string
	Kind  string // "float", "ints", ..., "reference" to an attribute of the function
	Value any
}

// Text is a string of the file, or its first maxText bytes.
type Text struct {
	Start string
	Bytes int // of the whole
}

// maxText bounds what is kept of a string, which may hold a network of another format.
const maxText = 1 << 12

func textOf(b []byte) Text { return Text{string(b[:min(len(b), maxText)]), len(b)} }

// Constant is a tensor of the file.
type Constant struct {
	Name     string
	Type     string // empty: the file has an unknown one
	Sizes    []int64
	External bool   // the elements lie in another file
	Error    string // why the elements cannot be read
}

// Port is the type of the constant.
func (c *Constant) Port() Port {
	p := Port{Name: c.Name, Type: c.Type, Dims: []string{}}
	for _, n := range c.Sizes {
		p.Dims = append(p.Dims, strconv.FormatInt(n, 10))
	}
	return p
}

// attrKinds are the types of AttributeProto by number.
var attrKinds = []string{"", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors",
	"graphs",
	"sparse_tensor", "sparse_tensors", "type", "types"}

// DetailFile lists the nodes of the model at path and of its functions. It lowers nothing: operators may be unknown.
// known adds types of the main graph's values where the file declares none. elements is given the elements of each
// constant, a part after the other, and must not keep them.
func DetailFile(path string, known map[string]Port, elements func(c *Constant, part tensor.Tensor)) (main *Detail,
	functions []*Detail, err error) {
	src, err := proto.OpenFile(path)
	if err != nil {
		return nil, nil, fault.Wrap(err, "model %s", path)
	}
	defer src.Close()
	m, err := proto.Parse(src.Data)
	if err != nil {
		return nil, nil, fault.Wrap(err, "model %s", path)
	}
	d := &details{folder: filepath.Dir(path), elements: elements, read: map[string]int64{}}
	main = d.graph(m.Graph, &types{of: map[string]Operand{}, known: known})
	for _, f := range m.Functions {
		g := &proto.Graph{Name: (&proto.Node{Domain: f.Domain, OpType: f.Name}).Operator(), Nodes: f.Nodes}
		for _, name := range f.In {
			g.In = append(g.In, &proto.ValueInfo{Name: name})
		}
		for _, name := range f.Out {
			g.Out = append(g.Out, &proto.ValueInfo{Name: name})
		}
		functions = append(functions, d.graph(g, &types{of: map[string]Operand{}}))
	}
	return main, functions, nil
}

// types holds the known types of the values of a graph by name.
type types struct {
	of     map[string]Operand
	known  map[string]Port // beyond the file, of the main graph
	parent *types
}

// find is the value that a node of the graph calls name. Values of graphs around it are visible.
func (ts *types) find(name string) Operand {
	for t := ts; t != nil && name != ""; t = t.parent {
		o, own := t.of[name]
		if k, ok := t.known[name]; ok {
			if o.Name, own = name, true; o.Type == "" {
				o.Type = k.Type
			}
			if o.Dims == nil {
				o.Dims = k.Dims
			}
		}
		if own {
			return o
		}
	}
	return Operand{Port: Port{Name: name}}
}

// details reads what Detail has.
type details struct {
	folder   string
	elements func(c *Constant, part tensor.Tensor)
	read     map[string]int64 // bytes of external files that were read
}

func (d *details) graph(g *proto.Graph, ts *types) *Detail {
	out := &Detail{Name: g.Name, Sparse: g.Sparse}
	inits := map[string]bool{}
	for _, t := range g.Inits {
		inits[t.Name] = true
		c := d.constant(t)
		out.Initializers = append(out.Initializers, c)
		ts.of[t.Name] = Operand{c.Port(), c}
	}
	out.In, out.Out = portsOf(g.In, inits), portsOf(g.Out, nil)
	for _, n := range g.Nodes { // those without a declared type hide values of the graphs around, too
		for _, name := range n.Out {
			ts.of[name] = Operand{Port: Port{Name: name}}
		}
	}
	for _, p := range slices.Concat(portsOf(g.Values, inits), out.In, out.Out) {
		if ts.of[p.Name].Type == "" {
			ts.of[p.Name] = Operand{Port: p}
		}
	}
	for i, n := range g.Nodes {
		node := NodeDetail{Index: i, Name: n.Name, Operator: n.Operator()}
		for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
			a := d.attribute(n.Attrs[key], ts)
			node.Attributes = append(node.Attributes, a)
			if c, ok := a.Value.(*Constant); ok && node.Operator == "Constant" && len(n.Out) == 1 &&
				ts.of[n.Out[0]].Type == "" {
				p := c.Port()
				p.Name = n.Out[0]
				ts.of[p.Name] = Operand{Port: p}
			}
		}
		out.Nodes = append(out.Nodes, node)
	}
	for i, n := range g.Nodes { // which need not stand in an executable order
		for _, name := range n.In {
			out.Nodes[i].In = append(out.Nodes[i].In, ts.find(name))
		}
		for _, name := range n.Out {
			out.Nodes[i].Out = append(out.Nodes[i].Out, ts.find(name))
		}
	}
	return out
}

// attribute reads an attribute. Files before version 3 of the format need not name the type: the field that is set
// decides.
func (d *details) attribute(a *proto.Attribute, ts *types) Attribute {
	body := func(g *proto.Graph) *Detail { return d.graph(g, &types{of: map[string]Operand{}, parent: ts}) }
	typ := a.Type
	for _, set := range []struct {
		is  bool
		typ int64
	}{{a.T != nil, proto.AttrTensor}, {a.G != nil, proto.AttrGraph}, {a.Floats != nil, proto.AttrFloats},
		{a.Ints != nil, proto.AttrInts}, {a.Strings != nil, proto.AttrStrings}, {a.Graphs != nil, proto.AttrGraphs},
		{a.S != nil, proto.AttrString}, {a.F != 0, proto.AttrFloat}, {true, proto.AttrInt}} {
		if typ == 0 && set.is {
			typ = set.typ
		}
	}
	out := Attribute{Name: a.Name, Kind: "unknown"}
	if typ > 0 && typ < int64(len(attrKinds)) {
		out.Kind = attrKinds[typ]
	}
	switch {
	case a.Ref != "":
		out.Kind, out.Value = "reference", a.Ref
	case typ == proto.AttrFloat:
		out.Value = a.F
	case typ == proto.AttrInt:
		out.Value = a.I
	case typ == proto.AttrString:
		out.Value = textOf(a.S)
	case typ == proto.AttrTensor && a.T != nil:
		out.Value = d.constant(a.T)
	case typ == proto.AttrGraph && a.G != nil:
		out.Value = body(a.G)
	case typ == proto.AttrFloats:
		out.Value = a.Floats
	case typ == proto.AttrInts:
		out.Value = a.Ints
	case typ == proto.AttrStrings:
		var list []Text
		for _, b := range a.Strings {
			list = append(list, textOf(b))
		}
		out.Value = list
	case typ == proto.AttrGraphs:
		var list []*Detail
		for _, g := range a.Graphs {
			list = append(list, body(g))
		}
		out.Value = list
	}
	return out
}

// constant describes a tensor and hands its elements on.
func (d *details) constant(t *proto.Tensor) *Constant {
	c := &Constant{Name: t.Name, Sizes: t.Dims, External: t.Location == 1}
	if t.DType == proto.StringType {
		c.Type = "string"
		return c
	}
	typ, size, err := t.TypeAndSize()
	if typ.DType != tensor.Invalid {
		c.Type = typ.DType.String()
	}
	if err == nil {
		err = d.parts(c, t, typ.DType, size)
	}
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

// partBytesRead is how much of a constant is handed on at once, whole elements of every type.
const partBytesRead = 1 << 20

// maxExternal bounds how often a file of external data is read, all constants of a model together.
const maxExternal = 8

func (d *details) parts(c *Constant, t *proto.Tensor, dt tensor.DType, size int64) error {
	left, _ := tensor.Count(t.Dims)
	hand := func(data []byte) {
		n := min(left, int64(len(data))*8/int64(dt.Bits()))
		left -= n
		d.elements(c, tensor.Tensor{DType: dt, Dims: []int64{n}, Data: data})
	}
	if t.Location != 1 {
		data, _, err := t.Bytes(d.folder, size, dt)
		for part := range slices.Chunk(data, partBytesRead) {
			hand(part)
		}
		return err
	}
	f, offset, err := t.OpenExternal(d.folder, size)
	if err != nil {
		return err
	}
	defer f.Close()
	name := t.External["location"]
	st, err := f.Stat()
	if err != nil {
		return fault.As(fault.File, err, "external data %q", name)
	}
	if d.read[name] += size; d.read[name] > maxExternal*max(st.Size(), partBytesRead) {
		return fault.New(fault.File, "external data %q: not read: the constants before it have read the file %d times", name,
			maxExternal)
	}
	return handFile(f, offset, size, name, hand)
}

// handFile hands on size bytes of a file.
func handFile(f *os.File, offset, size int64, name string, hand func(data []byte)) error {
	b := make([]byte, min(size, partBytesRead))
	for at := int64(0); at < size; at += int64(len(b)) {
		part := b[:min(int64(len(b)), size-at)]
		if _, err := io.ReadFull(io.NewSectionReader(f, offset+at, int64(len(part))), part); err != nil {
			return fault.As(fault.File, err, "external data %q", name)
		}
		hand(part)
	}
	return nil
}

// Ports are the values of the imported graph by name.
func (m *Model) Ports() map[string]Port {
	out := map[string]Port{}
	for _, v := range m.Graph.Values {
		if _, has := out[v.Name]; has || v.Name == "" {
			continue
		}
		p := Port{Name: v.Name}
		if v.Fact.DType != tensor.Invalid {
			p.Type = v.Fact.DType.String()
		}
		if v.Fact.Shape.Ranked {
			p.Dims = dimTexts(v.Fact.Shape, m.Symbols)
		}
		out[v.Name] = p
	}
	return out
}
