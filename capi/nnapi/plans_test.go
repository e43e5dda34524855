package nnapi

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// softmaxByInput is SOFTMAX of [1,n] whose beta is a model input.
func softmaxByInput(t *testing.T, n uint32) *Model {
	b := newBuilder(t, n)
	x, beta, y := b.operand(nnapi.TensorFloat32, 1, n), b.operand(nnapi.Float32), b.operand(nnapi.TensorFloat32, 1, n)
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Softmax), []uint32{x, beta}, []uint32{y}))
	return b.finish([]uint32{x, beta}, y)
}

func pointer[T any](s []T) (unsafe.Pointer, uint64) {
	return unsafe.Pointer(unsafe.SliceData(s)), uint64(len(s)) * uint64(unsafe.Sizeof(*new(T)))
}

func giveInput[T any](t *testing.T, e *Execution, i int32, v []T) {
	p, n := pointer(v)
	require.NoError(t, executionSetInput(e, i, nil, p, n))
}

func giveOutput[T any](t *testing.T, e *Execution, i int32, v []T) {
	p, n := pointer(v)
	require.NoError(t, executionSetOutput(e, i, nil, p, n))
}

func newExecution(t *testing.T, c *Compilation) *Execution {
	e, err := executionCreate(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, executionFree(e)) })
	return e
}

// TestExecution_scalarsAreRead: each computation reads a scalar anew; a wrong one is refused then.
func TestExecution_scalarsAreRead(t *testing.T) {
	c := compiledFor(t, softmaxByInput(t, 2), withGuises(t, ""), true)
	e := newExecution(t, c)
	require.NoError(t, executionSetReusable(e, true))
	x, beta, y := []float32{0, 1}, []float32{0}, make([]float32, 2)
	giveInput(t, e, 0, x)
	giveInput(t, e, 1, beta)
	giveOutput(t, e, 0, y)
	for _, k := range []struct{ beta, want float32 }{{1, 0.731059}, {2, 0.880797}, {1, 0.731059}, {4, 0.982014}} {
		beta[0] = k.beta
		require.NoError(t, executionCompute(e))
		assert.InDelta(t, k.want, y[1], 1e-5, "beta %v", k.beta)
	}
	beta[0] = -1
	err := executionCompute(e)
	require.ErrorContains(t, err, "operation 0 (SOFTMAX): input 1 (beta): want a finite number above 0, got -1")
	assert.Equal(t, OpFailed, status(err))
	beta[0] = 2
	require.NoError(t, executionCompute(e), "what was refused leaves the execution as it was")
	assert.InDelta(t, 0.880797, y[1], 1e-5)
}

// TestPlans_areBounded: ever new values do not keep ever more plans, and each is right.
func TestPlans_areBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	c := compiledFor(t, softmaxByInput(t, 2), withGuises(t, ""), true)
	e := newExecution(t, c)
	require.NoError(t, executionSetReusable(e, true))
	beta, y := []float32{0}, make([]float32, 2)
	giveInput(t, e, 0, []float32{0, 0})
	giveInput(t, e, 1, beta)
	giveOutput(t, e, 0, y)
	compute := func(first, n int) (heap uint64) {
		for i := first; i < first+n; i++ {
			beta[0] = float32(i + 1)
			require.NoError(t, executionCompute(e))
			require.Equal(t, []float32{0.5, 0.5}, y)
		}
		assert.Len(t, c.result.others.list, maxPlans)
		var m runtime.MemStats
		for range 2 { // finalizers take a second one
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := compute(0, 1000)
	after := compute(1000, 9000)
	assert.Less(t, after, before+1<<20, "the heap after 10,000 values, against that after 1,000")
}

// TestExecution_valuesOfSomeThreads: executions with different values at once get what is theirs.
func TestExecution_valuesOfSomeThreads(t *testing.T) {
	c := compiledFor(t, softmaxByInput(t, 2), withGuises(t, ""), true)
	want := []float32{0.5, 0.731059, 0.880797, 0.952574}
	done := make(chan bool)
	for k := range 4 {
		go func() {
			defer func() { done <- true }()
			for i := range 8 {
				e, err := executionCreate(c)
				if !assert.NoError(t, err) {
					return
				}
				x, beta, y := []float32{0, float32((i + k) % 4)}, []float32{float32(i%3 + 1)}, make([]float32, 2)
				x[1] /= beta[0]
				px, nx := pointer(x)
				pb, nb := pointer(beta)
				py, ny := pointer(y)
				assert.NoError(t, executionSetInput(e, 0, nil, px, nx))
				assert.NoError(t, executionSetInput(e, 1, nil, pb, nb))
				assert.NoError(t, executionSetOutput(e, 0, nil, py, ny))
				assert.NoError(t, executionCompute(e))
				assert.InDelta(t, want[(i+k)%4], y[1], 1e-5)
				assert.NoError(t, executionFree(e))
			}
		}()
	}
	for range 4 {
		<-done
	}
}

// transposeByInput is TRANSPOSE of [2,3] whose permutation is a model input that is declared with dimensions [0].
func transposeByInput(t *testing.T) *Model {
	b := newBuilder(t, 1)
	x, p, y := b.operand(nnapi.TensorFloat32, 2, 3), b.operand(nnapi.TensorInt32, 0), b.operand(nnapi.TensorFloat32, 0, 0)
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Transpose), []uint32{x, p}, []uint32{y}))
	return b.finish([]uint32{x, p}, y)
}

