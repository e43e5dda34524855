package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/tensor"
)

// integerSum returns the operation of a quantized sum of products whose centred weights w fit 8 bits: integer products,
// requantized as the reference does. nil when it is none, or no faster.
func integerSum(c *convolution, x *value, w []float32, q *requantized) *integerOp {
	if c.groups != 1 || c.small() || !kernel.FastInt8() || c.taps*c.ic > (1<<31-1)/(256*256) {
		return nil
	}
	for _, v := range w {
		if v < -128 || v > 127 {
			return nil
		}
	}
	zero := x.typ.Quant.ZeroAt(0)
	if x.typ.DType == tensor.Int8 {
		zero += 128
	}
	if zero < 0 || zero > 255 || !c.pointwise() && kernel.CheckIndirection(c.win, c.batch, c.c) != nil {
		return nil
	}
	return &integerOp{conv: c, q: q, zero: zero}
}

// integerOp is a sum of integer products.
type integerOp struct {
	conv *convolution
	q    *requantized
	zero int32
}

func (q *integerOp) layout(l *layouter, n *node) {
	n.reads = []int{l.codes(n.in[0], nchw)}
	l.write(n, n.out[0], nchw)
}

func (q *integerOp) lower(w *lowering, n *node) step {
	c := q.conv
	t := integerTask{q: q.q, zero: uint8(q.zero)}
	t.gemm = kernel.GemmInt8{M: c.batch * c.win.Outputs(), N: c.n, K: c.c, LDA: c.c, SumsOnly: true}
	if !c.pointwise() {
		t.table = w.window(c.win, c.batch, n.reads[0], c.c)
		t.gemm.Zero = slices.Repeat([]uint8{t.zero}, c.c+codeSlack)
	}
	t.gemm.B, t.gemm.Post.Init = packCentred(c, w, q.zero)
	t.per = max(1, min((1<<17)/(4*c.n), (t.gemm.M+3)/4)/24) * 24
	if r := q.q.rows; t.per%r != 0 {
		t.per = (t.per + r - 1) / r * r
	}
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// packCentred packs centred weights, [outputs, taps, inputs], and computes what sums start with.
func packCentred(c *convolution, w *lowering, zero int32) (codes []int8, init []int32) {
	size := (kernel.PackedInt8Len(c.taps, c.ic, c.n) + 3) / 4
	depth, weights := c.taps*c.ic, c.weights
	p := packed{value: c.filter, kind: "centred", len: size + c.n, parts: kernel.IntPanels(c.n)}
	p.fill = func(dst []float32, part int) {
		codes, init := bytesAsInt8(dst[:size]), intsOf(dst[size:])
		from, to := part*kernel.IntCols, min(c.n, (part+1)*kernel.IntCols)
		rows := make([]int8, (to-from)*depth)
		for j := from; j < to; j++ {
			sum := int32(0)
			for k, v := range weights[j*depth:][:depth] {
				rows[(j-from)*depth+k] = int8(v)
				sum += int32(v)
			}
			init[j] = -zero * sum
		}
		kernel.PackInt8(codes[part*kernel.IntCols*(kernel.PackedInt8Len(c.taps, c.ic, 16)/16):], rows, c.taps, c.ic, to-from,
			depth)
	}
	dst := w.packer.order(c.at, p)
	c.weights = nil
	return bytesAsInt8(dst[:size]), intsOf(dst[size:])
}

// integerTask computes rows of sums and stores their codes.
type integerTask struct {
	st    *step
	table *windowTable
	gemm  kernel.GemmInt8
	q     *requantized
	zero  uint8
	per   int // rows of a chunk
	y     []byte
	work  []float32
}

func (t *integerTask) size() int { return t.per*t.gemm.N + t.q.work() }

func (t *integerTask) run(s *State) error {
	t.gemm.A, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	var err error
	if t.gemm.Ind, err = t.table.get(); err != nil {
		return err
	}
	t.gemm.Plan(1)
	if t.work, err = s.borrow(max(1, s.threads) * t.size()); err != nil {
		return err
	}
	s.do((t.gemm.M+t.per-1)/t.per, t)
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
