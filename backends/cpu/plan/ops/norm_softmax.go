package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/op"
)

// softmax is a softmax of lines times beta.
type softmax struct{ beta float32 }

func matchSoftmax(p *ir.Program, i int) *ir.Patch {
	switch o := p.Net.Graph.Nodes[i].Op.(type) {
	case *op.Softmax:
		q := softmax{beta: o.Scale()}
		return matchAlong(p, i, o.Axis, &alongOp{inplace: true, lines: q.rows, columns: q.columns})
	case *op.LogSoftmax:
		q := softmax{beta: o.Scale()}
		return matchAlong(p, i, o.Axis, &alongOp{inplace: true, lines: q.logRows, columns: q.logColumns})
	}
	return nil
}

func (q softmax) rows(y, x []float32, rows, cols int) { kernel.SoftmaxRows(y, x, rows, cols, q.beta) }

// logRows computes x - max - log(sum(exp(x - max))) of x times beta.
func (q softmax) logRows(y, x []float32, rows, cols int) {
	scratch := borrowLines()
	kernel.LogSoftmaxRows(y, x, rows, cols, q.beta, scratch.floats())
	returnLines(scratch)
}

// partRows is how many rows of columns are added up one after another in float32.
const partRows = 64

// columns leaves exp(x - max) / sum(exp(x - max)) of x times beta.
func (q softmax) columns(c *columns) {
	sum := q.powers(c, true)
	kernel.BinarySV(kernel.Div, sum, 1, sum)
	for k := range c.count {
		y, _ := c.row(k)
		kernel.BinaryVV(kernel.Mul, y, y, sum)
	}
}

// logColumns leaves x - max - log(sum(exp(x - max))) of x times beta.
func (q softmax) logColumns(c *columns) {
	sum := q.powers(c, false)
	kernel.Unary(kernel.Log, sum, sum, 0, 0)
	for k := range c.count {
		y, _ := c.row(k)
		kernel.BinaryVV(kernel.Sub, y, y, sum)
	}
}

// powers returns the sums of exp(x - max) of each line of x times beta. y becomes those powers, or x - max.
func (q softmax) powers(c *columns, keep bool) (sum []float32) {
	most, sum, part := c.work[0], c.work[1], c.work[2]
	best := kernel.Max
	if q.beta < 0 {
		best = kernel.Min
	}
	_, x := c.row(0)
	copy(most, x)
	for k := 1; k < c.count; k++ {
		_, x := c.row(k)
		kernel.BinaryVV(best, most, most, x)
	}
	clear(sum)
	clear(part)
	scratch := borrowLines()
	defer returnLines(scratch)
	line := scratch.floats()[:c.n]
	for k := range c.count {
		y, x := c.row(k)
		kernel.BinaryVV(kernel.Sub, y, x, most)
		if q.beta != 1 {
			kernel.BinaryVS(kernel.Mul, y, y, q.beta)
		}
		powers := line
		if keep {
			powers = y
		}
		kernel.ExpSum(powers, y, 1, 0)
		kernel.BinaryVV(kernel.Add, part, part, powers)
		if (k+1)%partRows == 0 {
			kernel.BinaryVV(kernel.Add, sum, sum, part)
			clear(part)
		}
	}
	kernel.BinaryVV(kernel.Add, sum, sum, part)
	return sum
}
