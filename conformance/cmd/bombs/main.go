// Command bombs loads and runs models that are small as files and large in meaning, in children that may have 1 GiB of
// address space and of data more than they start with. A child that dies or stays silent is a failure, which names the
// model; a model that is refused is none.
//
//	bombs [-seconds 300] [-seed 1] [-jobs 2] [-write DIR]
//
// Models are made from seeds: -one SEED tries one of them here and now, -write saves the ones with names.
package main

import (
	"bufio"
	"flag"
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

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/bombs"
)

const (
	allowance = 1 << 30         // bytes
	hang      = 2 * time.Minute // without a word: machines are loaded, and a step of a run cannot be stopped
	runLimit  = time.Second     // then a run is told to stop between two steps
	perChild  = 400             // bombs: the next child starts afresh
)

var (
	seconds = flag.Int("seconds", 300, "how long to try models")
	first   = flag.Uint64("seed", 1, "first seed")
	jobs    = flag.Int("jobs", 2, "children at a time")
	one     = flag.Uint64("one", 0, "try the model of this seed")
	verbose = flag.Bool("v", false, "say what became of each model")
	write   = flag.String("write", "", "save the named models in this folder, as run_NAME.onnx those whose runs end "+
		"with an error of memory")
	child = flag.String("child", "", "for the command itself: try the models FROM:COUNT")
)

func main() {
	flag.Parse()
	switch {
	case *child != "":
		from, count, _ := strings.Cut(*child, ":")
		a, _ := strconv.ParseUint(from, 10, 64)
		n, _ := strconv.ParseUint(count, 10, 64)
		check(bombs.Confine(allowance, allowance))
		work(a, n)
	case *one != 0:
		check(bombs.Confine(allowance, allowance))
		work(*one, 1)
	case *write != "":
		for _, b := range bombs.Known() {
			name := "build_" + b.Name
			if b.Runs {
				name = "run_" + b.Name
			}
			check(os.WriteFile(filepath.Join(*write, name+".onnx"), b.Model, 0o644))
		}
	default:
		os.Exit(tryAll())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bombs:", err)
		os.Exit(2)
	}
}

// work tries n models and prints a line before and after each.
func work(from, n uint64) {
	d, err := cpu.New(cpu.Config{})
	check(err)
	for seed := from; seed < from+n; seed++ {
		fmt.Printf("begin %d\n", seed)
		o := bombs.Try(bombs.Random(seed), d, bombs.Trial{Seed: seed, Limit: runLimit})
		fmt.Printf("end %s build %.3f run %.3f costly %v %v\n", o.Stage, o.Build.Seconds(), o.Run.Seconds(), o.CostlyRun,
			o.Err)
	}
}

// tally is what became of models.
type tally struct {
	sync.Mutex
	stages  map[string]int
	slowest float64 // build, in seconds
	slow    uint64
	failed  bool
}

func tryAll() int {
	var next atomic.Uint64
	next.Store(*first)
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	t := tally{stages: map[string]int{}}
	var wg sync.WaitGroup
	for range *jobs {
		wg.Go(func() {
			for time.Now().Before(end) {
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
	fmt.Printf("bombs: %d models under %d MiB: refused by import %d, by build %d, run ended by an error %d, run to the "+
		"end %d; slowest build %.1f s (seed %d)\n",
		all, allowance>>20, t.stages[bombs.Import], t.stages[bombs.Build], t.stages[bombs.Compute], t.stages[bombs.Done],
		t.slowest, t.slow)
	if t.failed {
		return 1
	}
	return 0
}

// follow runs one child until it is through, time is up, or it fails.
func (t *tally) follow(from uint64, end time.Time) {
	cmd := exec.Command(os.Args[0], "-child", fmt.Sprintf("%d:%d", from, perChild))
	var errors strings.Builder
	cmd.Stderr = &limited{w: &errors, left: 4000}
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
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
	fmt.Printf("FAILED seed %d: %s\n%s\n", seed.Load(), what, errors.String())
}

func (t *tally) note(f []string, seed uint64, line string) {
	t.Lock()
	defer t.Unlock()
	if *verbose {
		fmt.Println(seed, line)
	}
	stage := f[1]
	if stage == bombs.Build && strings.HasSuffix(line, "true <nil>") {
		stage = bombs.Done
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
