package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// qdqTransposedOp is a transposed convolution between codes whose kernels lie side by side: every output cell is of one
// input. A row of inputs makes as many rows of outputs as a kernel has, each by one product.
type qdqTransposedOp struct {
	sum     *qdqSum // its outputs are [rows, columns, channels] of a kernel
	in      [2]int  // rows and columns of an image
	rows    int     // of a kernel
	outputs int     // columns and channels of a row of a kernel
}

// matchQDQTransposed finds such a convolution.
func matchQDQTransposed(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.ConvTranspose); !is {
		return nil
	}
	f := filterOf(g, n.In[1])
	ws := sideBySide(g, n, f)
	if ws == nil || !p.HasCodes(n.In[0]) {
		return nil
	}
	x, wd := &g.Values[n.In[0]], g.Values[n.In[1]].Dims
	outputs, cells := int(wd[0]), int(ws[0].Kernel*ws[1].Kernel)
	c := &qdqSum{at: i, x: p.Params[n.In[0]], f: f, batch: int(x.Dims[0]), channels: int(x.Dims[1]),
		taps: 1, ic: int(x.Dims[1]), n: cells * outputs, cells: cells}
	c.win, _ = window(nil)
	bias, ok := biasOf(g, n.In, 2, outputs)
	if !ok {
		return nil
	}
	c.measure(g)
	c.add(slices.Repeat(bias, cells))
	if c.epi = qdqEpilogueOf(p, n.Out[0], 1); c.epi == nil || c.epi.params.Rounding == ir.HalfAway {
		return nil
	}
	c.epi.add = slices.Repeat(c.epi.add, cells)
	if !c.requantize() {
		return nil
	}
	return c.patch(p, i, &qdqTransposedOp{sum: c, in: [2]int{int(ws[0].In), int(ws[1].In)}, rows: int(ws[0].Kernel),
		outputs: int(ws[1].Kernel) * outputs})
}

// sideBySide returns the windows of a transposed convolution of images with filter f whose kernels do not overlap and
// leave nothing free, nil when it is another.
func sideBySide(g *ir.Network, n *graph.Node, f *filter) []op.Window {
	o, is := n.Op.(*op.ConvTranspose)
	if !is || o.ChannelsLast || o.Groups > 1 || ir.Given(n.In, 3) || f == nil || f.order != outputsInside || !f.centred() {
		return nil
	}
	x, wd := &g.Values[n.In[0]], g.Values[n.In[1]].Dims
	if len(x.Dims) != 4 || len(wd) != 4 || len(f.scale) > 1 && (f.axis != 1 || len(f.scale) != int(wd[0])) {
		return nil
	}
	ws, err := o.Windows(x.Dims[2:], wd[1:3], nil)
	if err != nil || slices.ContainsFunc(ws, func(w op.Window) bool {
		return w.Kernel != w.Stride || w.Dilation != 1 && w.Kernel > 1 || w.Before != 0 || w.Out != w.In*w.Stride
	}) {
		return nil
	}
	return ws
}

// Layout takes and makes codes of NHWC images.
func (q *qdqTransposedOp) Layout(l *ir.Layouter, n *ir.Node) { inCodes(l, n, run.NHWC) }

func (q *qdqTransposedOp) Lower(w *ir.Lowering, _ *ir.Node) run.Step {
	c := q.sum
	codes, init := c.packProducts(w, "codes of a transposed convolution", q.rows, 1, c.ic, c.row)
	rows := make([]kernel.GemmInt8, q.rows)
	for i := range rows {
		rows[i] = c.product(i, q.in[1], 1, c.ic, q.outputs, codes, init)
		rows[i].LDC = q.outputs
	}
	return run.Step{Fast: true, Start: func(s *run.State, st *run.Step) run.Process {
		t := &qdqTransposedTask{q: q, st: st}
		for range max(1, s.Threads) {
			t.gemms = append(t.gemms, slices.Clone(rows))
		}
		return t
	}}
}

// qdqTransposedTask computes a row of outputs by each chunk.
type qdqTransposedTask struct {
	q     *qdqTransposedOp
	st    *run.Step
	gemms [][]kernel.GemmInt8 // per thread, of each row of a kernel
	x, y  []uint8
}

func (t *qdqTransposedTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do(t.q.sum.batch*t.q.in[0]*t.q.rows, t)
	return nil
}

// Chunk computes row i of all images.
func (t *qdqTransposedTask) Chunk(i, worker int) {
	q, g := t.q, &t.gemms[worker][i%t.q.rows]
	g.A, g.C = t.x[i/q.rows*q.in[1]*q.sum.channels:], t.y[i*q.in[1]*q.outputs:]
	g.Run()
}
