package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// matchLpNorm finds the division of rows by a norm of theirs.
func matchLpNorm(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.LpNorm)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	lines, ok := alongAxis(g.Values[n.In[0]].Dims, o.Axis)
	if !ok || lines.inner != 1 {
		return nil
	}
	norm := euclidean
	if o.P == 1 {
		norm = manhattan
	}
	t := rowsTask{rows: lines.outer, cols: lines.count, compute: func(t *rowsTask, from, to int) {
		for r := from; r < to; r++ {
			y, x := t.y[r*t.cols:][:t.cols], t.x[r*t.cols:][:t.cols]
			if d := norm(x); d > 1e-18 && d < 1e18 {
				kernel.BinaryVS(kernel.Div, y, x, d)
			} else {
				divideByNorm(y, x, o.P == 1)
			}
		}
	}}
	return p.Plainly(i, &rowsOp{task: t, inplace: true, orders: always(run.NCHW),
		in: func(run.Order) rowsTask { return t }}, 1)
}

func euclidean(x []float32) float32 { return float32(math.Sqrt(float64(kernel.SumSquares(x, 0)))) }

// manhattan is the sum of absolute values.
func manhattan(x []float32) float32 {
	scratch := borrowLines()
	defer returnLines(scratch)
	line := mem.Elements[float32](mem.Bytes(scratch[:]))
	sum := 0.0
	for len(x) > 0 {
		n := min(len(line), len(x))
		kernel.Unary(kernel.Abs, line[:n], x[:n], 0, 0)
		sum += float64(kernel.Sum(line[:n]))
		x = x[n:]
	}
	return float32(sum)
}

// divideByNorm is for rows whose norm, or squares, float32 does not hold; one whose norm is 0 becomes zeros.
func divideByNorm(y, x []float32, absolute bool) {
	norm := 0.0
	for _, v := range x {
		if absolute {
			norm += math.Abs(float64(v))
		} else {
			norm += float64(v) * float64(v)
		}
	}
	if !absolute {
		norm = math.Sqrt(norm)
	}
	for i, v := range x {
		if y[i] = 0; norm != 0 {
			y[i] = float32(float64(v) / norm)
		}
	}
}
