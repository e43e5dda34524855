package lower

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// previewOperators are of a domain whose definitions may still change.
var previewOperators = []Operator{{"ai.onnx.preview", "FlexAttention", 1, lowerFlexAttention}}

// maxHeads bounds the query heads of FlexAttention, each of which is given its head of the keys by a constant.
const maxHeads = 1 << 16

// flexAttributes are the attributes of FlexAttention.
var flexAttributes = map[string]int64{"score_mod": proto.AttrGraph, "prob_mod": proto.AttrGraph,
	"scale":             proto.AttrFloat,
	"softmax_precision": proto.AttrInt}

// lowerFlexAttention is prob_mod(softmax(score_mod(scale q k'))) v, whose bodies become part of the graph. Scores have
// the type softmax_precision, by default float32, or float64 when the inputs are.
func lowerFlexAttention(n *node) error {
	if err := n.want(3, 3); err != nil {
		return err
	}
	for name, a := range n.p.Attrs {
		if typ, ok := flexAttributes[name]; !ok || a.Type != 0 && a.Type != typ {
			return fault.New(fault.File, "attribute %q: FlexAttention has none of that name and type", name)
		}
	}
	for i := range 3 {
		if r, err := n.rank(i); err != nil || r != 4 {
			return fault.New(fault.Shape, "input %d: want rank 4, got %v", i, n.fact(i).Shape)
		}
	}
	real, scores, err := n.flexTypes()
	if err != nil {
		return err
	}
	keys, values, err := n.flexHeads()
	if err != nil {
		return err
	}
	wide := func(v graph.Value) graph.Value { return n.b.Add(&op.Cast{To: real}, v) }
	scale := float64(n.float("scale", 0))
	if n.p.Attrs["scale"] == nil {
		d := n.fact(0).Shape.Dims[3]
		if !d.Known() || d.N < 1 {
			return fault.New(fault.Unsupported, "input 0: want a known size of heads, got %v", n.fact(0).Shape)
		}
		scale = 1 / math.Sqrt(float64(d.N))
	}
	by, err := n.scalarOf(real, scale)
	if err != nil {
		return err
	}
	s := n.b.Add(&op.MatMul{TransposeB: true}, n.b.Add(&op.Mul{}, wide(n.arg(0)), by), wide(keys))
	if s, err = n.modified("score_mod", n.b.Add(&op.Cast{To: scores}, s)); err != nil || n.Missing() {
		return err
	}
	p, err := n.modified("prob_mod", n.b.Add(&op.Softmax{Axis: -1}, s))
	if err != nil || n.Missing() {
		return err
	}
	y := n.b.Add(&op.MatMul{}, wide(p), wide(values))
	return n.emit(&op.Cast{To: n.fact(2).DType}, y)
}

// flexTypes returns the types of products and of scores.
func (n *node) flexTypes() (real, scores tensor.DType, err error) {
	if scores, err = n.dtype("softmax_precision"); err != nil {
		return 0, 0, err
	}
	real = tensor.Float32
	if n.fact(0).DType == tensor.Float64 || scores == tensor.Float64 {
		real = tensor.Float64
	}
	switch scores {
	case tensor.Invalid:
		scores = real
	case tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
	default:
		return 0, 0, fault.New(fault.File, "attribute softmax_precision: %v", scores)
	}
	return real, scores, nil
}

// flexHeads returns keys and values with a head for each of the queries: query head h has head h / (query heads /
// heads).
func (n *node) flexHeads() (keys, values graph.Value, err error) {
	q, k, v := n.fact(0).Shape.Dims[1], n.fact(1).Shape.Dims[1], n.fact(2).Shape.Dims[1]
	if !q.Known() || !k.Known() || !v.Known() {
		return 0, 0, fault.New(fault.Unsupported, "want known numbers of heads, got %v, %v and %v", n.fact(0).Shape,
			n.fact(1).Shape, n.fact(2).Shape)
	}
	if q.N > maxHeads {
		return 0, 0, fault.New(fault.Unsupported, "%d query heads; at most %d are read", q.N, maxHeads)
	}
	if k.N != v.N || k.N < 1 || q.N%k.N != 0 {
		return 0, 0, fault.New(fault.Shape, "%d query heads, %d heads of keys and %d of values", q.N, k.N, v.N)
	}
	keys, values = n.arg(1), n.arg(2)
	if q.N != k.N {
		of := make([]int64, q.N)
		for h := range of {
			of[h] = int64(h) / (q.N / k.N)
		}
		axis := n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(1))
		keys, values = n.b.Add(&op.Gather{}, keys, n.b.Int64s(of...), axis), n.b.Add(&op.Gather{}, values,
			n.b.Int64s(of...), axis)
	}
	return keys, values, n.b.Err()
}

// modified returns what the body of an attribute makes of v, which must have its type and rank, or v without one.
func (n *node) modified(name string, v graph.Value) (graph.Value, error) {
	if n.p.Attrs[name] == nil {
		return v, nil
	}
	t := n.b.Fact(v).Type
	sc, err := n.body(name, t)
	if err != nil || n.Missing() {
		return graph.None, err
	}
	g, err := sc.b.Graph()
	if err != nil {
		return graph.None, err
	}
	if len(g.In) != 1+len(sc.captured) || len(g.Out) != 1 {
		return graph.None, fault.New(fault.File, "attribute %s: %d inputs and %d outputs; want one of each", name,
			len(g.In)-len(sc.captured), len(g.Out))
	}
	out, err := n.inlined(g, append([]graph.Value{v}, sc.captureInputs()...))
	if err != nil {
		return graph.None, fault.Wrap(err, "attribute %s", name)
	}
	f := n.b.Fact(out)
	_, err = tensor.Broadcast(f.Shape, t.Shape)
	if err != nil || f.DType != t.DType || f.Shape.Ranked && f.Shape.Rank() != 4 {
		return graph.None, fault.New(fault.Shape, "attribute %s makes %v of %v; want the same type", name, f.Type, t)
	}
	return out, nil
}

// inlined adds the nodes of g, whose inputs are in, and returns its output.
func (n *node) inlined(g *graph.Graph, in []graph.Value) (graph.Value, error) {
	values := map[graph.Value]graph.Value{graph.None: graph.None}
	for i, v := range g.In {
		values[v] = in[i]
	}
	for _, inner := range g.Nodes {
		args := make([]graph.Value, len(inner.In))
		for i, v := range inner.In {
			w, ok := values[v]
			if !ok {
				w = n.b.ConstOf("", g.Fact(v).Type, g.Fact(v).Const)
				values[v] = w
			}
			args[i] = w
		}
		declared := make([]tensor.Type, len(inner.Out))
		for i, v := range inner.Out {
			declared[i] = g.Fact(v).Type
		}
		for i, v := range n.b.AddTyped(inner.Op, "", declared, args...) {
			values[inner.Out[i]] = v
		}
		if err := n.b.Err(); err != nil {
			return graph.None, err
		}
	}
	return values[g.Out[0]], nil
}
