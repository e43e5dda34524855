package devicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// hang is how long a check waits for an event that must happen; a device that needs longer on a busy machine looks like
// one that hangs.
const hang = time.Minute

// eventually waits for something that another goroutine brings about.
func eventually(f func() bool) bool {
	for end := time.Now().Add(hang); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// wantKind is an error unless err is of the kind.
func wantKind(what string, err error, kind fault.Kind) error {
	switch {
	case err == nil:
		return fmt.Errorf("%s: no error, want one of kind %v", what, kind)
	case fault.KindOf(err) != kind:
		return fmt.Errorf("%s: want an error of kind %v, got kind %v: %w", what, kind, fault.KindOf(err), err)
	}
	return nil
}

// compile makes a program of g.
func (s *Subject) compile(g *graph.Graph, o device.Options) (device.Program, error) {
	p, err := s.Device.Compile(context.Background(), device.Unit{Graph: g}, o)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return p, nil
}

// program is the subject's graph for inputs of shape x, compiled.
func (s *Subject) program(x tensor.Shape, o device.Options) (device.Program, error) {
	g, err := s.graph(x)
	if err != nil {
		return nil, fmt.Errorf("graph of the subject: %w", err)
	}
	return s.compile(g, o)
}

// execution makes an execution of p.
func (s *Subject) execution(p device.Program) (device.Execution, error) {
	e, err := p.New(device.ExecOptions{Owner: s.Owner})
	if err != nil {
		return nil, fmt.Errorf("new execution: %w", err)
	}
	return e, nil
}

// with calls f with an execution of the subject's graph for inputs of shape x, and releases everything.
func (s *Subject) with(x tensor.Shape, f func(e device.Execution) error) error {
	p, err := s.program(x, device.Options{})
	if err != nil {
		return err
	}
	e, err := s.execution(p)
	p.Release() // the execution holds a reference
	if err != nil {
		return err
	}
	defer e.Release()
	return f(e)
}

// operand is a tensor of an input and its values.
type operand struct {
	view   mem.View
	values []float32
}

func (o *operand) release() { o.view.Buf.Release() }

// newOperand makes a tensor whose elements are different for every seed.
func newOperand(seed int, dims ...int64) (*operand, error) {
	n, _ := tensor.Count(dims)
	o := &operand{values: make([]float32, n)}
	for i := range o.values {
		o.values[i] = float32((i*7+seed*13)%29) - 11
	}
	b, err := mem.Host(4*n, mem.Options{})
	if err != nil {
		return nil, err
	}
	o.view = mem.View{Buf: b, Type: tensor.T(tensor.Float32, dims...)}
	if err := mem.Write(b, 0, tensor.Float32s(o.values...)); err != nil {
		b.Release()
		return nil, err
	}
	return o, nil
}

// bindInputs gives both inputs of e tensors of the sizes dims and returns what the output must be. The execution holds
// the only references.
func (s *Subject) bindInputs(e device.Execution, seed int, dims ...int64) (want []byte, err error) {
	var x [2]*operand
	for i := range x {
		if x[i], err = newOperand(seed+i, dims...); err != nil {
			return nil, err
		}
		err = e.BindInput(i, x[i].view)
		x[i].release()
		if err != nil {
			return nil, fmt.Errorf("bind input %d: %w", i, err)
		}
	}
	return s.wantBytes(x[0].values, x[1].values), nil
}

func (s *Subject) wantBytes(x, y []float32) []byte {
	want := make([]float32, len(x))
	for i := range want {
		want[i] = s.want(x[i], y[i])
	}
	return tensor.Float32s(want...)
}

// start begins a run and returns the channel on which Done reports, with room for reports that must not come.
func start(e device.Execution, r device.RunRequest) (<-chan error, error) {
	done := make(chan error, 4)
	r.Done = func(err error) { done <- err }
	if err := e.Start(r); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return done, nil
}

var errHangs = errors.New("the run does not end")

// await returns the error that a run ended with.
func await(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(hang):
		return errHangs
	}
}

// compute makes one run.
func compute(e device.Execution) error {
	done, err := start(e, device.RunRequest{})
	if err != nil {
		return err
	}
	return await(done)
}

// wantData compares the bytes of a result.
func wantData(what string, got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: got %v, want %v", what, floats(got), floats(want))
	}
	return nil
}

func floats(b []byte) []float32 {
	v, _ := tensor.ReadFloat32s(b, len(b)/4)
	return v
}

// wantOutput compares an unbound output.
func wantOutput(e device.Execution, want []byte) error {
	got, err := e.OutputData(0)
	if err != nil {
		return fmt.Errorf("output data: %w", err)
	}
	return wantData("output data", got, want)
}
