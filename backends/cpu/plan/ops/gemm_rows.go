package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// Products of so few rows read their right sides as they are: packing them takes longer than such a product.
const (
	fewDotRows   = 3
	fewMixedRows = 4
	fewRowsDepth = 24 // at least, of columns that are multiplied by themselves
	fewRowsCols  = 16 // at least, of rows that are mixed
)

// fewRowsTask computes a batch of products of few rows.
type fewRowsTask batchTask

// ofFewRows reports whether the right sides are read as they are.
func (t *batchTask) ofFewRows() bool {
	if t.b.transposed {
		return t.rows <= fewDotRows && t.depth >= fewRowsDepth
	}
	return t.rows <= fewMixedRows && t.col >= fewRowsCols && t.depth > 0
}

// width is how many columns a chunk computes.
func (t *fewRowsTask) width() int { return min(t.col, max(64, run.BlockLen*4/max(1, t.depth)&^15)) }

func (t *fewRowsTask) run(s *run.State) {
	s.Do(len(t.a.at)*((t.col+t.width()-1)/t.width()), t)
}

// Chunk computes some columns of one product.
func (t *fewRowsTask) Chunk(chunk, _ int) {
	blocks := (t.col + t.width() - 1) / t.width()
	i, from := chunk/blocks, chunk%blocks*t.width()
	to := min(t.col, from+t.width())
	w := t.w[t.b.at[i]:]
	for r := range t.rows {
		x := t.x[t.a.at[i]+r*t.a.ld:][:t.depth]
		y := t.y[t.c.at[i]+r*t.c.ld:][from:to]
		if t.b.transposed {
			kernel.Dots(y, x, w[from*t.b.ld:], t.b.ld)
		} else {
			kernel.MixRows(y, x, w[from:], t.b.ld)
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
