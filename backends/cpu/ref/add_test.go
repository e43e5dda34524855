package ref

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func f32(data []float32, dims ...int64) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: tensor.Float32s(data...)}
}

func TestAdd_broadcastsAndWraps(t *testing.T) {
	y, err := Compute(&op.Add{}, []tensor.Tensor{f32([]float32{1, 2, 3, 4, 5, 6}, 2, 3), f32([]float32{10, 20}, 2, 1)},
		make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, []float32{11, 12, 13, 24, 25, 26}, view[float32](y[0]))
	a := tensor.Tensor{DType: tensor.Int8, Dims: []int64{1}, Data: []byte{127}}
	y, err = Compute(&op.Add{}, []tensor.Tensor{a, a}, make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, []int8{-2}, view[int8](y[0]))
}

// The OpenHarmony system test's case: 4 + 8 at scale 0.2 and 0.2 into 0.4 gives 6, written 4x0.2 + 8x0.2 = 2.4 = 6x0.4.
func TestAdd_quantized(t *testing.T) {
	q := func(v byte, s float32) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Int8, Dims: []int64{1}, Quant: tensor.PerTensor(s, 0), Data: []byte{v}}
	}
	declared := []tensor.Type{{DType: tensor.Int8, Shape: tensor.Of(1), Quant: tensor.PerTensor(0.4, 0)}}
	y, err := Compute(&op.Add{}, []tensor.Tensor{q(4, 0.2), q(8, 0.2)}, declared)
	require.NoError(t, err)
	assert.Equal(t, []int8{6}, view[int8](y[0]))
}

func TestRun_dynamicShape(t *testing.T) {
	b := graph.NewBuilder("add")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.Dim{Sym: 1}, tensor.D(2))})
	b.Output(b.Add(&op.Add{}, x, b.Float32(1)))
	g, err := b.Graph()
	require.NoError(t, err)
	y, err := Run(context.Background(), g, []tensor.Tensor{f32([]float32{1, 2, 3, 4}, 2, 2)})
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 2}, y[0].Dims)
	assert.Equal(t, []float32{2, 3, 4, 5}, view[float32](y[0]))
	_, err = Run(context.Background(), g, []tensor.Tensor{f32([]float32{1, 2, 3}, 1, 3)})
	assert.ErrorContains(t, err, "want [?1,2], got [1,3]")
}
