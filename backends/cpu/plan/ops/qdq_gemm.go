package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// qdqGemmOp is a sum of products between codes as a product of matrices.
type qdqGemmOp struct {
	sum         *qdqSum
	order       run.Order
	taps, depth int // runs of inputs, and their lengths
	table       bool
	window      kernel.Window // of the table
	padded      *paddedImage  // nil: images are read where they are
}

// newQDQGemm is the operation of a convolution of images in an order as a product of matrices, nil when it is too
// large.
func newQDQGemm(c *qdqSum, conv *convolution, o run.Order) *qdqGemmOp {
	q := &qdqGemmOp{sum: c, order: o, taps: c.taps, depth: c.channels, window: c.win}
	if conv.pointwise() {
		return q
	}
	if conv.small() { // a row of taps is one run of an image with its border
		q.padded = newPaddedImage(c.win, c.batch, c.channels)
		q.taps, q.depth = c.win.Kernel[1], c.win.Kernel[2]*c.channels
		q.window = q.padded.window(c.win)
	}
	q.table = true
	if kernel.CheckIndirection(q.window, c.batch, c.channels) != nil {
		return nil
	}
	return q
}

// Layout makes codes as kernels want them; those of a quantized type as the graph has them.
func (q *qdqGemmOp) Layout(l *ir.Layouter, n *ir.Node) {
	if q.sum.exact == nil {
		inCodes(l, n, q.order)
		return
	}
	n.Reads = []int{l.Codes(n.In[0], q.order)}
	l.Write(n, n.Out[0], q.order)
}

// inCodes is the layout of operations that take codes and make codes in one order.
func inCodes(l *ir.Layouter, n *ir.Node, o run.Order) {
	for _, v := range n.In {
		n.Reads = append(n.Reads, l.Codes(v, o))
	}
	n.Writes = []int{l.MakeCodes(n.Out[0], o)}
}

func (q *qdqGemmOp) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	c := q.sum
	prepared, s := q.prepare(w, n)
	if c.exact != nil {
		t := integerTask{q: c.exact, table: prepared.table, gemm: prepared.GemmInt8}
		t.per = max(1, min((1<<17)/(4*c.n), (t.gemm.M+3)/4)/24) * 24
		if r := c.exact.rows; t.per%r != 0 {
			t.per = (t.per + r - 1) / r * r
		}
		s.Start = func(_ *run.State, st *run.Step) run.Process {
			own := t
			own.st = st
			return &own
		}
		return s
	}
	s.Start = func(_ *run.State, st *run.Step) run.Process {
		own := prepared.start(st)
		return &own
	}
	return s
}

// start is the task of a process.
func (t qdqGemmTask) start(st *run.Step) qdqGemmTask {
	t.st = st
	if t.sums != nil {
		own := *t.sums
		t.sums = &own
	}
	return t
}

// prepare is the task without a step, and the step without a task.
func (q *qdqGemmOp) prepare(w *ir.Lowering, n *ir.Node) (qdqGemmTask, run.Step) {
	c, zero := q.sum, uint8(q.sum.x.Zero)
	t := qdqGemmTask{padded: q.padded, zero: zero, GemmInt8: kernel.GemmInt8{M: c.batch * c.win.Outputs(), N: c.n,
		K: q.depth, LDA: c.channels, LDC: c.n, Post: c.post, SumsOnly: c.exact != nil || c.real}}
	s := run.Step{Fast: true}
	if q.table {
		t.table = w.Window(q.window, c.batch, n.Reads[0], c.channels)
	}
	switch {
	case q.padded != nil:
		s.Room = int64(q.padded.size() + ir.CodeSlack)
	case q.table:
		t.Zero = slices.Repeat([]uint8{zero}, c.channels+ir.CodeSlack)
	}
	t.B, t.Post.Init = c.pack(w, q.taps, q.depth)
	if t.Factors = c.factors(); c.raw {
		t.sums = newPositionSums(c, q.padded, (s.Room+63)/64*64)
		s.Room = t.sums.end()
	}
	return t, s
}

// qdqGemmTask computes codes, the kernel requantizing its sums.
type qdqGemmTask struct {
	st     *run.Step
	padded *paddedImage
	table  *run.WindowTable
	zero   uint8
	sums   *positionSums // nil: no column needs them
	kernel.GemmInt8
}

func (t *qdqGemmTask) Run(s *run.State) error {
	if err := t.begin(s); err != nil {
		return err
	}
	s.Do(t.Plan(s.Threads), t)
	return nil
}

// begin finds the operands and computes what sums start with.
func (t *qdqGemmTask) begin(s *run.State) (err error) {
	if t.Ind, err = t.table.Get(s); err != nil {
		return err
	}
	t.A, t.C = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	codes := t.A
	if t.padded != nil {
		own := s.Mem[t.st.Scratch]
		t.padded.fill(own, t.A, t.zero)
		if t.A = own; t.sums != nil && t.sums.padded != nil {
			codes = own
		}
	}
	if t.sums != nil {
		t.Rows = t.sums.rows(s, codes, s.Mem[t.st.Scratch])
	}
	return nil
}

// Chunk computes part of the product.
func (t *qdqGemmTask) Chunk(i, _ int) { t.GemmInt8.Chunk(i) }

// integerTask computes rows of sums and stores the codes that they are exactly.
type integerTask struct {
	st    *run.Step
	table *run.WindowTable
	gemm  kernel.GemmInt8
	q     *requantized
	per   int // rows of a chunk
	y     []byte
	work  []float32
}

func (t *integerTask) size() int { return t.per*t.gemm.N + t.q.work() }

func (t *integerTask) Run(s *run.State) error {
	t.gemm.A, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	var err error
	if t.gemm.Ind, err = t.table.Get(s); err != nil {
		return err
	}
	t.gemm.Plan(1)
	if t.work, err = s.Borrow(max(1, s.Threads) * t.size()); err != nil {
		return err
	}
	s.Do((t.gemm.M+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *integerTask) Chunk(i, worker int) {
	r0, r1, n := i*t.per, min(t.gemm.M, (i+1)*t.per), t.gemm.N
	work := t.work[worker*t.size():][:t.size()]
	sums := work[:(r1-r0)*n]
	t.gemm.Sums(sums, r0, r1)
	for r := 0; r < r1-r0; r += t.q.rows {
		from, to := r*n, min(r1-r0, r+t.q.rows)*n
		t.q.store(t.y[r0*n+from:r0*n+to], sums[from:to], work[t.per*n:])
	}
}
