package plan

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// convolution is a convolution with everything resolved.
type convolution struct {
	win          kernel.Window
	batch        int
	c, n, groups int
	epi          epilogue
	bias         []float32
	weights      []float32 // the model's, [n, taps, c/groups], until they are packed
	filter       graph.Value
	x            graph.Value
	last         bool   // the model's images are channels-last
	taps, ic, oc int    // taps, channels per group
	kind         string // of the packed filters, when a node has several
}

// conv adds a convolution with constant filters and what follows it.
func (b *builder) conv(n *graph.Node, o *op.Conv) bool {
	c, bias := b.convolution(n, o)
	if c == nil {
		return false
	}
	small := c.small()
	b.follow(c, n, bias, !small)
	switch {
	case c.depthwise():
		return b.depthwise(c)
	case small:
		return b.smallConv(c)
	case c.winograd():
		return b.winograd(c)
	case c.pointwise() && c.groups == 1:
		return b.pointwise(n, c)
	}
	return b.gemmConv(c)
}

// follow takes over what happens to the result of c.
func (b *builder) follow(c *convolution, n *graph.Node, bias []float32, residual bool) {
	axis := 1
	if c.last {
		axis = len(b.values[n.Out[0]].dims) - 1
	}
	c.epi = b.epilogue(n.Out[0], axis, residual)
	c.bias = c.epi.normalized(bias)
}

// convolution resolves a convolution with constant filters and bias, nil when it is none. Nothing is decided yet.
func (b *builder) convolution(n *graph.Node, o *op.Conv) (c *convolution, bias []float32) {
	x, w := &b.values[n.In[0]], b.operand(n.In[1])
	y := &b.values[n.Out[0]]
	// a table of positions could not name all
	if !x.fast() || !y.fast() || w == nil || len(w) == 0 || len(x.dims) > 5 || x.count() > math.MaxInt32 {
		return nil, nil
	}
	rank := len(x.dims)
	wd := b.values[n.In[1]].dims
	c = &convolution{batch: int(x.dims[0]), n: int(wd[0]), groups: int(max(o.Groups, 1)), weights: w, filter: n.In[1],
		x: n.In[0], last: o.ChannelsLast}
	spatial := x.dims[2:]
	c.c = int(x.dims[1])
	if o.ChannelsLast {
		spatial, c.c = x.dims[1:rank-1], int(x.dims[rank-1])
	}
	ws, err := o.Windows(spatial, wd[1:rank-1])
	if err != nil {
		return nil, nil
	}
	if p := b.unpadded(n.In[0], o.ChannelsLast); p != nil && allFinite(w) {
		p.shift(ws, o.ChannelsLast)
		c.x = p.x
	}
	if c.win, err = window(ws); err != nil {
		return nil, nil
	}
	bias, ok := b.bias(n.In, 2, c.n)
	if !ok {
		return nil, nil
	}
	c.taps, c.ic, c.oc = c.win.Taps(), c.c/c.groups, c.n/c.groups
	return c, bias
}

// pointwise adds a convolution that is a matrix product, and those of the same images.
func (b *builder) pointwise(n *graph.Node, c *convolution) bool {
	pack := func(c *convolution) part { return part{c.n, b.pack(c.filters()), c.bias, c.epi} }
	all := []part{pack(c)}
	for _, i := range b.siblings(n) {
		m := &b.graph.Nodes[i]
		o, ok := m.Op.(*op.Conv)
		if !ok || o.ChannelsLast != c.last || !b.joins(i, n) {
			continue
		}
		d, bias := b.convolution(m, o)
		if d == nil || d.x != c.x || d.groups != 1 || !d.pointwise() || d.small() {
			continue
		}
		all = append(all, b.sibling(i, func() part {
			b.follow(d, m, bias, true)
			return pack(d)
		}))
	}
	s := step{reads: []int{b.form(c.x, !c.last)}, inCols: []int{c.c}}
	b.products(s, all, kernel.Gemm{M: c.batch * c.win.Outputs(), K: c.c}, !c.last)
	return true
}

// window turns resolved windows of up to three dimensions into the kernels' form.
func window(ws []op.Window) (w kernel.Window, err error) {
	for d := range 3 {
		w.In[d], w.Kernel[d], w.Stride[d], w.Dilation[d], w.Out[d] = 1, 1, 1, 1, 1
	}
	if len(ws) > 3 {
		return w, fmt.Errorf("%d spatial dimensions", len(ws))
	}
	for i, v := range ws {
		d := 3 - len(ws) + i
		w.In[d], w.Kernel[d], w.Stride[d], w.Dilation[d], w.Out[d], w.Pad[d] =
			int(v.In), int(v.Kernel), int(v.Stride), int(v.Dilation), int(v.Out), int(v.Before)
	}
	return w, nil
}

