package plan

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// matchConv finds a convolution with constant filters and what follows it.
func matchConv(p *program, i int) *patch {
	c := convolutionOf(p, i)
	if c == nil {
		return nil
	}
	n := &p.net.graph.Nodes[i]
	if c.pointwise() && c.groups == 1 && !c.small() {
		return matchPointwise(p, i, c)
	}
	c.follow(p, n, !c.small())
	return c.patch(i)
}

// patch is the one of a convolution that node i stands for.
func (c *convolution) patch(i int) *patch {
	in := []graph.Value{c.x}
	if c.epi.res != graph.None {
		in = append(in, c.epi.res)
	}
	return one(i, c, in, []graph.Value{c.epi.out}, c.epi.nodes...)
}

// follow takes over what happens to the result of c.
func (c *convolution) follow(p *program, n *graph.Node, residual bool) {
	axis := 1
	if c.last {
		axis = len(p.net.values[n.Out[0]].dims) - 1
	}
	c.epi = epilogueOf(p, n.Out[0], axis, residual)
	c.bias = c.epi.normalized(c.bias)
}

// convolutionOf resolves a convolution with constant filters and bias, nil when it is not one. What follows it is open.
func convolutionOf(p *program, i int) *convolution {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.Conv)
	if !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x, w := &g.values[n.In[0]], g.operand(n.In[1])
	if len(w) == 0 || len(x.dims) > 5 || x.count() > math.MaxInt32 { // a table of positions could not name all
		return nil
	}
	rank := len(x.dims)
	wd := g.values[n.In[1]].dims
	c := &convolution{at: i, batch: int(x.dims[0]), n: int(wd[0]), groups: int(max(o.Groups, 1)), weights: w,
		filter: n.In[1], x: n.In[0], last: o.ChannelsLast}
	spatial := x.dims[2:]
	c.c = int(x.dims[1])
	if o.ChannelsLast {
		spatial, c.c = x.dims[1:rank-1], int(x.dims[rank-1])
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
func matchPointwise(p *program, i int, c *convolution) *patch {
	g := p.net
	n := &g.graph.Nodes[i]
	c.follow(p, n, true)
	q := &siblingGemm{order: orderOf(c.last), gemm: kernel.Gemm{M: c.batch * c.win.Outputs(), K: c.c}}
	q.parts = append(q.parts, c.part(i))
	for _, k := range siblings(p, n) {
		o, ok := g.graph.Nodes[k].Op.(*op.Conv)
		if !ok || o.ChannelsLast != c.last || !joins(p, k, n) {
			continue
		}
		d := convolutionOf(p, k)
		if d == nil || d.x != c.x || d.groups != 1 || !d.pointwise() || d.small() {
			continue
		}
		d.follow(p, &g.graph.Nodes[k], true)
		q.parts = append(q.parts, d.part(k))
	}
	return q.patch(i, c.x)
}

// part is the columns of a product of siblings that a pointwise convolution, node i, computes.
func (c *convolution) part(i int) part { return part{i, c.n, c.filters(), c.bias, c.epi} }

// filters returns how the filters are packed for matrix products, multiplied by a batch normalization that follows.
func (c *convolution) filters() packed {
	return matrix(c.filter, "gemm"+c.kind, c.weights, c.taps*c.ic, c.oc, c.groups, true, c.epi.scale)
}

// layout takes NHWC images, or for a first layer those that there are.
func (c *convolution) layout(l *layouter, n *node) {
	c.planar = !c.last && c.small() && l.best(c.x) == nchw
	switch {
	case c.planar:
		l.read(n, c.x, nchw)
		l.write(n, c.epi.out, nhwc)
	default:
		inOrder{orderOf(c.last)}.layout(l, n)
	}
}

// lower picks the kernel.
func (c *convolution) lower(w *lowering, n *node) step {
	s := step{fast: true, inCols: []int{c.c, c.n}, outCols: []int{c.n}}
	switch {
	case c.depthwise():
		s.start = lowerDepthwise(c, w)
	case c.small():
		s.start, s.inCols = c.lowerSmall(w), nil
	case c.winograd():
		s.start = lowerWinograd(c, w)
	default:
		s.start = c.lowerGemm(w, n)
	}
	c.weights = nil
	return s
}

type gemmTask struct {
	st    *step
	conv  *convolution
	table *windowTable  // nil: every output position reads the input position of the same number
	gemms []kernel.Gemm // per group
	g     int
}

func (c *convolution) lowerGemm(w *lowering, n *node) func(s *State, st *step) process {
	per := kernel.PackedLen(c.taps*c.ic, c.oc)
	packed := w.packer.order(c.at, c.filters())
	zero := make([]float32, c.ic)
	var table *windowTable
	if !c.pointwise() {
		table = w.window(c.win, c.batch, n.reads[0], c.c)
	}
	return func(_ *State, st *step) process {
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

func (t *gemmTask) run(s *State) error {
	c := t.conv
	x, ldx := s.rows(t.st.reads[0], c.c)
	y, ldy := s.rows(t.st.writes[0], c.n)
	res, ldr := c.residualOf(s, t.st)
	ind, err := t.table.get()
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
		s.do(q.Plan(s.threads), t)
	}
	return nil
}

// Chunk computes part of one group.
func (t *gemmTask) Chunk(i, _ int) { t.gemms[t.g].Chunk(i) }

type smallTask struct {
	st     *step
	chunks int // 0: not planned yet
	kernel.SmallConv
}

func (c *convolution) lowerSmall(w *lowering) func(s *State, st *step) process {
	packed := w.packer.order(c.at, c.filters())
	return func(_ *State, st *step) process {
		return &smallTask{st: st, SmallConv: kernel.SmallConv{
			C: c.c, N: c.n, Batch: c.batch, Win: c.win, LDX: c.c, Planar: c.planar, B: packed, Bias: c.bias, Act: c.epi.act,
		}}
	}
}

func (t *smallTask) run(s *State) error {
	t.X = s.f32(t.st.reads[0])
	t.Y, t.LDY = s.rows(t.st.writes[0], t.N)
	if t.chunks == 0 { // it makes a table, of one part's rows; the operands of later runs are as long
		if err := mem.Admit(saturated(4, t.Win.Kernel[1], t.Win.Out[1], t.Win.Out[2])); err != nil {
			return err
		}
		t.chunks = t.Plan(s.threads)
	}
	var err error
	if t.Work, err = s.borrow(t.WorkLen); err != nil {
		return err
	}
	s.do(t.chunks, t)
	return nil
}

// Chunk computes some rows.
func (t *smallTask) Chunk(i, worker int) { t.SmallConv.Chunk(i, worker) }
