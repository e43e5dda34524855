package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// viewOp is a result that shares its operand's memory.
type viewOp struct{ same bool } // same: the sizes are too

func matchView(p *ir.Program, i int) *ir.Patch {
	switch p.Net.Graph.Nodes[i].Op.(type) {
	case *op.Reshape, *op.Flatten, *op.Squeeze, *op.Unsqueeze, *op.Identity:
		return viewPatch(p, i)
	}
	return nil
}

// viewPatch lets the result of node i share its first input's memory, nil when it is not the same elements.
func viewPatch(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if x.Dims == nil || y.Dims == nil || !sameCodes(x.Type.Quant, y.Type.Quant) || x.Type.DType != y.Type.DType ||
		x.Count() != y.Count() {
		return nil
	}
	if _, ok := g.Ints(n.In, 1); !ok {
		return nil
	}
	_, same := n.Op.(*op.Identity)
	return p.Plainly(i, viewOp{same}, 1)
}

func (q viewOp) Layout(l *ir.Layouter, n *ir.Node) {
	n.None = true
	x, y := n.In[0], n.Out[0]
	if l.Settle(x); q.same {
		l.Forms[y].Elements = l.Forms[x].Elements
		return
	}
	l.Forms[y].Elements[run.NCHW] = l.Want(x, run.NCHW)
}

func (viewOp) Lower(*ir.Lowering, *ir.Node) run.Step { panic("a view is no step") }

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

func matchTranspose(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Transpose); !is {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	perm, ok := g.Ints(n.In, 1)
	if !ok || x.Dims == nil {
		return nil
	}
	axes, err := op.Permutation(perm, len(x.Dims))
	if err != nil {
		return nil
	}
	q := &transposeOp{axes: axes, permuteOp: permuteOp{size: 4}}
	found := p.Plainly(i, q, 1)
	switch {
	case g.IsFloat32(n.In[0], n.Out[0]):
		// products of matrices read their operands where they are
		found.Nodes[0].Waits = len(axes) > 2 && slices.ContainsFunc(g.Uses[n.Out[0]], func(k int) bool {
			_, is := g.Graph.Nodes[k].Op.(*op.MatMul)
			return is
		})
	case !x.Convertible() || !y.Convertible() || x.Type.DType != y.Type.DType || !sameCodes(x.Type.Quant, y.Type.Quant):
		return nil
	default:
		q.size = x.Type.DType.Bits() / 8
	}
	q.permutation = newPermutation(x.Dims, axes)
	return found
}

// Layout makes the result a view when it is the operand's other order.
func (q *transposeOp) Layout(l *ir.Layouter, n *ir.Node) {
	x, y := n.In[0], n.Out[0]
	of, ok := q.viewOf(l, x, y)
	if n.None = ok; !ok {
		ir.InOrder{Order: run.NCHW}.Layout(l, n)
		return
	}
	l.Forms[y].Elements[1-of] = l.Forms[x].Elements[of]
}

// ViewOf returns the order of x that is the other order of y; ok is false when x is not made in one.
func (q *transposeOp) viewOf(l *ir.Layouter, x, y graph.Value) (of run.Order, ok bool) {
	rank := len(q.axes)
	switch {
	case rank < 3 || !l.Net.IsFloat32(x, y):
		return 0, false
	case slices.Equal(q.axes, append(append([]int{0}, run.Seq(2, rank)...), 1)) && l.Best(x) == run.NHWC:
		return run.NHWC, true
	}
	return run.NCHW, slices.Equal(q.axes, append([]int{0, rank - 1}, run.Seq(1, rank-1)...)) && l.Has(x, run.NCHW)
}

// stripTask moves columns.
type stripTask struct {
	run.Columns
	st  *run.Step
	per int
	s   *run.State
}

// axisIn returns where a dimension lies in an order of the dimensions.
func axisIn(rank, axis int, o run.Order) int {
	switch {
	case o == run.NCHW || axis == 0:
		return axis
	case axis == 1:
		return rank - 1
	}
	return axis - 1
}

// concatOp puts values one after another along an axis.
type concatOp struct {
	axis  int
	strip stripTask
}

func matchConcat(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Concat)
	if !is || !plainElements(g, n.Out[0]) {
		return nil
	}
	y := &g.Values[n.Out[0]]
	a, err := op.Axis(o.Axis, len(y.Dims))
	if err != nil {
		return nil
	}
	var in []graph.Value
	words := true
	for _, v := range n.In {
		x := &g.Values[v]
		if x.Dims == nil || x.Type.DType != y.Type.DType || x.Type.Quant != nil {
			return nil
		}
		words = words && inWords(run.Product(x.Dims[a:]), y.Type.DType)
		if x.Count() > 0 {
			in = append(in, v)
		}
	}
	if !words {
		return ir.One(i, newBytesOp(g, in, n.Out[0], a), in, n.Out)
	}
	return ir.One(i, &concatOp{axis: a}, in, n.Out)
}

// inWords reports whether so many elements of a type are a whole number of float32.
func inWords(n int, d tensor.DType) bool { return n*d.Bits()%32 == 0 }

