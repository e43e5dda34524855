package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// viewOp is a result that shares its operand's memory.
type viewOp struct{ same bool } // same: the sizes are too

func matchView(p *program, i int) *patch {
	switch p.net.graph.Nodes[i].Op.(type) {
	case *op.Reshape, *op.Flatten, *op.Squeeze, *op.Unsqueeze, *op.Identity:
		return viewPatch(p, i)
	}
	return nil
}

// viewPatch lets the result of node i share its first input's memory, nil when it is not the same elements.
func viewPatch(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	if x.dims == nil || y.dims == nil || !sameCodes(x.typ.Quant, y.typ.Quant) || x.typ.DType != y.typ.DType ||
		x.count() != y.count() {
		return nil
	}
	if _, ok := g.ints(n.In, 1); !ok {
		return nil
	}
	_, same := n.Op.(*op.Identity)
	return p.plainly(i, viewOp{same}, 1)
}

func (q viewOp) layout(l *layouter, n *node) {
	n.none = true
	x, y := n.in[0], n.out[0]
	if l.settle(x); q.same {
		l.forms[y].elements = l.forms[x].elements
		return
	}
	l.forms[y].elements[nchw] = l.want(x, nchw)
}

func (viewOp) lower(*lowering, *node) step { panic("a view is no step") }

// sameCodes reports whether tensors of any shapes mean the same by the same integers.
func sameCodes(q, r *tensor.Quant) bool {
	return q == nil && r == nil || q.IsPerTensor() && r.IsPerTensor() && q.Scale[0] == r.Scale[0] &&
		q.ZeroAt(0) == r.ZeroAt(0)
}

// transposeOp permutes the dimensions of a value.
type transposeOp struct {
	axes []int
	permuteOp
}

func matchTranspose(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Transpose); !is {
		return nil
	}
	x, y := &g.values[n.In[0]], &g.values[n.Out[0]]
	perm, ok := g.ints(n.In, 1)
	if !ok || x.dims == nil {
		return nil
	}
	axes, err := op.Permutation(perm, len(x.dims))
	if err != nil {
		return nil
	}
	q := &transposeOp{axes: axes, permuteOp: permuteOp{size: 4}}
	found := p.plainly(i, q, 1)
	switch {
	case g.isFloat32(n.In[0], n.Out[0]):
		// products of matrices read their operands where they are
		found.nodes[0].waits = len(axes) > 2 && slices.ContainsFunc(g.uses[n.Out[0]], func(k int) bool {
			_, is := g.graph.Nodes[k].Op.(*op.MatMul)
			return is
		})
	case !x.convertible() || !y.convertible() || x.typ.DType != y.typ.DType || !sameCodes(x.typ.Quant, y.typ.Quant):
		return nil
	default:
		q.size = x.typ.DType.Bits() / 8
	}
	q.permutation = newPermutation(x.dims, axes)
	return found
}

// layout makes the result a view when it is the operand's other order.
func (q *transposeOp) layout(l *layouter, n *node) {
	x, y := n.in[0], n.out[0]
	of, ok := q.viewOf(l, x, y)
	if n.none = ok; !ok {
		inOrder{nchw}.layout(l, n)
		return
	}
	l.forms[y].elements[1-of] = l.forms[x].elements[of]
}

// viewOf returns the order of x that is the other order of y; ok is false when x is not made in one.
func (q *transposeOp) viewOf(l *layouter, x, y graph.Value) (of order, ok bool) {
	rank := len(q.axes)
	switch {
	case rank < 3 || !l.net.isFloat32(x, y):
		return 0, false
	case slices.Equal(q.axes, append(append([]int{0}, seq(2, rank)...), 1)) && l.best(x) == nhwc:
		return nhwc, true
	}
	return nchw, slices.Equal(q.axes, append([]int{0, rank - 1}, seq(1, rank-1)...)) && l.has(x, nchw)
}

// stripTask moves columns.
type stripTask struct {
	columns
	st  *step
	per int
	s   *State
}

// axisIn returns where a dimension lies in an order of the dimensions.
func axisIn(rank, axis int, o order) int {
	switch {
	case o == nchw || axis == 0:
		return axis
	case axis == 1:
		return rank - 1
	}
	return axis - 1
}

// concatOp puts values behind each other along an axis.
type concatOp struct {
	axis  int
	strip stripTask
}

