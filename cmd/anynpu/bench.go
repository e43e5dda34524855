package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/profile"
)

const benchSchema = "anynpu.bench/1"

// benchFlags are the flags of bench.
type benchFlags struct {
	measureFlags
	warmup, time      time.Duration
	spread, tolerance float64
	baseline          string
	json              bool
	timeout           time.Duration
	concurrency       int
}

func newBench(stdout, stderr io.Writer) *cobra.Command {
	f := benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench MODEL",
		Short: "Measure how fast a model runs",
		Long: `bench runs an ONNX model for some time, after a warm-up, and shows how long a
run takes: lowest time, median, 90th and 99th percentile, runs per second, and
what loading took. Inputs are made up unless they are given.

The time is divided into five parts. When their lowest times differ by more than
--spread, something else uses the machine: bench tries again, three times in
all, then shows the figures of the calmest attempt, says that they are not stable,
and ends with exit code 6. With --baseline the lowest time is compared with an
earlier run's, exit code 1 when it is more than --tolerance above.

With --concurrency so many executions run at once, for --time, without parts: it
is for servers and for programs with threads. Runs that a server of a remote device
computed are counted by address; exit code 5 when any run fails.`,
		Example: `  anynpu bench model.onnx
  anynpu bench model.onnx --threads 1 --json > before.json
  anynpu bench model.onnx --threads 1 --baseline before.json
  anynpu bench dynamic.onnx --shape x=1,3,224,224
  anynpu bench model.onnx --device remote:NAME --concurrency 8`,
		Args: oneModel,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], stdout, stderr) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.DurationVar(&f.warmup, "warmup", 500*time.Millisecond, "run this `TIME` before anything counts, and at least twice")
	fl.DurationVar(&f.time, "time", 2*time.Second, "measure for this `TIME`, and at least ten runs")
	fl.Float64Var(&f.spread, "spread", 0.1, "largest difference of the lowest times of five parts, relative to the lowest")
	fl.StringVar(&f.baseline, "baseline", "", "compare with `FILE`, which bench --json has written")
	fl.Float64Var(&f.tolerance, "tolerance", 0.05, "how much slower than --baseline is still the same")
	fl.Var((*seconds)(&f.timeout), "timeout",
		"end with exit code 7 when a run takes longer than this `TIME`, in seconds or with a unit; 0: "+
			"never")
	fl.IntVar(&f.concurrency, "concurrency", 0, "have `N` executions run at once; 0: one, in parts that are compared")
	fl.BoolVar(&f.json, "json", false,
		`write JSON, schema "anynpu.bench/1", with --concurrency "anynpu.bench-concurrent/1"`)
	return cmd
}

// benchReport is the JSON form of bench.
type benchReport struct {
	Schema    string          `json:"schema"` // "anynpu.bench/1"
	File      string          `json:"file"`
	Device    string          `json:"device"`
	API       string          `json:"api"` // whose programs run the same: "ohnn" or "rknn"
	Threads   int             `json:"threads"`
	Kernels   string          `json:"kernels"` // of the CPU: "reference", or an instruction set
	LoadMS    float64         `json:"load_ms"`
	Stable    bool            `json:"stable"`
	Spread    float64         `json:"spread"`
	Limit     float64         `json:"spread_limit"` // above it times are not stable
	Figures   *benchFigures   `json:"figures"`
	PeakBytes int64           `json:"peak_bytes"` // intermediate results held at once
	PeakRSS   int64           `json:"peak_rss_bytes"`
	Baseline  *baselineReport `json:"baseline,omitempty"`
}

// baselineReport compares lowest times.
type baselineReport struct {
	File   string  `json:"file"`
	MinMS  float64 `json:"min_ms"`
	Change float64 `json:"change"` // this lowest time relative to that, less 1: above 0 is slower
	Slower bool    `json:"slower"` // by more than --tolerance
}

const (
	benchParts    = 5
	benchAttempts = 3
)