// Layout takes NHWC when an operand is best read so.
func (q *concatOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.Order(n, n.In...)
	ir.InOrder{Order: o}.Layout(l, n)
	q.strip = stripTask{}
	for k, v := range n.In {
		dims := run.SizesIn(l.Net.Values[v].Dims, o)
		cols := run.Product(dims[axisIn(len(dims), q.axis, o):]) * l.Net.Values[v].Type.DType.Bits() / 32
		q.strip.Strips = append(q.strip.Strips, run.Strip{Buf: k, At: q.strip.Cols, Cols: cols})
		q.strip.Cols += cols
	}
	q.strip.Rows = rowsOf(&l.Net.Values[n.Out[0]], q.strip.Cols)
}

func (q *concatOp) Lower(*ir.Lowering, *ir.Node) run.Step { return q.strip.step() }

// splitOp cuts a value into pieces along an axis.
type splitOp struct {
	axis  int
	strip stripTask
}

func matchSplit(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Split)
	if !is || !plainElements(g, n.In[0]) {
		return nil
	}
	if _, ok := g.Ints(n.In, 1); !ok {
		return nil
	}
	x := &g.Values[n.In[0]]
	a, err := op.Axis(o.Axis, len(x.Dims))
	if err != nil {
		return nil
	}
	whole, words := int64(0), true
	for _, v := range n.Out {
		if v == graph.None || g.Values[v].Dims == nil || g.Values[v].Type.DType != x.Type.DType ||
			g.Values[v].Type.Quant != nil {
			return nil
		}
		words = words && inWords(run.Product(g.Values[v].Dims[a:]), x.Type.DType)
		whole += g.Values[v].Dims[a]
	}
	if whole != x.Dims[a] {
		return nil
	}
	if !words {
		q := newBytesOp(g, n.Out, n.In[0], a)
		q.split = true
		return p.Plainly(i, q, 1)
	}
	return p.Plainly(i, &splitOp{axis: a}, 1)
}

func (q *splitOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.Order(n, n.In[0])
	ir.InOrder{Order: o}.Layout(l, n)
	q.strip = stripTask{}
	cols := func(v graph.Value) int {
		dims := run.SizesIn(l.Net.Values[v].Dims, o)
		return run.Product(dims[axisIn(len(dims), q.axis, o):]) * l.Net.Values[v].Type.DType.Bits() / 32
	}
	at := 0
	for k, v := range n.Out {
		q.strip.Strips = append(q.strip.Strips, run.Strip{Buf: k, At: at, Cols: cols(v)})
		at += cols(v)
	}
	q.strip.Split, q.strip.Cols, q.strip.Rows = true, at, rowsOf(&l.Net.Values[n.In[0]], at)
}

// rowsOf is the rows of words that a value is.
func rowsOf(v *ir.Value, words int) int { return v.Count() * v.Type.DType.Bits() / 32 / words }

func (q *splitOp) Lower(*ir.Lowering, *ir.Node) run.Step { return q.strip.step() }

// step returns the step that runs t.
func (t stripTask) step() run.Step {
	t.per = max(1, run.BlockLen/t.Cols)
	whole, parts := []int{t.Cols}, make([]int, len(t.Strips))
	for _, p := range t.Strips {
		parts[p.Buf] = p.Cols
	}
	s := run.Step{Fast: true, Strips: &t.Columns, InCols: parts, OutCols: whole}
	if t.Split {
		s.InCols, s.OutCols = whole, parts
	}
	s.Start = func(state *run.State, st *run.Step) run.Process {
		own := t
		own.st, own.s = st, state
		return &own
	}
	return s
}

func (t *stripTask) Run(s *run.State) error {
	s.Do((t.Rows+t.per-1)/t.per*len(t.Strips), t)
	return nil
}

// Chunk moves some rows of one operand.
func (t *stripTask) Chunk(i, _ int) {
	p := t.Strips[i%len(t.Strips)]
	from := i / len(t.Strips) * t.per
	rows := min(t.Rows-from, t.per)
	if p.Cols == 0 {
		return
	}
	if t.Split {
		y, ldy := t.s.Rows(t.st.Writes[p.Buf], p.Cols)
		x, ldx := t.s.Rows(t.st.Reads[0], t.Cols)
		kernel.CopyRows(y[from*ldy:], ldy, x[from*ldx+p.At:], ldx, rows, p.Cols)
		return
	}
	y, ldy := t.s.Rows(t.st.Writes[0], t.Cols)
	x, ldx := t.s.Rows(t.st.Reads[p.Buf], p.Cols)
	kernel.CopyRows(y[from*ldy+p.At:], ldy, x[from*ldx:], ldx, rows, p.Cols)
}

// plainElements reports whether values have whole bytes, known sizes and no scales.
func plainElements(g *ir.Network, vs ...graph.Value) bool {
	for _, v := range vs {
		if v == graph.None || !g.Values[v].Convertible() || g.Values[v].Type.Quant != nil {
			return false
		}
	}
	return true
}
