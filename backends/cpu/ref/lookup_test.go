package ref

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestHashtableLookup_rowsAndMisses(t *testing.T) {
	keys := ints(tensor.Int32, []int64{-7, 0, 4, math.MaxInt32}, 4)
	lookups := ints(tensor.Int32, []int64{4, 5, math.MaxInt32, -7, 4}, 5)
	for _, d := range plainTypes() {
		x := numbers(d, []int64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 1, 2)
		y, err := Compute(&op.HashtableLookup{}, []tensor.Tensor{lookups, keys, x}, make([]tensor.Type, 2))
		require.NoError(t, err)
		assert.Equal(t, []int64{5, 1, 2}, y[0].Dims)
		assert.Equal(t, numbers(d, []int64{5, 6, 0, 0, 7, 8, 1, 2, 5, 6}).Data, y[0].Data, "%v", d)
		assert.Equal(t, []byte{1, 0, 1, 1, 1}, y[1].Data)
	}
	// A miss is code 0, not the zero point; keys may be in any order, and the first of equal ones counts.
	x := quant(ints(tensor.Uint8, []int64{10, 20, 30}, 3), 0.5, 128)
	y, err := Compute(&op.HashtableLookup{}, []tensor.Tensor{ints(tensor.Int64, []int64{9, 1, 1 << 40}, 3),
		ints(tensor.Int64, []int64{9, 1 << 40, 9}, 3), x}, []tensor.Type{{}, {DType: tensor.Uint8,
		Quant: tensor.PerTensor(1, 0)}})
	require.NoError(t, err)
	assert.Equal(t, []byte{10, 0, 20}, y[0].Data)
	assert.Equal(t, x.Quant, y[0].Quant)
	assert.Equal(t, []byte{1, 0, 1}, y[1].Data)
	// Nothing to look up, and nothing to find.
	for _, n := range []int64{0, 2} {
		y, err := Compute(&op.HashtableLookup{}, []tensor.Tensor{ints(tensor.Int32, make([]int64, n), n),
			ints(tensor.Int32, nil, 0), f32(nil, 0, 3)}, make([]tensor.Type, 2))
		require.NoError(t, err)
		assert.Equal(t, []int64{n, 3}, y[0].Dims)
		assert.Equal(t, make([]byte, n), y[1].Data)
	}
}
