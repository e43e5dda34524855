package ohnn

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// called holds the arguments of a run-done callback.
type called struct {
	user    uintptr
	code    ReturnCode
	outputs uintptr
	n       int32
}

// callbacks sends calls from C to a channel; C function pointers are made once, since they can never be freed.
var (
	doneCalls  = make(chan called, 64)
	onDoneHook func() // runs on the callback's thread
	hookMu     sync.Mutex

	doneFunction = sync.OnceValue(func() uintptr {
		return purego.NewCallback(func(user uintptr, code uint32, outputs uintptr, n int32) {
			hookMu.Lock()
			hook := onDoneHook
			hookMu.Unlock()
			if hook != nil {
				hook()
			}
			doneCalls <- called{user, ReturnCode(code), outputs, n}
		})
	})
)

func setDoneHook(t *testing.T, f func()) {
	hookMu.Lock()
	defer hookMu.Unlock()
	onDoneHook = f
	t.Cleanup(func() {
		hookMu.Lock()
		defer hookMu.Unlock()
		onDoneHook = nil
	})
}

// handles returns an array of handles as C programs hold it.
func handles(t *testing.T, tensors ...*Tensor) []uintptr {
	out := make([]uintptr, len(tensors))
	for i, x := range tensors {
		h, err := handle.Of(x)
		require.NoError(t, err)
		t.Cleanup(func() { handle.Drop(x) })
		out[i] = h
	}
	return out
}

func runAsync(e *Executor, in, out []uintptr, timeout int32, user uintptr) error {
	return executorRunAsync(e, unsafe.Pointer(unsafe.SliceData(in)), uint64(len(in)),
		unsafe.Pointer(unsafe.SliceData(out)), uint64(len(out)), timeout, user)
}

func TestRunAsync_callbacksInOrder(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	x := newTestTensor(t, spec.Float32, tensor.Float32s(1, 2), 2)
	outputs := make([]*Tensor, 8)
	for i := range outputs {
		outputs[i] = newTestTensor(t, spec.Float32, nil, 2)
	}
	in := handles(t, x, x)
	assert.Equal(t, OperationForbidden, status(runAsync(e, in, handles(t, outputs[0]), 1000, 1)), "no callback is set")
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	var arrays [][]uintptr
	for i, y := range outputs {
		arrays = append(arrays, handles(t, y))
		require.NoError(t, runAsync(e, in, arrays[i], 60000, uintptr(100+i)))
	}
	for i := range outputs {
		c := <-doneCalls
		assert.Equal(t, called{uintptr(100 + i), Success, uintptr(unsafe.Pointer(&arrays[i][0])), 1}, c)
		assert.Equal(t, []float32{2, 4}, floats(t, memoryOf(outputs[i])))
	}
}

func TestRunAsync_arguments(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	x := newTestTensor(t, spec.Float32, nil, 2)
	in, out := handles(t, x, x), handles(t, x)
	stale := []uintptr{0x10, in[0]}
	for name, err := range map[string]error{
		"no inputs":        runAsync(e, nil, out, 0, 1),
		"no outputs":       runAsync(e, in, nil, 0, 1),
		"one input":        runAsync(e, in[:1], out, 0, 1),
		"negative timeout": runAsync(e, in, out, -1, 1),
		"foreign handle":   runAsync(e, stale, out, 0, 1),
		"NULL output":      runAsync(e, in, []uintptr{0}, 0, 1),
		"201 inputs":       runAsync(e, make([]uintptr, 201), out, 0, 1),
	} {
		assert.Equal(t, InvalidParameter, status(err), name)
	}
	assert.Equal(t, NullPtr, status(runAsync(e, []uintptr{0, in[0]}, out, 0, 1)))
	got, err := handle.Close[Tensor](in[0])
	require.NoError(t, err, "nothing holds the tensors of refused runs")
	assert.Same(t, x, got)
	handle.Reopen(in[0])
}

func TestRunAsync_destroyInCallback(t *testing.T) {
	m := addModel(t)
	c := m.built([]uint32{0, 1}, []uint32{2})
	e, err := executorConstruct(c)
	require.NoError(t, err)
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	setDoneHook(t, func() { assert.NoError(t, executorDestroy(e)) })
	x := newTestTensor(t, spec.Float32, nil, 2)
	in, out := handles(t, x, x), handles(t, x)
	require.NoError(t, runAsync(e, in, out, 0, 7))
	assert.Equal(t, Success, (<-doneCalls).code)
}

func TestRunAsync_destroyCallsBackForAll(t *testing.T) {
	m := addModel(t)
	c := m.built([]uint32{0, 1}, []uint32{2})
	e, err := executorConstruct(c)
	require.NoError(t, err)
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	x := newTestTensor(t, spec.Float32, nil, 2)
	in, out := handles(t, x, x), handles(t, x)
	const runs = 20
	for i := range runs {
		require.NoError(t, runAsync(e, in, out, 0, uintptr(i+1)))
	}
	require.NoError(t, executorDestroy(e))
	for i := range runs {
		c := <-doneCalls
		assert.Equal(t, uintptr(i+1), c.user)
		assert.Contains(t, []ReturnCode{Success, Failed}, c.code)
		if c.code != Success {
			assert.Zero(t, c.outputs)
		}
	}
	assert.Empty(t, doneCalls)
}