// pointwise reports whether every output position reads the input position of the same number.
func (c *convolution) pointwise() bool {
	return c.taps == 1 && c.win.In == c.win.Out && c.win.Pad == [3]int{} && c.win.Stride == [3]int{1, 1, 1}
}

func (c *convolution) flat() bool {
	return c.win.In[0] == 1 && c.win.Kernel[0] == 1 && c.win.Out[0] == 1 && c.win.Pad[0] == 0
}

func (c *convolution) depthwise() bool { return c.groups > 1 && c.ic == 1 && c.oc == 1 && c.flat() }

// small reports whether the taps of a kernel row and their few channels should be one run.
func (c *convolution) small() bool {
	return c.groups == 1 && c.c <= 4 && c.flat() && c.win.Kernel[2] > 1 && c.win.Dilation[2] == 1
}

// winograd reports whether Winograd pays: it saves three quarters of the products and costs transforms of
// input and output, and four times the filters' bytes, which few tiles do not share.
func (c *convolution) winograd() bool {
	w := &c.win
	one := [3]int{1, 1, 1}
	if !c.flat() || c.groups != 1 || w.Kernel != [3]int{1, 3, 3} || w.Stride != one || w.Dilation != one || c.c < 16 ||
		c.n < 16 {
		return false
	}
	tiles := c.batch * ((w.Out[1] + 3) / 4) * ((w.Out[2] + 3) / 4)
	return tiles >= 12 && c.c*c.n <= 256*256 || tiles >= 32
}

// filters returns how the filters are packed for matrix products, multiplied by a batch normalization that follows.
func (c *convolution) filters() packed {
	return matrix(c.filter, "gemm"+c.kind, c.weights, c.taps*c.ic, c.oc, c.groups, true, c.epi.scale)
}

// operands names the buffers of a convolution's step: input, output, residual.
func (b *builder) operands(c *convolution) step {
	want := b.wantLast
	if c.last {
		want = b.wantPlain
	}
	s := step{fast: true, reads: []int{want(c.x)}, inCols: []int{c.c, c.n}, outCols: []int{c.n}}
	if c.epi.res != graph.None {
		s.reads = append(s.reads, want(c.epi.res))
	}
	s.writes = []int{b.make(c.epi.out, !c.last)}
	return s
}

// residualOf is the residual's rows, nil when there is none.
func (c *convolution) residualOf(s *State, st *step) (v []float32, ld int) {
	if c.epi.res == graph.None {
		return nil, 0
	}
	return s.rows(st.reads[1], c.n)
}

type gemmTask struct {
	st    *step
	conv  *convolution
	table *windowTable  // nil: every output position reads the input position of the same number
	gemms []kernel.Gemm // per group
	g     int
}

func (b *builder) gemmConv(c *convolution) bool {
	per := kernel.PackedLen(c.taps*c.ic, c.oc)
	packed := b.pack(c.filters())
	c.weights = nil
	var table *windowTable
	zero := make([]float32, c.ic)
	s := b.operands(c)
	if x := s.reads[0]; !c.pointwise() {
		b.late = append(b.late, func() {
			var err error
			if table, err = b.window(c.win, c.batch, b.plan.rowLength(x, c.c)); err != nil && b.err == nil {
				b.err = fault.Wrap(err, "convolution")
			}
		})
	}
	s.start = func(_ *State, st *step) process {
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
	b.add(s)
	return true
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

func (b *builder) smallConv(c *convolution) bool {
	packed := b.pack(c.filters())
	c.weights = nil
	s := step{fast: true, outCols: []int{c.n}}
	planar := !c.last && !b.inLast(c.x)
	switch {
	case planar || c.last:
		s.reads = []int{b.wantPlain(c.x)}
	default:
		s.reads = []int{b.wantLast(c.x)}
	}
	s.writes = []int{b.make(c.epi.out, !c.last)}
	s.start = func(state *State, st *step) process {
		return &smallTask{st: st, SmallConv: kernel.SmallConv{
			C: c.c, N: c.n, Batch: c.batch, Win: c.win, LDX: c.c, Planar: planar, B: packed, Bias: c.bias, Act: c.epi.act,
		}}
	}
	b.add(s)
	return true
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
