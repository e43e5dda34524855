package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// ExposeQuantized takes the quantizing of inputs and the dequantizing of outputs out of a graph, as a board's converter
// does: the integers then cross the border. It returns their meaning for each input and output, nil where nothing was
// taken out. Only quantization of 8 or 16 bits is taken out, and of an input only when nothing else reads it: that per
// tensor, and that per axis which perAxis accepts, nil: none. An output may be a copy (Identity) of a dequantized
// value. Inputs and outputs keep their names; nodes that nothing needs any more are gone.
func ExposeQuantized(g *graph.Graph, perAxis func(*tensor.Quant) bool) (in, out []*tensor.Quant) {
	return expose(g, perAxis, false)
}

// expose is ExposeQuantized that also has codes of 32 bits cross at outputs where wide is set.
func expose(g *graph.Graph, perAxis func(*tensor.Quant) bool, wide bool) (in, out []*tensor.Quant) {
	e := &exposed{graph: g, perAxis: perAxis, wide: wide, uses: g.Uses(), producers: g.Producers(), drop: map[int]bool{}}
	in, out = make([]*tensor.Quant, len(g.In)), make([]*tensor.Quant, len(g.Out))
	for i := range g.In {
		in[i] = e.input(i)
	}
	for i := range g.Out {
		out[i] = e.output(i)
	}
	kept := g.Nodes[:0:0]
	for i, n := range g.Nodes {
		if !e.drop[i] {
			kept = append(kept, n)
		}
	}
	g.Nodes = kept
	return in, out
}

// exposed is a graph whose border is being changed.
type exposed struct {
	graph     *graph.Graph
	perAxis   func(*tensor.Quant) bool
	wide      bool // outputs can have codes of 32 bits
	uses      [][]int
	producers []int
	drop      map[int]bool // nodes that are taken out
}

// input makes the integers of input i the input.
func (e *exposed) input(i int) *tensor.Quant {
	g := e.graph
	v := g.In[i]
	if len(e.uses[v]) != 1 || slices.Contains(g.Out, v) || g.Fact(v).DType != tensor.Float32 {
		return nil
	}
	at := e.uses[v][0]
	n := &g.Nodes[at]
	o, ok := n.Op.(*op.Quantize)
	if !ok || o.Block != 0 || n.In[0] != v || slices.Contains(g.Out, n.Out[0]) {
		return nil
	}
	w := n.Out[0]
	q := e.quant(n, w, o.Axis)
	if q == nil || g.Fact(w).DType == tensor.Int32 {
		return nil
	}
	g.Values[w].Name, g.Values[w].Fact.Shape, g.In[i] = g.Values[v].Name, g.Fact(v).Shape, w
	e.drop[at] = true
	return q
}

// output makes the integers of output i the output.
func (e *exposed) output(i int) *tensor.Quant {
	g := e.graph
	v := g.Out[i]
	var way []int // nodes from the output back to the one that dequantizes
	at := e.producers[v]
	for ; at >= 0 && !e.drop[at]; at = e.producers[g.Nodes[at].In[0]] {
		way = append(way, at)
		if _, copies := g.Nodes[at].Op.(*op.Identity); !copies {
			break
		}
	}
	if at < 0 || e.drop[at] || g.Fact(v).DType != tensor.Float32 {
		return nil
	}
	n := &g.Nodes[at]
	w := n.In[0]
	o, ok := n.Op.(*op.Dequantize)
	if !ok || o.Block != 0 || w == graph.None || e.producers[w] < 0 || e.drop[e.producers[w]] ||
		slices.Contains(g.Out, w) {
		return nil
	}
	q := e.quant(n, w, o.Axis)
	if q == nil || !e.wide && g.Fact(w).DType == tensor.Int32 {
		return nil
	}
	g.Values[w].Name, g.Out[i] = g.Values[v].Name, w
	for _, k := range way {
		if y := g.Nodes[k].Out[0]; len(e.uses[y]) > 0 || slices.Contains(g.Out, y) {
			break
		}
		e.drop[k] = true
		for _, x := range g.Nodes[k].In {
			if x != graph.None {
				e.uses[x] = slices.DeleteFunc(slices.Clone(e.uses[x]), func(u int) bool { return u == k })
			}
		}
	}
	return q
}

// quant reads the constant scales and zero points of a node that makes the codes, or reads them; nil when they are
// others than those that are taken out.
func (e *exposed) quant(n *graph.Node, codes graph.Value, axis int64) *tensor.Quant {
	g, f := e.graph, e.graph.Fact(codes)
	switch f.DType {
	case tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int32:
	default:
		return nil
	}
	scale := g.Fact(n.In[1])
	count, ok := scale.Shape.Count()
	if !ok || count < 1 || scale.Const == nil || scale.DType != tensor.Float32 {
		return nil
	}
	q := &tensor.Quant{}
	var err error
	if q.Scale, err = tensor.ReadFloat32s(scale.Const.Data, int(count)); err != nil {
		return nil
	}
	for _, s := range q.Scale {
		if !(s > 0) {
			return nil
		}
	}
	q.Zero = make([]int32, count)
	if len(n.In) > 2 && n.In[2] != graph.None {
		zero := g.Fact(n.In[2])
		if k, ok := zero.Shape.Count(); !ok || k != count || zero.Const == nil {
			return nil
		}
		z, err := tensor.ReadInts(zero.DType, zero.Const.Data, int(count))
		if err != nil {
			return nil
		}
		for i := range z {
			q.Zero[i] = int32(z[i])
		}
	}
	if count == 1 {
		return q
	}
	if q.Axis, ok = along(f.Shape, axis, count); !ok || e.perAxis == nil || !e.perAxis(q) {
		return nil
	}
	return q
}

// along returns an axis, counted from the front, if the shape has n elements along it.
func along(s tensor.Shape, axis, n int64) (int, bool) {
	rank := int64(len(s.Dims))
	if axis < 0 {
		axis += rank
	}
	if !s.Ranked || axis < 0 || axis >= rank || s.Dims[axis].N != n {
		return 0, false
	}
	return int(axis), true
}
