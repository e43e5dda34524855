package plan

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// unsignedCodes returns the buffer of a quantized value's codes, unsigned and with memory that kernels may read behind
// them.
func (b *builder) unsignedCodes(v graph.Value) int {
	if at, ok := b.unsigned[v]; ok {
		return at
	}
	x := &b.values[v]
	from := b.wantPlain(v)
	at := b.buffer(buffer{place: inArena, size: int64(x.count() + codedSlack)})
	b.unsign(from, at, x.count(), x.typ.DType == tensor.Int8)
	if b.unsigned == nil {
		b.unsigned = map[graph.Value]int{}
	}
	b.unsigned[v] = at
	return at
}

// unsign copies n codes from one buffer to another; flip says that they are signed.
func (b *builder) unsign(from, to, n int, flip bool) {
	s := step{fast: true, reads: []int{from}, writes: []int{to}}
	s.start = func(_ *State, st *step) process { return &unsignTask{st: st, n: n, flip: flip} }
	b.unnamed(s)
}

// unsignTask copies codes, adding 128 to signed ones.
type unsignTask struct {
	st   *step
	n    int
	flip bool
	x, y []byte
}

func (t *unsignTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	s.do(blocks(t.n), t)
	return nil
}

// Chunk copies one block.
func (t *unsignTask) Chunk(i, _ int) {
	from, to := block(i, t.n)
	if x, y := t.x[from:to], t.y[from:to]; t.flip {
		kernel.FlipSigns(y, x)
	} else {
		copy(y, x)
	}
}

// integerSum adds the step of a quantized sum of products whose centred weights w fit 8 bits: integer products,
// requantized as the reference does.
func (b *builder) integerSum(n *graph.Node, c *convolution, w []float32, q *requantized) bool {
	if c.groups != 1 || c.small() || !kernel.FastInt8() || c.taps*c.ic > (1<<31-1)/(256*256) {
		return false
	}
	for _, v := range w {
		if v < -128 || v > 127 {
			return false
		}
	}
	x := &b.values[n.In[0]]
	zero := x.typ.Quant.ZeroAt(0)
	if x.typ.DType == tensor.Int8 {
		zero += 128
	}
	t := integerTask{q: q, zero: uint8(zero)}
	t.gemm = kernel.GemmInt8{M: c.batch * c.win.Outputs(), N: c.n, K: c.c, LDA: c.c, SumsOnly: true}
	if zero < 0 || zero > 255 {
		return false
	}
	if !c.pointwise() {
		var err error
		if t.table, err = b.window(c.win, c.batch, c.c); err != nil {
			return false
		}
		t.gemm.Zero = slices.Repeat([]uint8{t.zero}, c.c+codedSlack)
	}
	t.gemm.B, t.gemm.Post.Init = b.packCentred(n.In[1], c, w, zero)
	t.per = max(1, min((1<<17)/(4*c.n), (t.gemm.M+3)/4)/24) * 24
	if r := q.rows; t.per%r != 0 {
		t.per = (t.per + r - 1) / r * r
	}
	s := step{fast: true, reads: []int{b.unsignedCodes(n.In[0])}}
	s.writes = []int{b.makeBytes(n.Out[0])}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
	return true
}

// packCentred packs centred weights, [outputs, taps, inputs], and computes what sums start with.
func (b *builder) packCentred(v graph.Value, c *convolution, w []float32, zero int32) (codes []int8, init []int32) {
	size := (kernel.PackedInt8Len(c.taps, c.ic, c.n) + 3) / 4
	depth := c.taps * c.ic
	p := packed{value: v, kind: "centred", len: size + c.n, parts: kernel.IntPanels(c.n)}
	p.fill = func(dst []float32, part int) {
		codes, init := bytesAsInt8(dst[:size]), intsOf(dst[size:])
		from, to := part*kernel.IntCols, min(c.n, (part+1)*kernel.IntCols)
		rows := make([]int8, (to-from)*depth)
		for j := from; j < to; j++ {
			sum := int32(0)
			for k, v := range w[j*depth:][:depth] {
				rows[(j-from)*depth+k] = int8(v)
				sum += int32(v)
			}
			init[j] = -zero * sum
		}
		kernel.PackInt8(codes[part*kernel.IntCols*(kernel.PackedInt8Len(c.taps, c.ic, 16)/16):], rows, c.taps, c.ic, to-from,
			depth)
	}
	dst := b.pack(p)
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
