package ref

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Slices without elements are not counted one by one; indices are checked all the same.
func TestGather_slicesOfNoElements(t *testing.T) {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{1 << 50, 3, 0}}
	index := func(v int64) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Int64, Dims: []int64{1}, Data: tensor.Int64s(v)}
	}
	axis := tensor.Tensor{DType: tensor.Int64, Data: tensor.Int64s(1)}
	out := []tensor.Type{tensor.T(tensor.Float32, 1<<50, 1, 0)}
	y, err := Compute(&op.Gather{}, []tensor.Tensor{x, index(2), axis}, out)
	require.NoError(t, err)
	assert.Equal(t, []int64{1 << 50, 1, 0}, y[0].Dims)
	_, err = Compute(&op.Gather{}, []tensor.Tensor{x, index(3), axis}, out)
	assert.ErrorContains(t, err, "input 1: element 0")
}