func (f *benchFlags) check() error {
	switch {
	case f.warmup < 0 || f.time < 0:
		return usage("--warmup %v --time %v: want 0 or more [tool-warmup-time]", f.warmup, f.time)
	case f.timeout < 0:
		return usage("--timeout %v: want 0 or more [tool-timeout]", f.timeout)
	case f.concurrency < 0 || f.concurrency > maxConcurrency:
		return usage("--concurrency %d: want 0 to %d [tool-concurrency]", f.concurrency, maxConcurrency)
	case f.concurrency > 0 && f.baseline != "":
		return usage("--concurrency goes without --baseline [tool-concurrency-baseline]")
	case !(f.spread >= 0) || !(f.tolerance >= 0):
		return usage("--spread %g --tolerance %g: want 0 or more [tool-spread-tolerance]", f.spread, f.tolerance)
	}
	return nil
}

// deadline returns the deadline of a run that begins now.
func (f *benchFlags) deadline() (at time.Time) {
	if f.timeout > 0 {
		at = time.Now().Add(f.timeout)
	}
	return at
}

func (f *benchFlags) run(path string, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.concurrency > 0 {
		c := concurrency{&f.measureFlags, f.concurrency, f.warmup, f.time, f.deadline, f.json}
		return c.run(path, stdout, stderr)
	}
	base, err := readBaseline(f.baseline)
	if err != nil {
		return err
	}
	on, err := f.machine(stderr)
	if err != nil {
		return err
	}
	defer on.close()
	m, err := f.ready(path, on, false, stderr, stderr)
	if err != nil {
		return err
	}
	defer m.close()
	r := benchReport{Schema: benchSchema, File: path, Device: on.devices[0].Info().ID, API: f.api, Threads: on.threads,
		Kernels: on.kernels(), LoadMS: msOf(m.load)}
	if base != nil && (filepath.Base(base.File) != filepath.Base(path) || base.Threads != on.threads) {
		return usage("--baseline %s: measured %s with %s, not %s with %s "+
			"[tool-baseline-measured]", f.baseline, base.File, threadsText(base.Threads),
			path, threadsText(on.threads))
	}
	if base != nil && cmp.Or(base.API, apiOHNN) != f.api {
		return usage("--baseline %s: measured with --api %s, not %s "+
			"[tool-baseline-measured-api]", f.baseline, cmp.Or(base.API, apiOHNN), f.api)
	}
	timed := waiting(stderr, "measuring")
	defer timed()
	parts, err := attempts(func() ([][]time.Duration, error) {
		return timings(func() error { return m.Repeat(f.deadline()) }, f.warmup, f.time)
	}, f.spread)
	timed()
	if err != nil {
		return exit(exitRun, err)
	}
	r.Spread, r.Limit = spread(parts), f.spread
	r.Stable = r.Spread <= f.spread
	if r.PeakRSS, err = peakRSS(); err != nil {
		return exit(exitRun, err)
	}
	r.PeakBytes = m.Stats().PeakMemory
	r.Figures = figures(parts)
	flops, err := profile.Total(m.Graph, m.in)
	if err != nil {
		return exit(exitModel, err)
	}
	r.Figures.GFLOP = 1e-9 * float64(flops)
	r.Figures.GFLOPS = 1e3 * r.Figures.GFLOP / r.Figures.MinMS
	if base != nil {
		change := r.Figures.MinMS/base.Figures.MinMS - 1
		r.Baseline = &baselineReport{f.baseline, base.Figures.MinMS, change, change > f.tolerance}
	}
	if f.json {
		if err := writeJSON(stdout, r); err != nil {
			return err
		}
	} else {
		r.write(stdout)
	}
	switch {
	case !r.Stable:
		return exit(exitUnstable, fmt.Errorf("not stable: the lowest times of %d parts differ by %.0f %%, want at most "+
			"%.0f %%; "+
			"is the machine busy? --spread %s accepts them", benchParts, 100*r.Spread, 100*f.spread, accepting(r.Spread)))
	case r.Baseline != nil && r.Baseline.Slower:
		return exit(exitDifferent, fmt.Errorf("%.1f %% slower than %s", 100*r.Baseline.Change, f.baseline))
	}
	return nil
}

