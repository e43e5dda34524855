package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// modelGraphs is the JSON form of the nodes of a model.
type modelGraphs struct {
	Main      graphInfo   `json:"main"`
	Functions []graphInfo `json:"functions"` // named "domain.name"
}

// graphInfo is a graph, the body of a node, or a function.
type graphInfo struct {
	Name         string          `json:"name"`
	Inputs       []portInfo      `json:"inputs"`
	Outputs      []portInfo      `json:"outputs"`
	Initializers []*constantInfo `json:"initializers"`
	Sparse       int             `json:"sparse_initializers,omitempty"`
	Nodes        []nodeInfo      `json:"nodes"` // in the order of the file
}

// nodeInfo is a node.
type nodeInfo struct {
	Index      int             `json:"index"` // in its graph
	Name       string          `json:"name"`
	Op         string          `json:"op"` // the file's word, behind its domain outside ai.onnx
	Inputs     []operandInfo   `json:"inputs"`
	Outputs    []operandInfo   `json:"outputs"`
	Attributes []attributeInfo `json:"attributes"`
}

// operandInfo is an input or output of a node; an empty name stands for one that is left out.
type operandInfo struct {
	portInfo
	Initializer bool `json:"initializer,omitempty"` // of this graph or one around it
	constant    *constantInfo
}

// attributeInfo is an attribute. Value is a number, a text, a list of these, or null; a constant or graphs are in
// members of their own.
type attributeInfo struct {
	Name   string        `json:"name"`
	Type   string        `json:"type"` // that of AttributeProto, or "reference" to an attribute of the function
	Value  any           `json:"value"`
	Count  int           `json:"count,omitempty"` // elements of a list, bytes of a text; value has the first 4096
	Tensor *constantInfo `json:"tensor,omitempty"`
	Graphs []graphInfo   `json:"graphs,omitempty"`
}

// constantInfo is an initializer or the tensor of an attribute. Statistics are absent when the elements cannot be read.
type constantInfo struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Sizes []int64 `json:"sizes"`
	*statistics
	Values   []json.RawMessage `json:"values,omitempty"`   // of a small one: all elements
	External bool              `json:"external,omitempty"` // they lie in another file
	Error    string            `json:"error,omitempty"`
}

// How much is shown of values that files can make long.
const (
	maxValues     = 8    // elements of a constant that is shown whole
	maxListJSON   = 4096 // elements of an attribute
	maxListShown  = 16
	maxBytesShown = 200
)

// graphsOf lists the nodes of the model at path. If it can be imported, the import gives types to values that the file
// does not declare.
func graphsOf(path string) (*modelGraphs, error) {
	g := gathered{of: map[*onnx.Constant]*constantInfo{}, tallies: map[*onnx.Constant]*tally{}}
	main, functions, err := onnx.DetailFile(path, inferred(path), g.elements)
	if err != nil {
		return nil, err
	}
	out := &modelGraphs{Main: g.graph(main), Functions: []graphInfo{}}
	for _, f := range functions {
		out.Functions = append(out.Functions, g.graph(f))
	}
	return out, nil
}

// inferred are the types of values that an import gives, none when there is no import.
func inferred(path string) map[string]onnx.Port {
	w := mem.NewWeights()
	defer w.Release()
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w})
	if err != nil {
		return nil // the model need not be computable
	}
	return m.Ports()
}

// gathered are the constants of a model with their elements that were read.
type gathered struct {
	of      map[*onnx.Constant]*constantInfo
	tallies map[*onnx.Constant]*tally
}

// elements takes a part of the elements of a constant.
func (g *gathered) elements(c *onnx.Constant, part tensor.Tensor) {
	if g.of[c] == nil {
		g.of[c], g.tallies[c] = &constantInfo{}, newTally()
		if n, _ := tensor.Count(c.Sizes); n <= maxValues {
			g.of[c].Values = valuesOf(part)
		}
	}
	g.tallies[c].add(part)
}

