package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// matchConv finds a convolution with constant filters and what follows it.
func matchConv(p *ir.Program, i int) *ir.Patch {
	c := convolutionOf(p, i)
	if c == nil {
		return nil
	}
	n := &p.Net.Graph.Nodes[i]
	if c.pointwise() && c.groups == 1 && !c.small() {
		return matchPointwise(p, i, c)
	}
	c.follow(p, n, !c.small())
	return c.patch(i)
}

// patch replaces node i by the convolution.
func (c *convolution) patch(i int) *ir.Patch {
	in := []graph.Value{c.x}
	if c.epi.res != graph.None {
		in = append(in, c.epi.res)
	}
	return ir.One(i, c, in, []graph.Value{c.epi.out}, c.epi.nodes...)
}

// follow takes over what happens to the result of c.
func (c *convolution) follow(p *ir.Program, n *graph.Node, residual bool) {
	axis := 1
	if c.last {
		axis = len(p.Net.Values[n.Out[0]].Dims) - 1
	}
	c.epi = epilogueOf(p, n.Out[0], axis, residual)
	c.bias = c.epi.normalized(c.bias)
}

// convolutionOf resolves a convolution with constant filters and bias, nil when it is not one. What follows it is open.
func convolutionOf(p *ir.Program, i int) *convolution {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x, w := &g.Values[n.In[0]], g.Operand(n.In[1])
	if len(w) == 0 || len(x.Dims) > 5 || x.Count() > math.MaxInt32 { // a table of positions could not name all
		return nil
	}
	rank := len(x.Dims)
	wd := g.Values[n.In[1]].Dims
	c := &convolution{at: i, batch: int(x.Dims[0]), n: int(wd[0]), groups: int(max(o.Groups, 1)), weights: w,
		filter: n.In[1], x: n.In[0], last: o.ChannelsLast}
	spatial := x.Dims[2:]
	c.c = int(x.Dims[1])
	if o.ChannelsLast {
		spatial, c.c = x.Dims[1:rank-1], int(x.Dims[rank-1])
	}
	ws, err := o.Windows(spatial, wd[1:rank-1])
	if err != nil {
		return nil
	}
	if q := zerosAround(p, n.In[0], o.ChannelsLast); q != nil && allFinite(w) {
		q.shift(ws, o.ChannelsLast)
		c.x = q.x
	}
	if c.win, err = window(ws); err != nil {
		return nil
	}
	bias, ok := biasOf(g, n.In, 2, c.n)
	if !ok {
		return nil
	}
	c.bias, c.taps, c.ic, c.oc = bias, c.win.Taps(), c.c/c.groups, c.n/c.groups
	return c
}

// matchPointwise finds a convolution that is a matrix product, and those of the same images.
func matchPointwise(p *ir.Program, i int, c *convolution) *ir.Patch {
	g := p.Net
	n := &g.Graph.Nodes[i]
	c.follow(p, n, true)
	q := &siblingGemm{order: run.OrderOf(c.last), gemm: kernel.Gemm{M: c.batch * c.win.Outputs(), K: c.c}}
	q.parts = append(q.parts, c.part(i))
	for _, k := range siblings(p, n) {
		o, ok := g.Graph.Nodes[k].Op.(*op.Conv)
		if !ok || o.ChannelsLast != c.last || !joins(p, k, n) {
			continue
		}
		d := convolutionOf(p, k)
		if d == nil || d.x != c.x || d.groups != 1 || !d.pointwise() || d.small() {
			continue
		}
		d.follow(p, &g.Graph.Nodes[k], true)
		q.parts = append(q.parts, d.part(k))
	}
	return q.patch(i, c.x)
}

// part is the columns of a product of siblings that a pointwise convolution, node i, computes.
func (c *convolution) part(i int) part { return part{i, c.n, c.filters(), c.bias, c.epi} }

// filters returns how the filters are packed for matrix products, multiplied by a batch normalization that follows.
func (c *convolution) filters() ir.Packed {
	return ir.Matrix(c.filter, "gemm"+c.kind, c.weights, c.taps*c.ic, c.oc, c.groups, true, c.epi.scale)
}

