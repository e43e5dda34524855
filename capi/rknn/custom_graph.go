package rknn

import (
	"bytes"
	"slices"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// baseGraph is a model's graph, from which graphs with some of its operators replaced are made: everything but the
// constants, and what the model says of its nodes.
type baseGraph struct {
	form    []byte
	weights *mem.Weights
	nodes   []onnx.Node
}

// newBase numbers the operators that the project does not know and keeps g. It retains w, which gets all constants.
func newBase(g *graph.Graph, nodes []onnx.Node, w *mem.Weights) (*baseGraph, error) {
	for i := range g.Nodes {
		if o, ok := g.Nodes[i].Op.(*op.Custom); ok {
			numbered := *o
			numbered.Instance = int64(i) + 1
			g.Nodes[i].Op = &numbered
		}
	}
	var form bytes.Buffer
	var err error
	encode := graph.Encode(&form, g, graph.EncodeOptions{External: func(h tensor.Hash, data []byte) bool {
		if _, bad := w.Add(h, data); bad != nil {
			err = bad
		}
		return true
	}})
	if err == nil {
		err = encode
	}
	if err != nil {
		return nil, err
	}
	w.Retain()
	return &baseGraph{form.Bytes(), w, nodes}, nil
}

func (b *baseGraph) release() { b.weights.Release() }

// constants returns a store of all constants for one more program, the caller's: p, which was compiled first, gives
// back those that it holds, and all others are still where they were.
func (b *baseGraph) constants(p *compile.Program) (*mem.Weights, error) {
	w := mem.NewWeights()
	held := map[tensor.Hash]bool{}
	err := p.Constants(func(h tensor.Hash, data []byte) error {
		held[h] = true
		_, err := w.Add(h, data)
		return err
	})
	if err == nil {
		_, err = graph.Decode(b.form, graph.DecodeOptions{Const: func(h tensor.Hash, _ []byte, _ int64) ([]byte, error) {
			if held[h] {
				return w.Get(h, "", nil)
			}
			data, err := b.weights.Get(h, "", nil)
			if err != nil {
				return nil, err
			}
			return w.Add(h, data)
		}})
	}
	if err != nil {
		w.Release()
		return nil, err
	}
	return w, nil
}

// graph returns a new copy whose constants lie in w.
func (b *baseGraph) graph(w *mem.Weights) (*graph.Graph, error) {
	return graph.Decode(b.form, graph.DecodeOptions{Const: func(h tensor.Hash, _ []byte, _ int64) ([]byte, error) {
		return w.Get(h, "", nil)
	}})
}

// replaces says whether the library itself computes an operator of one of the types.
func (b *baseGraph) replaces(types map[string]CustomOp) bool {
	return slices.ContainsFunc(b.nodes, func(n onnx.Node) bool {
		_, wanted := types[n.Custom.Type]
		return wanted && n.Custom.Domain == ""
	})
}

// customs are the types of the operators of g that a program must compute, each once.
func customs(g *graph.Graph) (types []string) {
	for i := range g.Nodes {
		if o, ok := g.Nodes[i].Op.(*op.Custom); ok && !slices.Contains(types, o.Type) {
			types = append(types, o.Type)
		}
	}
	return types
}

// replace returns a copy, its constants in w, in which the nodes of the given types, those with an instance in kept
// apart, are operators that a program computes. Nodes whose results were known when the model was loaded stay as they
// are, with a warning.
func (b *baseGraph) replace(w *mem.Weights, types map[string]CustomOp, kept map[int64]bool) (*graph.Graph, error) {
	g, err := b.graph(w)
	if err != nil {
		return nil, err
	}
	base := slices.Clone(g.Nodes)
	removed := map[int]bool{}
	var added []graph.Node
	for i := range b.nodes {
		n := &b.nodes[i]
		if _, wanted := types[n.Custom.Type]; !wanted || n.Custom.Domain != "" {
			continue
		}
		site := siteOf(g, base, n)
		if len(site) == 0 {
			caution("operator cannot be replaced: loading the model left nothing of it "+
				"[rknn-operator-replaced-loading]", "type", n.Custom.Type, "node", n.Name)
			continue
		}
		if kept[int64(site[0])+1] {
			continue
		}
		nodes, err := replacement(g, base, n, site)
		if err != nil {
			return nil, refuseFor(spec.ErrFail, err, "op_type: %q: node %d %q "+
				"[rknn-op-type-node]", n.Custom.Type, n.Origin, n.Name)
		}
		for _, k := range site {
			removed[k] = true
		}
		added = append(added, nodes...)
	}
	g.Nodes = g.Nodes[:0:0]
	for k := range base {
		if !removed[k] {
			g.Nodes = append(g.Nodes, base[k])
		}
	}
	g.Nodes = append(g.Nodes, added...)
	return g, g.Validate()
}

// siteOf returns the indices of the nodes that node n of the model became: those of its origin that its outputs need.
// Empty when an output is no longer made.
func siteOf(g *graph.Graph, base []graph.Node, n *onnx.Node) []int {
	producers := make([]int, len(g.Values))
	for i := range producers {
		producers[i] = -1
	}
	for i := range base {
		for _, v := range base[i].Out {
			if v != graph.None {
				producers[v] = i
			}
		}
	}
	in := map[int]bool{}
	var stack []graph.Value
	for _, v := range n.Out {
		if v == graph.None {
			continue
		}
		if p := producers[v]; p < 0 || base[p].Origin != n.Origin {
			return nil
		}
		stack = append(stack, v)
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v == graph.None || slices.Contains(n.In, v) {
			continue
		}
		p := producers[v]
		if p < 0 || base[p].Origin != n.Origin || in[p] {
			continue
		}
		in[p] = true
		stack = append(stack, base[p].In...)
	}
	site := make([]int, 0, len(in))
	for i := range in {
		site = append(site, i)
	}
	slices.Sort(site)
	return site
}

// replacement makes the node that stands for a site, and the one that brings a filter back into the model's order.
func replacement(g *graph.Graph, base []graph.Node, n *onnx.Node, site []int) ([]graph.Node, error) {
	o := *n.Custom
	o.Instance = int64(site[0]) + 1
	node := graph.Node{Op: &o, Name: n.Name, Origin: n.Origin, In: slices.Clone(n.In), Out: slices.Clone(n.Out)}
	var nodes []graph.Node
	whole := *g
	whole.Nodes = base
	body, in, out := whole.Extract(site)
	if n.Filter != graph.None && len(node.In) > 1 && node.In[1] == graph.None {
		back, err := modelOrder(g, n)
		if err != nil {
			return nil, err
		}
		node.In[1] = back.Out[0]
		nodes = append(nodes, back)
	}
	for _, v := range in {
		i := slices.Index(node.In, v)
		if i < 0 {
			return nil, fault.New(fault.Unsupported, "it reads %q, which is none of its inputs "+
				"[rknn-reads-inputs]", g.Values[v].Name)
		}
		o.Given = append(o.Given, i)
	}
	for _, v := range out {
		i := slices.Index(node.Out, v)
		if i < 0 {
			return nil, fault.New(fault.Unsupported, "others read %q, which is none of its outputs "+
				"[rknn-others-read-outputs]", g.Values[v].Name)
		}
		o.Makes = append(o.Makes, i)
	}
	o.Body = body
	return append(nodes, node), nil
}

// modelOrder makes the node that gives the filter of n, which is stored in another order of dimensions, in the model's.
func modelOrder(g *graph.Graph, n *onnx.Node) (graph.Node, error) {
	stored := g.Fact(n.Filter)
	dims, ok := stored.Shape.Ints()
	if !ok || len(dims) != len(n.FilterOrder) {
		return graph.Node{}, fault.New(fault.Internal, "a filter of shape %v in the order %v "+
			"[rknn-filter-shape-order]", stored.Shape, n.FilterOrder)
	}
	back, own := make([]int64, len(dims)), make([]int64, len(dims))
	for k, from := range n.FilterOrder {
		back[from], own[from] = int64(k), dims[k]
	}
	b := graph.Extend(g)
	perm := b.Int64s(back...)
	g.Values = append(g.Values, graph.ValueInfo{Name: "filter", Fact: tensor.Fact{Type: tensor.T(stored.DType, own...)}})
	return graph.Node{Op: &op.Transpose{}, Name: n.Name, Origin: n.Origin, In: []graph.Value{n.Filter, perm},
		Out: []graph.Value{graph.Value(len(g.Values) - 1)}}, b.Err()
}