// constant describes a constant of which all elements were taken.
func (g *gathered) constant(c *onnx.Constant) *constantInfo {
	i := g.of[c]
	if i == nil {
		i = &constantInfo{}
		g.of[c] = i
	}
	i.Name, i.Type, i.Sizes, i.External, i.Error = c.Name, c.Type, append([]int64{}, c.Sizes...), c.External, c.Error
	y := g.tallies[c]
	if y == nil {
		y = newTally()
	}
	if c.Error == "" && c.Type != "string" {
		s := y.result()
		i.statistics = &s
	} else {
		i.Values = nil
	}
	return i
}

// valuesOf are the elements as JSON, integers with all their digits; none of complex numbers.
func valuesOf(t tensor.Tensor) []json.RawMessage {
	d := t.DType
	if d == tensor.Complex64 || d == tensor.Complex128 {
		return nil
	}
	var out []json.RawMessage
	for i := range t.Count() {
		switch {
		case d == tensor.Bool:
			out = append(out, strconv.AppendBool(nil, t.Data[i] != 0))
		case d == tensor.Uint64:
			out = append(out, strconv.AppendUint(nil, uint64(tensor.IntAt(d, t.Data, i)), 10))
		case !d.IsFloat():
			out = append(out, strconv.AppendInt(nil, tensor.IntAt(d, t.Data, i), 10))
		default:
			out = append(out, floatJSON(tensor.FloatAt(d, t.Data, i), d == tensor.Float64))
		}
	}
	return out
}

// floatJSON is a number with the digits that tell it from others of its width, a string when it is not finite.
func floatJSON(v float64, double bool) json.RawMessage {
	var text []byte
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		text, _ = number(v).MarshalJSON()
	case double:
		text, _ = json.Marshal(v)
	default:
		text, _ = json.Marshal(float32(v))
	}
	return text
}

func (g *gathered) graph(d *onnx.Detail) graphInfo {
	out := graphInfo{Name: d.Name, Inputs: portInfos(d.In), Outputs: portInfos(d.Out), Initializers: []*constantInfo{},
		Sparse: d.Sparse, Nodes: make([]nodeInfo, 0, len(d.Nodes))}
	for _, c := range d.Initializers {
		out.Initializers = append(out.Initializers, g.constant(c))
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		node := nodeInfo{n.Index, n.Name, n.Operator, g.operands(n.In), g.operands(n.Out), []attributeInfo{}}
		for k := range n.Attributes {
			node.Attributes = append(node.Attributes, g.attribute(&n.Attributes[k]))
		}
		out.Nodes = append(out.Nodes, node)
	}
	return out
}

func (g *gathered) operands(list []onnx.Operand) []operandInfo {
	out := make([]operandInfo, len(list))
	for i, o := range list {
		out[i].portInfo = portInfo{o.Name, o.Type, o.Dims}
		if o.Initializer != nil {
			out[i].Initializer, out[i].constant = true, g.constant(o.Initializer)
		}
	}
	return out
}

func (g *gathered) attribute(a *onnx.Attribute) attributeInfo {
	out := attributeInfo{Name: a.Name, Type: a.Kind}
	switch v := a.Value.(type) {
	case *onnx.Constant:
		out.Tensor = g.constant(v)
	case *onnx.Detail:
		out.Graphs = []graphInfo{g.graph(v)}
	case []*onnx.Detail:
		for _, d := range v {
			out.Graphs = append(out.Graphs, g.graph(d))
		}
	case string, int64:
		out.Value = v
	case float32:
		out.Value = floatJSON(float64(v), false)
	case onnx.Text:
		out.Value, out.Count = valid(v.Start), v.Bytes
	case []int64:
		out.Value, out.Count = append([]int64{}, v[:min(len(v), maxListJSON)]...), len(v)
	case []float32:
		list := []json.RawMessage{}
		for _, f := range v[:min(len(v), maxListJSON)] {
			list = append(list, floatJSON(float64(f), false))
		}
		out.Value, out.Count = list, len(v)
	case []onnx.Text:
		list := []string{}
		for _, s := range v[:min(len(v), maxListJSON)] {
			list = append(list, valid(s.Start))
		}
		out.Value, out.Count = list, len(v)
	}
	return out
}

// valid is text without bytes that are no UTF-8: a character that was cut, or the bytes of something else.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