// Layout takes NHWC images, or for a first layer those that there are.
func (c *convolution) Layout(l *ir.Layouter, n *ir.Node) {
	c.planar = !c.last && c.small() && l.Best(c.x) == run.NCHW
	switch {
	case c.planar:
		l.Read(n, c.x, run.NCHW)
		l.Write(n, c.epi.out, run.NHWC)
	default:
		ir.InOrder{Order: run.OrderOf(c.last)}.Layout(l, n)
	}
}

// Lower picks the kernel.
func (c *convolution) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	s := run.Step{Fast: true, InCols: []int{c.c, c.n}, OutCols: []int{c.n}}
	switch {
	case c.depthwise():
		s.Start = lowerDepthwise(c, w)
	case c.small():
		s.Start, s.InCols = c.lowerSmall(w), nil
	case c.winograd():
		s.Start = lowerWinograd(c, w)
	default:
		s.Start = c.lowerGemm(w, n)
	}
	c.weights = nil
	return s
}

type gemmTask struct {
	st    *run.Step
	conv  *convolution
	table *run.WindowTable // nil: every output position reads the input position of the same number
	gemms []kernel.Gemm    // per group
	g     int
}

func (c *convolution) lowerGemm(w *ir.Lowering, n *ir.Node) func(s *run.State, st *run.Step) run.Process {
	per := kernel.PackedLen(c.taps*c.ic, c.oc)
	packed := w.Packer.Order(c.at, c.filters())
	zero := make([]float32, c.ic)
	var table *run.WindowTable
	if !c.pointwise() {
		table = w.Window(c.win, c.batch, n.Reads[0], c.c)
	}
	return func(_ *run.State, st *run.Step) run.Process {
		t := &gemmTask{st: st, conv: c, table: table, gemms: make([]kernel.Gemm, c.groups)}
		for g := range t.gemms {
			q := &t.gemms[g]
			*q = kernel.Gemm{
				M: c.batch * c.win.Outputs(), N: c.oc, K: c.ic, B: packed[g*per:][:per],
				ResAfter: c.epi.after, Act: c.epi.act, Zero: zero,
			}
			if c.bias != nil {
				q.Bias = c.bias[g*c.oc:]
			}
		}
		return t
	}
}

func (t *gemmTask) Run(s *run.State) error {
	c := t.conv
	x, ldx := s.Rows(t.st.Reads[0], c.c)
	y, ldy := s.Rows(t.st.Writes[0], c.n)
	res, ldr := c.residualOf(s, t.st)
	ind, err := t.table.Get(s)
	if err != nil {
		return err
	}
	for g := range t.gemms {
		q := &t.gemms[g]
		q.Ind = ind
		q.A, q.LDA, q.C, q.LDC, q.LDR = x[g*c.ic:], ldx, y[g*c.oc:], ldy, ldr
		if res != nil {
			q.Res = res[g*c.oc:]
		}
		t.g = g
		s.DoProduct(q, t)
	}
	return nil
}

// Chunk computes part of one group.
func (t *gemmTask) Chunk(i, _ int) { t.gemms[t.g].Chunk(i) }

type smallTask struct {
	st     *run.Step
	chunks int // 0: not planned yet
	kernel.SmallConv
}

func (c *convolution) lowerSmall(w *ir.Lowering) func(s *run.State, st *run.Step) run.Process {
	packed := w.Packer.Order(c.at, c.filters())
	return func(_ *run.State, st *run.Step) run.Process {
		return &smallTask{st: st, SmallConv: kernel.SmallConv{
			C: c.c, N: c.n, Batch: c.batch, Win: c.win, LDX: c.c, Planar: c.planar, B: packed, Bias: c.bias, Act: c.epi.act,
		}}
	}
}

func (t *smallTask) Run(s *run.State) error {
	t.X = s.F32(t.st.Reads[0])
	t.Y, t.LDY = s.Rows(t.st.Writes[0], t.N)
	if t.chunks == 0 { // it makes a table, of one part's rows; the operands of later runs are as long
		if err := mem.Admit(run.Saturated(4, t.Win.Kernel[1], t.Win.Out[1], t.Win.Out[2])); err != nil {
			return err
		}
		t.chunks = t.Plan(s.Threads)
	}
	var err error
	if t.Work, err = s.Borrow(t.WorkLen); err != nil {
		return err
	}
	s.Do(t.chunks, t)
	return nil
}

// Chunk computes some rows.
func (t *smallTask) Chunk(i, worker int) { t.SmallConv.Chunk(i, worker) }
