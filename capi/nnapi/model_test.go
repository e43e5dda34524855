package nnapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// builder makes a model of float32 tensors of n elements.
type builder struct {
	t testing.TB
	m *Model
	n uint32
}

func newBuilder(t *testing.T, n uint32) *builder {
	m, err := modelCreate()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, modelFree(m)) })
	return &builder{t, m, n}
}

func (b *builder) operand(code nnapi.OperandCode, dims ...uint32) uint32 {
	o := OperandType{code: int32(code), dimensionCount: uint32(len(dims)), dimensions: unsafe.SliceData(dims)}
	if len(dims) == 0 {
		o.dimensions = nil
	}
	require.NoError(b.t, modelAddOperand(b.m, &o))
	return uint32(len(b.m.spec.Operands) - 1)
}

func (b *builder) tensor() uint32 { return b.operand(nnapi.TensorFloat32, b.n) }

func (b *builder) int(v int32) uint32 {
	i := b.operand(nnapi.Int32)
	require.NoError(b.t, modelSetOperandValue(b.m, int32(i), unsafe.Pointer(&v), 4))
	return i
}

// binary adds an operation of two tensors and an activation.
func (b *builder) binary(code nnapi.OperationCode, x, y uint32) uint32 {
	z := b.tensor()
	in := []uint32{x, y, b.int(nnapi.FusedNone)}
	require.NoError(b.t, modelAddOperation(b.m, OperationType(code), in, []uint32{z}))
	return z
}

func (b *builder) finish(inputs []uint32, outputs ...uint32) *Model {
	require.NoError(b.t, modelIdentifyInputsAndOutputs(b.m, inputs, outputs))
	require.NoError(b.t, modelFinish(b.m))
	return b.m
}

// sumOfProducts is x*y + x.
func sumOfProducts(t *testing.T, n uint32) *Model {
	b := newBuilder(t, n)
	x, y := b.tensor(), b.tensor()
	return b.finish([]uint32{x, y}, b.binary(nnapi.Add, b.binary(nnapi.Mul, x, y), x))
}

// compiledFor finishes a compilation for devices.
func compiledFor(t *testing.T, m *Model, list []*Device, explicit bool, set ...func(*Compilation)) *Compilation {
	c := newCompilation(m, list, explicit)
	for _, f := range set {
		f(c)
	}
	require.NoError(t, compilationFinish(c))
	t.Cleanup(func() { require.NoError(t, compilationFree(c)) })
	return c
}

// computes checks that a compilation of sumOfProducts computes it.
func computes(t *testing.T, c *Compilation) {
	assert.Equal(t, []float32{5, 12, 21}, results(t, c))
}

// results computes a compilation for {1, 2, 3} and {4, 5, 6}.
func results(t *testing.T, c *Compilation) []float32 {
	x, y, z := []float32{1, 2, 3}, []float32{4, 5, 6}, make([]float32, 3)
	e, err := executionCreate(c)
	require.NoError(t, err)
	for i, v := range [][]float32{x, y} {
		require.NoError(t, executionSetInput(e, int32(i), nil, unsafe.Pointer(unsafe.SliceData(v)), 12))
	}
	require.NoError(t, executionSetOutput(e, 0, nil, unsafe.Pointer(unsafe.SliceData(z)), 12))
	require.NoError(t, executionCompute(e))
	require.NoError(t, executionFree(e))
	return z
}

// withGuises is the list of devices with guises.
func withGuises(t *testing.T, value string) []*Device {
	list, err := devices.List()
	require.NoError(t, err)
	return newDevices(list, guises.Read(value))
}
