package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

func TestLowerings_everyOperator(t *testing.T) {
	for _, r := range spec.Rules {
		assert.Contains(t, lowerings, r.Name)
	}
	assert.Len(t, lowerings, len(spec.Rules))
}

func TestLowering_topology(t *testing.T) {
	for _, tc := range []struct {
		name string
		ops  [][3]uint32 // two inputs and an output of an ADD
		in   []uint32
		ok   bool
	}{
		{"in order", [][3]uint32{{0, 1, 2}, {2, 1, 3}}, []uint32{0, 1}, true},
		{"backwards", [][3]uint32{{2, 1, 3}, {0, 1, 2}}, []uint32{0, 1}, true},
		{"a cycle", [][3]uint32{{3, 1, 2}, {2, 1, 3}}, []uint32{0, 1}, false},
		{"made twice", [][3]uint32{{0, 1, 3}, {1, 0, 3}}, []uint32{0, 1}, false},
		{"no source", [][3]uint32{{0, 4, 3}}, []uint32{0, 1}, false},
		{"an input that is made", [][3]uint32{{0, 1, 2}, {2, 1, 3}}, []uint32{0, 1, 2}, false},
		{"an input nothing uses", [][3]uint32{{0, 0, 3}}, []uint32{0, 1, 4}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newTestModel(t)
			for range 5 {
				m.tensor(spec.Float32, 2)
			}
			for _, o := range tc.ops {
				require.NoError(t, modelAddOperation(m.Model, 1, array(), array(o[0], o[1]), array(o[2])))
			}
			require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(tc.in...), array(3)))
			require.NoError(t, modelFinish(m.Model))
			c, err := compilationConstruct(m.Model)
			require.NoError(t, err)
			defer func() { _ = compilationDestroy(c) }()
			err = compilationBuild(c)
			if tc.ok {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, Failed, status(err))
			}
		})
	}
}

// TestLowering_contradiction: upstream's tests build models whose declared outputs do not fit their operators; running
// them is refused.
func TestLowering_contradiction(t *testing.T) {
	m := newTestModel(t)
	x, y := m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 3)
	require.NoError(t, modelAddOperation(m.Model, 47, array(), array(x), array(y)))
	e := executor(t, m.built([]uint32{x}, []uint32{y}))
	err := executorRunSync(e, []*Tensor{newTestTensor(t, spec.Float32, nil, 2)},
		[]*Tensor{newTestTensor(t, spec.Float32, nil, 3)})
	assert.Equal(t, UnavailableDevice, status(err))
	assert.ErrorContains(t, err, "operation 0 (OH_NN_OPS_RELU): output 0 is declared with shape [3] and has shape [2]")
}

// TestLowering_floatIndices: reduction axes in floating point, as upstream's tests give them, work when they are
// integers.
func TestLowering_floatIndices(t *testing.T) {
	m := newTestModel(t)
	x, axes, y := m.tensor(spec.Float32, 2, 2), m.tensor(spec.Float32, 1), m.tensor(spec.Float32, 2)
	require.NoError(t, modelAddOperation(m.Model, 101, array(), array(x, axes), array(y)))
	e := executor(t, m.built([]uint32{x, axes}, []uint32{y}))
	out := newTestTensor(t, spec.Float32, nil, 2)
	in := []*Tensor{newTestTensor(t, spec.Float32, f32s(1, 2, 3, 4), 2, 2), newTestTensor(t, spec.Float32, f32s(0), 1)}
	require.NoError(t, executorRunSync(e, in, []*Tensor{out}))
	assert.Equal(t, []float32{4, 6}, floats(t, memoryOf(out)))
}

// TestLowering_outputsAreInputsAndConstants: model outputs that no operation makes, and one that is named twice.
func TestLowering_outputsAreInputsAndConstants(t *testing.T) {
	m := newTestModel(t)
	x, k, y := m.tensor(spec.Float32, 1), m.constant(spec.Float32, f32s(5), 1), m.tensor(spec.Float32, 1)
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(x, k), array(y)))
	spare := m.constant(spec.Float32, f32s(9), 1)
	e := executor(t, m.built([]uint32{x}, []uint32{y, y, spare}))
	var out []*Tensor
	for range 3 {
		out = append(out, newTestTensor(t, spec.Float32, nil, 1))
	}
	require.NoError(t, executorRunSync(e, []*Tensor{newTestTensor(t, spec.Float32, f32s(2), 1)}, out))
	for i, want := range []float32{7, 7, 9} {
		assert.Equal(t, want, floats(t, memoryOf(out[i]))[0])
	}
}

