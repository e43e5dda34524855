package ohnn

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// DefaultTimeout bounds one case when the runner names no other time.
const DefaultTimeout = 2 * time.Minute

// Child is the program of the process that touches the library: it reads case IDs from in, one a line, computes each
// and writes its Result as a line of JSON to out. The first line it writes is its Greeting. change, if not nil, is
// applied to each case before.
func Child(library string, in io.Reader, out io.Writer, change func(*Case) *Case) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a, err := open(library)
	if err != nil {
		return err
	}
	cases := finder{}
	return Serve(library, a.device(), in, out, func(id, _ string) (Result, error) {
		c, err := cases.find(id)
		if err != nil {
			return Result{}, err
		}
		if change != nil {
			c = change(c)
		}
		refusal, err := a.Run(c)
		r := Judge(err, nil)
		r.Refusal = refusal
		if errors.Is(err, errUnavailable) {
			r.Status = Skip
		}
		return r, nil
	})
}

func (a *api) device() string {
	var p uintptr
	if a.deviceName(0, &p) != 0 || p == 0 {
		return ""
	}
	s := *(**byte)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// Runner computes cases in child processes: when a child dies or hangs, the case it was at is the result, and a new
// child goes on.
type Runner struct {
	Library string
	Command func() *exec.Cmd // starts Child on Library with its standard input and output
	Workers int
	Timeout time.Duration // bounds one case; 0: DefaultTimeout

	bound func(id string) time.Duration // for tests: in place of Timeout, by case
}

// Run computes the cases and returns the report, results in the order of the cases.
func (r *Runner) Run(cases []*Case) (*Report, error) {
	ids := make([]string, len(cases))
	for i, c := range cases {
		ids[i] = c.ID()
	}
	return r.RunIDs(ids)
}

// RunIDs is Run for cases that the child knows by name.
func (r *Runner) RunIDs(ids []string) (*Report, error) {
	results := make([]Result, len(ids))
	next := make(chan int)
	go func() {
		for i := range ids {
			next <- i
		}
		close(next)
	}()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var greeting Greeting
	var failure error
	for range max(r.Workers, 1) {
		wg.Go(func() {
			w := &worker{runner: r}
			defer w.stop()
			for i := range next {
				res, err := w.compute(ids[i])
				results[i] = res
				mu.Lock()
				if err != nil && failure == nil {
					failure = err
				}
				if w.greeting != (Greeting{}) {
					greeting = w.greeting
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	rep := &Report{Schema: "anynpu.cts/1", Library: r.Library, Version: greeting.Version, Device: greeting.Device,
		Counts: map[Status]int{}, Results: results}
	for _, x := range results {
		rep.Counts[x.Status]++
	}
	return rep, failure
}

// worker owns one child process at a time.
type worker struct {
	runner   *Runner
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
	errs     strings.Builder
	greeting Greeting
}

func (w *worker) start() error {
	w.cmd = w.runner.Command()
	w.errs.Reset()
	w.cmd.Stderr = &w.errs
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := w.cmd.Start(); err != nil {
		return err
	}
	w.out = bufio.NewScanner(out)
	w.out.Buffer(nil, 1<<20)
	if !w.out.Scan() {
		err := w.cmd.Wait()
		w.cmd = nil
		return fmt.Errorf("the suite cannot use %s: %v: %s", w.runner.Library, err, strings.TrimSpace(w.errs.String()))
	}
	return json.Unmarshal(w.out.Bytes(), &w.greeting)
}

func (w *worker) stop() {
	if w.cmd == nil {
		return
	}
	w.in.Close()
	w.cmd.Wait() //nolint:errcheck // the child's results are in; how it ends after them is of no interest
	w.cmd = nil
}

// compute returns the result of one case; the error is one of starting the child.
func (w *worker) compute(id string) (Result, error) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return Result{ID: id, Status: Crash, Message: err.Error()}, err
		}
	}
	limit := w.runner.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	if w.runner.bound != nil {
		limit = w.runner.bound(id)
	}
	var hung atomic.Bool
	timer := time.AfterFunc(limit, func() {
		hung.Store(true)
		w.cmd.Process.Kill()
	})
	start := time.Now()
	_, err := io.WriteString(w.in, id+"\n")
	var res Result
	if err == nil && w.out.Scan() {
		err = json.Unmarshal(w.out.Bytes(), &res)
	} else {
		err = io.ErrUnexpectedEOF
	}
	timer.Stop()
	if err == nil && !hung.Load() {
		return res, nil
	}
	end := w.cmd.Wait()
	w.cmd = nil
	res = Result{ID: id, Status: Crash, Message: fmt.Sprintf("%v: %s", end, lastLines(w.errs.String(), 3)),
		Time: time.Since(start)}
	if hung.Load() {
		res.Status, res.Message = Hang, fmt.Sprintf("no end within %v", limit)
	}
	return res, nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

// Environ returns the environment of a child: the parent's with the library's log switched to errors only.
func Environ() []string { return append(os.Environ(), "ANYNPU_LOG=off") }
