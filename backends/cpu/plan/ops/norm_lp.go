package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/op"
)

// lpNorm divides lines by a norm of theirs.
type lpNorm struct{ manhattan bool }

func matchLpNorm(p *ir.Program, i int) *ir.Patch {
	o, is := p.Net.Graph.Nodes[i].Op.(*op.LpNorm)
	if !is {
		return nil
	}
	q := lpNorm{manhattan: o.P == 1}
	return matchAlong(p, i, o.Axis, &alongOp{inplace: true, lines: q.rows, columns: q.columns})
}

// plainNorm reports whether float32 holds a norm, and the squares that it is made of.
func plainNorm(d float32) bool { return d > 1e-18 && d < 1e18 }

func (q lpNorm) rows(y, x []float32, rows, cols int) {
	norm := euclidean
	if q.manhattan {
		norm = manhattan
	}
	for r := range rows {
		y, x := y[r*cols:][:cols], x[r*cols:][:cols]
		if d := norm(x); plainNorm(d) {
			kernel.BinaryVS(kernel.Div, y, x, d)
		} else {
			divideByNorm(y, x, 1, cols, q.manhattan)
		}
	}
}

func (q lpNorm) columns(c *columns) {
	norm, part, line := c.work[0], c.work[1], c.work[2]
	clear(norm)
	clear(part)
	for k := range c.count {
		_, x := c.row(k)
		if q.manhattan {
			kernel.Unary(kernel.Abs, line, x, 0, 0)
		} else {
			kernel.BinaryVV(kernel.Mul, line, x, x)
		}
		kernel.BinaryVV(kernel.Add, part, part, line)
		if (k+1)%partRows == 0 {
			kernel.BinaryVV(kernel.Add, norm, norm, part)
			clear(part)
		}
	}
	kernel.BinaryVV(kernel.Add, norm, norm, part)
	if !q.manhattan {
		kernel.Unary(kernel.Sqrt, norm, norm, 0, 0)
	}
	odd := false
	for j, d := range norm {
		if !plainNorm(d) {
			odd, norm[j] = true, 1
			part[j] = 1
		} else {
			part[j] = 0
		}
	}
	for k := range c.count {
		y, x := c.row(k)
		kernel.BinaryVV(kernel.Div, y, x, norm)
	}
	for j := 0; odd && j < c.n; j++ {
		if part[j] != 0 { // its elements were divided by 1
			divideByNorm(c.y[j:], c.y[j:], c.ldy, c.count, q.manhattan)
		}
	}
}

func euclidean(x []float32) float32 { return float32(math.Sqrt(float64(kernel.SumSquares(x, 0)))) }

// manhattan is the sum of absolute values.
func manhattan(x []float32) float32 {
	scratch := borrowLines()
	defer returnLines(scratch)
	return kernel.SumAbs(x, scratch.floats())
}

// divideByNorm is for n elements, ld apart, whose norm, or squares, float32 does not hold; if it is 0, they become 0.
func divideByNorm(y, x []float32, ld, n int, absolute bool) {
	norm := 0.0
	for i := range n {
		v := float64(x[i*ld])
		if absolute {
			norm += math.Abs(v)
		} else {
			norm += v * v
		}
	}
	if !absolute {
		norm = math.Sqrt(norm)
	}
	for i := range n {
		v := x[i*ld]
		if y[i*ld] = 0; norm != 0 {
			y[i*ld] = float32(float64(v) / norm)
		}
	}
}
