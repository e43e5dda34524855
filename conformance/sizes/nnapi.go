package sizes

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/core/tensor"
)

// nnapiDoor is NNAPI: models of calls, whose inputs have sizes that are 0. Each run is an execution of the one
// compilation; the second form is what a cache gives, the third are executions in one burst.
type nnapiDoor struct{ library *suite.Library }

const burst = "burst"

func (*nnapiDoor) Name() string { return nnapi.API.Name }

func (*nnapiDoor) Forms() []string { return []string{fresh, saved, burst} }

// operand is an operand of a model of NNAPI; a size of 0 is open.
type operand struct {
	code  int32
	dims  []uint32
	scale float32
	zero  int32
	value []byte // nil: it has none
}

// operation is one of NNAPI; in and out are indices of operands.
type operation struct {
	name    string
	in, out []uint32
}

// calls is a model of NNAPI, whose file says the same.
type calls struct {
	operands   []operand
	operations []operation
	in, out    []uint32
}

// build makes the model.
func (c *calls) build(t *nnapi.T) uintptr {
	m := t.Model()
	for i, o := range c.operands {
		m.Add(t.Quantized(o.code, o.scale, o.zero, o.dims...))
		if o.value != nil {
			nnapi.Value(m, uint32(i), o.value...)
		}
	}
	for _, o := range c.operations {
		m.Operation(o.name, o.in, o.out)
	}
	m.Identify(nnapi.NoError, c.in, c.out)
	return m.Finish()
}

func (d *nnapiDoor) use(_ context.Context, m *Model, form, dir string, f func(run runner) error) error {
	t := nnapi.NewT(&suite.T{Library: d.library, Dir: dir})
	var judged error
	err := t.Compute(func() {
		model := m.calls.build(t)
		compiled := func() uintptr {
			c := t.Compilation(model)
			if form == saved {
				t.OK("Compilation_setCaching", c, dir, bytes.Repeat([]byte{7}, 32))
			}
			t.OK("Compilation_finish", c)
			return c
		}
		c := compiled()
		if form == saved {
			c = compiled()
		}
		start := func(e uintptr) { t.OK("Execution_compute", e) }
		if form == burst {
			b := t.New("Burst_free", "Burst_create", c)
			start = func(e uintptr) { t.OK("Execution_burstCompute", e, b) }
		}
		judged = f(func(r int, in []tensor.Tensor, out [][]int64) ([]tensor.Tensor, error) {
			return nnapiRun(t, c, in, out, start), nil
		})
	})
	if err == nil {
		err = judged
	}
	return err
}

// nnapiRun is one execution.
func nnapiRun(t *nnapi.T, c uintptr, in []tensor.Tensor, out [][]int64, start func(e uintptr)) (got []tensor.Tensor) {
	e := t.Execution(c)
	for i, x := range in {
		var dims []uint32
		for _, n := range x.Dims {
			dims = append(dims, uint32(n))
		}
		data := slices.Clone(x.Data)
		t.Keep(data)
		t.OK("Execution_setInput", e, i, t.Type(nnapi.TensorFloat32, dims...), data, len(data))
	}
	for i, dims := range out {
		n, _ := tensor.Count(dims)
		y := tensor.Tensor{DType: tensor.Float32, Data: make([]byte, 4*n)}
		t.Keep(y.Data)
		t.OK("Execution_setOutput", e, i, nil, y.Data, len(y.Data))
		got = append(got, y)
	}
	start(e)
	for i := range got {
		rank := new(uint32)
		t.OK("Execution_getOutputOperandRank", e, i, rank)
		dims := make([]uint32, *rank)
		t.OK("Execution_getOutputOperandDimensions", e, i, dims)
		for _, n := range dims {
			got[i].Dims = append(got[i].Dims, int64(n))
		}
	}
	t.Free("Execution_free", e)
	return got
}

// int32Bytes are integers as operands have them.
func int32Bytes(v ...int64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(x)))
	}
	return b
}
