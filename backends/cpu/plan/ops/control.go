package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// body is a graph within a node as a plan.
type body struct {
	plan  *run.Plan
	name  string
	from  []int // per input of the plan: which of the body's it is
	unfit error // why the body cannot be computed for these inputs; there is no plan then
}

// given holds the facts of an input of a body: as the plan has it, and whatever the sizes of the model's inputs are.
type given struct {
	tensor.Fact
	open  tensor.Fact
	sized bool // the constant is another one in other plans
	loose bool // its sizes change from one run of the body to the next
}

// givens are the inputs of node i from the given one on. A constant is known in the body as well.
func givens(g *ir.Network, i, from int) []given {
	var list []given
	for _, v := range g.Graph.Nodes[i].In[from:] {
		if v == graph.None {
			list = append(list, given{})
			continue
		}
		x := &g.Values[v]
		f := given{Fact: tensor.Fact{Type: x.Type}, sized: x.Sized}
		if x.Dims != nil {
			f.Shape = tensor.Of(x.Dims...)
		}
		switch f.open = f.Fact; {
		case x.Data == nil:
			if g.Open != nil {
				f.open = tensor.Fact{Type: g.Open.Fact(v).Type}
			}
		case !x.Sized:
			g.Keep(v)
			f.Const = tensor.NewConst(x.Data)
			f.open = f.Fact
		default:
			f.open = tensor.Fact{Type: g.Open.Fact(v).Type}
			n, fits := tensor.Count(x.Dims)
			if ints, err := tensor.ReadInts(x.Type.DType, x.Data, int(n)); err == nil && fits && n <= tensor.MaxInts {
				f.Ints = tensor.Of(ints...).Dims
			}
		}
		list = append(list, f)
	}
	return list
}

// withoutValues are inputs that change from one run of a body to the next.
func withoutValues(list []given) []given {
	list = slices.Clone(list)
	for i := range list {
		list[i] = given{Fact: tensor.Fact{Type: list[i].Type}, open: tensor.Fact{Type: list[i].open.Type}}
	}
	return list
}

// bodyOf plans graph number which within node i; nil when the sizes of its inputs are not known, or it is better
// computed by reference.
func bodyOf(p *ir.Program, i, which int, g *graph.Graph, in []given) *body {
	if g == nil || g.Validate() != nil || len(g.In) != len(in) {
		return nil
	}
	facts, opens := make([]tensor.Fact, len(in)), make([]tensor.Fact, len(in))
	for k, x := range in {
		f := g.Fact(g.In[k])
		if !x.Shape.Static() && !x.loose || f.Quant != nil && !f.Quant.Equal(x.Quant) {
			return nil
		}
		facts[k], opens[k] = x.Fact, x.open
	}
	c, err := op.BodyWith(g, facts)
	if err != nil {
		return nil
	}
	var open *graph.Graph
	if p.Net.Open != nil {
		if open, err = op.BodyWith(g, opens); err != nil {
			return nil
		}
	}
	b := &body{name: g.Name}
	c.In = nil
	for k, v := range g.In {
		if facts[k].Const == nil && facts[k].Ints == nil {
			c.In = append(c.In, v)
			b.from = append(b.from, k)
		}
	}
	if b.plan, err = p.Net.Bodies(i, which, c, open); err != nil {
		return nil
	}
	return b
}

// unfitOf is a body that stands against the sizes of its inputs, which a run may not take; nil for another. Of networks
// with a branch for each rate of sampling the sizes of one suit one branch alone.
func unfitOf(g *graph.Graph, in []given) *body {
	if g == nil || g.Validate() != nil {
		return nil
	}
	facts := make([]tensor.Fact, len(in))
	for k, x := range in {
		if facts[k] = x.Fact; !x.Shape.Static() {
			return nil
		}
	}
	if _, err := op.BodyWith(g, facts); fault.KindOf(err) == fault.Shape {
		return &body{name: g.Name, unfit: err}
	}
	return nil
}

// dims are the sizes of result k, nil when they are not known before the run.
func (b *body) dims(k int) []int64 { return b.plan.Outputs[k].Dims }

