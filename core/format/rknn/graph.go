package rknn

import (
	"strconv"
	"strings"
)

// Graph is the network for one choice of input sizes.
type Graph struct {
	Tensors         []Tensor
	Nodes           []Node
	Inputs, Outputs []int // indices in Tensors
}

// Port returns the input or output of a name, nil if the graph has none.
func (g *Graph) Port(name string) *Tensor {
	for _, list := range [][]int{g.Inputs, g.Outputs} {
		for _, i := range list {
			if g.Tensors[i].Name == name {
				return &g.Tensors[i]
			}
		}
	}
	return nil
}

// Node is an operator.
type Node struct {
	Op   string
	Name string // "Type:name"
}

// Kind is the role of a tensor in its graph.
type Kind uint8

// The kinds of tensor.
const (
	Other        Kind = iota // a constant, or the NPU's own
	Input                    // of the model
	Output                   // of the model
	Intermediate             // between two operators
)

// Tensor is a tensor of a graph.
type Tensor struct {
	Name string // the ONNX tensor's where there is one
	Type string // "int8", ...; "type 99" for a number that is not known
	// Kind is Input or Output for tensors that the graph's lists name, also where the file has an output as Intermediate
	// because another operator reads it.
	Kind   Kind
	Native bool    // laid out as NC1HWC2
	Dims   []int64 // NCHW
	Shape  []int64 // native; of a filter up to four groups of six numbers
	Min    []float32
	Max    []float32
	Scale  []float32 // empty: not quantized
	Zero   []int64
}

// tables are the numbers of the fields that differ between the containers; 0: there is none.
type tables struct {
	compiler     int // as a number: 20500 is 2.5.0
	compilerText int
	target       int
	framework    int
	custom       int
	inputs       int // JSON text
	outputs      int
	batch        int // a number as text
	shared       int

	min, max, scale, zero int // of a tensor
}

var (
	mainTables = tables{compiler: 6, compilerText: 7, target: 8, framework: 9, custom: 11, inputs: 12, outputs: 13,
		batch: 14, shared: 15, min: 8, max: 9, scale: 10, zero: 11}
	miniTables = tables{compiler: 4, compilerText: 5, target: 6, framework: 7, custom: 8, scale: 6, zero: 7}
)

// The fields that are the same in both containers.
const (
	rootGraphs     = 2
	rootAttributes = 3 // a Python dictionary as text

	graphTensors, graphNodes, graphInputs, graphOutputs                       = 0, 1, 2, 3
	nodeOp, nodeName                                                          = 1, 2
	tensorType, tensorLayout, tensorKind, tensorShape, tensorDims, tensorName = 0, 1, 2, 3, 4, 5
)

const layoutNative = 0x40

// readRoot reads the FlatBuffer that buf begins with.
func (f *File) readRoot(buf window, fields *tables) {
	t, ok := root(buf, "RKNN")
	if !ok {
		f.lose("flatbuffer", "there is none with the identifier RKNN")
		return
	}
	f.readGraphs(t, fields)
	f.completePorts()
	f.Compiler, _ = f.text(t, fields.compilerText, "compiler", maxName)
	if n := t.number(fields.compiler); f.Compiler == "" && n > 0 && n < 1e8 {
		f.Compiler = strings.Join(
			[]string{strconv.Itoa(int(n / 10000)), strconv.Itoa(int(n / 100 % 100)), strconv.Itoa(int(n % 100))},
			".",
		)
	}
	if target, _ := f.text(t, fields.target, "target", maxName); target != "" && len(f.Targets) == 0 {
		f.Targets = splitTargets(target)
	}
	f.Framework, _ = f.text(t, fields.framework, "framework", maxName)
	f.Custom, _ = f.text(t, fields.custom, "custom string", maxText)
	batch, ok := f.text(t, fields.batch, "batch", maxName)
	f.Lost = f.Lost || !ok
	if batch = strings.TrimSpace(batch); batch != "" && batch != "0" { // "0": it was not set
		n, err := strconv.Atoi(batch)
		if err != nil || n < 1 || n > 1<<20 {
			f.lose("batch", "%q is no batch size", clip(batch))
		} else {
			f.Batch = n
		}
	}
	f.readShared(t, fields.shared)
	for _, side := range []struct {
		what  string
		field int
		ports []Port
	}{{"inputs", fields.inputs, f.Inputs}, {"outputs", fields.outputs, f.Outputs}} {
		words, ok := f.text(t, side.field, side.what, maxText)
		f.Lost = f.Lost || !ok
		f.parsePorts(side.what, words, side.ports)
	}
	words, ok := f.text(t, rootAttributes, "attributes", maxText)
	f.Lost = f.Lost || !ok
	f.parseAttributes(words)
}

