package devicetest

import (
	"fmt"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/signal"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// call is a method of an execution with arguments that are right in themselves.
type call struct {
	name string
	do   func(e device.Execution, v mem.View) error
}

// calls are the methods that need an execution that is idle and not released.
var calls = []call{
	{"SetShape", func(e device.Execution, _ mem.View) error { return e.SetShape(0, []int64{2, 3}) }},
	{"BindInput", func(e device.Execution, v mem.View) error { return e.BindInput(0, v) }},
	{"BindOutput", func(e device.Execution, v mem.View) error { return e.BindOutput(0, v) }},
	{"Start", func(e device.Execution, _ mem.View) error { return e.Start(device.RunRequest{}) }},
	{"OutputData", func(e device.Execution, _ mem.View) error { _, err := e.OutputData(0); return err }},
}

func callsBefore(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		if err := wantKind("start without inputs", e.Start(device.RunRequest{}), fault.State); err != nil {
			return err
		}
		_, err := e.OutputData(0)
		if err := wantKind("output data before a run", err, fault.State); err != nil {
			return err
		}
		e.Cancel() // nothing is under way
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		if err := compute(e); err != nil {
			return err
		}
		return wantOutput(e, want)
	})
}

// fenced starts a run that waits until the returned function is called.
func fenced(e device.Execution) (done <-chan error, open func(), err error) {
	fence := signal.New()
	done, err = start(e, device.RunRequest{Fences: []device.Fence{fence}})
	return done, func() { fence.Set(nil) }, err
}

func callsDuring(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		o, err := newOperand(9, 2, 3)
		if err != nil {
			return err
		}
		defer o.release()
		done, open, err := fenced(e)
		if err != nil {
			return err
		}
		for _, c := range calls {
			if err := wantKind(c.name+" during a run", c.do(e, o.view), fault.State); err != nil {
				open()
				return err
			}
		}
		open()
		if err := await(done); err != nil {
			return err
		}
		return wantOutput(e, want)
	})
}

func callsAfter(s *Subject) error {
	p, err := s.program(tensor.Of(2, 3), device.Options{})
	if err != nil {
		return err
	}
	defer p.Release()
	e, err := s.execution(p)
	if err != nil {
		return err
	}
	if _, err := s.bindInputs(e, 1, 2, 3); err != nil {
		e.Release()
		return err
	}
	e.Release()
	o, err := newOperand(9, 2, 3)
	if err != nil {
		return err
	}
	defer o.release()
	for _, c := range calls {
		if err := wantKind(c.name+" after the release", c.do(e, o.view), fault.State); err != nil {
			return err
		}
	}
	_, err = e.OutputType(0)
	e.Cancel()
	e.Release() // a second one changes nothing
	return wantKind("OutputType after the release", err, fault.State)
}

func indices(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		o, err := newOperand(9, 2, 3)
		if err != nil {
			return err
		}
		defer o.release()
		for _, i := range []int{-1, 2, 1 << 40} {
			what := fmt.Sprintf("SetShape of input %d of 2", i)
			if err := wantKind(what, e.SetShape(i, []int64{2, 3}), fault.Argument); err != nil {
				return err
			}
			if err := wantKind(fmt.Sprintf("BindInput %d of 2", i), e.BindInput(i, o.view), fault.Argument); err != nil {
				return err
			}
		}
		for _, i := range []int{-1, 1} {
			_, typeErr := e.OutputType(i)
			_, dataErr := e.OutputData(i)
			errs := map[string]error{"BindOutput": e.BindOutput(i, o.view), "OutputType": typeErr, "OutputData": dataErr}
			for name, err := range errs {
				if err := wantKind(fmt.Sprintf("%s %d of 1", name, i), err, fault.Argument); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// misfits binds what does not fit; each refusal leaves what is bound as it was.
func misfits(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		b, err := filled(24)
		if err != nil {
			return err
		}
		defer b.Release()
		cases := []struct {
			what string
			view mem.View
			kind fault.Kind
		}{
			{"int32 for float32", mem.View{Type: tensor.T(tensor.Int32, 2, 3)}, fault.Type},
			{"[3,2] for [2,3]", mem.View{Type: tensor.T(tensor.Float32, 3, 2)}, fault.Shape},
			{"[6] for [2,3]", mem.View{Type: tensor.T(tensor.Float32, 6)}, fault.Shape},
			{"24 bytes at offset 4 of 24", mem.View{Off: 4, Type: tensor.T(tensor.Float32, 2, 3)}, fault.Memory},
			{"a negative offset", mem.View{Off: -4, Type: tensor.T(tensor.Float32, 2, 3)}, fault.Memory},
			{"rows 4 apart in 24 bytes", mem.View{Type: tensor.T(tensor.Float32, 2, 3), Strides: []int64{4, 1}}, fault.Memory},
			{"one stride for two dimensions", mem.View{Type: tensor.T(tensor.Float32, 2, 3), Strides: []int64{3}}, fault.Shape},
			{"a negative stride", mem.View{Type: tensor.T(tensor.Float32, 2, 3), Strides: []int64{-3, 1}}, fault.Shape},
		}
		for _, c := range cases {
			c.view.Buf = b
			if err := wantKind("bind as input: "+c.what, e.BindInput(0, c.view), c.kind); err != nil {
				return err
			}
			if err := wantKind("bind as output: "+c.what, e.BindOutput(0, c.view), c.kind); err != nil {
				return err
			}
		}
		if err := compute(e); err != nil {
			return fmt.Errorf("after bindings that were refused: %w", err)
		}
		return wantOutput(e, want)
	})
}

func doneOnce(s *Subject) error {
	return s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		b, err := filled(24)
		if err != nil {
			return err
		}
		defer b.Release()
		if err := e.BindOutput(0, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 2, 3)}); err != nil {
			return err
		}
		for _, here := range []bool{false, true} {
			reports := make(chan []byte, 4)
			err := e.Start(device.RunRequest{Here: here, Done: func(err error) {
				data, readErr := contents(b)
				if err != nil || readErr != nil {
					data = nil
				}
				reports <- data // what was there when Done was called
			}})
			if err != nil {
				return err
			}
			select {
			case data := <-reports:
				if err := wantData("output when done was called", data, want); err != nil {
					return err
				}
			case <-time.After(hang):
				return errHangs
			}
			if err := compute(e); err != nil { // a later run: whatever the first still does has had time
				return err
			}
			time.Sleep(5 * time.Millisecond)
			if len(reports) != 0 {
				return fmt.Errorf("done was called more than once")
			}
		}
		return nil
	})
}

// doneStarts begins each next run from within Done and releases the execution within the last.
func doneStarts(s *Subject) error {
	p, err := s.program(tensor.Of(2, 3), device.Options{})
	if err != nil {
		return err
	}
	defer p.Release()
	e, err := s.execution(p)
	if err != nil {
		return err
	}
	if _, err := s.bindInputs(e, 1, 2, 3); err != nil {
		e.Release()
		return err
	}
	ended := make(chan error, 1)
	left := 4
	var done func(err error)
	done = func(err error) {
		if left--; err == nil && left > 0 {
			if err = e.Start(device.RunRequest{Done: done}); err == nil {
				return
			}
		}
		e.Release()
		ended <- err
	}
	if err := e.Start(device.RunRequest{Done: done}); err != nil {
		e.Release()
		return err
	}
	return await(ended)
}