func matchConcat(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Concat)
	if !is || !g.isFloat32(n.Out[0]) {
		return nil
	}
	a, err := op.Axis(o.Axis, len(g.values[n.Out[0]].dims))
	if err != nil {
		return nil
	}
	var in []graph.Value
	for _, v := range n.In {
		x := &g.values[v]
		if x.dims == nil || x.typ.DType != tensor.Float32 || x.typ.Quant != nil {
			return nil
		}
		if x.count() > 0 {
			in = append(in, v)
		}
	}
	return one(i, &concatOp{axis: a}, in, n.Out)
}

// layout takes NHWC when an operand is best read so.
func (q *concatOp) layout(l *layouter, n *node) {
	o := l.order(n, n.in...)
	inOrder{o}.layout(l, n)
	q.strip = stripTask{}
	for k, v := range n.in {
		dims := sizesIn(l.net.values[v].dims, o)
		cols := product(dims[axisIn(len(dims), q.axis, o):])
		q.strip.strips = append(q.strip.strips, strip{k, q.strip.cols, cols})
		q.strip.cols += cols
	}
	q.strip.rows = l.net.values[n.out[0]].count() / q.strip.cols
}

func (q *concatOp) lower(*lowering, *node) step { return q.strip.step() }

// splitOp cuts a value into pieces along an axis.
type splitOp struct {
	axis  int
	strip stripTask
}

func matchSplit(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Split)
	if !is || !g.isFloat32(n.In[0]) {
		return nil
	}
	if _, ok := g.ints(n.In, 1); !ok {
		return nil
	}
	x := &g.values[n.In[0]]
	a, err := op.Axis(o.Axis, len(x.dims))
	if err != nil {
		return nil
	}
	whole := int64(0)
	for _, v := range n.Out {
		if v == graph.None || g.values[v].dims == nil || g.values[v].typ.DType != tensor.Float32 ||
			g.values[v].typ.Quant != nil {
			return nil
		}
		whole += g.values[v].dims[a]
	}
	if whole != x.dims[a] {
		return nil
	}
	return p.plainly(i, &splitOp{axis: a}, 1)
}

func (q *splitOp) layout(l *layouter, n *node) {
	o := l.order(n, n.in[0])
	inOrder{o}.layout(l, n)
	q.strip = stripTask{}
	cols := func(v graph.Value) int {
		dims := sizesIn(l.net.values[v].dims, o)
		return product(dims[axisIn(len(dims), q.axis, o):])
	}
	at := 0
	for k, v := range n.out {
		q.strip.strips = append(q.strip.strips, strip{k, at, cols(v)})
		at += cols(v)
	}
	q.strip.split, q.strip.cols, q.strip.rows = true, at, l.net.values[n.in[0]].count()/at
}

func (q *splitOp) lower(*lowering, *node) step { return q.strip.step() }

// step is the one that runs t.
func (t stripTask) step() step {
	t.per = max(1, blockLen/t.cols)
	whole, parts := []int{t.cols}, make([]int, len(t.strips))
	for _, p := range t.strips {
		parts[p.buf] = p.cols
	}
	s := step{fast: true, strips: &t.columns, inCols: parts, outCols: whole}
	if t.split {
		s.inCols, s.outCols = whole, parts
	}
	s.start = func(state *State, st *step) process {
		own := t
		own.st, own.s = st, state
		return &own
	}
	return s
}

func (t *stripTask) run(s *State) error {
	s.do((t.rows+t.per-1)/t.per*len(t.strips), t)
	return nil
}

// Chunk moves some rows of one operand.
func (t *stripTask) Chunk(i, _ int) {
	p := t.strips[i%len(t.strips)]
	from := i / len(t.strips) * t.per
	rows := min(t.rows-from, t.per)
	if p.cols == 0 {
		return
	}
	if t.split {
		y, ldy := t.s.rows(t.st.writes[p.buf], p.cols)
		x, ldx := t.s.rows(t.st.reads[0], t.cols)
		kernel.CopyRows(y[from*ldy:], ldy, x[from*ldx+p.at:], ldx, rows, p.cols)
		return
	}
	y, ldy := t.s.rows(t.st.writes[0], t.cols)
	x, ldx := t.s.rows(t.st.reads[p.buf], p.cols)
	kernel.CopyRows(y[from*ldy+p.at:], ldy, x[from*ldx:], ldx, rows, p.cols)
}
