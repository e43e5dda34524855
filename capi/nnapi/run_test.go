package nnapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// bound is an execution of sumOfProducts with everything bound.
func bound(t *testing.T, c *Compilation, x, y, z []float32) *Execution {
	e, err := executionCreate(c)
	require.NoError(t, err)
	n := uint64(len(x) * 4)
	require.NoError(t, executionSetReusable(e, true))
	require.NoError(t, executionSetInput(e, 0, nil, unsafe.Pointer(unsafe.SliceData(x)), n))
	require.NoError(t, executionSetInput(e, 1, nil, unsafe.Pointer(unsafe.SliceData(y)), n))
	require.NoError(t, executionSetOutput(e, 0, nil, unsafe.Pointer(unsafe.SliceData(z)), n))
	return e
}

// TestExecution_computingAgainAllocatesNothing holds for the façade and for core.
func TestExecution_computingAgainAllocatesNothing(t *testing.T) {
	b := newBuilder(t, 3)
	x, y := b.tensor(), b.tensor()
	c := compiledFor(t, b.finish([]uint32{x, y}, b.binary(nnapi.Add, x, y)), withGuises(t, ""), true)
	e := bound(t, c, []float32{1, 2, 3}, []float32{4, 5, 6}, make([]float32, 3))
	burst, err := burstCreate(c)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() { err = executionCompute(e) }), "compute")
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() { err = executionBurstCompute(e, burst) }), "burst")
	require.NoError(t, err)
	require.NoError(t, burstFree(burst))
	require.NoError(t, executionFree(e))
}

// TestCompiled_keepsFewExecutions: what a program has freed does not stay beyond what the next ones need.
func TestCompiled_keepsFewExecutions(t *testing.T) {
	c := compiledFor(t, sumOfProducts(t, 3), withGuises(t, ""), true)
	var all []*Execution
	for range 3 * maxIdle {
		e := bound(t, c, []float32{1, 2, 3}, []float32{4, 5, 6}, make([]float32, 3))
		require.NoError(t, executionCompute(e))
		all = append(all, e)
	}
	for _, e := range all {
		require.NoError(t, executionFree(e))
	}
	assert.Len(t, c.result.whole.idle, maxIdle)
}

// TestCompilation_refusals: what has no result is OP_FAILED, what the library does not compute BAD_DATA.
func TestCompilation_refusals(t *testing.T) {
	b := newBuilder(t, 3)
	x, factor, y := b.tensor(), b.operand(nnapi.Float32), b.tensor()
	v := float32(-1)
	require.NoError(t, modelSetOperandValue(b.m, int32(factor), unsafe.Pointer(&v), 4))
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Softmax), []uint32{x, factor}, []uint32{y}))
	c := newCompilation(b.finish([]uint32{x}, y), withGuises(t, ""), true)
	err := compilationFinish(c)
	require.NoError(t, compilationFree(c))
	require.ErrorContains(t, err, "operation 0 (SOFTMAX): input 1 (beta): want a finite number above 0, got -1")
	assert.Equal(t, OpFailed, status(err))

	b = newBuilder(t, 3)
	x, y = b.tensor(), b.tensor()
	rank, z := b.operand(nnapi.Int32), b.tensor()
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Rank), []uint32{x}, []uint32{rank}))
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Add), []uint32{x, y, rank}, []uint32{z}))
	b.m.spec.Operands[x].Dims = nil // so that the rank is not known
	c = newCompilation(b.finish([]uint32{x, y}, z), withGuises(t, ""), true)
	err = compilationFinish(c)
	require.NoError(t, compilationFree(c))
	require.ErrorContains(t, err, "operation 1 (ADD): input 2 (activation): the library takes only a constant here")
	assert.Equal(t, BadData, status(err))
}
