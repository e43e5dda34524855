package rknn

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

func TestOutputsGet_refuses(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 4), 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2, 3, 4})}))
	requireCode(t, spec.ErrFail, outputsGet(x, []Output{{}}, nil), "has no results")
	requireCode(t, spec.ErrFail, wait(x, nil), "has run nothing")
	require.NoError(t, run(x, nil))
	require.NoError(t, wait(x, nil))
	requireCode(t, spec.ErrParam, outputsGet(x, nil, nil), "n_outputs is 0")
	requireCode(t, spec.ErrParam, outputsGet(x, []Output{{}, {}}, nil), "n_outputs is 2")
	requireCode(t, spec.ErrOutput, outputsGet(x, []Output{{index: 1, isPrealloc: 1}}, nil), "outputs[0].index is 1")
	requireCode(t, spec.ErrOutput, outputsGet(x, []Output{{isPrealloc: 1, size: 16}}, nil), "outputs[0].buf is NULL")
	small := Output{isPrealloc: 1, wantFloat: 1, buf: cMemory(t, make([]float32, 4)), size: 15}
	requireCode(t, spec.ErrOutput, outputsGet(x, []Output{small}, nil), "outputs[0].size is 15", "16 bytes")
	small.wantFloat = 0 // 4 elements of FLOAT16
	require.NoError(t, outputsGet(x, []Output{small}, nil))
}

func TestOutputsRelease_leavesForeignBuffersAlone(t *testing.T) {
	x, y := open(t, identity(onnxtest.Float, 1, 4), 0), open(t, identity(onnxtest.Float, 1, 4), 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2, 3, 4})}))
	require.NoError(t, run(x, nil))
	o := []Output{{wantFloat: 1}}
	require.NoError(t, outputsGet(x, o, nil))
	buf := o[0].buf
	require.NoError(t, outputsRelease(y, o))
	require.Equal(t, buf, o[0].buf, "another context's")
	require.NoError(t, outputsRelease(x, o))
	require.Zero(t, o[0].buf)
	o[0].buf = buf
	require.NoError(t, outputsRelease(x, o), "released before")
	requireCode(t, spec.ErrParam, outputsRelease(x, nil), "n_ouputs")
}

func TestRun_infoOnlyAndFences(t *testing.T) {
	in := []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2, 3, 4})}
	x := open(t, identity(onnxtest.Float, 1, 4), flagInfoOnly)
	requireCode(t, spec.ErrFail, inputsSet(x, in), "INFO_ONLY")
	requireCode(t, spec.ErrFail, run(x, nil), "INFO_ONLY")
	x = open(t, identity(onnxtest.Float, 1, 4), flagFenceOut)
	require.NoError(t, inputsSet(x, in))
	requireCode(t, spec.ErrFail, run(x, nil), "fence")
}

func TestDupContext_hasDataOfItsOwn(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 2), 0)
	h, err := handle.Of(x)
	require.NoError(t, err)
	defer handle.Drop(x)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2})}))
	y, err := dupContext(&h)
	require.NoError(t, err)
	defer y.release()
	requireCode(t, spec.ErrFail, run(y, nil), "has no data for input")
	require.NoError(t, inputsSet(y, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{3, 4})}))
	require.Equal(t, []float32{3, 4}, floats(t, y))
	require.Equal(t, []float32{1, 2}, floats(t, x))
	stale := h + 16*99
	_, err = dupContext(&stale)
	requireCode(t, spec.ErrContext, err, "context_in")
}

func TestDestroy_waitsForCalls(t *testing.T) {
	m, err := load(identity(onnxtest.Float, 1, 2).Bytes(), "", 0)
	require.NoError(t, err)
	c, err := newContext(m, 0, m.run)
	require.NoError(t, err)
	h, err := handle.Of(c)
	require.NoError(t, err)
	_, err = handle.Hold[Context](h) // a call under way
	require.NoError(t, err)
	var wg sync.WaitGroup
	codes := make([]spec.Code, 2)
	for i := range codes {
		wg.Go(func() { codes[i] = status(destroy(h)) })
	}
	handle.Unhold(h)
	wg.Wait()
	require.ElementsMatch(t, []spec.Code{spec.Succ, spec.ErrContext}, codes, "one of two succeeds")
	requireCode(t, spec.ErrContext, destroy(h), "destroyed")
	requireCode(t, spec.ErrContext, destroy(0), "NULL")
}

func TestCoreMask_byBoard(t *testing.T) {
	for _, c := range []struct {
		board string
		masks []CoreMask
	}{
		{"rk3588", []CoreMask{0, 1, 2, 4, 3, 7, 0xffff}},
		{"rk3576", []CoreMask{0, 1, 2, 3, 0xffff}},
		{"rk3568", []CoreMask{0, 1, 0xffff}}, // setCoreMask takes 0 alone
	} {
		var ok []CoreMask
		for _, m := range []CoreMask{0, 1, 2, 4, 3, 7, 0xffff, 5, 6, 8, 0x10000} {
			if targetNamed(c.board).hasCores(m) {
				ok = append(ok, m)
			}
		}
		require.Equal(t, c.masks, ok, c.board)
	}
	require.Equal(t, "rk3588", targetNamed("rk9999").name)
	requireCode(t, spec.ErrFail, checkCoreMask(board(), 5), "core_mask is 0x5")
	requireCode(t, spec.ErrParam, setBatchCoreNum(nil, 0), "core_num is 0")
	require.NoError(t, setBatchCoreNum(nil, 3))
}

// TestSetCoreMask_fromTheNextRun: results of the run before stay until then, and so do the shapes of a dynamic model.
func TestSetCoreMask_fromTheNextRun(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 4), 0)
	in := []float32{1, 2, 3, 4}
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined, in)}))
	require.NoError(t, run(x, nil))
	first := x.exec.Execution
	require.NoError(t, setCoreMask(x, 2))
	requireCode(t, spec.ErrFail, setCoreMask(x, 5))
	o := []Output{{wantFloat: 1}}
	require.NoError(t, outputsGet(x, o, nil))
	require.NoError(t, outputsRelease(x, o))
	require.Same(t, first, x.exec.Execution)
	require.Equal(t, in, floats(t, x))
	require.NotSame(t, first, x.exec.Execution)
	require.EqualValues(t, 2, x.core)
	second := x.exec.Execution
	require.NoError(t, setCoreMask(x, 2))
	require.Equal(t, in, floats(t, x))
	require.Same(t, second, x.exec.Execution, "the same cores")
}

// TestRun_limitOfEveryRun: ANYNPU_RUN_TIMEOUT ends a run with the API's code for time, and the next run is as any.
func TestRun_limitOfEveryRun(t *testing.T) {
	x := open(t, identity(onnxtest.Float, 1, 4), 0)
	require.NoError(t, inputsSet(x, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2, 3, 4})}))
	exec.LimitRuns(1)
	defer exec.LimitRuns(0)
	requireCode(t, spec.ErrTimeout, run(x, nil), "ANYNPU_RUN_TIMEOUT")
	exec.LimitRuns(0)
	require.NoError(t, run(x, nil))
}
