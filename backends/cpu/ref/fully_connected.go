package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.FullyConnected, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		k := int(in[1].Dims[1])
		outputs := int(in[1].Dims[0])
		rows := cellCount(in[0].Dims[:len(in[0].Dims)-1])
		return linear(o, in, out[0], 0, &rowProducts{k: k, cols: outputs, blocks: []block{{rows: rows}}})
	})
}

// rowProducts is y = x * transpose(w) for a list of blocks of rows of length k, cols columns each.
type rowProducts struct {
	k, cols int
	blocks  []block
}

// block is rows of the output from element y on, made of rows of the operands from elements x and w on.
type block struct{ rows, x, w, y int }

func (r *rowProducts) f32(x, w []float32, store func(i, c int, s float64)) {
	multiplyRows(r, x, w, store)
}
func (r *rowProducts) f64(x, w []float64, store func(i, c int, s float64)) {
	multiplyRows(r, x, w, store)
}
func (r *rowProducts) i32(x, w []int32, store func(i, c int, s int32)) { multiplyRows(r, x, w, store) }
func (r *rowProducts) i64(x, w []int64, store func(i, c int, s int64)) { multiplyRows(r, x, w, store) }

func (r *rowProducts) bias(_, column int) int { return column }

func multiplyRows[T, S summable](r *rowProducts, x, w []T, store func(i, c int, s S)) {
	for _, b := range r.blocks {
		for i := range b.rows {
			row := x[b.x+i*r.k:][:r.k]
			for j := range r.cols {
				tick()
				store(b.y+i*r.cols+j, j, inner[T, S](row, w[b.w+j*r.k:]))
			}
		}
	}
}