// TestExecution_inputsAreLeftOut: NULL with length 0 leaves an optional argument out in this execution alone.
func TestExecution_inputsAreLeftOut(t *testing.T) {
	c := compiledFor(t, transposeByInput(t), withGuises(t, ""), true)
	two, open, other := uint32(2), uint32(0), []uint32{0, 0}
	for i, k := range []struct {
		permutation []int32
		dims        []uint32
		want        []float32
	}{
		{nil, []uint32{3, 2}, []float32{1, 4, 2, 5, 3, 6}},
		{[]int32{0, 1}, []uint32{2, 3}, []float32{1, 2, 3, 4, 5, 6}},
		{nil, []uint32{3, 2}, []float32{1, 4, 2, 5, 3, 6}},
		{[]int32{1, 0}, []uint32{3, 2}, []float32{1, 4, 2, 5, 3, 6}},
	} {
		e := newExecution(t, c)
		y := make([]float32, 6)
		giveInput(t, e, 0, []float32{1, 2, 3, 4, 5, 6})
		if k.permutation == nil {
			said := &OperandType{code: int32(nnapi.TensorInt32), dimensionCount: 2, dimensions: &other[0]}
			assert.Equal(t, BadData, status(executionSetInput(e, 1, said, nil, 0)), "another rank")
			if said = nil; i > 0 {
				said = &OperandType{code: int32(nnapi.TensorInt32), dimensionCount: 1, dimensions: &open}
			}
			require.NoError(t, executionSetInput(e, 1, said, nil, 0))
		} else {
			p, n := pointer(k.permutation)
			require.NoError(t, executionSetInput(e, 1, &OperandType{code: int32(nnapi.TensorInt32), dimensionCount: 1,
				dimensions: &two}, p, n))
		}
		giveOutput(t, e, 0, y)
		require.NoError(t, executionCompute(e), i)
		assert.Equal(t, k.want, y, i)
		dims := make([]uint32, 2)
		require.NoError(t, executionGetOutputOperandDimensions(e, 0, &dims[0]))
		assert.Equal(t, k.dims, dims, i)
	}
	e := newExecution(t, c)
	require.NoError(t, executionSetInput(e, 0, nil, nil, 0))
	require.NoError(t, executionSetInput(e, 1, nil, nil, 0))
	giveOutput(t, e, 0, make([]float32, 6))
	err := executionCompute(e)
	require.ErrorContains(t, err, "operation 0: TRANSPOSE: input 0 (input), operand 0: it has no value and cannot be "+
		"left out")
	assert.Equal(t, OpFailed, status(err))
}

// TestExecution_modelsThatWantInputsLeftOut: what only some executions can compute is no error of the compilation. An
// SVDF's bias that has the wrong size is one of the executions that give it.
func TestExecution_modelsThatWantInputsLeftOut(t *testing.T) {
	b := newBuilder(t, 1)
	x, f, w := b.operand(nnapi.TensorFloat32, 1, 2), b.operand(nnapi.TensorFloat32, 3, 2),
		b.operand(nnapi.TensorFloat32, 3, 1)
	bias, state := b.operand(nnapi.TensorFloat32, 2), b.operand(nnapi.TensorFloat32, 1, 3)
	s, y := b.operand(nnapi.TensorFloat32, 1, 3), b.operand(nnapi.TensorFloat32, 1, 3)
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.SVDF),
		[]uint32{x, f, w, bias, state, b.int(1), b.int(0)}, []uint32{s, y}))
	c := compiledFor(t, b.finish([]uint32{x, f, w, bias, state}, s, y), withGuises(t, ""), true)
	for _, left := range []bool{true, false} {
		e := newExecution(t, c)
		out := make([]float32, 3)
		giveInput(t, e, 0, []float32{1, 2})
		giveInput(t, e, 1, []float32{1, 0, 0, 1, 1, 1})
		giveInput(t, e, 2, []float32{1, 1, 2})
		if left {
			require.NoError(t, executionSetInput(e, 3, nil, nil, 0))
		} else {
			giveInput(t, e, 3, []float32{1, 1})
		}
		giveInput(t, e, 4, make([]float32, 3))
		giveOutput(t, e, 0, make([]float32, 3))
		giveOutput(t, e, 1, out)
		err := executionCompute(e)
		if left {
			require.NoError(t, err)
			assert.Equal(t, []float32{1, 2, 6}, out)
			continue
		}
		require.ErrorContains(t, err, "SVDF")
		assert.Equal(t, OpFailed, status(err))
	}
}

