package matrix_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestProduct_graph(t *testing.T) {
	a := tensor.Tensor{DType: tensor.Int8, Dims: []int64{1, 2}, Data: []byte{3, 0xfe}}          // 3, -2
	b := tensor.Tensor{DType: tensor.Int8, Dims: []int64{2, 2}, Data: []byte{1, 2, 0x7f, 0xfc}} // 1 2, 127 -4
	product := func(c tensor.DType) *matrix.Product {
		return &matrix.Product{A: matrix.Operand{Type: tensor.Int8, Rows: 1, Columns: 2},
			B: matrix.Operand{Type: tensor.Int8, Rows: 2, Columns: 2}, C: matrix.Operand{Type: c, Rows: 1, Columns: 2},
			ScaleA: 1, ScaleC: 1}
	}
	run := func(p *matrix.Product) tensor.Tensor {
		g, err := p.Graph("product")
		require.NoError(t, err)
		out, err := ref.Run(context.Background(), g, []tensor.Tensor{a, b})
		require.NoError(t, err)
		return out[0]
	}
	assert.Equal(t, tensor.Int32s(3-254, 6+8), run(product(tensor.Int32)).Data)
	p := product(tensor.Int8)
	p.ScaleA, p.ScaleB, p.ScaleC, p.ZeroC = 0.5, matrix.Params[float32]{1, 0.5}, 2, 1
	p.ZeroA, p.ZeroB = 1, matrix.Params[int32]{0, 1}
	// (3-1) - 3*127 = -379, (3-1)*1 - 3*-5 = 17: times 0.5 and the scale, over 2, halves to even, plus 1
	assert.Equal(t, []byte{0xa2, 3}, run(p).Data) // -94.75 -> -95+1, 2.125 -> 2+1
	p.Group, p.ScaleB = 1, make(matrix.Params[float32], 4)
	_, err := p.Graph("grouped")
	assert.ErrorContains(t, err, "per group")
}
