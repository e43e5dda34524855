package ohnn

import (
	"context"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// execution is an executor of the driver's.
type execution struct {
	driver.Execution
	prog     *program
	executor uintptr
	in, out  []uintptr // the tensors of a run, and one more: neither is empty
}

// New implements device.Program.
func (p *program) New(device.ExecOptions) (device.Execution, error) {
	d := p.dev
	leave, err := d.Building.Enter(context.Background(), d.Life)
	if err != nil {
		return nil, err
	}
	defer leave()
	at, err := d.driver.ExecutorConstruct(p.compilation)
	if err = made("OH_NNExecutor_Construct", at, err); err != nil {
		return nil, err
	}
	e := &execution{prog: p, executor: at, in: make([]uintptr, len(p.In)+1), out: make([]uintptr, len(p.Out)+1)}
	if err := e.check(); err != nil {
		e.End()
		return nil, err
	}
	e.Begin(&d.Device, &p.Program, "OH_NNExecutor_RunSync", e)
	return e, nil
}

// check compares what the driver says of an executor with the model.
func (e *execution) check() error {
	d := e.prog.dev.driver
	for _, side := range []struct {
		function string
		ask      func(uintptr, unsafe.Pointer) (uint32, error)
		want     int
	}{
		{"OH_NNExecutor_GetInputCount", d.ExecutorGetInputCount, len(e.prog.In)},
		{"OH_NNExecutor_GetOutputCount", d.ExecutorGetOutputCount, len(e.prog.Out)},
	} {
		var n uint64
		code, err := side.ask(e.executor, unsafe.Pointer(&n))
		if err = call(side.function, code, err); err != nil {
			return err
		}
		if n != uint64(side.want) {
			return fault.New(fault.Device, "%s says %d, the model has %d", side.function, n, side.want)
		}
	}
	return nil
}

// Enter implements driver.Calls.
func (e *execution) Enter() error {
	for i := range e.Slots {
		if s := &e.Slots[i]; s.Output {
			e.out[s.Index] = s.Set.At
		} else {
			e.in[s.Index] = s.Set.At
		}
	}
	return nil
}

// Run implements driver.Calls.
func (e *execution) Run() error {
	code, err := e.prog.dev.driver.ExecutorRunSync(e.executor, unsafe.Pointer(&e.in[0]), uint64(len(e.in)-1),
		unsafe.Pointer(&e.out[0]), uint64(len(e.out)-1))
	return call("OH_NNExecutor_RunSync", code, err)
}

// Leave implements driver.Calls: the sizes of the results must be the model's.
func (e *execution) Leave() error {
	for i := range e.Slots {
		if s := &e.Slots[i]; s.Output {
			if err := e.shape(s); err != nil {
				return s.Wrap(err)
			}
		}
	}
	return nil
}

// shape compares the sizes that the driver says a result has.
func (e *execution) shape(s *driver.Slot) error {
	var at uintptr
	var n uint32
	code, err := e.prog.dev.driver.ExecutorGetOutputShape(e.executor, uint32(s.Index), unsafe.Pointer(&at),
		unsafe.Pointer(&n))
	if err = call("OH_NNExecutor_GetOutputShape", code, err); err != nil {
		return err
	}
	if n > spec.MaxRank {
		return fault.New(fault.Device, "OH_NNExecutor_GetOutputShape says that it has %d dimensions", n)
	}
	data, err := driver.Peek(at, int(4*n))
	if err != nil {
		return fault.Wrap(err, "OH_NNExecutor_GetOutputShape")
	}
	dims := make([]int64, n)
	for k := range dims {
		dims[k] = int64(int32(binary.LittleEndian.Uint32(data[4*k:])))
	}
	if want, _ := s.Type.Shape.Ints(); !slices.Equal(dims, want) {
		return fault.New(fault.Device, "OH_NNExecutor_GetOutputShape says %v, the model has %v", dims, want)
	}
	return nil
}

// End implements driver.Calls; the driver is asked only while it lives.
func (e *execution) End() {
	if e.prog.dev.Life.Alive() == nil {
		_ = e.prog.dev.driver.ExecutorDestroy(unsafe.Pointer(&e.executor)) // nothing is left to do with an error
	}
}
