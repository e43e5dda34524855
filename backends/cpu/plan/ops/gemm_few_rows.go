package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// batchTask multiplies batches of matrices, packing each right side on the way.
type batchTask struct {
	st               *run.Step
	a, b, c          matrices
	rows, depth, col int
	bias             []float32
	scale            []float32 // of the products, one value per column; nil: ones
	row, all         int       // reads that are added: one row per product, or as many as it has; None: there are none
	more             matrices  // of either
	act              kernel.Act
	gemms            []kernel.Gemm // per worker
	packed           int
	halves           bool // the right sides are binary16, in right
	right            []uint16
	x, w, y, work    []float32
	added            []float32
	whole            dividedProduct // of products that threads share
}

// Products of so few rows read their right sides as they are: packing them takes longer than such a product.
const (
	fewDotRows   = 3
	fewMixedRows = 4
	fewRowsDepth = 24      // at least, of columns that are multiplied by themselves
	fewRowsCols  = 16      // at least, of rows that are mixed
	fewRowsMost  = 1 << 18 // the most depth: a chunk has some columns of it
)

// fewRowsTask computes a batch of products of few rows.
type fewRowsTask batchTask

// ofFewRows reports whether the right sides are read as they are.
func (t *batchTask) ofFewRows() bool {
	if t.depth > fewRowsMost {
		return false
	}
	if t.b.transposed {
		return t.rows <= fewDotRows && t.depth >= fewRowsDepth
	}
	return t.rows <= fewMixedRows && t.col >= fewRowsCols && t.depth > 0
}

const (
	halvesWork = 4 << 10 // numbers that are widened at once: they stay in the first-level cache
	halvesCols = 1 << 10 // columns of a chunk, at most
)

// widened computes columns from to to of product i, whose right side is widened part by part.
func (t *fewRowsTask) widened(i, from, to int, work []float32) {
	w, n := t.right[t.b.at[i]:], to-from
	part, sums := work[:halvesWork], work[halvesWork:][:n]
	row := func(r int) (x, y []float32) {
		return t.x[t.a.at[i]+r*t.a.ld:][:t.depth], t.y[t.c.at[i]+r*t.c.ld:][from:to]
	}
	if t.b.transposed {
		for c, step := 0, len(part)/t.depth; c < n; c += step {
			k := min(step, n-c)
			widenRows(part, w[(from+c)*t.b.ld:], t.b.ld, k, t.depth)
			for r := range t.rows {
				x, y := row(r)
				kernel.Dots(y[c:c+k], x, part, t.depth)
			}
		}
		return
	}
	for d, step := 0, len(part)/n; d < t.depth; d += step {
		k := min(step, t.depth-d)
		widenRows(part, w[d*t.b.ld+from:], t.b.ld, k, n)
		for r := range t.rows {
			x, y := row(r)
			if d == 0 {
				kernel.MixRows(y, x[:k], part, n)
				continue
			}
			kernel.MixRows(sums, x[d:d+k], part, n)
			kernel.BinaryVV(kernel.Add, y, y, sums)
		}
	}
}

// widenRows widens rows of n numbers that are ld apart.
func widenRows(y []float32, x []uint16, ld, rows, n int) {
	if ld == n {
		n, rows = n*rows, 1
	}
	for r := range rows {
		kernel.HalfToFloat(y[r*n:][:n], x[r*ld:][:n])
	}
}

// width is how many columns a chunk computes.
func (t *fewRowsTask) width() int {
	width := min(t.col, max(64, run.BlockLen*4/max(1, t.depth)&^15))
	if t.halves {
		width = min(width, halvesCols)
	}
	return width
}

func (t *fewRowsTask) run(s *run.State) (err error) {
	if t.halves {
		if t.work, err = s.Borrow(max(1, s.Threads) * (halvesWork + halvesCols)); err != nil {
			return err
		}
	}
	s.Do(len(t.a.at)*((t.col+t.width()-1)/t.width()), t)
	return nil
}

// Chunk computes some columns of one product.
func (t *fewRowsTask) Chunk(chunk, worker int) {
	blocks := (t.col + t.width() - 1) / t.width()
	i, from := chunk/blocks, chunk%blocks*t.width()
	to := min(t.col, from+t.width())
	if t.halves {
		t.widened(i, from, to, t.work[worker*(halvesWork+halvesCols):])
	}
	for r := range t.rows {
		x := t.x[t.a.at[i]+r*t.a.ld:][:t.depth]
		y := t.y[t.c.at[i]+r*t.c.ld:][from:to]
		switch {
		case t.halves:
		case t.b.transposed:
			kernel.Dots(y, x, t.w[t.b.at[i]+from*t.b.ld:], t.b.ld)
		default:
			kernel.MixRows(y, x, t.w[t.b.at[i]+from:], t.b.ld)
		}
		if t.scale != nil {
			kernel.BinaryVV(kernel.Mul, y, y, t.scale[from:to])
		}
		if t.bias != nil {
			kernel.BinaryVV(kernel.Add, y, y, t.bias[from:to])
		}
		switch {
		case t.row != run.None:
			kernel.BinaryVV(kernel.Add, y, y, t.added[t.more.at[i]:][from:to])
		case t.all != run.None:
			kernel.BinaryVV(kernel.Add, y, y, t.added[t.more.at[i]+r*t.more.ld:][from:to])
		}
		if t.act.Op != kernel.Identity {
			kernel.Unary(t.act.Op, y, y, t.act.Alpha, t.act.Beta)
		}
	}
}
