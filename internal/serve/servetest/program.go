// Package servetest gives tests of the server programs that are Go functions, so that a run can be held up, fail, or be
// checked by a closed form.
package servetest

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Compute is what a run does: tensors of the outputs from those of the inputs.
type Compute func(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error)

// Program is a device.Program.
type Program struct {
	In, Out []device.Port
	Run     Compute

	refs, executions, runs atomic.Int64
}

// New returns a program with one reference.
func New(in, out []device.Port, run Compute) *Program {
	p := &Program{In: in, Out: out, Run: run}
	p.refs.Store(1)
	return p
}

// Port is a port of float32 whose sizes of -1 are open: the first one by symbol 1, others by symbols of their own.
func Port(name string, dims ...int64) device.Port {
	s := tensor.Shape{Ranked: true}
	for i, n := range dims {
		if n < 0 {
			s.Dims = append(s.Dims, tensor.Dim{Sym: uint32(i + 1)})
		} else {
			s.Dims = append(s.Dims, tensor.D(n))
		}
	}
	return device.Port{Name: name, Type: tensor.Type{DType: tensor.Float32, Shape: s}}
}

// Floats is a tensor of float32.
func Floats(dims []int64, v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: tensor.Float32s(v...)}
}

// Double is a Compute of one input: twice its elements.
func Double(_ context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
	v, err := tensor.ReadFloat32s(in[0].Data, in[0].Count())
	for i := range v {
		v[i] *= 2
	}
	return []tensor.Tensor{Floats(in[0].Dims, v...)}, err
}

// Live returns the references to the program and its executions that there are.
func (p *Program) Live() (refs, executions int64) { return p.refs.Load(), p.executions.Load() }

// Runs returns how many runs have begun.
func (p *Program) Runs() int64 { return p.runs.Load() }

// Ports implements device.Program.
func (p *Program) Ports() (in, out []device.Port) { return p.In, p.Out }

// Save implements device.Program.
func (p *Program) Save(io.Writer) error { return fault.New(fault.Unsupported, "save") }

// Retain implements device.Program.
func (p *Program) Retain() { p.refs.Add(1) }

// Release implements device.Program.
func (p *Program) Release() {
	if p.refs.Add(-1) < 0 {
		panic("servetest: a program was released more often than retained")
	}
}

// New implements device.Program.
func (p *Program) New(device.ExecOptions) (device.Execution, error) {
	e := &execution{Base: exec.Base{Bound: exec.NewBindings(p.In, p.Out)}, program: p}
	e.Result = func(i int) (t tensor.Type, data []byte, done bool) {
		if e.out == nil {
			return t, nil, false
		}
		return e.out[i].Type(), e.out[i].Data, true
	}
	p.executions.Add(1)
	return e, nil
}

type execution struct {
	exec.Base
	program *Program
	out     []tensor.Tensor
}

// Start implements device.Execution.
func (e *execution) Start(r device.RunRequest) error {
	return e.Task.Start(r, func() error { e.out = nil; return e.Bound.Ready() }, func(ctx context.Context) error {
		e.program.runs.Add(1)
		var in []tensor.Tensor
		for i := range e.Bound.In {
			v, err := e.Bound.In[i].Input()
			if err != nil {
				return err
			}
			data, err := v.Buf.Map()
			if err != nil {
				return err
			}
			in = append(in, tensor.Tensor{DType: v.Type.DType, Dims: e.Bound.In[i].Dims, Data: data})
		}
		out, err := e.program.Run(ctx, in)
		e.out = out
		return err
	})
}

// Release implements device.Execution.
func (e *execution) Release() {
	if e.Close() {
		e.program.executions.Add(-1)
	}
}
