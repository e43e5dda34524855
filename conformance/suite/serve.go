package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// Serve is what a child process does: it opens the library, writes its Greeting, then reads tasks from in, computes the
// case of each in a mode and writes its Result; all as lines of JSON.
func (s *Suite) Serve(library, mode string, in io.Reader, out io.Writer) error {
	runtime.LockOSThread() // a message belongs to the thread whose call failed
	defer runtime.UnlockOSThread()
	l, err := Open(s.API, library)
	if err != nil {
		return err
	}
	greeting, err := l.greet()
	if err != nil {
		return err
	}
	return serve(greeting, l.recorded(s.Open(l, mode)), in, out)
}

// recorded computes a case with a record of its calls in a file, if the task names one.
func (l *Library) recorded(compute Computer) func(task) (Result, error) {
	return func(t task) (Result, error) {
		if t.Record == "" {
			return compute(t.ID, t.Dir)
		}
		f, err := os.Create(t.Record)
		if err != nil {
			return Result{}, err
		}
		defer f.Close()
		rec, err := trace.NewRecorder(f, t.ID, t.Dir)
		if err != nil {
			return Result{}, err
		}
		cmem.Watch(rec)
		l.calls.recorder = rec
		record(rec)
		defer func() {
			recording.Store(nil)
			l.calls.recorder = nil
			cmem.Watch(nil)
		}()
		r, err := compute(t.ID, t.Dir)
		rec.Close(string(r.Status), r.Message)
		return r, err
	}
}

func serve(greeting Greeting, compute func(task) (Result, error), in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	if err := enc.Encode(greeting); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var t task
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return err
		}
		start := time.Now()
		r, err := compute(t)
		if err != nil {
			return err
		}
		r.ID, r.Time = t.ID, time.Since(start)
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Judge is the result of a case that passed when violated is nil.
func Judge(violated error) Result {
	var l lacking
	if errors.As(violated, &l) {
		return Result{Status: Skip, Message: string(l)}
	}
	if violated != nil {
		return Result{Status: Fail, Message: violated.Error()}
	}
	return Result{Status: Pass}
}