// TestExecution_scalarsInBodies: a scalar that control flow hands on is known in its models.
func TestExecution_scalarsInBodies(t *testing.T) {
	body := func() *Model {
		b := newBuilder(t, 2)
		x, beta, y := b.operand(nnapi.TensorFloat32, 1, 2), b.operand(nnapi.Float32), b.operand(nnapi.TensorFloat32, 1, 2)
		require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Softmax), []uint32{x, beta}, []uint32{y}))
		return b.finish([]uint32{x, beta}, y)
	}
	for _, constant := range []bool{false, true} {
		b := newBuilder(t, 2)
		cond, one, two := b.operand(nnapi.TensorBool8, 1), b.operand(nnapi.ModelOperand), b.operand(nnapi.ModelOperand)
		x, beta, y := b.operand(nnapi.TensorFloat32, 1, 2), b.operand(nnapi.Float32), b.operand(nnapi.TensorFloat32, 1, 2)
		require.NoError(t, modelSetOperandValueFromModel(b.m, int32(one), body()))
		require.NoError(t, modelSetOperandValueFromModel(b.m, int32(two), body()))
		inputs := []uint32{cond, x, beta}
		if v := float32(2); constant {
			require.NoError(t, modelSetOperandValue(b.m, int32(beta), unsafe.Pointer(&v), 4))
			inputs = inputs[:2]
		}
		require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.If), []uint32{cond, one, two, x, beta}, []uint32{y}))
		c := compiledFor(t, b.finish(inputs, y), withGuises(t, ""), true)
		e := newExecution(t, c)
		out := make([]float32, 2)
		giveInput(t, e, 0, []byte{1})
		giveInput(t, e, 1, []float32{0, 1})
		if !constant {
			giveInput(t, e, 2, []float32{2})
		}
		giveOutput(t, e, 0, out)
		require.NoError(t, executionCompute(e))
		assert.InDelta(t, 0.880797, out[1], 1e-5, "constant: %v", constant)
	}
}

// TestExecution_plansObeyTheTimeLimit: the time that a plan takes counts.
func TestExecution_plansObeyTheTimeLimit(t *testing.T) {
	c := compiledFor(t, softmaxByInput(t, 2), withGuises(t, ""), true)
	_, err := c.result.make([]byte{1, 1, 0, 0, 0x80, 0x3f}, time.Now().Add(-time.Hour))
	assert.Equal(t, MissedDeadlineTransient, runCode(err))
}

// TestPlans_giveWayWhileTheyAreMade: a plan that is made still is not waited for when others push it out.
func TestPlans_giveWayWhileTheyAreMade(t *testing.T) {
	c := compiledFor(t, softmaxByInput(t, 2), withGuises(t, ""), true)
	key := func(beta byte) []byte { return []byte{1, 1, 0, 0, beta, 0x3f} }
	s, begun, others, done := &plans{}, make(chan bool), make(chan bool), make(chan *plan, 1)
	go func() {
		p, err := s.get(key(0), func() (*plan, error) {
			close(begun)
			<-others
			return c.result.make(key(0), time.Time{})
		})
		assert.NoError(t, err)
		done <- p
	}()
	<-begun
	go func() {
		defer close(others)
		for i := range maxPlans + 1 {
			p, err := s.get(key(byte(i+1)), func() (*plan, error) { return c.result.make(key(byte(i+1)), time.Time{}) })
			if assert.NoError(t, err) {
				p.release()
			}
		}
	}()
	select {
	case p := <-done:
		assert.Equal(t, int64(1), p.refs.Load(), "the list has let go of it")
		p.release()
	case <-time.After(time.Minute):
		t.Fatal("the others wait for it")
	}
	assert.Len(t, s.list, maxPlans)
	s.release()
}
