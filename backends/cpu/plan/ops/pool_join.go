package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// poolJoin says how elements of windows are joined: the largest of integers, or the sum of powers of float32.
type poolJoin struct {
	size    int // bytes of an element
	largest kernel.IntegerOp
	lowest  []byte  // an element of the padding
	power   float32 // of numbers, 0: integers
}

// join joins elements of a with those of b, in place if y is one of them.
func (p *poolJoin) join(y, a, b []byte) {
	if p.power != 0 {
		kernel.BinaryVV(kernel.Add, run.Floats(y), run.Floats(a), run.Floats(b))
		return
	}
	kernel.IntegersVV(p.largest, y, a, b)
}

// pad fills y with elements of the padding.
func (p *poolJoin) pad(y []byte) {
	if len(y) > 0 {
		copy(y, p.lowest)
		kernel.Repeat(y, p.size)
	}
}

// raise makes the powers of absolute numbers, in place if y is x.
func (p *poolJoin) raise(y, x []float32) {
	switch p.power {
	case 1:
		kernel.Unary(kernel.Abs, y, x, 0, 0)
	case 2:
		kernel.BinaryVV(kernel.Mul, y, x, x)
	default:
		kernel.Unary(kernel.Abs, y, x, 0, 0)
		kernel.BinaryVS(kernel.Pow, y, y, p.power)
	}
}

// root undoes raise.
func (p *poolJoin) root(y []float32) {
	switch p.power {
	case 1:
	case 2:
		kernel.Unary(kernel.Sqrt, y, y, 0, 0)
	default:
		kernel.BinaryVS(kernel.Pow, y, y, float32(1/float64(p.power)))
	}
}
