package ref

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// outer is an operator that no package registers.
type outer struct{ op.Add }

func TestCompute_refusesWhatCannotBe(t *testing.T) {
	_, err := Compute(&outer{}, []tensor.Tensor{f32(seq32(1)), f32(seq32(1))}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
	short := tensor.Tensor{DType: tensor.Float32, Dims: []int64{3}, Data: make([]byte, 11)}
	_, err = Compute(&op.Relu{}, []tensor.Tensor{short}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	assert.ErrorContains(t, err, "relu: input 0: float32[3] in 11 bytes")
	short.Dims = []int64{-1}
	_, err = Compute(&op.Relu{}, []tensor.Tensor{short}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	// Two small inputs whose broadcast is larger than any machine's memory.
	a, b := tensor.New(tensor.Int8, 1<<16, 1), tensor.New(tensor.Int8, 1, 1<<16)
	_, err = Compute(&op.Add{}, []tensor.Tensor{a, b}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Memory, fault.KindOf(err))
}

func TestCompute_badQuantization(t *testing.T) {
	for _, q := range []*tensor.Quant{
		{}, {Scale: []float32{1, 2}, Axis: 1}, {Scale: []float32{1, 2}, Axis: -1}, {Scale: []float32{1, 2, 3}},
		{Scale: []float32{1}, Axis: 0, Block: -1},
		{Scale: []float32{1, 2, 3}, Block: 1},
	} {
		x := ints(tensor.Int8, []int64{1, 2})
		x.Quant = q
		_, err := Compute(&op.Relu{}, []tensor.Tensor{x}, make([]tensor.Type, 1))
		assert.Error(t, err, "%+v", q)
		assert.NotEqual(t, fault.Internal, fault.KindOf(err), "%+v", q)
	}
	x := ints(tensor.Int64, []int64{1, 2})
	x.Quant = tensor.PerTensor(1, 0)
	_, err := Compute(&op.Relu{}, []tensor.Tensor{x}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err), "64 bits are not quantized")
	f := f32(seq32(2), 2)
	f.Quant = tensor.PerTensor(1, 0)
	_, err = Compute(&op.Sqrt{}, []tensor.Tensor{f}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err), "floats are not quantized")
}

// Blocks of two along the first axis of [3,2]: scale 1 for rows 0 and 1, scale 10 and 100 for row 2.
func TestCompute_blockedQuantization(t *testing.T) {
	x := ints(tensor.Int4, []int64{1, 2, 3, 4, 5, 6}, 3, 2)
	x.Quant = &tensor.Quant{Scale: []float32{1, 2, 10, 100}, Zero: []int32{0, 1, 0, 0}, Axis: 0, Block: 2}
	y, err := Compute(&op.Convert{}, []tensor.Tensor{x}, []tensor.Type{{DType: tensor.Float32}})
	assert.NoError(t, err)
	assert.Equal(t, []float64{1, 2, 3, 6, 50, 600}, values(t, y[0]))
}

func TestRegistry_namesAreRegistered(t *testing.T) {
	for _, name := range graph.OpNames() {
		o, ok := graph.NewOp(name)
		assert.True(t, ok)
		assert.Equal(t, name, graph.NameOf(o))
	}
}
