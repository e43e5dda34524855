package onnx

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
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

// Operand is an input or output of a node with what is known of its type. An empty name: it is left out.
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
var attrKinds = []string{"", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors", "graphs",
	"sparse_tensor", "sparse_tensors", "type", "types"}

// DetailFile lists the nodes of the model at path and of its functions. It lowers nothing: operators may be unknown.
// known adds types of the main graph's values where the file declares none. elements is given the elements of each
// constant, a part after the other, and must not keep them.
func DetailFile(path string, known map[string]Port, elements func(c *Constant, part tensor.Tensor)) (main *Detail,
	functions []*Detail, err error) {
	src, err := openSource(path)
	if err != nil {
		return nil, nil, fault.Wrap(err, "model %s", path)
	}
	defer src.close()
	m, err := parseModel(src.data)
	if err != nil {
		return nil, nil, fault.Wrap(err, "model %s", path)
	}
	d := &details{im: &importer{opt: Options{Folder: filepath.Dir(path)}}, elements: elements, read: map[string]int64{}}
	main = d.graph(m.graph, &types{of: map[string]Operand{}, known: known})
	for _, f := range m.functions {
		g := &graphProto{name: (&nodeProto{domain: f.domain, opType: f.name}).operator(), nodes: f.nodes}
		for _, name := range f.in {
			g.in = append(g.in, &valueInfo{name: name})
		}
		for _, name := range f.out {
			g.out = append(g.out, &valueInfo{name: name})
		}
		functions = append(functions, d.graph(g, &types{of: map[string]Operand{}}))
	}
	return main, functions, nil
}

// types are what is known of the values of a graph by name.
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
	im       *importer
	elements func(c *Constant, part tensor.Tensor)
	read     map[string]int64 // bytes of external files that were read
}

func (d *details) graph(g *graphProto, ts *types) *Detail {
	out := &Detail{Name: g.name, Sparse: g.sparse}
	inits := map[string]bool{}
	for _, t := range g.inits {
		inits[t.name] = true
		c := d.constant(t)
		out.Initializers = append(out.Initializers, c)
		ts.of[t.name] = Operand{c.Port(), c}
	}
	out.In, out.Out = portsOf(g.in, inits), portsOf(g.out, nil)
	for _, n := range g.nodes { // those without a declared type hide values of the graphs around, too
		for _, name := range n.out {
			ts.of[name] = Operand{Port: Port{Name: name}}
		}
	}
	for _, p := range slices.Concat(portsOf(g.values, inits), out.In, out.Out) {
		if ts.of[p.Name].Type == "" {
			ts.of[p.Name] = Operand{Port: p}
		}
	}
	for i, n := range g.nodes {
		node := NodeDetail{Index: i, Name: n.name, Operator: n.operator()}
		for _, key := range sortedKeys(n.attrs) {
			a := d.attribute(n.attrs[key], ts)
			node.Attributes = append(node.Attributes, a)
			if c, ok := a.Value.(*Constant); ok && node.Operator == "Constant" && len(n.out) == 1 &&
				ts.of[n.out[0]].Type == "" {
				p := c.Port()
				p.Name = n.out[0]
				ts.of[p.Name] = Operand{Port: p}
			}
		}
		out.Nodes = append(out.Nodes, node)
	}
	for i, n := range g.nodes { // which need not stand in an executable order
		for _, name := range n.in {
			out.Nodes[i].In = append(out.Nodes[i].In, ts.find(name))
		}
		for _, name := range n.out {
			out.Nodes[i].Out = append(out.Nodes[i].Out, ts.find(name))
		}
	}
	return out
}

// attribute reads an attribute. Files before version 3 of the format need not say the type: it is that of the field that is set.
func (d *details) attribute(a *attribute, ts *types) Attribute {
	body := func(g *graphProto) *Detail { return d.graph(g, &types{of: map[string]Operand{}, parent: ts}) }
	typ := a.typ
	for _, set := range []struct {
		is  bool
		typ int64
	}{{a.t != nil, attrTensor}, {a.g != nil, attrGraph}, {a.floats != nil, attrFloats}, {a.ints != nil, attrInts},
		{a.strings != nil, attrStrings}, {a.graphs != nil, attrGraphs}, {a.s != nil, attrString}, {a.f != 0, attrFloat}, {true, attrInt}} {
		if typ == 0 && set.is {
			typ = set.typ
		}
	}
	out := Attribute{Name: a.name, Kind: "unknown"}
	if typ > 0 && typ < int64(len(attrKinds)) {
		out.Kind = attrKinds[typ]
	}
	switch {
	case a.ref != "":
		out.Kind, out.Value = "reference", a.ref
	case typ == attrFloat:
		out.Value = a.f
	case typ == attrInt:
		out.Value = a.i
	case typ == attrString:
		out.Value = textOf(a.s)
	case typ == attrTensor && a.t != nil:
		out.Value = d.constant(a.t)
	case typ == attrGraph && a.g != nil:
		out.Value = body(a.g)
	case typ == attrFloats:
		out.Value = a.floats
	case typ == attrInts:
		out.Value = a.ints
	case typ == attrStrings:
		var list []Text
		for _, b := range a.strings {
			list = append(list, textOf(b))
		}
		out.Value = list
	case typ == attrGraphs:
		var list []*Detail
		for _, g := range a.graphs {
			list = append(list, body(g))
		}
		out.Value = list
	}
	return out
}

// constant describes a tensor and hands its elements on.
func (d *details) constant(t *tensorProto) *Constant {
	c := &Constant{Name: t.name, Sizes: t.dims, External: t.location == 1}
	if t.dtype == stringType {
		c.Type = "string"
		return c
	}
	typ, size, err := t.tensorType()
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

func (d *details) parts(c *Constant, t *tensorProto, dt tensor.DType, size int64) error {
	left, _ := tensor.Count(t.dims)
	hand := func(data []byte) {
		n := min(left, int64(len(data))*8/int64(dt.Bits()))
		left -= n
		d.elements(c, tensor.Tensor{DType: dt, Dims: []int64{n}, Data: data})
	}
	if t.location != 1 {
		data, _, err := d.im.bytes(t, size, dt)
		for part := range slices.Chunk(data, partBytesRead) {
			hand(part)
		}
		return err
	}
	f, offset, err := d.im.openExternal(t, size)
	if err != nil {
		return err
	}
	defer f.Close()
	name := t.external["location"]
	st, err := f.Stat()
	if err != nil {
		return fault.As(fault.File, err, "external data %q", name)
	}
	if d.read[name] += size; d.read[name] > maxExternal*max(st.Size(), partBytesRead) {
		return fault.New(fault.File, "external data %q: not read: the constants before it have read the file %d times", name, maxExternal)
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