// attempts measures until the parts are no further apart than the limit, three times at most, and returns the parts of
// the calmest attempt.
func attempts(measure func() ([][]time.Duration, error), limit float64) (best [][]time.Duration, err error) {
	for range benchAttempts {
		parts, err := measure()
		if err != nil {
			return nil, err
		}
		if best == nil || spread(parts) < spread(best) {
			best = parts
		}
		if spread(best) <= limit {
			break
		}
	}
	return best, nil
}

// accepting is the value of --spread that takes times that are so far apart.
func accepting(spread float64) string {
	return strconv.FormatFloat(math.Ceil(100*spread-1e-9)/100, 'f', -1, 64)
}

// timings warms up and then returns the times of runs in five parts of equal length.
func timings(run func() error, warmup, limit time.Duration) ([][]time.Duration, error) {
	for begin, i := clock(), 0; i < 2 || clock()-begin < warmup; i++ {
		if err := run(); err != nil {
			return nil, err
		}
	}
	parts := make([][]time.Duration, benchParts)
	for k := range parts {
		parts[k] = make([]time.Duration, 0, 1<<12)
		for begin, now := clock(), time.Duration(0); len(parts[k]) < benchLeast || now-begin < limit/benchParts; {
			from := clock()
			if err := run(); err != nil {
				return nil, err
			}
			now = clock()
			parts[k] = append(parts[k], max(now-from, 1))
		}
	}
	return parts, nil
}

// spread returns how far the lowest times of the parts are apart, relative to the lowest.
func spread(parts [][]time.Duration) float64 {
	var lowest []time.Duration
	for _, p := range parts {
		lowest = append(lowest, slices.Min(p))
	}
	return float64(slices.Max(lowest))/float64(slices.Min(lowest)) - 1
}

// readBaseline reads what bench --json has written; nil without a path.
func readBaseline(path string) (*benchReport, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exit(exitUsage, fault.As(fault.File, err, "--baseline"))
	}
	var r benchReport
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, usage("--baseline %s: not a file that bench --json writes: %v [tool-baseline-bench-json]", path, err)
	}
	switch {
	case r.Schema != benchSchema:
		return nil, usage("--baseline %s: schema %q, want %q [tool-baseline-schema]", path, r.Schema, benchSchema)
	case !r.Stable && r.Figures != nil:
		return nil, usage("--baseline %s: was measured while the machine was busy, and its times are not stable; measure "+
			"again, "+
			"or with --spread %s [tool-baseline-measured-machine]", path, accepting(r.Spread))
	case r.Figures == nil || !(r.Figures.MinMS > 0):
		return nil, usage("--baseline %s: holds no figures [tool-baseline-holds-no]", path)
	}
	return &r, nil
}

// peakRSS returns the process's largest resident size so far in bytes.
func peakRSS() (int64, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fault.As(fault.Internal, err, "getrusage")
	}
	return int64(u.Maxrss) * 1024, nil
}

func (r *benchReport) write(w io.Writer) {
	f := r.Figures
	printf(w, "device      %s, %s, kernels %s\n", r.Device, threadsText(r.Threads), r.Kernels)
	printf(w, "load        %.1f ms\n", r.LoadMS)
	printf(w, "runs        %d, %.1f per second\n", f.Runs, f.Throughput)
	printf(w, "min         %.4f ms (%.1f GFLOP/s)\n", f.MinMS, f.GFLOPS)
	printf(w, "median      %.4f ms\n", f.MedianMS)
	printf(w, "p90         %.4f ms\n", f.P90MS)
	printf(w, "p99         %.4f ms\n", f.P99MS)
	stable := ""
	if !r.Stable {
		stable = fmt.Sprintf(", not stable: want at most %.0f %%, or --spread %s", 100*r.Limit, accepting(r.Spread))
	}
	printf(w, "spread      %.1f %%%s\n", 100*r.Spread, stable)
	printf(w, "memory      %.3g MB of intermediate results, %.1f MB resident at most\n", float64(r.PeakBytes)/1e6,
		float64(r.PeakRSS)/1e6)
	if b := r.Baseline; b != nil {
		printf(w, "baseline    %.4f ms, now %+.1f %%\n", b.MinMS, 100*b.Change)
	}
}
