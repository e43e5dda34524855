package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/mem"
)

// doublesBlock counts the columns of float32 that are folded side by side: so many float64 fit in scratch memory.
const doublesBlock = 4 * lineLen

// ended makes the result of the fold of all elements.
type ended struct {
	by        func(float64) float64 // nil: nothing
	logarithm bool                  // by is one
}

func (e ended) of(s float64) float32 {
	if e.by != nil {
		s = e.by(s)
	}
	return float32(s)
}

// doubles folds float32 along an axis in float64.
type doubles struct {
	axisLines
	op kernel.FoldOp
	ended
}

// results makes the results of some outer positions, up to doublesBlock of each, from first on.
func (q *doubles) results(y, x []float32, from, to, first int) {
	scratch := borrowLines()
	defer returnLines(scratch)
	work := mem.Elements[float64](mem.Bytes(scratch[:]))
	if q.inner == 1 {
		q.lines(y[from:to], x[from*q.count:to*q.count], work)
		return
	}
	for o := from; o < to; o++ {
		x, y := x[o*q.count*q.inner:][:q.count*q.inner], y[o*q.inner+first:][:min(doublesBlock, q.inner-first)]
		sums := work[:len(y)]
		for j := range sums {
			sums[j] = q.op.Nothing()
		}
		kernel.FoldRows(q.op, sums, x[min(first, len(x)):], q.inner, q.count)
		if q.logarithm {
			for j, s := range sums {
				y[j] = float32(s)
			}
			kernel.Unary(kernel.Log, y, y, 0, 0)
		}
		for j, s := range sums {
			if !q.logarithm || !plainLogarithm(y[j]) {
				y[j] = q.of(s)
			}
		}
	}
}

// lines makes the results y of lines of x.
func (q *doubles) lines(y, x []float32, work []float64) {
	if !q.logarithm {
		for o := range y {
			y[o] = q.of(kernel.FoldLine(q.op, x[o*q.count:][:q.count], work))
		}
		return
	}
	for o := range y {
		y[o] = float32(kernel.FoldLine(q.op, x[o*q.count:][:q.count], work))
	}
	kernel.Unary(kernel.Log, y, y, 0, 0)
	for o, r := range y {
		if !plainLogarithm(r) {
			y[o] = q.of(kernel.FoldLine(q.op, x[o*q.count:][:q.count], work))
		}
	}
}

// plainLogarithm reports whether a logarithm of a float32 is as good for the float64 that was rounded to it: float32
// has the range, and near 1 the rounding would show.
func plainLogarithm(r float32) bool { return r > 0.25 && r < 85 || r < -0.25 && r > -85 }
