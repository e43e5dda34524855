package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/ops"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// narrower lets operations between conversions from a type of 16 bits and to it take its numbers as they are, so that
// nothing is widened in memory.
type narrower struct {
	*ir.Program
	readers map[graph.Value][]*ir.Node
	casts   map[graph.Value]*ir.Node // of halves to float32, by their results
	gone    map[*ir.Node]bool
}

func narrow(p *ir.Program) {
	w := &narrower{p, map[graph.Value][]*ir.Node{}, map[graph.Value]*ir.Node{}, map[*ir.Node]bool{}}
	var nodes []*ir.Node
	for _, i := range p.Net.Order {
		nodes = append(nodes, p.At[i]...)
	}
	for _, n := range nodes {
		if from, to, is := w.cast(n); is && to == tensor.Float32 {
			if _, is = ops.HalfTypeOf(from); is {
				w.casts[n.Out[0]] = n
			}
		}
		for _, v := range n.In {
			if v != graph.None {
				w.readers[v] = append(w.readers[v], n)
			}
		}
	}
	for _, n := range nodes { // a node that waits without readers is never made
		if n.Waits && len(w.readers[n.Out[0]]) == 0 && !slices.Contains(p.Net.Graph.Out, n.Out[0]) {
			for _, v := range n.In {
				w.leave(v, n)
			}
		}
	}
	for _, n := range nodes {
		w.node(n)
		w.operands(n)
	}
	for i, list := range p.At {
		p.At[i] = slices.DeleteFunc(list, func(n *ir.Node) bool { return w.gone[n] })
	}
}

// cast reports whether a node is a conversion between element types, and of which.
func (w *narrower) cast(n *ir.Node) (from, to tensor.DType, is bool) {
	if n.At < 0 || len(n.In) != 1 || len(n.Out) != 1 || n.Waits {
		return 0, 0, false
	}
	g := &w.Net.Graph.Nodes[n.At]
	if _, is = g.Op.(*op.Cast); !is || n.Out[0] != g.Out[0] || n.In[0] != g.In[0] {
		return 0, 0, false
	}
	return w.Net.Values[n.In[0]].Type.DType, w.Net.Values[n.Out[0]].Type.DType, true
}

// node makes n an operation of halves, if all its operands are halves and its result becomes halves or is no float32.
func (w *narrower) node(n *ir.Node) {
	o, is := n.Op.(ops.OfHalves)
	if !is || len(n.Out) != 1 || n.Codes || n.Waits {
		return
	}
	t, some := w.halfType(n)
	h, is := ops.HalfTypeOf(t)
	if !some || !is {
		return
	}
	var after *ir.Node // makes halves of the result
	if w.Net.Values[n.Out[0]].IsFloat32() {
		readers := w.readers[n.Out[0]]
		if len(readers) != 1 || slices.Contains(w.Net.Graph.Out, n.Out[0]) {
			return
		}
		after = readers[0]
		if _, to, is := w.cast(after); !is || to != t {
			return
		}
	}
	in := make([]graph.Value, len(n.In))
	for k, v := range n.In {
		if c := w.casts[v]; c != nil {
			in[k] = c.In[0]
		} else if !w.exact(v, h) {
			return
		}
	}
	halved := o.Halved(h)
	if halved == nil {
		return
	}
	for k, v := range n.In {
		c := w.casts[v]
		if c == nil {
			in[k] = w.constant(v, t)
			continue
		}
		w.leave(v, n)
		w.drop(c)
	}
	if n.Op, n.In = halved, in; after != nil {
		n.Out = after.Out
		w.gone[after] = true
		w.Fused = append(w.Fused, after.At)
	}
}

// operands gives n halves for operands that are read as such, although others and the result are float32.
func (w *narrower) operands(n *ir.Node) {
	o, is := n.Op.(ops.ReadsHalves)
	if !is || n.Waits {
		return
	}
	for k, v := range n.In {
		c := w.casts[v]
		if c == nil || w.Net.Values[c.In[0]].Type.DType != tensor.Float16 || slices.Index(n.In, v) != k ||
			slices.Contains(n.In[k+1:], v) || !o.TakeHalves(k, c.In[0]) {
			continue
		}
		n.In[k] = c.In[0]
		w.leave(v, n)
		w.drop(c)
	}
}

// leave notes that n does not read v any more.
func (w *narrower) leave(v graph.Value, n *ir.Node) {
	w.readers[v] = slices.DeleteFunc(w.readers[v], func(x *ir.Node) bool { return x == n })
}

// drop removes a conversion without readers.
func (w *narrower) drop(c *ir.Node) {
	if v := c.Out[0]; len(w.readers[v]) == 0 && !slices.Contains(w.Net.Graph.Out, v) && !w.gone[c] {
		w.gone[c] = true
		w.Fused = append(w.Fused, c.At)
	}
}

// halfType is the one type of the halves that are widened for n; false: there are none, or of two types.
func (w *narrower) halfType(n *ir.Node) (t tensor.DType, is bool) {
	for _, v := range n.In {
		c := w.casts[v]
		if c == nil {
			continue
		}
		d := w.Net.Values[c.In[0]].Type.DType
		if is && d != t {
			return 0, false
		}
		t, is = d, true
	}
	return t, is
}

// exact reports whether a value is a constant that is the same as halves.
func (w *narrower) exact(v graph.Value, h kernel.HalfType) bool {
	if v == graph.None || !w.Net.Values[v].IsFloat32() || w.Net.Values[v].Data == nil {
		return false
	}
	return ops.FitHalves(h, mem.Elements[float32](w.Net.Values[v].Data))
}

// constant is a new value with the numbers of v as halves.
func (w *narrower) constant(v graph.Value, t tensor.DType) graph.Value {
	x := w.Net.Values[v]
	h, _ := ops.HalfTypeOf(t)
	numbers := mem.Elements[float32](x.Data)
	half := make([]uint16, len(numbers))
	h.Narrow(half, numbers)
	x.Type, x.Data = tensor.T(t, x.Dims...), mem.Bytes(half)
	w.Net.Values = append(w.Net.Values, x)
	w.Made, w.There = append(w.Made, true), append(w.There, true)
	return graph.Value(len(w.Net.Values) - 1)
}
