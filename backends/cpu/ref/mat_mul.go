package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.MatMul, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		a, b := in[0].Dims, in[1].Dims
		if len(a) == 1 {
			a = []int64{1, a[0]}
		}
		if len(b) == 1 {
			b = []int64{b[0], 1}
		}
		swapA, swapB := o.TransposeA && len(in[0].Dims) > 1, o.TransposeB && len(in[1].Dims) > 1
		m, k := a[len(a)-2], a[len(a)-1]
		if swapA {
			m, k = k, m
		}
		n, axis := b[len(b)-1], len(in[1].Dims)-1
		if swapB {
			n, axis = b[len(b)-2], axis-1
		}
		lead, err := tensor.Broadcast(tensor.Of(a[:len(a)-2]...), tensor.Of(b[:len(b)-2]...))
		if err != nil {
			return nil, err
		}
		dims, _ := lead.Ints()
		total, step := cellCount(dims), int(m*n)
		ia, ib := broadcastIndex(a[:len(a)-2], dims), broadcastIndex(b[:len(b)-2], dims)
		p := &matrixProducts{rowProducts: rowProducts{k: int(k), cols: int(n)}, a: a, b: b, swapA: swapA, swapB: !swapB}
		if len(in[1].Dims) == 1 {
			axis = -1
		}
		if step > 0 {
			for i := range total {
				tick()
				p.blocks = append(p.blocks, block{rows: int(m), x: ia(i) * int(m*k), w: ib(i) * int(k*n), y: i * step})
			}
		}
		if len(in) > 2 && !in[2].Absent() {
			return p.biased(o, in, out[0], axis)
		}
		return linear(o, in, out[0], axis, p)
	})
}

// matrixProducts is rowProducts after bringing the operands to rows of length k.
type matrixProducts struct {
	rowProducts
	a, b         []int64
	swapA, swapB bool
	spread       func(i int) int // the bias element of output element i
}

// biased runs with a bias that broadcasts to the output.
func (p *matrixProducts) biased(o *op.MatMul, in []tensor.Tensor, out tensor.Type, axis int) ([]tensor.Tensor, error) {
	dims, _ := out.Shape.Ints()
	if bias := in[2].Dims; len(bias) != 1 || int(bias[0]) != p.cols || len(in[1].Dims) == 1 {
		p.spread = broadcastIndex(bias, dims)
	}
	return linear(o, in, out, axis, p)
}

func (p *matrixProducts) f32(x, w []float32, store func(i, c int, s float64)) {
	multiplyMatrices(p, x, w, store)
}

func (p *matrixProducts) f64(x, w []float64, store func(i, c int, s float64)) {
	multiplyMatrices(p, x, w, store)
}

func (p *matrixProducts) i32(x, w []int32, store func(i, c int, s int32)) {
	multiplyMatrices(p, x, w, store)
}

func (p *matrixProducts) i64(x, w []int64, store func(i, c int, s int64)) {
	multiplyMatrices(p, x, w, store)
}

func (p *matrixProducts) bias(i, column int) int {
	if p.spread != nil {
		return p.spread(i)
	}
	return column
}

func multiplyMatrices[T, S summable](p *matrixProducts, x, w []T, store func(i, c int, s S)) {
	if p.swapA {
		x = swapLast(x, p.a)
	}
	if p.swapB {
		w = swapLast(w, p.b)
	}
	multiplyRows(&p.rowProducts, x, w, store)
}

// swapLast transposes the last two dimensions.
func swapLast[T any](x []T, dims []int64) []T {
	rows, cols := int(dims[len(dims)-2]), int(dims[len(dims)-1])
	if rows == 1 || cols == 1 {
		return cloned(x)
	}
	y := alloc[T](len(x))
	for base := 0; base < len(x); base += rows * cols {
		for r := range rows {
			tick()
			for c := range cols {
				y[base+c*rows+r] = x[base+r*cols+c]
			}
		}
	}
	return y
}
