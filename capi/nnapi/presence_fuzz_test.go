package nnapi

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// chained is y = SOFTMAX(TRANSPOSE(x, order), beta, axis) of [2,3], with order, beta and axis as inputs.
func chained(t testing.TB) *Model {
	b := &builder{t: t}
	var err error
	b.m, err = modelCreate()
	require.NoError(t, err)
	x, order, turned := b.operand(nnapi.TensorFloat32, 2, 3), b.operand(nnapi.TensorInt32, 0),
		b.operand(nnapi.TensorFloat32)
	beta, axis, y := b.operand(nnapi.Float32), b.operand(nnapi.Int32), b.operand(nnapi.TensorFloat32)
	b.adds(nnapi.Transpose, []uint32{x, order}, turned)
	b.adds(nnapi.Softmax, []uint32{turned, beta, axis}, y)
	return b.finish([]uint32{x, order, beta, axis}, y)
}

// softmax of x [rows][columns] along an axis, beta times.
func softmax(x [][]float64, beta float64, axis int) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = make([]float64, len(x[i]))
		for k := range x[i] {
			line := x[i]
			if axis == 0 {
				line = nil
				for r := range x {
					line = append(line, x[r][k])
				}
			}
			most, sum := math.Inf(-1), 0.0
			for _, v := range line {
				most = max(most, v)
			}
			for _, v := range line {
				sum += math.Exp((v - most) * beta)
			}
			out[i][k] = math.Exp((x[i][k]-most)*beta) / sum
		}
	}
	return out
}

// FuzzPresence computes with one compilation what the bytes say, five for each execution: which inputs are left out,
// how often it computes, and the values of the scalars, that may be wrong or change in between. What comes of each
// computation is a closed form's, or the failure that the API has for it.
func FuzzPresence(f *testing.F) {
	f.Add([]byte{0, 1, 4, 0, 1})
	f.Add([]byte{2, 2, 8, 1, 0, 0, 1, 4, 255, 1, 6, 3, 0, 9, 2, 15, 1, 1, 1, 1})
	m := chained(f)
	c := newCompilation(m, everyDevice(), false)
	require.NoError(f, compilationFinish(c))
	f.Cleanup(func() {
		assert.NoError(f, compilationFree(c))
		assert.NoError(f, modelFree(m))
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		for ; len(data) >= 5; data = data[5:] {
			present(t, c, [5]byte(data[:5]))
		}
	})
}

// present is one execution of FuzzPresence.
func present(t *testing.T, c *Compilation, d [5]byte) {
	e, err := executionCreate(c)
	require.NoError(t, err)
	defer func() { require.NoError(t, executionFree(e)) }()
	require.NoError(t, executionSetReusable(e, true))
	x, order, y := []float32{1, 2, 3, 4, 5, 7}, []int32{0, 1}, make([]float32, 6)
	beta, axis, two := []float32{0}, []int32{0}, uint32(2)
	bind := func(i int32, o *OperandType, p unsafe.Pointer, n uint64) bool {
		if d[0]>>i&1 != 0 {
			p, n = nil, 0
		}
		require.NoError(t, executionSetInput(e, i, o, p, n))
		return p == nil
	}
	p, n := pointer(x)
	missing := bind(0, nil, p, n)
	p, n = pointer(order)
	turned := bind(1, &OperandType{code: int32(nnapi.TensorInt32), dimensionCount: 1, dimensions: &two}, p, n)
	p, n = pointer(beta)
	missing = bind(2, nil, p, n) || missing
	p, n = pointer(axis)
	missing = bind(3, nil, p, n) || missing
	p, n = pointer(y)
	require.NoError(t, executionSetOutput(e, 0, nil, p, n))
	for k := range int(d[1]%4) + 1 {
		beta[0], axis[0] = float32(int8(d[2]))/4*float32(k+1), int32(int8(d[3]))%4
		err := executionCompute(e)
		if missing || beta[0] <= 0 || axis[0] < -2 || axis[0] > 1 {
			assert.Equal(t, OpFailed, status(err), "%v, %d: %v", d, k, err)
			continue
		}
		require.NoError(t, err, "%v, %d", d, k)
		in := [][]float64{{1, 2, 3}, {4, 5, 7}}
		if turned {
			in = [][]float64{{1, 4}, {2, 5}, {3, 7}}
		}
		want := softmax(in, float64(beta[0]), (int(axis[0])+2)%2)
		for i, row := range want {
			for j, v := range row {
				assert.InDelta(t, v, y[i*len(row)+j], 1e-5, "%v, %d", d, k)
			}
		}
	}
}
