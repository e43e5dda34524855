package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// qdqGroupsOp is a convolution between codes whose outputs read a group of the inputs each, as products of matrices.
// Small groups that are neighbours are one product, with zeros where an output does not read an input of another group.
type qdqGroupsOp struct {
	sum    *qdqSum
	table  bool // rows of taps are found through it
	joined int  // groups of a product
	groups int
}

// grouped is the operation of c by groups, nil when it is none that kernels take.
func (c *coded) grouped() *qdqGroupsOp {
	if c.conv == nil || c.conv.groups < 2 || c.raw || c.exact != nil {
		return nil
	}
	q := &qdqGroupsOp{sum: c.qdqSum, table: !c.conv.pointwise(), groups: c.conv.groups, joined: 1}
	for q.groups%(2*q.joined) == 0 && c.conv.oc*q.joined < kernel.IntCols/4 {
		q.joined *= 2
	}
	if q.table && kernel.CheckIndirection(c.win, c.batch, c.channels) != nil {
		return nil
	}
	return q
}

// Layout takes and makes codes of NHWC images.
func (q *qdqGroupsOp) Layout(l *ir.Layouter, n *ir.Node) { inCodes(l, n, run.NHWC) }

// depth and outputs are the sizes of a product.
func (q *qdqGroupsOp) depth() int   { return q.joined * q.sum.ic }
func (q *qdqGroupsOp) outputs() int { return q.joined * q.sum.n / q.groups }

func (q *qdqGroupsOp) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	c, depth, outputs := q.sum, q.depth(), q.outputs()
	codes, init := c.packProducts(w, "codes of groups", q.groups/q.joined, c.taps, depth, func(dst []int8, j int) {
		own := make([]int8, c.taps*c.ic)
		c.row(own, j)
		at := j % outputs / (outputs / q.joined) * c.ic // of the output's group
		for t := range c.taps {
			copy(dst[t*depth+at:], own[t*c.ic:][:c.ic])
		}
	})
	var table *run.WindowTable
	if q.table {
		table = w.Window(c.win, c.batch, n.Reads[0], c.channels)
	}
	zero := slices.Repeat([]uint8{uint8(c.x.Zero)}, depth+ir.CodeSlack)
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		t := &qdqGroupsTask{st: st, table: table, depth: depth, outputs: outputs,
			gemms: make([]kernel.GemmInt8, c.n/outputs)}
		for i := range t.gemms {
			t.gemms[i] = c.product(i, c.batch*c.win.Outputs(), c.taps, depth, outputs, codes, init)
			t.gemms[i].LDC, t.gemms[i].Zero = c.n, zero
		}
		return t
	}}
}

// qdqGroupsTask computes the products one by one.
type qdqGroupsTask struct {
	st             *run.Step
	table          *run.WindowTable
	depth, outputs int
	gemms          []kernel.GemmInt8
	chunks         int // of each product
}

func (t *qdqGroupsTask) Run(s *run.State) error {
	ind, err := t.table.Get(s)
	if err != nil {
		return err
	}
	x, y := s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	for i := range t.gemms {
		g := &t.gemms[i]
		g.Ind, g.A, g.C = ind, x[i*t.depth:], y[i*t.outputs:]
		t.chunks = g.Plan(s.Threads)
	}
	s.Do(t.chunks*len(t.gemms), t)
	return nil
}

// Chunk computes part of one product.
func (t *qdqGroupsTask) Chunk(i, _ int) { t.gemms[i/t.chunks].Chunk(i % t.chunks) }
