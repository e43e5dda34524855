package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// offline builds a model and returns an executor and the declared shape of its output.
func offline(t *testing.T, m *onnxtest.Model) (*Executor, []int32) {
	t.Helper()
	c, err := compilationConstructWithOfflineModelBuffer(m.Bytes())
	require.NoError(t, err)
	require.NoError(t, compilationBuild(c))
	t.Cleanup(func() { _ = compilationDestroy(c) })
	e := executor(t, c)
	d, err := executorCreateOutputTensorDesc(e, 0)
	require.NoError(t, err)
	_, shape := d.read()
	return e, shape
}

// The declared rank and sizes of an output hold where nothing else tells them; a run that makes others fails, whatever
// the size of the tensor that the program has for it.
func TestOffline_declaredOutputs(t *testing.T) {
	e, shape := offline(t, (&onnxtest.Model{}).Node("Squeeze", "y", "x").Input("x", onnxtest.Float, 1, -1, 4).
		Output("y", onnxtest.Float, -1, 4))
	assert.Equal(t, []int32{-1, 4}, shape)
	x := newTestTensor(t, spec.Float32, tensor.Float32s(1, 2, 3, 4, 5, 6, 7, 8), 1, 2, 4)
	y := newTestTensor(t, spec.Float32, nil, 2, 4)
	require.NoError(t, executorRunSync(e, []*Tensor{x}, []*Tensor{y}))
	assert.Equal(t, []float32{1, 2, 3, 4, 5, 6, 7, 8}, floats(t, memoryOf(y)))
	x = newTestTensor(t, spec.Float32, tensor.Float32s(1, 2, 3, 4), 1, 1, 4)
	y = newTestTensor(t, spec.Float32, nil, 1, 4)
	assert.ErrorContains(t, executorRunSync(e, []*Tensor{x}, []*Tensor{y}), "the model declares [?,4]")

	e, shape = offline(t, (&onnxtest.Model{}).Node("Reshape", "y", "x", "s").Input("x", onnxtest.Float, 2, 6).
		Input("s", onnxtest.Int64, 2).Output("y", onnxtest.Float, 3, 4))
	assert.Equal(t, []int32{3, 4}, shape)
	x = newTestTensor(t, spec.Float32, make([]byte, 48), 2, 6)
	for _, s := range [][]int64{{3, 4}, {4, 3}, {2, 6}, {6, 2}} {
		to := newTestTensor(t, spec.Int64, tensor.Int64s(s...), 2)
		err := executorRunSync(e, []*Tensor{x, to}, []*Tensor{newTestTensor(t, spec.Float32, nil, 3, 4)})
		if s[0] == 3 {
			require.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, "the model declares [3,4]", "%v", s)
	}

	c, err := compilationConstructWithOfflineModelBuffer((&onnxtest.Model{}).Node("Squeeze", "y", "x").Input("x",
		onnxtest.Float, 1, -1, 4).UnrankedOutput("y", onnxtest.Float).Bytes())
	require.NoError(t, err)
	assert.ErrorContains(t, compilationBuild(c), "declare its shape in the model")
	require.NoError(t, compilationDestroy(c))
}

// Only the branch that is taken must fit the sizes of the model.
func TestOffline_theOtherBranchNeedNotFit(t *testing.T) {
	branch := func(op string, in ...string) *onnxtest.Model {
		return (&onnxtest.Model{}).Node(op, "b", in...).Output("b", onnxtest.Float, 1, 1)
	}
	e, _ := offline(t, (&onnxtest.Model{}).If("y", "c", branch("ReduceSum", "x"), branch("MatMul", "x", "w")).
		Input("x", onnxtest.Float, 1, 6).Input("c", onnxtest.Bool, 1).Output("y", onnxtest.Float, 1, 1).
		Constant("w", onnxtest.Float, tensor.Float32s(1, 1, 1, 1), 4, 1))
	x := newTestTensor(t, spec.Float32, tensor.Float32s(1, 2, 3, 4, 5, 6), 1, 6)
	y := newTestTensor(t, spec.Float32, nil, 1, 1)
	for range 2 {
		require.NoError(t, executorRunSync(e, []*Tensor{x, newTestTensor(t, spec.Bool, []byte{1}, 1)}, []*Tensor{y}))
		assert.Equal(t, []float32{21}, floats(t, memoryOf(y)))
		assert.ErrorContains(t, executorRunSync(e, []*Tensor{x, newTestTensor(t, spec.Bool, []byte{0}, 1)}, []*Tensor{y}),
			"inner dimensions: 6 and 4 differ")
	}
}