// completePorts takes inputs and outputs that the JSON text does not have, and types that it leaves out, from the first
// graph.
func (f *File) completePorts() {
	if len(f.Graphs) == 0 {
		return
	}
	g := &f.Graphs[0]
	for _, side := range []struct {
		ports *[]Port
		at    []int
	}{{&f.Inputs, g.Inputs}, {&f.Outputs, g.Outputs}} {
		if len(*side.ports) == 0 {
			for _, i := range side.at {
				*side.ports = append(*side.ports, Port{Name: g.Tensors[i].Name, Dims: g.Tensors[i].Dims})
			}
		}
		for i := range *side.ports {
			p := &(*side.ports)[i]
			if t := g.Port(p.Name); t != nil && p.Type == "" && !strings.Contains(t.Type, " ") {
				p.Type = t.Type
			}
		}
	}
}

// text returns a string field, noting one that cannot be read. Field 0 is none.
func (f *File) text(t table, i int, what string, limit int64) (s string, ok bool) {
	if i == 0 {
		return "", true
	}
	s, ok = t.text(i, limit)
	if !ok {
		f.skip(what, "field %d does not lie in the file, or is longer than %d bytes", i, limit)
	}
	return s, ok
}

func splitTargets(s string) []string {
	return strings.FieldsFunc(
		s,
		func(r rune) bool { return r == ',' || r == ' ' || r == '[' || r == ']' || r == '\'' || r == '"' },
	)
}

func (f *File) readShared(t table, field int) {
	if field == 0 {
		return
	}
	v, ok := t.vector(field, 4)
	if !ok || v.n > maxTensors {
		f.skip("shared weights", "field %d does not lie in the file", field)
		return
	}
	for i := range v.n {
		at := v.at + 4*i
		s, ok := textAt(v.buf, at+int64(v.buf.u32(at)), maxName)
		if !ok {
			f.skip("shared weights", "name %d does not lie in the file", i)
			continue
		}
		f.SharedWeights = append(f.SharedWeights, s)
	}
}

func (f *File) readGraphs(t table, fields *tables) {
	v, ok := t.vector(rootGraphs, 4)
	if !ok || v.n > maxGraphs {
		f.lose("graphs", "%d of them, or they do not lie in the file", v.n)
		return
	}
	r := &graphReader{file: f, tables: fields, left: maxTensors}
	for i := range v.n {
		r.what = "graph " + strconv.Itoa(int(i))
		g, ok := v.table(i)
		if !ok {
			f.lose(r.what, "it does not lie in the file")
			return
		}
		f.Graphs = append(f.Graphs, r.graph(g))
	}
}

// graphReader reads graphs. A broken part costs itself alone: a field is empty, a tensor has no field, an index of no
// tensor is left out.
type graphReader struct {
	file   *File
	tables *tables
	what   string // the graph, for messages
	left   int64  // tensors, nodes and indices that may still be read
}

// list returns a field that is a vector with elements of 4 bytes, an empty one if it cannot be read.
func (r *graphReader) list(t table, i int, what string) vector {
	v, ok := t.vector(i, 4)
	if !ok || v.n > r.left {
		r.file.lose(r.what, "its %s do not lie in the file, or are more than %d", what, maxTensors)
		return vector{}
	}
	r.left -= v.n
	return v
}

