package nnapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// expected is the state of a model, its compilation and an execution by the API's rules, without looking at them.
type expected struct {
	modelFinished, modelInvalid bool
	compilation, compiled       bool
	execution, reusable         bool
	inputs                      [2]bool
	output                      bool
	computed, failed            bool
}

// compute is the code of a computation, and notes it.
func (s *expected) compute() ResultCode {
	switch {
	case s.computed && !s.reusable:
		return BadState
	case !s.inputs[0] || !s.inputs[1] || !s.output:
		s.computed, s.failed = true, true
		return BadData
	}
	s.computed, s.failed = true, false
	return 0
}

// FuzzCalls makes calls in any order: each has the code that the states ask for, and what is computed is right.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{1, 2, 3, 5, 6, 7, 8, 10, 11, 11, 12, 13, 14})
	f.Add([]byte{1, 2, 3, 5, 9, 6, 7, 8, 10, 11, 12, 13, 10, 11, 14, 5, 10})
	f.Add([]byte{0, 1, 2, 3, 5})
	f.Add([]byte{2, 3, 5, 10, 1, 1, 0, 2, 5, 3, 3, 4, 5, 10, 9, 6, 10})
	f.Add([]byte{1, 2, 4, 3, 15, 5, 10, 15, 3, 6, 7, 8, 12, 13})
	f.Fuzz(func(t *testing.T, calls []byte) {
		if len(calls) > 200 {
			return
		}
		b := newBuilder(t, 3)
		x, y := b.tensor(), b.tensor()
		z := b.binary(nnapi.Add, x, y)
		require.NoError(t, modelIdentifyInputsAndOutputs(b.m, []uint32{x, y}, []uint32{z}))
		p := &program{t: t, m: b.m, in: [2][]float32{{1, 2, 3}, {4, 5, 6}}, out: make([]float32, 3)}
		for i, call := range calls {
			p.call(i, call%16)
		}
		p.end()
	})
}

// program makes the calls.
type program struct {
	t   *testing.T
	is  expected
	m   *Model
	c   *Compilation
	b   *Burst
	e   *Execution
	in  [2][]float32
	out []float32
}

func (p *program) end() {
	require.NoError(p.t, executionFree(p.e))
	require.NoError(p.t, burstFree(p.b))
	require.NoError(p.t, compilationFree(p.c))
}

// when is code unless ok.
func when(ok bool, code ResultCode) ResultCode {
	if ok {
		return 0
	}
	return code
}

func (p *program) call(i int, call byte) {
	s := &p.is
	var err error
	var want ResultCode
	switch call {
	case 0: // an operand that nothing writes
		two := uint32(2)
		err = modelAddOperand(p.m, &OperandType{code: 3, dimensionCount: 1, dimensions: &two})
		want = when(!s.modelFinished, BadState)
		s.modelInvalid = s.modelInvalid || want == 0
	case 1:
		err = modelFinish(p.m)
		want = when(!s.modelInvalid, BadData)
		if s.modelFinished {
			want = BadState
		}
		s.modelFinished = true
	case 2:
		if s.compilation {
			return
		}
		p.c, err = compilationCreate(p.m)
		want = when(s.modelFinished && !s.modelInvalid, BadState)
		s.compilation = want == 0
	case 3, 4:
		if !s.compilation {
			return
		}
		want = when(!s.compiled, BadState)
		if call == 4 {
			err = compilationSetPreference(p.c, nnapi.PreferSustained)
			break
		}
		err = compilationFinish(p.c)
		s.compiled = true
	case 5, 15:
		if !s.compilation || s.execution || call == 15 && p.b != nil {
			return
		}
		want = when(s.compiled, BadState)
		if call == 15 {
			p.b, err = burstCreate(p.c)
			break
		}
		p.e, err = executionCreate(p.c)
		s.execution = want == 0
	default:
		if !s.execution {
			return
		}
		want, err = p.onExecution(call)
	}
	assert.Equal(p.t, want, status(err), "call %d of kind %d: %v", i, call, err)
}

func (p *program) onExecution(call byte) (want ResultCode, err error) {
	s := &p.is
	bytes := func(v []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(v)) }
	switch call {
	case 6, 7:
		k := call - 6
		err, want = executionSetInput(p.e, int32(k), nil, bytes(p.in[k]), 12), when(!s.computed && !s.inputs[k], BadState)
		s.inputs[k] = s.inputs[k] || want == 0
	case 8:
		err, want = executionSetOutput(p.e, 0, nil, bytes(p.out), 12), when(!s.computed && !s.output, BadState)
		s.output = s.output || want == 0
	case 9:
		err, want = executionSetReusable(p.e, true), when(!s.computed, BadState)
		s.reusable = s.reusable || want == 0
	case 10, 12, 13:
		clear(p.out)
		want = s.compute()
		switch {
		case call == 12 && p.b != nil:
			err = executionBurstCompute(p.e, p.b)
		case call == 13:
			var ev *Event
			if ev, err = executionStartCompute(p.e); err == nil {
				err = eventWait(ev)
				require.NoError(p.t, eventFree(ev))
			}
		default:
			err = executionCompute(p.e)
		}
		if want == 0 {
			assert.Equal(p.t, []float32{5, 7, 9}, p.out)
		}
	case 11:
		var rank uint32
		err, want = executionGetOutputOperandRank(p.e, 0, &rank), when(s.computed && !s.failed, BadState)
		assert.Equal(p.t, want == 0, rank == 1)
	case 14:
		require.NoError(p.t, executionFree(p.e))
		p.e, s.execution, s.reusable, s.inputs, s.output = nil, false, false, [2]bool{}, false
		s.computed, s.failed = false, false
	}
	return want, err
}