// TestLowering_impossible: shapes that no operator accepts are found by the build; in reference mode, as upstream's
// tests of LSTM and of detection have it, the model builds and its runs are refused.
func TestLowering_impossible(t *testing.T) {
	build := func() (*Compilation, error) {
		m := newTestModel(t)
		a, b, y := m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 3), m.tensor(spec.Float32, 3)
		require.NoError(t, modelAddOperation(m.Model, 1, array(), array(a, b), array(y)))
		require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(a, b), array(y)))
		require.NoError(t, modelFinish(m.Model))
		c, err := compilationConstruct(m.Model)
		require.NoError(t, err)
		t.Cleanup(func() { _ = compilationDestroy(c) })
		return c, compilationBuild(c)
	}
	_, err := build()
	assert.Equal(t, Failed, status(err))
	assert.ErrorContains(t, err, "operation 0 (OH_NN_OPS_ADD): inputs (float32[2], float32[3])")
	withSettings(t, func(c *config) { c.reference = true })
	c, err := build()
	require.NoError(t, err)
	in := []*Tensor{newTestTensor(t, spec.Float32, nil, 2), newTestTensor(t, spec.Float32, nil, 3)}
	err = executorRunSync(executor(t, c), in, []*Tensor{newTestTensor(t, spec.Float32, nil, 3)})
	assert.Equal(t, UnavailableDevice, status(err))
	assert.ErrorContains(t, err, "cannot be computed")
}

// TestLowering_floatShapesAndIndices: models as upstream's operator tests build them, with shapes and indices in
// floating point that are known at run time only, compile.
func TestLowering_floatShapesAndIndices(t *testing.T) {
	for _, tc := range []struct {
		op     OperationType
		inputs [][]int32
		output []int32
	}{
		{99, [][]int32{{2, 3}, {1}}, []int32{2}},               // REDUCE_MAX
		{100, [][]int32{{2, 3}, {1}}, []int32{2}},              // REDUCE_MIN
		{101, [][]int32{{2, 3}, {1}}, []int32{2}},              // REDUCE_SUM
		{106, [][]int32{{2, 3}, {1}}, []int32{2}},              // REDUCE_L2
		{108, [][]int32{{2, 2}, {2, 2}}, []int32{2}},           // GATHER_ND
		{103, [][]int32{{2, 1}, {2}, {1}}, []int32{2}},         // SCATTER_ND
		{88, [][]int32{{2, 2}, {2}, {2}}, []int32{3, 3}},       // SPARSE_TO_DENSE
		{68, [][]int32{{3}}, []int32{1, 2, 3}},                 // CONSTANT_OF_SHAPE
		{91, [][]int32{{1, 2, 3}, {3}}, []int32{1, 2, 2}},      // CROP
		{77, [][]int32{{2, 3}, {1}}, []int32{2}},               // ALL
		{78, [][]int32{{1}, {4}}, []int32{1}},                  // ASSERT
		{87, [][]int32{{2, 3}, {2, 3}, {2, 3}}, []int32{2, 3}}, // WHERE
		{62, [][]int32{{2}, {2, 3}, {2, 3}}, []int32{2, 3}},    // SELECT
		{81, [][]int32{{2, 3}, {2, 3}}, []int32{2, 3}},         // LOGICAL_AND
	} {
		m := newTestModel(t)
		var in []uint32
		for _, s := range tc.inputs {
			in = append(in, m.tensor(spec.Float32, s...))
		}
		y := m.tensor(spec.Float32, tc.output...)
		require.NoError(t, modelAddOperation(m.Model, tc.op, array(), array(in...), array(y)), tc.op)
		require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(in...), array(y)))
		require.NoError(t, modelFinish(m.Model))
		c, err := compilationConstruct(m.Model)
		require.NoError(t, err)
		assert.NoError(t, compilationBuild(c), tc.op)
		require.NoError(t, compilationDestroy(c))
	}
}
