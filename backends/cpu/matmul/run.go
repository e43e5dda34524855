package matmul

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Workers are the threads that compute; backends/cpu.Workers is one.
type Workers interface {
	Threads() int
	Do(ctx context.Context, n int, t pool.Task) error
}

const (
	panel     = kernel.PanelCols
	depth     = 1024     // terms of a sum in float32
	blockSize = 4 << 20  // elements of A that are widened at a time
	partRows  = 512      // rows of one chunk
	leastRows = 48       // rows below which a chunk is not divided further
	chunkSums = 32 << 20 // products of one chunk with more rows than that: about a millisecond
	exactSum  = 1 << 24  // integers up to here are exact in float32
)

// Run computes p as device.Multiplier states.
func Run(ctx context.Context, p *matrix.Product, w Workers) error {
	p.Check()
	if p.A.Rows == 0 || p.B.Rows == 0 {
		return nil
	}
	k := p.A.Columns
	rows := min(p.A.Rows, max(1, blockSize/max(1, k)))
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if err := s.reserve(rows*k, w.Threads()); err != nil {
		return err
	}
	for m0 := 0; m0 < p.A.Rows; m0 += rows {
		b := block{Product: p, scratch: s, first: m0, rows: min(rows, p.A.Rows-m0), segment: segmentOf(p)}
		if err := b.run(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// scratch is memory that runs share one after another.
type scratch struct {
	a       []float32
	workers []workspace
}

// workspace belongs to one worker.
type workspace struct {
	rows   []float32 // elements of a panel of B, row by row
	packed []float32 // the panel as the kernel reads it
	c      []float32
	sums   []float64
	zeros  [panel]float32
	scale  [panel]float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) reserve(a, threads int) error {
	if len(s.a) < a {
		if err := mem.Admit(4 * int64(a)); err != nil {
			return fault.Wrap(err, "%d values of A", a)
		}
		s.a = kernel.Aligned[float32](a)
	}
	for len(s.workers) < threads {
		s.workers = append(s.workers, workspace{
			rows: kernel.Aligned[float32](panel * depth), packed: kernel.Aligned[float32](panel * depth),
			c: kernel.Aligned[float32](panel * partRows), sums: make([]float64, panel*partRows),
		})
	}
	return nil
}

// segmentOf is how many columns are summed in float32 at a time. Sums of integers stay exact.
func segmentOf(p *matrix.Product) int {
	n := min(depth, p.GroupSize())
	if p.A.Type != tensor.Float16 && p.B.Type != tensor.Float16 {
		zero := int32(0)
		for _, z := range p.ZeroB {
			zero = max(zero, z, -z)
		}
		n = min(n, int(exactSum/(largest(p.A.Type, max(p.ZeroA, -p.ZeroA))*largest(p.B.Type, zero))))
	}
	return max(n, 1)
}

// largest bounds the magnitude of an integer element less its zero point.
func largest(t tensor.DType, zero int32) int64 { return int64(1)<<(t.Bits()-1) + int64(zero) }

// block is some rows of a product: A is widened once, then panels of 32 columns of C are computed in any order.
type block struct {
	*matrix.Product
	*scratch
	first, rows int
	segment     int
	part, parts int // rows of one chunk, and how many such parts the block has
}

func (b *block) run(ctx context.Context, w Workers) error {
	threads := w.Threads()
	step := max(1, min(b.rows, (1<<16)/max(1, b.A.Columns)))
	widen := pool.Func(func(i, _ int) { b.widen(i*step, min(b.rows, i*step+step)) })
	if err := w.Do(ctx, (b.rows+step-1)/step, widen); err != nil {
		return err
	}
	b.part = min(b.rows, partRows, max(leastRows, chunkSums/(panel*max(1, b.A.Columns))))
	panels := kernel.Panels(b.B.Rows)
	for b.part > leastRows && panels*((b.rows+b.part-1)/b.part) < 4*threads && threads > 1 {
		b.part = (b.part + 1) / 2
	}
	b.parts = (b.rows + b.part - 1) / b.part
	return w.Do(ctx, panels*b.parts, pool.Func(b.chunk))
}

// widen makes float32 of rows of A, less the zero point.
func (b *block) widen(r0, r1 int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	k := b.A.Columns
	for r := r0; r < r1; r++ {
		row := b.a[r*k:][:k]
		for d := 0; d < k; {
			i, run := b.A.At(b.first+r, d)
			run = min(run, k-d)
			load(row[d:], &b.A, i, run)
			d += run
		}
		if b.ZeroA != 0 {
			for d := range row {
				row[d] -= float32(b.ZeroA)
			}
		}
	}
}

// chunk computes one panel of some rows.
func (b *block) chunk(i, worker int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	w := &b.workers[worker]
	n0, r0 := i/b.parts*panel, i%b.parts*b.part
	rows, cols := min(b.part, b.rows-r0), min(panel, b.B.Rows-n0)
	sums := w.sums[:rows*cols]
	clear(sums)
	k, group := b.A.Columns, b.GroupSize()
	for k0 := 0; k0 < k; {
		l := min(b.segment, group-k0%group)
		b.pack(w, n0, cols, k0, l)
		g := kernel.Gemm{M: rows, N: cols, K: l, A: b.a[r0*k+k0:], LDA: k, B: w.packed, C: w.c, LDC: cols}
		g.Run()
		b.add(w, sums, n0, cols, k0)
		k0 += l
	}
	for j := range cols {
		w.scale[j] = scaleOf(b.Product, n0+j)
	}
	for r := range rows {
		for j := 0; j < cols; {
			at, run := b.C.At(b.first+r0+r, n0+j)
			run = min(run, cols-j)
			store(b.Product, at, sums[r*cols+j:][:run], w.scale[j:])
			j += run
		}
	}
}

// add adds what the kernel has computed for columns from k0 on, with the scales of B if they are per group.
func (b *block) add(w *workspace, sums []float64, n0, cols, k0 int) {
	c := w.c[:len(sums)]
	if !b.Grouped() {
		for i, v := range c {
			sums[i] += float64(v)
		}
		return
	}
	for j := range cols {
		w.scale[j] = float64(b.ScaleAt(k0, n0+j))
	}
	for r := 0; r < len(sums); r += cols {
		for j := range cols {
			sums[r+j] += float64(c[r+j]) * w.scale[j]
		}
	}
}

// pack makes the kernel's form of rows n0 to n0+cols-1 and columns k0 to k0+l-1 of B, less the zero points.
func (b *block) pack(w *workspace, n0, cols, k0, l int) {
	width := kernel.PackedLen(1, cols)
	if b.B.Inner == 1 && b.B.Outer == b.B.Rows { // columns follow each other
		for d := range l {
			row := w.packed[d*width:][:width]
			load(row, &b.B, b.B.Index(n0, k0+d), cols)
			clear(row[cols:])
		}
	} else {
		for r := range cols {
			row := w.rows[r*l:][:l]
			for d := 0; d < l; {
				i, run := b.B.At(n0+r, k0+d)
				run = min(run, l-d)
				load(row[d:], &b.B, i, run)
				d += run
			}
		}
		kernel.PackBT(w.packed, w.rows, l, cols, l)
	}
	if len(b.ZeroB) == 0 {
		return
	}
	for j := range cols {
		w.zeros[j] = float32(b.ZeroAt(k0, n0+j))
	}
	for d := range l {
		row := w.packed[d*width:][:cols]
		for j := range row {
			row[j] -= w.zeros[j]
		}
	}
}
