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

// Node is an operator.
type Node struct {
	Op   string
	Name string // "Type:name"
}

// Kind is what a tensor is to its graph.
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
	Name   string // the ONNX tensor's where there is one
	Type   string // "int8", ...; "type 4" for a number that is not known
	Kind   Kind
	Native bool    // laid out as NC1HWC2
	Dims   []int64 // NCHW
	Shape  []int64 // native
	Min    []float32
	Max    []float32
	Scale  []float32 // empty: not quantized
	Zero   []int64
}

// The fields of the root table.
const (
	rootGraphs        = 2
	rootAttributes    = 3 // a Python dictionary as text
	rootCompiler      = 6 // as a number: 20500 is 2.5.0
	rootCompilerText  = 7
	rootTarget        = 8
	rootFramework     = 9
	rootCustom        = 11
	rootInputs        = 12 // JSON text
	rootOutputs       = 13
	rootBatch         = 14 // a number as text
	rootSharedWeights = 15
)

// The fields of a graph, a node and a tensor.
const (
	graphTensors, graphNodes, graphInputs, graphOutputs                       = 0, 1, 2, 3
	nodeOp, nodeName                                                          = 0, 1
	tensorType, tensorLayout, tensorKind, tensorShape, tensorDims, tensorName = 0, 1, 2, 3, 4, 5
	tensorMin, tensorMax, tensorScale, tensorZero                             = 8, 9, 10, 11
)

const layoutNative = 0x40

// readRoot reads the FlatBuffer that buf begins with.
func (f *File) readRoot(buf window) {
	t, ok := root(buf, "RKNN")
	if !ok {
		f.skip("flatbuffer", "there is none with the identifier RKNN")
		return
	}
	f.readGraphs(t)
	f.Compiler = f.text(t, rootCompilerText, "compiler", maxName)
	if n := t.number(rootCompiler); f.Compiler == "" && n > 0 && n < 1e8 {
		f.Compiler = strings.Join(
			[]string{strconv.Itoa(int(n / 10000)), strconv.Itoa(int(n / 100 % 100)), strconv.Itoa(int(n % 100))},
			".",
		)
	}
	if target := f.text(t, rootTarget, "target", maxName); target != "" && len(f.Targets) == 0 {
		f.Targets = splitTargets(target)
	}
	f.Framework = f.text(t, rootFramework, "framework", maxName)
	f.Custom = f.text(t, rootCustom, "custom string", maxText)
	if batch := f.text(t, rootBatch, "batch", maxName); batch != "" {
		n, err := strconv.Atoi(strings.TrimSpace(batch))
		if err != nil || n < 1 || n > 1<<20 {
			f.skip("batch", "%q is no batch size", clip(batch))
		} else {
			f.Batch = n
		}
	}
	f.readShared(t)
	f.parsePorts("inputs", f.text(t, rootInputs, "inputs", maxText), f.Inputs)
	f.parsePorts("outputs", f.text(t, rootOutputs, "outputs", maxText), f.Outputs)
	f.parseAttributes(f.text(t, rootAttributes, "attributes", maxText))
}

// text returns a string field, noting one that cannot be read.
func (f *File) text(t table, i int, what string, limit int64) string {
	s, ok := t.text(i, limit)
	if !ok {
		f.skip(what, "field %d does not lie in the file, or is longer than %d bytes", i, limit)
	}
	return s
}

func splitTargets(s string) []string {
	return strings.FieldsFunc(
		s,
		func(r rune) bool { return r == ',' || r == ' ' || r == '[' || r == ']' || r == '\'' || r == '"' },
	)
}

func (f *File) readShared(t table) {
	v, ok := t.vector(rootSharedWeights, 4)
	if !ok || v.n > maxTensors {
		f.skip("shared weights", "field %d does not lie in the file", rootSharedWeights)
		return
	}
	for i := range v.n {
		at := v.at + 4*i
		s, ok := textAt(v.buf, at+int64(v.buf.u32(at)), maxName)
		if !ok {
			f.skip("shared weights", "name %d does not lie in the file", i)
			return
		}
		f.SharedWeights = append(f.SharedWeights, s)
	}
}

func (f *File) readGraphs(t table) {
	v, ok := t.vector(rootGraphs, 4)
	if !ok || v.n > maxGraphs {
		f.skip("graphs", "%d of them, or they do not lie in the file", v.n)
		return
	}
	left := int64(maxTensors)
	for i := range v.n {
		g, ok := v.table(i)
		if !ok {
			f.skip("graphs", "graph %d does not lie in the file", i)
			return
		}
		if !f.readGraph(g, &left) {
			f.skip("graphs", "graph %d cannot be read, or there are more than %d tensors", i, maxTensors)
			return
		}
	}
}

// readGraph appends one graph; left is how many more tensors and nodes may be read.
func (f *File) readGraph(t table, left *int64) bool {
	var g Graph
	tensors, ok1 := t.vector(graphTensors, 4)
	nodes, ok2 := t.vector(graphNodes, 4)
	in, ok3 := t.vector(graphInputs, 4)
	out, ok4 := t.vector(graphOutputs, 4)
	*left -= tensors.n + nodes.n + in.n + out.n
	if !ok1 || !ok2 || !ok3 || !ok4 || *left < 0 {
		return false
	}
	for i := range tensors.n {
		x, ok := tensors.table(i)
		if !ok {
			return false
		}
		tensor, ok := readTensor(x)
		if !ok {
			return false
		}
		g.Tensors = append(g.Tensors, tensor)
	}
	for i := range nodes.n {
		x, ok := nodes.table(i)
		if !ok {
			return false
		}
		op, ok1 := x.text(nodeOp, maxName)
		name, ok2 := x.text(nodeName, maxName)
		if !ok1 || !ok2 {
			return false
		}
		g.Nodes = append(g.Nodes, Node{op, name})
	}
	for _, list := range []struct {
		from vector
		to   *[]int
	}{{in, &g.Inputs}, {out, &g.Outputs}} {
		for _, i := range list.from.ints() {
			if i < 0 || i >= tensors.n {
				return false
			}
			*list.to = append(*list.to, int(i))
		}
	}
	f.Graphs = append(f.Graphs, g)
	return true
}

func readTensor(t table) (x Tensor, ok bool) {
	x.Type = typeName(t.byte(tensorType))
	x.Native = t.byte(tensorLayout) == layoutNative
	if k := Kind(t.byte(tensorKind)); k <= Intermediate {
		x.Kind = k
	}
	if x.Name, ok = t.text(tensorName, maxName); !ok {
		return x, false
	}
	for _, list := range []struct {
		field int
		to    *[]int64
		limit int64
	}{{tensorShape, &x.Shape, maxRank}, {tensorDims, &x.Dims, maxRank}, {tensorZero, &x.Zero, maxTensors}} {
		v, ok := t.vector(list.field, 4)
		if !ok || v.n > list.limit {
			return x, false
		}
		if v.n > 0 {
			*list.to = v.ints()
		}
	}
	for _, list := range []struct {
		field int
		to    *[]float32
	}{{tensorMin, &x.Min}, {tensorMax, &x.Max}, {tensorScale, &x.Scale}} {
		v, ok := t.vector(list.field, 4)
		if !ok || v.n > maxTensors {
			return x, false
		}
		if v.n > 0 {
			*list.to = v.floats()
		}
	}
	return x, true
}

var typeNames = map[uint8]string{1: "float32", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 10: "float16"}

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
