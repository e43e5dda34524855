package mem

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// A tensor of 2 x 3 x 4 whose element at [i, j, k] is 100i + 10j + k lies in every order of its dimensions.
func TestView_orders(t *testing.T) {
	dims := []int64{2, 3, 4}
	var want []byte
	for i := range dims[0] {
		for j := range dims[1] {
			for k := range dims[2] {
				want = append(want, byte(100*i+10*j+k))
			}
		}
	}
	orders := [][]int{nil, {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for _, order := range orders {
		b, err := Host(24, Options{})
		require.NoError(t, err)
		v := View{Buf: b, Type: tensor.T(tensor.Uint8, dims...)}.In(order)
		require.NoError(t, v.Store(want))
		got := make([]byte, 24)
		require.NoError(t, v.Load(got))
		assert.Equal(t, want, got, "%v", order)
		for n, o := range orders {
			same := slices.Equal(o, order) || n < 2 && (order == nil || slices.Equal(order, orders[1]))
			assert.Equal(t, same, v.LiesIn(o), "%v in %v", order, o)
		}
		if order != nil { // as they lie
			raw, err := b.Map()
			require.NoError(t, err)
			require.NoError(t, v.Permuted(order).Load(got))
			assert.Equal(t, raw[:24], got, "%v", order)
			assert.Equal(t, tensor.D(dims[order[0]]), v.Permuted(order).Type.Shape.Dims[0])
		}
		b.Release()
	}
	one := View{Type: tensor.T(tensor.Uint8, 1, 5, 1, 1)}
	assert.True(t, one.LiesIn([]int{0, 2, 3, 1}), "dimensions of one element lie anywhere")
	assert.False(t, one.LiesIn([]int{0, 1}), "another number of dimensions")
	assert.False(t, View{Type: tensor.Type{DType: tensor.Uint8, Shape: tensor.AnyOfRank(2)}}.LiesIn(nil), "unknown sizes")
	gaps := View{Type: tensor.T(tensor.Uint8, 2, 2), Strides: []int64{3, 1}}
	assert.False(t, gaps.LiesIn(nil) || gaps.LiesIn([]int{1, 0}))
}
