// Package session runs graphs on tensors in host memory: what a command or a test needs of package compile, nothing
// more.
package session

import (
	"context"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Session is a compiled graph with one execution. One goroutine at a time.
type Session struct {
	program *compile.Program
	exec    *io.Execution
	in, out []device.Port
}

// Open compiles g on devices. Errors are those of compile.Compile and Program.New.
func Open(ctx context.Context, g *graph.Graph, devices []device.Device, o compile.Options,
	e device.ExecOptions) (*Session, error) {
	p, err := compile.Compile(ctx, g, devices, o)
	if err != nil {
		return nil, err
	}
	return Of(p, e)
}

// Of is a session of a program, whose reference it takes over, on errors too. Errors are those of Program.New.
func Of(p *compile.Program, e device.ExecOptions) (*Session, error) {
	x, err := p.New(e)
	if err != nil {
		p.Release()
		return nil, err
	}
	in, out := p.Ports()
	return &Session{program: p, exec: io.New(x, len(in), len(out)), in: in, out: out}, nil
}

// Another is a session of the same program. Errors are those of Program.New.
func (s *Session) Another(e device.ExecOptions) (*Session, error) {
	s.program.Retain()
	return Of(s.program, e)
}

// Ports describes the inputs and outputs.
func (s *Session) Ports() (in, out []device.Port) { return s.in, s.out }

// Placement tells which device computes which node.
func (s *Session) Placement() *device.Placement { return s.program.Placement() }

// Stats of the runs so far.
func (s *Session) Stats() device.Stats { return s.exec.Stats() }

// Run computes the outputs for one tensor per input, in the order of the ports. The results are the caller's. A zero
// deadline is none.
func (s *Session) Run(ctx context.Context, in []tensor.Tensor, deadline time.Time) ([]tensor.Tensor, error) {
	if err := s.Bind(in); err != nil {
		return nil, err
	}
	if err := exec.Run(ctx, s.exec, device.RunRequest{Deadline: deadline}); err != nil {
		return nil, err
	}
	out := make([]tensor.Tensor, len(s.out))
	for i, p := range s.out {
		typ, err := s.exec.OutputType(i)
		if err != nil {
			return nil, fault.Wrap(err, "output %q", p.Name)
		}
		data, err := s.exec.OutputData(i)
		if err != nil {
			return nil, fault.Wrap(err, "output %q", p.Name)
		}
		dims, ok := typ.Shape.Ints()
		if !ok {
			return nil, fault.New(fault.Internal, "output %q: unknown sizes after a run: %v", p.Name, typ.Shape)
		}
		own, err := mem.Make[byte](len(data))
		if err != nil {
			return nil, fault.Wrap(err, "output %q", p.Name)
		}
		copy(own, data)
		out[i] = tensor.Tensor{DType: typ.DType, Dims: dims, Quant: typ.Quant, Data: own}
	}
	return out, nil
}

// bind copies a tensor to where the device reads it as it lies.
func (s *Session) bind(i int, t tensor.Tensor) error {
	buf, err := mem.Host(int64(max(len(t.Data), 1)), mem.Options{})
	if err != nil {
		return err
	}
	defer buf.Release()
	v := mem.View{Buf: buf, Type: t.Type()}
	if order := s.in[i].Native; len(order) == len(t.Dims) {
		v = v.In(order)
	}
	if err := v.Store(t.Data); err != nil {
		return err
	}
	return s.exec.Input(i, v)
}

// Close frees everything.
func (s *Session) Close() {
	s.exec.Release()
	s.program.Release()
}
