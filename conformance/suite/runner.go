package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultTimeout bounds one case, and the loading of a library, when the runner names no other time.
const DefaultTimeout = time.Minute

// DefaultHangs is how many cases in a row may hang before a suite stops.
const DefaultHangs = 5

// hangsInAll times as many cases may hang in all.
const hangsInAll = 4

// exitTimeout bounds the end of a process, unless the timeout is shorter.
const exitTimeout = 10 * time.Second

// kind is a kind of child: cases of one kind share processes.
type kind struct {
	file    *file
	command func() *exec.Cmd // starts Serve on the library
	environ []string         // NAME=VALUE of the child besides its parent's
}

// job is a case and the kind of child that computes it.
type job struct {
	kind *kind
	line *line // nil: it goes on whatever hangs
	task Task
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
	Command func() *exec.Cmd // starts Serve on Library
	Workers int
	Timeout time.Duration // bounds one case; 0: DefaultTimeout
}

// Run computes the cases that the child knows by these IDs and returns their results in the same order.
func (r *Runner) Run(ids []string) ([]Result, Greeting, error) {
	k := &kind{file: &file{path: r.Library}, command: r.Command}
	jobs := make([]job, len(ids))
	for i, id := range ids {
		jobs[i] = job{kind: k, task: Task{ID: id}}
	}
	all, err := (&pool{workers: r.Workers, timeout: r.Timeout}).run(context.Background(), jobs)
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
	workers  int
	timeout  time.Duration // bounds one case; 0: DefaultTimeout
	hangs    int           // in a row, after which a line stops; 0: it does not
	finished func(i int, d *done)

	bound func(id string) time.Duration // for tests: in place of timeout, by case
}

// run returns what became of each job. The error says that a child could not judge its library, or not be started;
// jobs of other libraries are computed all the same.
func (p *pool) run(ctx context.Context, jobs []job) ([]done, error) {
	scratch, err := os.MkdirTemp("", "anynpu-cases-")
	if err != nil {
		return nil, err
	}
	defer func() { removeAll(scratch) }()
	if scratch, err = filepath.Abs(scratch); err != nil {
		return nil, err
	}
	all := make([]done, len(jobs))
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	for range max(p.workers, 1) {
		wg.Go(func() {
			w := &worker{pool: p, ctx: ctx}
			before := -1 // the job that the child has computed
			settle := func() {
				if ended := w.stop(); ended != nil && before >= 0 {
					mu.Lock()
					defer mu.Unlock()
					all[before].blame(ended)
				}
				before = -1
			}
			defer settle()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				j, start := jobs[i], time.Now()
				if w.kind != j.kind {
					settle()
				}
				j.task.Dir = filepath.Join(scratch, strconv.Itoa(i))
				res, err := w.compute(j)
				before = -1
				if w.process != nil {
					before = i
				}
				mu.Lock()
				all[i] = done{res, w.greeting, start, time.Now()}
				if err != nil && !slices.ContainsFunc(failures, func(e error) bool { return e.Error() == err.Error() }) {
					failures = append(failures, err)
				}
				if p.finished != nil {
					p.finished(i, &all[i])
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		failures = append(failures, errors.New(interrupted))
	}
	return all, errors.Join(failures...)
}

// blame makes a bad end of a process the result of the case that it computed last, if that was good.
func (d *done) blame(e *Ended) {
	if d.Status == Pass || d.Status == Skip {
		d.Status, d.Signal, d.Function = e.Status, e.Signal, e.Function
		d.Message = e.Message + "; this is the last case that it computed"
	}
}

// file is a library file in a run, and what is known of loading it.
type file struct {
	path string

	mu      sync.Mutex
	loaded  bool   // it was, at least once
	failed  int    // times that it was not, while it never was
	exits   int    // ends of processes in a row that hung
	stopped string // why it is not loaded any more
}

// loads is how often loading may end badly, and exits how often ending may, before nobody tries again.
const (
	loads = 2
	exits = 2
)

// load notes how loading has gone.
func (f *file) load(ended *Ended) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case ended == nil:
		f.loaded = true
	case ended.Status != NotRun && !f.loaded:
		if f.failed++; f.failed >= loads {
			f.stopped = "the library cannot be loaded: " + ended.Message
		}
	}
}

func (f *file) stop(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = why
}

func (f *file) why() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped
}

