package ops

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

type unaryTask struct {
	st   *run.Step
	act  kernel.Act
	x, y []float32
}

// unaryOp is an element-wise function of one value.
type unaryOp struct {
	ir.AsFirst
	act kernel.Act
}

func matchUnary(p *ir.Program, i int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	if !p.Net.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	a, ok := activation(p.Net, n)
	if !ok {
		return nil
	}
	return p.Plainly(i, &unaryOp{act: a}, 1)
}

// matchGate finds a value times a function of it that no product takes along.
func matchGate(p *ir.Program, i int) *ir.Patch {
	for _, v := range p.Net.Graph.Nodes[i].In {
		if v == graph.None || !p.Net.IsFloat32(v) {
			continue
		}
		if x := gateOf(p, v); x != nil && slices.Contains(x.nodes, i) &&
			slices.Equal(p.Net.Values[x.out].Dims, p.Net.Values[v].Dims) {
			return ir.One(i, &unaryOp{act: x.act}, []graph.Value{v}, []graph.Value{x.out}, ir.Without(x.nodes, i)...)
		}
	}
	return nil
}

func (q *unaryOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	a := q.act
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &unaryTask{st: st, act: a}
	}}
}

func (t *unaryTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(run.Blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *unaryTask) Chunk(i, _ int) {
	from, to := run.Block(i, len(t.x))
	kernel.Unary(t.act.Op, t.y[from:to], t.x[from:to], t.act.Alpha, t.act.Beta)
}

// binaryKernel is the kernel function of an operator with two inputs.
func binaryKernel(o graph.Op) (kernel.BinaryOp, bool) {
	switch o := o.(type) {
	case *op.Add:
		return kernel.Add, true
	case *op.Sub:
		return kernel.Sub, true
	case *op.Mul:
		return kernel.Mul, true
	case *op.Div:
		return kernel.Div, true
	case *op.Pow:
		return kernel.Pow, true
	case *op.Min:
		return kernel.Min, o.NaN == op.NaNPropagates
	case *op.Max:
		return kernel.Max, o.NaN == op.NaNPropagates
	}
	return 0, false
}

// pattern is how the smaller operand of a binary operator repeats: its elements are [outer, middle] and each stands for
// a run of inner elements of the larger, [outer, repeat, middle, inner].
type pattern struct{ outer, repeat, middle, inner int }

// broadcast returns the pattern of an operand of sizes small in the result of sizes dims, ok false when it is not of
// that form.
func broadcast(small, dims []int64) (p pattern, ok bool) {
	p = pattern{1, 1, 1, 1}
	parts := []*int{&p.outer, &p.repeat, &p.middle, &p.inner} // of them, the first and third are in the operand
	at := 0
	lead := len(dims) - len(small)
	for d := range dims {
		if dims[d] == 1 {
			continue
		}
		in := d >= lead && small[d-lead] != 1
		if (at%2 == 0) != in {
			at++
		}
		if at >= len(parts) {
			return p, false
		}
		*parts[at] *= int(dims[d])
	}
	return p, true
}

type binaryTask struct {
	st     *run.Step
	op     kernel.BinaryOp
	pat    pattern
	equal  bool // both operands are as large as the result
	swap   bool // the smaller operand is the first
	rows   int  // of a chunk, in the kind that the pattern needs
	runs   pairRuns
	floats floatPairs
}

// pairRuns computes n elements of the result of a binary operator from the one numbered at on.
type pairRuns interface {
	vv(at, s, n int) // with those of the smaller operand from s on
	vs(at, s, n int) // with one of them
}

// floatPairs are the operands and the result of a binary operator.
type floatPairs struct {
	op      kernel.BinaryOp
	swap    bool
	x, s, y []float32
}

func (t *floatPairs) vv(at, s, n int) {
	a, b := t.x[at:at+n], t.s[s:s+n]
	if t.swap {
		a, b = b, a
	}
	kernel.BinaryVV(t.op, t.y[at:at+n], a, b)
}

func (t *floatPairs) vs(at, s, n int) {
	if t.swap {
		kernel.BinarySV(t.op, t.y[at:at+n], t.s[s], t.x[at:at+n])
		return
	}
	kernel.BinaryVS(t.op, t.y[at:at+n], t.x[at:at+n], t.s[s])
}

// binaryOp is an element-wise function of two values, the first of which has the shape of the result.
type binaryOp struct {
	task  binaryTask
	small []int64 // sizes of the other operand; nil: those of the result
	dims  []int64
}

func matchBinary(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, ok := binaryKernel(n.Op)
	if !ok || !g.IsFloat32(n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	dims, first, second := g.Values[n.Out[0]].Dims, g.Values[n.In[0]].Dims, g.Values[n.In[1]].Dims
	q := &binaryOp{task: binaryTask{op: o, equal: true}, dims: dims}
	switch {
	case slices.Equal(first, dims) && slices.Equal(second, dims):
		return p.Plainly(i, q, 2)
	case slices.Equal(first, dims):
		q.small = second
	case slices.Equal(second, dims):
		q.small, q.task.swap = first, true
	}
	if q.small != nil {
		if _, ok := broadcast(q.small, dims); ok {
			in := []graph.Value{n.In[0], n.In[1]}
			if q.task.swap {
				slices.Reverse(in)
			}
			return ir.One(i, q, in, n.Out)
		}
	}
	// The sizes differ in other ways: operands are repeated to the size of the result first.
	q.small, q.task.swap = nil, false
	x := &ir.Patch{}
	in := slices.Clone(n.In)
	for k, v := range in {
		if d := g.Values[v].Dims; !slices.Equal(d, dims) {
			in[k] = graph.Value(len(g.Values) + len(x.Extra))
			x.Extra = append(x.Extra, ir.Value{Type: tensor.T(tensor.Float32, dims...), Dims: dims})
			x.Nodes = append(x.Nodes, &ir.Node{At: run.None, Kind: "repeat", Op: newRepeat(d, dims, 4),
				In: []graph.Value{v}, Out: []graph.Value{in[k]}})
		}
	}
	x.Nodes = append(x.Nodes, &ir.Node{At: i, Op: q, In: in, Out: n.Out})
	return x
}

// Layout takes the order of the operand that is as large as the result, the smaller one as the model has it.
func (q *binaryOp) Layout(l *ir.Layouter, n *ir.Node) {
	if q.small == nil {
		if l.Best(n.In[0]) == run.NCHW && l.Best(n.In[1]) == run.NHWC {
			slices.Reverse(n.In)
			q.task.swap = !q.task.swap
		}
		ir.AsFirst{}.Layout(l, n)
		return
	}
	o := l.Order(n, n.In[0])
	pat, ok := broadcastIn(q.small, q.dims, o)
	if !ok {
		o = run.NCHW
		pat, _ = broadcast(q.small, q.dims)
	}
	q.task.pat = pat
	q.task.equal = pat.repeat == 1 && pat.inner == 1 // the same elements under fewer dimensions
	l.Read(n, n.In[0], o)
	l.Read(n, n.In[1], run.NCHW)
	l.Write(n, n.Out[0], o)
}

func (q *binaryOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// broadcastIn is broadcast for a result in an order of dimensions; ok is also false when the smaller operand would have
// to be converted to that order.
func broadcastIn(small, dims []int64, o run.Order) (p pattern, ok bool) {
	if o == run.NCHW {
		return broadcast(small, dims)
	}
	full := append(slices.Repeat([]int64{1}, len(dims)-len(small)), small...)
	if !run.SameOrders(full) {
		return p, false
	}
	return broadcast(run.SizesIn(full, o), run.SizesIn(dims, o))
}

// powerTask computes functions that are one operation of x with itself or a number.
type powerTask struct {
	st             *run.Step
	exponent, base float32 // 2, 3 or -1; or base > 0
	x, y           []float32
}

// powerOp is a square, a cube, a reciprocal or a power of a number.
type powerOp struct {
	ir.AsFirst
	exponent, base float32
}

func matchPower(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	e := float32(2)
	switch o := n.Op.(type) {
	case *op.Square:
	case *op.Reciprocal:
		e = -1
	case *op.Exp:
		if !(o.Base > 0) || o.Scale != 0 && o.Scale != 1 || o.Shift != 0 {
			return nil
		}
		return p.Plainly(i, &powerOp{base: o.Base}, 1)
	case *op.Pow:
		c := g.Constant(n.In[1])
		if len(c) != 1 || !slices.Equal(g.Values[n.In[0]].Dims, g.Values[n.Out[0]].Dims) {
			return nil
		}
		e = c[0]
	default:
		return nil
	}
	if e != 2 && e != -1 && e != 3 {
		return nil
	}
	return p.Plainly(i, &powerOp{exponent: e}, 1)
}

func (q *powerOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := powerTask{exponent: q.exponent, base: q.base}
	return run.Step{Fast: true, Inplace: t.exponent != 3, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

func (t *powerTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do(run.Blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *powerTask) Chunk(i, _ int) {
	from, to := run.Block(i, len(t.x))
	x, y := t.x[from:to], t.y[from:to]
	switch {
	case t.base > 0:
		kernel.BinarySV(kernel.Pow, y, t.base, x)
		return
	case t.exponent < 0:
		kernel.BinarySV(kernel.Div, y, 1, x)
		return
	}
	kernel.BinaryVV(kernel.Mul, y, x, x)
	if t.exponent == 3 {
		kernel.BinaryVV(kernel.Mul, y, y, x)
	}
}

func (t *binaryTask) Run(s *run.State) error {
	t.floats = floatPairs{t.op, t.swap, s.F32(t.st.Reads[0]), s.F32(t.st.Reads[1]), s.F32(t.st.Writes[0])}
	t.runs = &t.floats
	s.Do(t.chunks(len(t.floats.x)), t)
	return nil
}

// chunks is how many parts the work on n elements of the result has.
func (t *binaryTask) chunks(n int) int {
	if t.equal {
		return run.Blocks(n)
	}
	length := t.pat.middle * t.pat.inner // elements over which the smaller operand advances once
	t.rows = max(1, run.BlockLen/length)
	return (t.pat.outer*t.pat.repeat + t.rows - 1) / t.rows
}

// Chunk computes some runs of the pattern.
func (t *binaryTask) Chunk(i, _ int) { t.chunk(i, len(t.floats.x), t.runs) }

// chunk computes part i of n elements.
func (t *binaryTask) chunk(i, n int, runs pairRuns) {
	if t.equal {
		from, to := run.Block(i, n)
		runs.vv(from, from, to-from)
		return
	}
	p := &t.pat
	length := p.middle * p.inner
	end := min(p.outer*p.repeat, (i+1)*t.rows)
	for r := i * t.rows; r < end; {
		o := r / p.repeat
		n := min(end, (o+1)*p.repeat) - r // rows that share the operand's part
		switch {
		case p.middle == 1:
			runs.vs(r*length, o, n*length)
		case p.inner == 1:
			for k := range n {
				runs.vv((r+k)*length, o*p.middle, length)
			}
		default:
			for k := range n {
				for c := range p.middle {
					runs.vs((r+k)*length+c*p.inner, o*p.middle+c, p.inner)
				}
			}
		}
		r += n
	}
}

func (q *unaryOp) String() string { return fmt.Sprint(q.act.Op) }

func (q *binaryOp) String() string { return fmt.Sprint(q.task.op) }