// operands say where a node's inputs and outputs are among the buffers of its step.
type operands struct {
	in, out []int // place in reads and writes, None: absent
	types   []tensor.Type
	fixed   []bool // per output: its sizes are known
}

func operandsOf(g *ir.Network, i int) operands {
	n := &g.Graph.Nodes[i]
	var o operands
	count := 0
	for _, v := range n.In {
		if o.in = append(o.in, run.None); v != graph.None {
			o.in[len(o.in)-1] = count
			count++
		}
	}
	count = 0
	for _, v := range n.Out {
		o.out, o.types, o.fixed = append(o.out, run.None), append(o.types, tensor.Type{}), append(o.fixed, false)
		if k := len(o.out) - 1; v != graph.None {
			o.out[k] = count
			o.types[k], o.fixed[k] = g.Values[v].Type, g.Values[v].Dims != nil
			count++
		}
	}
	return o
}

// plain reports whether no operand of node i is quantized.
func plain(g *ir.Network, i int) bool {
	n := &g.Graph.Nodes[i]
	return !slices.ContainsFunc(slices.Concat(n.In, n.Out), func(v graph.Value) bool {
		return v != graph.None && g.Values[v].Type.Quant != nil
	})
}

// gives reports whether output k of a node may be result r of a body: of the same type, and of the same sizes as far
// as they are known.
func (o *operands) gives(g *ir.Network, v graph.Value, b *body, r int) bool {
	if v == graph.None {
		return true
	}
	x, y := &g.Values[v], &b.plan.Outputs[r]
	return x.Type.DType == y.Type.DType && y.Type.Quant == nil && (x.Dims == nil || slices.Equal(x.Dims, y.Dims))
}

// control is the common part of operators with bodies.
type control struct {
	operands
	bodies []*body
}

// Layout reads and writes in the order of the model; a result of unknown size is made by the run.
func (q *control) Layout(l *ir.Layouter, n *ir.Node) {
	for _, v := range n.In {
		if v != graph.None {
			l.Read(n, v, run.NCHW)
		}
	}
	for k, v := range n.Out {
		switch {
		case v == graph.None:
		case q.fixed[k]:
			l.Write(n, v, run.NCHW)
		default:
			n.Writes = append(n.Writes, l.Result(v))
		}
	}
}

// step makes the step of an operator with bodies that needs room bytes for itself.
func (q *control) step(room int64, start func(s *run.State, st *run.Step) run.Process) run.Step {
	st := run.Step{Fast: true, Room: room, Start: start}
	for _, b := range q.bodies {
		if b == nil || b.unfit != nil {
			continue
		}
		st.Bodies = append(st.Bodies, b.plan)
		_, slow := b.plan.Fast()
		st.Fast = st.Fast && slow == 0
	}
	return st
}

// input returns the bytes of input k.
func (o *operands) input(s *run.State, st *run.Step, k int) []byte { return s.Mem[st.Reads[o.in[k]]] }

// output returns the memory of output k, nil when it is not read or its size is not known.
func (o *operands) output(s *run.State, st *run.Step, k int) []byte {
	if o.out[k] == run.None || !o.fixed[k] {
		return nil
	}
	return s.Mem[st.Writes[o.out[k]]]
}

// deliver makes t output k.
func (o *operands) deliver(s *run.State, st *run.Step, k int, t tensor.Tensor) error {
	if o.out[k] == run.None {
		return nil
	}
	buf := st.Writes[o.out[k]]
	if o.fixed[k] {
		move(s.Mem[buf], t.Data)
		return nil
	}
	if _, ok := o.types[k].Shape.Merge(tensor.Of(t.Dims...)); !ok {
		return fault.New(fault.Shape, "output %d: want %v, the body gave %v", k, o.types[k], t.Type())
	}
	t.Data = slices.Clone(t.Data)
	return s.Keep(buf, t)
}

// move copies bytes that are not there already.
func move(to, from []byte) {
	if len(from) > 0 && &to[0] != &from[0] {
		copy(to, from)
	}
}

// one reads an input of one integer, by default when it is absent.
func (o *operands) one(s *run.State, st *run.Step, k int, d tensor.DType, byDefault int64) int64 {
	if o.in[k] == run.None {
		return byDefault
	}
	return tensor.IntAt(d, o.input(s, st, k), 0)
}
