package bombs

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/rewrite"
)

const (
	allowance = 1 << 30         // bytes of address space and of data that a child may have more than it starts with
	hang      = 2 * time.Minute // without a word: machines are loaded, and a step of a run cannot be stopped
	runLimit  = time.Second     // then a run is told to stop between two steps
	perChild  = 400             // models: the next child starts afresh
)

// Save writes the models with names to a folder, as run_NAME.onnx those whose runs end with an error of memory, as
// long_NAME.onnx those of Long, as build_NAME.onnx the others.
func Save(folder string) error {
	for _, b := range Long() {
		if err := rewrite.File(filepath.Join(folder, "long_"+b.Name+".onnx"), b.Model); err != nil {
			return err
		}
	}
	for _, b := range Known() {
		name := "build_" + b.Name
		if b.Runs {
			name = "run_" + b.Name
		}
		if err := rewrite.File(filepath.Join(folder, name+".onnx"), b.Model); err != nil {
			return err
		}
	}
	return nil
}

// Child confines this process and tries the models of n seeds on d, with a line to w before and after each.
func Child(w io.Writer, d device.Device, from, n uint64) error {
	if err := Confine(allowance, allowance); err != nil {
		return err
	}
	for seed := from; seed < from+n; seed++ {
		fmt.Fprintf(w, "begin %d\n", seed)
		o := Try(Random(seed), d, Trial{Seed: seed, Limit: runLimit})
		fmt.Fprintf(w, "end %s build %.3f run %.3f costly %v %v\n", o.Stage, o.Build.Seconds(), o.Run.Seconds(),
			o.CostlyRun, o.Err)
	}
	return nil
}

// Search tries models of one seed after the other in children until time is up.
type Search struct {
	Time    time.Duration
	First   uint64 // seed
	Jobs    int    // children at a time
	Verbose bool   // print what became of each model
	Child   func(from, n uint64) *exec.Cmd
}

// Run prints the seeds of models by which a child died or hung, and a summary, and tells whether there was none of
// the former. An error says that a child could not be started.
func (s *Search) Run(w io.Writer) (bool, error) {
	var next atomic.Uint64
	next.Store(s.First)
	end := time.Now().Add(s.Time)
	t := tally{Search: s, w: w, stages: map[string]int{}}
	var wg sync.WaitGroup
	for range s.Jobs {
		wg.Go(func() {
			for time.Now().Before(end) && t.err() == nil {
				from := next.Add(perChild) - perChild
				t.follow(from, end)
			}
		})
	}
	wg.Wait()
	all := 0
	for _, n := range t.stages {
		all += n
	}
	fmt.Fprintf(w,
		"bombs: %d models under %d MiB: refused by import %d, by build %d, run ended by an error %d, run to the "+
			"end %d; slowest build %.1f s (seed %d)\n",
		all, allowance>>20, t.stages[Import], t.stages[Build], t.stages[Compute], t.stages[Done], t.slowest, t.slow)
	return !t.failed, t.err()
}

// tally is what became of models.
type tally struct {
	*Search
	sync.Mutex
	w       io.Writer
	broken  error // a child could not be started
	stages  map[string]int
	slowest float64 // build, in seconds
	slow    uint64
	failed  bool
}

func (t *tally) err() error {
	t.Lock()
	defer t.Unlock()
	return t.broken
}

// follow runs one child until it is through, time is up, or it fails.
func (t *tally) follow(from uint64, end time.Time) {
	cmd := t.Child(from, perChild)
	var errors strings.Builder
	cmd.Stderr = &limited{w: &errors, left: 4000}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Lock()
		t.broken = err
		t.Unlock()
		return
	}
	var seed atomic.Uint64
	var silent, enough atomic.Bool
	timer := time.AfterFunc(hang, func() { silent.Store(true); _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		timer.Reset(hang)
		f := strings.Fields(lines.Text())
		switch {
		case len(f) == 2 && f[0] == "begin":
			n, _ := strconv.ParseUint(f[1], 10, 64)
			seed.Store(n)
		case len(f) > 4 && f[0] == "end":
			t.note(f, seed.Load(), lines.Text())
			if time.Now().After(end) {
				enough.Store(true)
				_ = cmd.Process.Kill()
			}
		}
	}
	err = cmd.Wait()
	timer.Stop()
	if enough.Load() || err == nil {
		return
	}
	t.Lock()
	defer t.Unlock()
	t.failed = true
	what := err.Error()
	if silent.Load() {
		what = fmt.Sprintf("no word for %v", hang)
	}
	fmt.Fprintf(t.w, "FAILED seed %d: %s\n%s\n", seed.Load(), what, errors.String())
}

func (t *tally) note(f []string, seed uint64, line string) {
	t.Lock()
	defer t.Unlock()
	if t.Verbose {
		fmt.Fprintln(t.w, seed, line)
	}
	stage := f[1]
	if stage == Build && strings.HasSuffix(line, "true <nil>") {
		stage = Done
	}
	t.stages[stage]++
	if s, _ := strconv.ParseFloat(f[3], 64); s > t.slowest {
		t.slowest, t.slow = s, seed
	}
}

// limited keeps the beginning of what is written.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	_, err := l.w.Write(p[:n])
	return len(p), err
}
