package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// blockLen is how many elements of element-wise work one chunk has.
const blockLen = 16 << 10

func blocks(n int) int { return (n + blockLen - 1) / blockLen }

// block is chunk i of n elements.
func block(i, n int) (from, to int) { return i * blockLen, min(n, (i+1)*blockLen) }

type unaryTask struct {
	st   *step
	act  kernel.Act
	x, y []float32
}

// unary adds an element-wise function of one input, in whatever form that is.
func (b *builder) unary(n *graph.Node) bool {
	a, ok := b.activation(n)
	if !ok || !b.values[n.In[0]].fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	last := b.inLast(n.In[0])
	s := step{fast: true, inplace: true, reads: []int{b.form(n.In[0], last)}}
	s.writes = []int{b.make(n.Out[0], last)}
	s.start = func(_ *State, st *step) process { return &unaryTask{st: st, act: a} }
	b.add(s)
	return true
}

// form returns the buffer of one of v's forms.
func (b *builder) form(v graph.Value, last bool) int {
	if last {
		return b.wantLast(v)
	}
	return b.wantPlain(v)
}

func (t *unaryTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	s.do(blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *unaryTask) Chunk(i, _ int) {
	from, to := block(i, len(t.x))
	kernel.Unary(t.act.Op, t.y[from:to], t.x[from:to], t.act.Alpha, t.act.Beta)
}

// binaryOp is the kernel function of an operator with two inputs.
func binaryOp(o graph.Op) (kernel.BinaryOp, bool) {
	switch o := o.(type) {
	case *op.Add:
		return kernel.Add, true
	case *op.Sub:
		return kernel.Sub, true
	case *op.Mul:
		return kernel.Mul, true
	case *op.Div:
		return kernel.Div, true
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
	st      *step
	op      kernel.BinaryOp
	pat     pattern
	equal   bool // both operands are as large as the result
	swap    bool // the smaller operand is the first
	rows    int  // of a chunk, in the kind that the pattern needs
	x, s, y []float32
}

// binary adds an element-wise function of two inputs, one of which has the shape of the result.
func (b *builder) binary(n *graph.Node) bool {
	o, ok := binaryOp(n.Op)
	if !ok {
		return b.power(n)
	}
	if !b.values[n.In[0]].fast() || !b.values[n.In[1]].fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	dims := b.values[n.Out[0]].dims
	large, small, swap := n.In[0], n.In[1], false
	if !slices.Equal(b.values[large].dims, dims) || slices.Equal(b.values[small].dims, dims) && !b.inLast(large) &&
		b.inLast(small) {
		large, small, swap = small, large, true
	}
	if !slices.Equal(b.values[large].dims, dims) {
		return b.outer(n, o)
	}
	equal := slices.Equal(b.values[small].dims, dims)
	sd := b.values[small].dims
	last := b.inLast(large)
	if last && !equal {
		full := append(slices.Repeat([]int64{1}, len(dims)-len(sd)), sd...)
		if last = sameForms(full); last {
			sd = lastDims(full)
		}
	}
	form := dims
	if last {
		form = lastDims(dims)
	}
	t := binaryTask{op: o, equal: equal, swap: swap}
	if !equal {
		if t.pat, ok = broadcast(sd, form); !ok {
			return b.outer(n, o)
		}
		t.equal = t.pat.repeat == 1 && t.pat.inner == 1 // the same elements under fewer dimensions
	}
	s := step{fast: true, inplace: true, reads: []int{b.form(large, last)}}
	if equal {
		s.reads = append(s.reads, b.form(small, last))
	} else {
		s.reads = append(s.reads, b.wantPlain(small))
	}
	s.writes = []int{b.make(n.Out[0], last)}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	return true
}

// outer adds an element-wise function of two inputs whose sizes differ in other ways: they are repeated to the size of
// the result first.
func (b *builder) outer(n *graph.Node, o kernel.BinaryOp) bool {
	y := &b.values[n.Out[0]]
	s := step{fast: true, inplace: true}
	for _, v := range n.In {
		x := b.wantPlain(v)
		if d := b.values[v].dims; !slices.Equal(d, y.dims) {
			from := x
			x = b.arena(y.count())
			b.repeat(x, from, d, y.dims)
			b.plan.steps[len(b.plan.steps)-1].node = none
		}
		s.reads = append(s.reads, x)
	}
	s.writes = []int{b.make(n.Out[0], false)}
	s.start = func(_ *State, st *step) process { return &binaryTask{st: st, op: o, equal: true} }
	b.add(s)
	return true
}

// powerTask computes functions that are one arithmetic operation of x with itself or a number.
type powerTask struct {
	st       *step
	exponent float32 // 2, or -1
	x, y     []float32
}

// power adds squares, roots and reciprocals.
func (b *builder) power(n *graph.Node) bool {
	x := &b.values[n.In[0]]
	if !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	e := float32(2)
	switch n.Op.(type) {
	case *op.Square:
	case *op.Reciprocal:
		e = -1
	case *op.Pow:
		c := b.constant(n.In[1])
		if len(c) != 1 || !slices.Equal(x.dims, b.values[n.Out[0]].dims) {
			return false
		}
		e = c[0]
	default:
		return false
	}
	if e != 2 && e != -1 && e != 3 {
		return false
	}
	last := b.inLast(n.In[0])
	s := step{fast: true, inplace: e != 3, reads: []int{b.form(n.In[0], last)}}
	s.writes = []int{b.make(n.Out[0], last)}
	s.start = func(_ *State, st *step) process { return &powerTask{st: st, exponent: e} }
	b.add(s)
	return true
}

func (t *powerTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.f32(t.st.writes[0])
	s.do(blocks(len(t.x)), t)
	return nil
}

// Chunk computes one block.
func (t *powerTask) Chunk(i, _ int) {
	from, to := block(i, len(t.x))
	x, y := t.x[from:to], t.y[from:to]
	if t.exponent < 0 {
		kernel.BinarySV(kernel.Div, y, 1, x)
		return
	}
	kernel.BinaryVV(kernel.Mul, y, x, x)
	if t.exponent == 3 {
		kernel.BinaryVV(kernel.Mul, y, y, x)
	}
}

func (t *binaryTask) run(s *State) error {
	t.x, t.s, t.y = s.f32(t.st.reads[0]), s.f32(t.st.reads[1]), s.f32(t.st.writes[0])
	if t.equal {
		s.do(blocks(len(t.x)), t)
		return nil
	}
	run := t.pat.middle * t.pat.inner // elements over which the smaller operand advances once
	t.rows = max(1, blockLen/run)
	s.do((t.pat.outer*t.pat.repeat+t.rows-1)/t.rows, t)
	return nil
}

// Chunk computes some runs of the pattern.
func (t *binaryTask) Chunk(i, _ int) {
	if t.equal {
		from, to := block(i, len(t.x))
		a, c := t.x[from:to], t.s[from:to]
		if t.swap {
			a, c = c, a
		}
		kernel.BinaryVV(t.op, t.y[from:to], a, c)
		return
	}
	p := &t.pat
	run := p.middle * p.inner
	end := min(p.outer*p.repeat, (i+1)*t.rows)
	for r := i * t.rows; r < end; {
		o := r / p.repeat
		n := min(end, (o+1)*p.repeat) - r // rows that share the operand's part
		x, y, v := t.x[r*run:][:n*run], t.y[r*run:][:n*run], t.s[o*p.middle:][:p.middle]
		switch {
		case p.middle == 1 && t.swap:
			kernel.BinarySV(t.op, y, v[0], x)
		case p.middle == 1:
			kernel.BinaryVS(t.op, y, x, v[0])
		case p.inner == 1:
			kernel.BinaryRows(t.op, y, x, v, n, run, t.swap)
		default:
			for k := range n {
				kernel.BinaryCols(t.op, y[k*run:][:run], x[k*run:][:run], v, p.middle, p.inner, t.swap)
			}
		}
		r += n
	}
}
