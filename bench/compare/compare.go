package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// comparison is what to run.
type comparison struct {
	ours, peer, library string
	settings            Settings
}

// taken is what an engine prints; times are in seconds, memory in bytes.
type taken struct {
	Version string
	Load    float64
	Runs    int
	Best    float64
	Median  float64
	PeakRSS float64 `json:"peak_rss"`
}

// compare measures the networks of folder that match and reports each as it is done.
func (c *comparison) compare(folder string, patterns []string, w io.Writer) (*Report, error) {
	ns, err := networks(folder, patterns)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "compare")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	r := &Report{Schema: schema, Date: time.Now().UTC().Format(time.RFC3339), Machine: machine(), Settings: c.settings,
		Engines: map[string]string{}}
	for _, threads := range c.settings.Threads {
		fmt.Fprintf(w, "\n%s; peak %.1f GFLOP/s\n%s\n", threadsText(threads), r.notePeak(threads), heading)
		for i := range ns {
			res := c.network(&ns[i], threads, scratch, r)
			r.Results = append(r.Results, res)
			fmt.Fprintln(w, res.line(r.peak(threads)))
		}
	}
	r.summarize()
	fmt.Fprintln(w)
	for i := range r.Summaries {
		fmt.Fprintln(w, r.Summaries[i].line())
	}
	return r, nil
}

// network measures both engines by turns.
func (c *comparison) network(n *network, threads int, scratch string, r *Report) Result {
	res := Result{Network: n.name, Format: n.Format, Product: n.product(), GFLOP: n.gflop(), Threads: threads}
	outputs := [2]string{filepath.Join(scratch, "ours"), filepath.Join(scratch, "peer")}
	var best [2]taken
	for round := range c.settings.Rounds {
		r.notePeak(threads)
		for turn := range 2 {
			k := (round + turn) % 2 // who is first changes
			t, err := c.engine(k, n.file, threads, outputs[k])
			if err != nil {
				res.Error = err.Error()
				return res
			}
			if round == 0 {
				best[k] = t
				continue
			}
			b := &best[k]
			b.Best, b.Median, b.Load = min(b.Best, t.Best), min(b.Median, t.Median), min(b.Load, t.Load)
			b.Runs, b.PeakRSS = b.Runs+t.Runs, max(b.PeakRSS, t.PeakRSS)
		}
	}
	r.Engines["anynpu"], r.Engines["onnxruntime"] = best[0].Version, best[1].Version
	res.AnyNPU, res.ORT = figure(best[0], n), figure(best[1], n)
	res.Ratio = best[1].Best / best[0].Best
	var err error
	if res.Difference, err = difference(outputs[0], outputs[1]); err != nil {
		res.Error = err.Error()
	} else if limit := tolerance(n); !(res.Difference <= limit) {
		res.Error = fmt.Sprintf("outputs differ by %.2g of the largest value, want at most %g", res.Difference, limit)
	}
	return res
}

// engine runs one process: number 0 this library, number 1 ONNX Runtime.
func (c *comparison) engine(k int, model string, threads int, outputs string) (t taken, err error) {
	seconds, runs := fmt.Sprint(c.settings.Seconds), strconv.Itoa(c.settings.Runs)
	cmd := exec.Command(c.ours, model, seconds, runs, outputs)
	if k == 1 {
		cmd = exec.Command(c.peer, c.library, strconv.Itoa(threads), model, seconds, runs, outputs)
	}
	cmd.Env = append(os.Environ(), "ANYNPU_THREADS="+strconv.Itoa(threads))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return t, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(errs.String()+out.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return t, fmt.Errorf("%s: %w in %q", filepath.Base(cmd.Path), err, out.String())
	}
	if !(t.Best > 0) || t.Runs < 1 {
		return t, fmt.Errorf("%s: no figures in %q", filepath.Base(cmd.Path), out.String())
	}
	return t, nil
}

// tolerance is how far the outputs of both engines may be apart, relative to the largest value. Integer kernels round
// at other places.
func tolerance(n *network) float64 {
	if n.quantized() {
		return 0.1
	}
	return 1e-3
}

// difference returns the largest difference of two files of float32 values relative to the second's largest value; a
// value that is not finite is an error.
func difference(a, b string) (float64, error) {
	x, err := os.ReadFile(a)
	if err != nil {
		return 0, err
	}
	y, err := os.ReadFile(b)
	if err != nil {
		return 0, err
	}
	if len(x) != len(y) || len(x) == 0 || len(x)%4 != 0 {
		return 0, fmt.Errorf("outputs of %d and %d bytes", len(x), len(y))
	}
	worst, largest, at := 0.0, 0.0, 0
	for i := 0; i < len(x); i += 4 {
		p := float64(math.Float32frombits(binary.NativeEndian.Uint32(x[i:])))
		q := float64(math.Float32frombits(binary.NativeEndian.Uint32(y[i:])))
		d := math.Abs(p - q)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return 0, fmt.Errorf("outputs: value %d is %g and %g", i/4, p, q)
		}
		if d > worst {
			worst, at = d, i/4
		}
		largest = max(largest, math.Abs(q))
	}
	if worst == 0 {
		return 0, nil
	}
	if largest == 0 {
		return 0, fmt.Errorf("outputs: value %d is %g, all of the other engine are 0", at, worst)
	}
	return worst / largest, nil
}

// measurePeak returns the float32 multiply-add rate of n cores at once in GFLOP/s.
func measurePeak(n int) float64 {
	var wg sync.WaitGroup
	rates := make([]float64, n)
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rates[i] = kernel.PeakFP32() * 1e-9
		})
	}
	wg.Wait()
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return sum
}