// hangsAtExit tells whether it is of no use to wait for the end of another process.
func (f *file) hangsAtExit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exits >= exits
}

func (f *file) exit(ended *Ended) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.exits++; ended == nil || ended.Status != Hang {
		f.exits = 0
	}
}

// line is jobs that stop together: those of a suite.
type line struct {
	mu      sync.Mutex
	hung    int // in a row
	all     int // that hung
	stopped string
}

func (l *line) note(s Status, most int) {
	if l == nil || most == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != Hang {
		l.hung = 0
		return
	}
	l.hung++
	l.all++
	switch {
	case l.stopped != "":
	case l.hung >= most:
		l.stopped = fmt.Sprintf("the suite has stopped: %d cases in a row hung", most)
	case l.all >= most*hangsInAll:
		l.stopped = fmt.Sprintf("the suite has stopped: %d cases hung", l.all)
	}
}

func (l *line) why() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// worker owns one child process at a time.
type worker struct {
	pool     *pool
	ctx      context.Context
	kind     *kind // of the child
	process  *Process
	greeting Greeting
}

// stop ends the child. It returns how that went wrong.
func (w *worker) stop() *Ended {
	if w.process == nil {
		return nil
	}
	p := w.process
	w.process = nil
	if w.kind.file.hangsAtExit() {
		p.Kill()
		return nil
	}
	ended := p.Stop(min(exitTimeout, w.pool.limit("")))
	w.kind.file.exit(ended)
	return ended
}

func (p *pool) limit(id string) time.Duration {
	if p.bound != nil {
		return p.bound(id)
	}
	return cmp.Or(p.timeout, DefaultTimeout)
}

// compute returns the result of one case; the error is one of the case's folder or of starting the child.
func (w *worker) compute(j job) (Result, error) {
	id := j.task.ID
	fail := func(s Status, message string) Result { return Result{ID: id, Status: s, Message: message} }
	for _, why := range []string{j.line.why(), j.kind.file.why()} {
		if why != "" {
			return fail(NotRun, why), nil
		}
	}
	if w.ctx.Err() != nil {
		return fail(NotRun, interrupted), nil
	}
	if err := os.Mkdir(j.task.Dir, 0o755); err != nil {
		return fail(NotRun, err.Error()), err
	}
	defer removeAll(j.task.Dir)
	if w.process == nil {
		w.kind, w.greeting = j.kind, Greeting{}
		var err error
		var ended *Ended
		w.process, w.greeting, err = StartProcess(w.ctx, j.kind.command(), w.pool.limit(""))
		if errors.As(err, &ended) || err == nil {
			j.kind.file.load(ended)
		}
		switch {
		case ended != nil:
			w.process = nil
			j.line.note(ended.Status, w.pool.hangs)
			return Result{ID: id, Status: ended.Status, Message: ended.Message, Signal: ended.Signal,
				Function: ended.Function}, nil
		case err != nil:
			w.process = nil
			err = fmt.Errorf("the suite cannot use %s: %w", j.kind.file.path, err)
			j.kind.file.stop(err.Error())
			return fail(NotRun, err.Error()), err
		}
	}
	res, alive := w.process.Compute(j.task, w.pool.limit(id))
	if !alive {
		w.process.close()
		w.process = nil
	}
	j.line.note(res.Status, w.pool.hangs)
	return res, nil
}

// removeAll removes a folder, also one that holds folders without permissions.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error { //nolint:errcheck // what is left is left
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700) //nolint:errcheck // as above
		}
		return nil
	})
	os.RemoveAll(dir)
}
