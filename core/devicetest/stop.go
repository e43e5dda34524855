package devicetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// endless calls f with an execution whose runs do not end by themselves.
func (s *Subject) endless(f func(e device.Execution) error) error {
	if s.Endless == nil {
		return skipped("the subject has no run without an end")
	}
	g, restore, err := s.Endless(tensor.Of(2, 3))
	if err != nil {
		return fmt.Errorf("endless graph of the subject: %w", err)
	}
	defer restore()
	p, err := s.compile(g, device.Options{})
	if err != nil {
		return err
	}
	e, err := s.execution(p)
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	if _, err := s.bindInputs(e, 1, 2, 3); err != nil {
		return err
	}
	return f(e)
}

func deadline(s *Subject) error {
	err := s.with(tensor.Of(2, 3), func(e device.Execution) error {
		want, err := s.bindInputs(e, 1, 2, 3)
		if err != nil {
			return err
		}
		done, err := start(e, device.RunRequest{Deadline: time.Now().Add(-time.Second)})
		if err != nil {
			return err
		}
		if err := wantKind("a deadline that has passed", await(done), fault.Timeout); err != nil {
			return err
		}
		if done, err = start(e, device.RunRequest{Deadline: time.Now().Add(hang)}); err != nil {
			return err
		}
		if err := await(done); err != nil {
			return fmt.Errorf("a run with time enough: %w", err)
		}
		return wantOutput(e, want)
	})
	if err != nil || s.Endless == nil {
		return err
	}
	return s.endless(func(e device.Execution) error {
		done, err := start(e, device.RunRequest{Deadline: time.Now().Add(30 * time.Millisecond)})
		if err != nil {
			return err
		}
		return wantKind("a deadline that passes under the run", await(done), fault.Timeout)
	})
}

func cancel(s *Subject) error {
	return s.endless(func(e device.Execution) error {
		for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
			done, err := start(e, device.RunRequest{})
			if err != nil {
				return err
			}
			time.Sleep(wait)
			e.Cancel()
			e.Cancel()
			if err := wantKind("cancel", await(done), fault.Canceled); err != nil {
				return err
			}
		}
		return nil
	})
}

// releaseStops releases an execution under a run; Release must not return before the run has ended.
func releaseStops(s *Subject) error {
	return s.endless(func(e device.Execution) error {
		var mu sync.Mutex
		var ended error
		running, finished := true, make(chan struct{})
		err := e.Start(device.RunRequest{Done: func(err error) {
			mu.Lock()
			running, ended = false, err
			mu.Unlock()
			close(finished)
		}})
		if err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
		released := make(chan struct{})
		go func() { e.Release(); close(released) }()
		select {
		case <-released:
		case <-time.After(hang):
			return fmt.Errorf("release does not return")
		}
		select {
		case <-finished:
		case <-time.After(hang):
			return errHangs
		}
		mu.Lock()
		defer mu.Unlock()
		if running {
			return fmt.Errorf("release returned under a run")
		}
		return wantKind("a run whose execution was released", ended, fault.Canceled)
	})
}

// sideBySide runs several executions of one program at once; the program's own reference is gone by then.
func sideBySide(s *Subject) error {
	const executions, runs = 4, 25
	p, err := s.program(tensor.Of(2, 3), device.Options{})
	if err != nil {
		return err
	}
	var es []device.Execution
	for range executions {
		e, err := s.execution(p)
		if err != nil {
			p.Release()
			return err
		}
		defer e.Release()
		es = append(es, e)
	}
	p.Release()
	var group sync.WaitGroup
	errs := make([]error, executions)
	for k, e := range es {
		group.Go(func() {
			for n := range runs {
				want, err := s.bindInputs(e, k*runs+n, 2, 3)
				if err == nil {
					err = compute(e)
				}
				if err == nil {
					err = wantOutput(e, want)
				}
				if err != nil {
					errs[k] = fmt.Errorf("execution %d, run %d: %w", k, n, err)
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func death(s *Subject) error {
	if s.Kill == nil {
		return skipped("the device cannot die")
	}
	p, err := s.program(tensor.Of(2, 3), device.Options{})
	if err != nil {
		return err
	}
	defer p.Release()
	e, err := s.execution(p)
	if err != nil {
		return err
	}
	defer e.Release()
	if _, err := s.bindInputs(e, 1, 2, 3); err != nil {
		return err
	}
	var under <-chan error
	var victim device.Execution
	if s.Endless != nil {
		g, _, err := s.Endless(tensor.Of(2, 3)) // what it has changed dies with the device
		if err != nil {
			return err
		}
		q, err := s.compile(g, device.Options{})
		if err != nil {
			return err
		}
		victim, err = s.execution(q)
		q.Release()
		if err != nil {
			return err
		}
		defer victim.Release()
		if _, err := s.bindInputs(victim, 1, 2, 3); err != nil {
			return err
		}
		if under, err = start(victim, device.RunRequest{}); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Kill()
	dead := func(what string, err error) error {
		if !errors.Is(err, device.ErrDied) || fault.KindOf(err) != fault.Device {
			return fmt.Errorf("%s on a dead device: want device.ErrDied of kind %v, got %v", what, fault.Device, err)
		}
		return nil
	}
	if under != nil {
		if err := dead("the run under way", await(under)); err != nil {
			return err
		}
	}
	done, err := start(e, device.RunRequest{})
	if err == nil {
		err = await(done)
	}
	if err := dead("a run", err); err != nil {
		return err
	}
	if _, err = s.program(tensor.Of(2, 3), device.Options{}); err == nil {
		return fmt.Errorf("a dead device compiles")
	}
	if err := dead("compile", err); err != nil {
		return err
	}
	_, err = s.Device.Alloc(16)
	return dead("alloc", err)
}