func (r *graphReader) graph(t table) (g Graph) {
	tensors := r.list(t, graphTensors, "tensors")
	for i := range tensors.n {
		x, ok := tensors.table(i)
		if !ok {
			r.file.lose(r.what, "tensor %d does not lie in the file", i)
		}
		g.Tensors = append(g.Tensors, r.tensor(x, i))
	}
	nodes := r.list(t, graphNodes, "nodes")
	for i := range nodes.n {
		x, _ := nodes.table(i)
		op, ok1 := x.text(nodeOp, maxName)
		name, ok2 := x.text(nodeName, maxName)
		if !ok1 || !ok2 {
			r.file.skip(r.what, "operator or name of node %d", i)
		}
		g.Nodes = append(g.Nodes, Node{op, name})
	}
	g.Inputs = r.ports(t, graphInputs, "inputs", &g, Input)
	g.Outputs = r.ports(t, graphOutputs, "outputs", &g, Output)
	return g
}

// ports reads the indices of inputs or outputs. A file without them has their kinds.
func (r *graphReader) ports(t table, field int, what string, g *Graph, kind Kind) (list []int) {
	for _, i := range r.list(t, field, what).ints() {
		if i < 0 || i >= int64(len(g.Tensors)) {
			r.file.lose(r.what, "its %s name tensor %d of %d", what, i, len(g.Tensors))
			continue
		}
		if x := &g.Tensors[i]; kind == Input || x.Kind != Input {
			x.Kind = kind
		}
		list = append(list, int(i))
	}
	if len(list) > 0 {
		return list
	}
	for i := range g.Tensors {
		if g.Tensors[i].Kind == kind {
			list = append(list, i)
		}
	}
	return list
}

// tensor reads tensor i.
func (r *graphReader) tensor(t table, i int64) (x Tensor) {
	x.Type = typeName(t.byte(tensorType))
	x.Native = t.byte(tensorLayout) == layoutNative
	if k := Kind(t.byte(tensorKind)); k <= Intermediate {
		x.Kind = k
	}
	note := r.file.lose
	if x.Kind == Other { // the model's tensors do not depend on it
		note = r.file.skip
	}
	unread := func(what string) { note(r.what, "the %s of tensor %d, %q", what, i, clip(x.Name)) }
	var ok bool
	if x.Name, ok = t.text(tensorName, maxName); !ok {
		unread("name")
	}
	for _, list := range []struct {
		what  string
		field int
		to    *[]int64
		limit int64
	}{
		{"native shape", tensorShape, &x.Shape, maxRank * maxGroups}, {"shape", tensorDims, &x.Dims, maxRank},
		{"zero points", r.tables.zero, &x.Zero, maxTensors},
	} {
		v, ok := t.vector(list.field, 4)
		if !ok || v.n > list.limit {
			unread(list.what)
		} else if v.n > 0 {
			*list.to = v.ints()
		}
	}
	for _, list := range []struct {
		what  string
		field int
		to    *[]float32
	}{
		{"smallest values", r.tables.min, &x.Min}, {"largest values", r.tables.max, &x.Max},
		{"scales", r.tables.scale, &x.Scale},
	} {
		if list.field == 0 {
			continue
		}
		v, ok := t.vector(list.field, 4)
		if !ok || v.n > maxTensors {
			unread(list.what)
		} else if v.n > 0 {
			*list.to = v.floats()
		}
	}
	return x
}

var typeNames = map[uint8]string{0: "none", 1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32",
	7: "int64", 9: "bool", 10: "float16", 13: "raw", 16: "bfloat16", 64: "int4"}

func typeName(n uint8) string {
	if s, ok := typeNames[n]; ok {
		return s
	}
	return "type " + strconv.Itoa(int(n))
}

// clip shortens text for a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
