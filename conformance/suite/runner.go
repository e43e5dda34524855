package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultTimeout bounds one case when the runner names no other time.
const DefaultTimeout = 2 * time.Minute

// task is what a child is told to do, a line of JSON.
type task struct {
	ID  string `json:"id"`
	Dir string `json:"dir"` // an empty folder for the case, which the parent removes
}

// Runner computes cases in child processes: when a child dies or hangs, the case it was at is the result, and a new
// child goes on.
type Runner struct {
	Library string
	Command func() *exec.Cmd // starts Serve on Library with its standard input and output
	Workers int
	Timeout time.Duration // bounds one case; 0: DefaultTimeout

	bound func(id string) time.Duration // for tests: in place of Timeout, by case
}

// Run computes the cases that the child knows by these IDs and returns their results in the same order.
func (r *Runner) Run(ids []string) ([]Result, Greeting, error) {
	results := make([]Result, len(ids))
	scratch, err := os.MkdirTemp("", "anynpu-cases-")
	if err != nil {
		return nil, Greeting{}, err
	}
	defer os.RemoveAll(scratch)
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
				res, err := w.compute(ids[i], filepath.Join(scratch, strconv.Itoa(i)))
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
	return results, greeting, failure
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

// compute returns the result of one case, which has the folder dir to itself; the error is one of the folder or of
// starting the child.
func (w *worker) compute(id, dir string) (Result, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return Result{ID: id, Status: Crash, Message: err.Error()}, err
	}
	defer os.RemoveAll(dir)
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
	err := json.NewEncoder(w.in).Encode(task{id, dir})
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
