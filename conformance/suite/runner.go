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
	ID     string `json:"id"`
	Dir    string `json:"dir"`              // an empty folder for the case, which the parent removes
	Record string `json:"record,omitempty"` // file to which the case's calls are written, "" for none
}

// kind is a kind of child: cases of one kind share processes.
type kind struct {
	library string
	command func() *exec.Cmd // starts Serve on library with its standard input and output
	environ []string         // NAME=VALUE of the child besides its parent's
}

// job is a case and the kind of child that computes it.
type job struct {
	kind *kind
	task task
}

// done is what became of a job.
type done struct {
	Result
	greeting   Greeting
	start, end time.Time
}

// Runner computes cases in child processes: when a child dies or hangs, the case it was at is the result, and a new
// child goes on.
type Runner struct {
	Library string
	Command func() *exec.Cmd // starts Serve on Library with its standard input and output
	Workers int
	Timeout time.Duration // bounds one case; 0: DefaultTimeout
}

// Run computes the cases that the child knows by these IDs and returns their results in the same order.
func (r *Runner) Run(ids []string) ([]Result, Greeting, error) {
	k := &kind{library: r.Library, command: r.Command}
	jobs := make([]job, len(ids))
	for i, id := range ids {
		jobs[i] = job{k, task{ID: id}}
	}
	all, err := (&pool{workers: r.Workers, timeout: r.Timeout}).run(jobs)
	results, greeting := make([]Result, len(ids)), Greeting{}
	for i, d := range all {
		results[i] = d.Result
		if d.greeting != (Greeting{}) {
			greeting = d.greeting
		}
	}
	return results, greeting, err
}

// pool computes jobs in their order, as many at a time as it has workers. A worker keeps its child as long as the next
// job is of the same kind.
type pool struct {
	workers int
	timeout time.Duration // bounds one case; 0: DefaultTimeout

	bound func(id string) time.Duration // for tests: in place of timeout, by case
}

// run returns what became of each job. The error is the first one of starting a child.
func (p *pool) run(jobs []job) ([]done, error) {
	scratch, err := os.MkdirTemp("", "anynpu-cases-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	all := make([]done, len(jobs))
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failure error
	for range max(p.workers, 1) {
		wg.Go(func() {
			w := &worker{pool: p}
			defer w.stop()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				j, start := jobs[i], time.Now()
				j.task.Dir = filepath.Join(scratch, strconv.Itoa(i))
				res, err := w.compute(j)
				all[i] = done{res, w.greeting, start, time.Now()}
				if err != nil {
					mu.Lock()
					if failure == nil {
						failure = err
					}
					mu.Unlock()
					next.Store(int64(len(jobs))) // the others would fail as well
				}
			}
		})
	}
	wg.Wait()
	return all, failure
}

// worker owns one child process at a time.
type worker struct {
	pool     *pool
	kind     *kind // of the child
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
	errs     strings.Builder
	greeting Greeting
}

func (w *worker) start(k *kind) error {
	w.kind, w.greeting = k, Greeting{}
	w.cmd = k.command()
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
		return fmt.Errorf("the suite cannot use %s: %v: %s", k.library, err, strings.TrimSpace(w.errs.String()))
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

// compute returns the result of one case; the error is one of the case's folder or of starting the child.
func (w *worker) compute(j job) (Result, error) {
	id := j.task.ID
	if err := os.Mkdir(j.task.Dir, 0o755); err != nil {
		return Result{ID: id, Status: Crash, Message: err.Error()}, err
	}
	defer os.RemoveAll(j.task.Dir)
	if w.kind != j.kind {
		w.stop()
	}
	if w.cmd == nil {
		if err := w.start(j.kind); err != nil {
			return Result{ID: id, Status: Crash, Message: err.Error()}, err
		}
	}
	limit := w.pool.timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	if w.pool.bound != nil {
		limit = w.pool.bound(id)
	}
	var hung atomic.Bool
	timer := time.AfterFunc(limit, func() {
		hung.Store(true)
		w.cmd.Process.Kill()
	})
	start := time.Now()
	err := json.NewEncoder(w.in).Encode(j.task)
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
