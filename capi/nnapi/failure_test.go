package nnapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// gathering is a finished model: y [2] are the elements of x [3] that i [2] names; wrong is an index that x does not
// have, where it is a constant.
func gathering(t *testing.T, constant bool) *Model {
	b := newBuilder(t, 3)
	x, i, y := b.tensor(), b.operand(nnapi.TensorInt32, 2), b.operand(nnapi.TensorFloat32, 2)
	inputs := []uint32{x, i}
	if constant {
		p, n := pointer([]int32{0, 7})
		require.NoError(t, modelSetOperandValue(b.m, int32(i), p, n))
		inputs = inputs[:1]
	}
	b.adds(nnapi.Gather, []uint32{x, b.int(0), i}, y)
	return b.finish(inputs, y)
}

func (b *builder) adds(code nnapi.OperationCode, in []uint32, out ...uint32) {
	require.NoError(b.t, modelAddOperation(b.m, OperationType(code), in, out))
}

// sub adds a MODEL operand.
func (b *builder) sub(m *Model) uint32 {
	i := b.operand(nnapi.ModelOperand)
	require.NoError(b.t, modelSetOperandValueFromModel(b.m, int32(i), m))
	return i
}

// inIf is a model whose operation 1 is IF with gathering in its first body; its inputs are the condition, x and i.
func inIf(t *testing.T) *Model {
	b := newBuilder(t, 3)
	c, x, i := b.operand(nnapi.TensorBool8, 1), b.tensor(), b.operand(nnapi.TensorInt32, 2)
	z, y := b.tensor(), b.operand(nnapi.TensorFloat32, 2)
	b.adds(nnapi.Abs, []uint32{x}, z)
	b.adds(nnapi.If, []uint32{c, b.sub(gathering(t, false)), b.sub(gathering(t, false)), z, i}, y)
	return b.finish([]uint32{c, x, i}, y)
}

// inWhile is a model whose operation 0 is WHILE: its condition is its second input, its body takes elements of x by i
// and leaves the condition false.
func inWhile(t *testing.T) *Model {
	args := func(b *builder) (x, c, i uint32) {
		return b.operand(nnapi.TensorFloat32, 2), b.operand(nnapi.TensorBool8, 1), b.operand(nnapi.TensorInt32, 2)
	}
	cond := newBuilder(t, 2)
	x, c, i := args(cond)
	y := cond.operand(nnapi.TensorBool8, 1)
	cond.adds(nnapi.LogicalAnd, []uint32{c, c}, y)
	cond.finish([]uint32{x, c, i}, y)
	body := newBuilder(t, 2)
	x, c, i = args(body)
	z, y, no := body.operand(nnapi.TensorFloat32, 2), body.operand(nnapi.TensorFloat32, 2),
		body.operand(nnapi.TensorBool8, 1)
	body.adds(nnapi.Abs, []uint32{x}, z)
	body.adds(nnapi.Gather, []uint32{z, body.int(0), i}, y)
	body.adds(nnapi.NotEqual, []uint32{c, c}, no)
	body.finish([]uint32{x, c, i}, y, no)
	b := newBuilder(t, 2)
	x, c, i = args(b)
	y, no = b.operand(nnapi.TensorFloat32, 2), b.operand(nnapi.TensorBool8, 1)
	b.adds(nnapi.While, []uint32{b.sub(cond.m), b.sub(body.m), x, c, i}, y, no)
	return b.finish([]uint32{x, c, i}, y, no)
}

// TestExecution_failuresAreNamed: what a computation finds names the operation by index and type, the operand and the
// value, with the way to it through models of control flow.
func TestExecution_failuresAreNamed(t *testing.T) {
	index, flag := []int32{1, 9}, []byte{1}
	for _, k := range []struct {
		what  string
		model *Model
		give  func(e *Execution)
		outs  int
		want  string
	}{
		{"alone", gathering(t, false), func(e *Execution) {
			giveInput(t, e, 0, []float32{1, 2, 3})
			giveInput(t, e, 1, index)
		}, 1, "operation 0 (GATHER): input 2 (indices): "},
		{"in IF", inIf(t), func(e *Execution) {
			giveInput(t, e, 0, flag)
			giveInput(t, e, 1, []float32{1, 2, 3})
			giveInput(t, e, 2, index)
		}, 1, "operation 1 (IF): body \"then model\": operation 0 (GATHER): input 2 (indices): "},
		{"in WHILE", inWhile(t), func(e *Execution) {
			giveInput(t, e, 0, []float32{1, 2})
			giveInput(t, e, 1, flag)
			giveInput(t, e, 2, index)
		}, 2, "operation 0 (WHILE): trip 0: body \"body model\": operation 1 (GATHER): input 2 (indices): "},
	} {
		c := compiledFor(t, k.model, withGuises(t, ""), true)
		e := newExecution(t, c)
		k.give(e)
		giveOutput(t, e, 0, make([]float32, 2))
		if k.outs > 1 {
			giveOutput(t, e, 1, make([]byte, 1))
		}
		err := executionCompute(e)
		assert.Equal(t, OpFailed, status(err), k.what)
		assert.ErrorContains(t, err, k.want, k.what)
		assert.ErrorContains(t, err, "9", k.what)
	}
}

// TestCompilation_failuresAreNamed: so does what a compilation finds.
func TestCompilation_failuresAreNamed(t *testing.T) {
	soft := func() *Model {
		b := newBuilder(t, 2)
		x, beta, y := b.operand(nnapi.TensorFloat32, 1, 2), b.operand(nnapi.Float32), b.operand(nnapi.TensorFloat32, 1, 2)
		v := float32(-1)
		require.NoError(t, modelSetOperandValue(b.m, int32(beta), unsafe.Pointer(&v), 4))
		b.adds(nnapi.Softmax, []uint32{x, beta}, y)
		return b.finish([]uint32{x}, y)
	}
	b := newBuilder(t, 2)
	c, x, y := b.operand(nnapi.TensorBool8, 1), b.operand(nnapi.TensorFloat32, 1, 2), b.operand(nnapi.TensorFloat32, 1, 2)
	b.adds(nnapi.If, []uint32{c, b.sub(soft()), b.sub(soft()), x}, y)
	compilation := newCompilation(b.finish([]uint32{c, x}, y), withGuises(t, ""), true)
	err := compilationFinish(compilation)
	require.NoError(t, compilationFree(compilation))
	require.ErrorContains(t, err, "operation 0 (IF): then model: operation 0 (SOFTMAX): input 1 (beta): want a finite "+
		"number "+
		"above 0, got -1")
}
