package ref

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Rows of no elements can be 2^50: kernels do not go over them one by one. Each of these would run for days.
func TestCompute_rowsOfNoElements(t *testing.T) {
	const many = 1 << 50
	x := func(dims ...int64) tensor.Tensor { return tensor.Tensor{DType: tensor.Float32, Dims: dims} }
	one := tensor.Tensor{DType: tensor.Float32, Dims: []int64{1}, Data: tensor.Float32s(1)}
	list := func(v ...int64) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Int64, Dims: []int64{int64(len(v))}, Data: tensor.Int64s(v...)}
	}
	number := func(v int64) tensor.Tensor { return tensor.Tensor{DType: tensor.Int64, Data: tensor.Int64s(v)} }
	flags := tensor.Tensor{DType: tensor.Bool, Dims: []int64{1}, Data: []byte{0}}
	for _, c := range []struct {
		op   graph.Op
		in   []tensor.Tensor
		outs int
		dims []int64 // of output 0
	}{
		{&op.Split{Axis: 1}, []tensor.Tensor{x(many, 0), list(0, 0)}, 2, []int64{many, 0}},
		{&op.Concat{Axis: 1}, []tensor.Tensor{x(many, 0), x(many, 0)}, 1, []int64{many, 0}},
		{&op.Compress{Axis: 1}, []tensor.Tensor{x(many, 0), flags}, 1, []int64{many, 0}},
		{&op.Softmax{Axis: 1}, []tensor.Tensor{x(many, 0)}, 1, []int64{many, 0}},
		{&op.LogSoftmax{Axis: 0}, []tensor.Tensor{x(0, many)}, 1, []int64{0, many}},
		{&op.Hardmax{Axis: 1}, []tensor.Tensor{x(many, 0)}, 1, []int64{many, 0}},
		{&op.LayerNorm{Axis: 1}, []tensor.Tensor{x(many, 0), x(0)}, 1, []int64{many, 0}},
		{&op.BatchNorm{Axis: 1}, []tensor.Tensor{x(many, 1, 0), one, one, one, one}, 1, []int64{many, 1, 0}},
		{&op.InstanceNorm{Axis: 1}, []tensor.Tensor{x(many, 1, 0), one, one}, 1, []int64{many, 1, 0}},
		{&op.LRN{Axis: 1, Before: 1, After: 1, Bias: 1, Beta: 1, Alpha: 1}, []tensor.Tensor{x(many, 1, 0)}, 1,
			[]int64{many, 1, 0}},
		{&op.CumSum{}, []tensor.Tensor{x(many, 0), number(1)}, 1, []int64{many, 0}},
		{&op.TopK{Axis: 1, To: tensor.Int64}, []tensor.Tensor{x(many, 0), list(0)}, 2, []int64{many, 0}},
		{&op.MatMul{}, []tensor.Tensor{x(many, 0, 1), x(1, 0)}, 1, []int64{many, 0, 0}},
		{&op.Transpose{}, []tensor.Tensor{x(many, 0), list(1, 0)}, 1, []int64{0, many}},
		{&op.Relu{}, []tensor.Tensor{x(many, 0)}, 1, []int64{many, 0}},
		{&op.AveragePool{Kernel: []int64{1, 1}}, []tensor.Tensor{x(many, 0, 2, 2)}, 1, []int64{many, 0, 2, 2}},
	} {
		y, err := Compute(c.op, c.in, make([]tensor.Type, c.outs))
		require.NoError(t, err, graph.NameOf(c.op))
		require.Len(t, y, c.outs, graph.NameOf(c.op))
		assert.Equal(t, c.dims, y[0].Dims, graph.NameOf(c.op))
	}
}

// What refuses values refuses them also where no output has elements.
func TestCompute_judgesWithoutElements(t *testing.T) {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{0}}
	cond := tensor.Tensor{DType: tensor.Bool, Dims: []int64{1}, Data: []byte{1}}
	_, err := Compute(&op.Compress{}, []tensor.Tensor{x, cond}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "element 0 is true, the axis has size 0")
}
