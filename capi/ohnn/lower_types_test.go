package ohnn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// quantized adds an int8 tensor with quantization parameters.
func (m testModel) quantized(scale float64, zero int32, shape ...int32) uint32 {
	i := m.tensor(spec.Int8, shape...)
	p := &QuantParam{quant: quant{[]float64{scale}, []int32{zero}, []uint32{8}}}
	require.NoError(m, modelSetTensorQuantParams(m.Model, i, p))
	return i
}

// int64 adds a parameter of one number.
func (m testModel) int64(p TensorType, v ...int64) uint32 {
	return m.param(p, spec.Int64, tensor.Int64s(v...), int32(len(v)))
}

// TestLowering_quantizedCondition: the real decides what is true, not the stored number.
func TestLowering_quantizedCondition(t *testing.T) {
	m := newTestModel(t)
	x, axis, y := m.quantized(0.5, 4, 2, 2), m.constant(spec.Int32, tensor.Int32s(1), 1), m.tensor(spec.Bool, 2)
	require.NoError(t, modelAddOperation(m.Model, 77, array(), array(x, axis), array(y))) // ALL
	e := executor(t, m.built([]uint32{x}, []uint32{y}))
	out := newTestTensor(t, spec.Bool, nil, 2)
	require.NoError(t, executorRunSync(e, []*Tensor{newTestTensor(t, spec.Int8, []byte{5, 4, 6, 0}, 2, 2)},
		[]*Tensor{out}))
	assert.Equal(t, []byte{0, 1}, memoryOf(out)[:2])
}

// TestLowering_quantizedRange: the numbers counted are real values.
func TestLowering_quantizedRange(t *testing.T) {
	m := newTestModel(t)
	x, y := m.quantized(1, 0, 1), m.quantized(0.5, 2, 3)
	require.NoError(t, modelAddOperation(m.Model, 66, array(m.int64(82, 1), m.int64(83, 4)), array(x), array(y)))
	e := executor(t, m.built([]uint32{x}, []uint32{y}))
	out := newTestTensor(t, spec.Int8, nil, 3)
	require.NoError(t, executorRunSync(e, []*Tensor{newTestTensor(t, spec.Int8, nil, 1)}, []*Tensor{out}))
	assert.Equal(t, []byte{4, 6, 8}, memoryOf(out)[:3])
}

// TestLowering_scaleInFloat64: numbers beyond float32 stay what they are.
func TestLowering_scaleInFloat64(t *testing.T) {
	numbers := func(v ...float64) []byte {
		b := make([]byte, 8*len(v))
		for i, x := range v {
			tensor.PutFloat(tensor.Float64, b, i, x, false)
		}
		return b
	}
	m := newTestModel(t)
	x, y := m.tensor(spec.Float64, 2), m.tensor(spec.Float64, 2)
	s, b := m.constant(spec.Float64, numbers(2, 0.5), 2), m.constant(spec.Float32, f32s(0, 1), 2)
	require.NoError(t, modelAddOperation(m.Model, 26, array(m.int64(45, 0)), array(x, s, b), array(y)))
	e := executor(t, m.built([]uint32{x}, []uint32{y}))
	out := newTestTensor(t, spec.Float64, nil, 2)
	require.NoError(t, executorRunSync(e, []*Tensor{newTestTensor(t, spec.Float64, numbers(1e300, math.Pi), 2)},
		[]*Tensor{out}))
	assert.Equal(t, numbers(2e300, math.Pi/2+1), memoryOf(out)[:16])
}

// TestLowering_oneElementInOpenDimension: an open dimension of a result of one element is 1.
func TestLowering_oneElementInOpenDimension(t *testing.T) {
	m := newTestModel(t)
	x, y := m.tensor(spec.Float32, 2, 3), m.tensor(spec.Int32, -1)
	require.NoError(t, modelAddOperation(m.Model, 98, array(), array(x), array(y))) // RANK
	e := executor(t, m.built([]uint32{x}, []uint32{y}))
	out := newTestTensor(t, spec.Int32, nil, 1)
	require.NoError(t, executorRunSync(e, []*Tensor{newTestTensor(t, spec.Float32, nil, 2, 3)}, []*Tensor{out}))
	assert.Equal(t, tensor.Int32s(2), memoryOf(out)[:4])
}

// TestLowering_typesWithoutMeaning: the build refuses them.
func TestLowering_typesWithoutMeaning(t *testing.T) {
	for name, tc := range map[string]struct {
		model func(m testModel) (in, out uint32)
		error string
	}{
		"SCALE of integers": {func(m testModel) (uint32, uint32) {
			x, s, y := m.tensor(spec.Int32, 2), m.constant(spec.Int32, tensor.Int32s(1, 2), 2), m.tensor(spec.Int32, 2)
			require.NoError(m, modelAddOperation(m.Model, 26, array(m.int64(45, 0)), array(x, s, s), array(y)))
			return x, y
		}, "input 0: want a float or quantized type, got int32"},
		"RANGE of bools": {func(m testModel) (uint32, uint32) {
			x, y := m.tensor(spec.Bool, 1), m.tensor(spec.Bool, 2)
			require.NoError(m, modelAddOperation(m.Model, 66, array(m.int64(83, 2)), array(x), array(y)))
			return x, y
		}, "bool does not count"},
		"a fraction of integers": {func(m testModel) (uint32, uint32) {
			x, axis, y := m.tensor(spec.Int32, 2, 2), m.constant(spec.Int32, tensor.Int32s(1), 1), m.tensor(spec.Int32, 2)
			ps := array(m.param(158, spec.Bool, []byte{1}), m.param(159, spec.Float32, f32s(2.5)))
			require.NoError(m, modelAddOperation(m.Model, 101, ps, array(x, axis), array(y)))
			return x, y
		}, "COEFF 2.5: input 0: want a float or quantized type, got int32"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTestModel(t)
			x, y := tc.model(m)
			require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(x), array(y)))
			require.NoError(t, modelFinish(m.Model))
			c, err := compilationConstruct(m.Model)
			require.NoError(t, err)
			defer func() { _ = compilationDestroy(c) }()
			assert.ErrorContains(t, compilationBuild(c), tc.error)
		})
	}
}

// TestLowering_quantCastOfIntegers: upstream's tests build such a model; no arithmetic is said for it, so its runs are
// refused.
func TestLowering_quantCastOfIntegers(t *testing.T) {
	m := newTestModel(t)
	x, y := m.tensor(spec.Int32, 2), m.tensor(spec.Int32, 2)
	require.NoError(t, modelAddOperation(m.Model, 52, array(m.int64(72, 1), m.int64(73, 1)), array(x), array(y)))
	e := executor(t, m.built([]uint32{x}, []uint32{y}))
	err := executorRunSync(e, []*Tensor{newTestTensor(t, spec.Int32, nil, 2)},
		[]*Tensor{newTestTensor(t, spec.Int32, nil, 2)})
	assert.ErrorContains(t, err, "int32 to int32: want a float from or to int8 or uint8, or both of these")
}
