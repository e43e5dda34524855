package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// comparison is what to run: this library, ONNX Runtime, and other peers.
type comparison struct {
	engines  []engine
	settings Settings
}

// engine is a program that measures one model. Its arguments follow those of command: the number of threads, except for
// this library, which finds it in ANYNPU_THREADS, the model, seconds, runs, and the file of its outputs.
type engine struct {
	name    string
	command []string
}

const ours, reference = 0, 1 // engines that every comparison has: this library and ONNX Runtime

// limit is how long a peer may take for one network, of which it may make a model of its own first.
const limit = 10 * time.Minute

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
	for _, e := range c.engines[reference:] {
		r.peers = append(r.peers, e.name)
	}
	for _, threads := range c.settings.Threads {
		fmt.Fprintf(w, "\n%s; peak %.1f GFLOP/s\n%s\n", threadsText(threads), r.notePeak(threads), r.heading())
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

// network measures all engines by turns. Without this library or ONNX Runtime the network fails; another peer that
// fails, or whose outputs are not those of ONNX Runtime, has a reason in place of figures.
func (c *comparison) network(n *network, threads int, scratch string, r *Report) Result {
	res := Result{Network: n.name, Format: n.Format, Product: n.product(), GFLOP: n.gflop(), Threads: threads}
	best, reasons := make([]taken, len(c.engines)), make([]string, len(c.engines))
	for round := range c.settings.Rounds {
		r.notePeak(threads)
		for turn := range c.engines {
			k := (round + turn) % len(c.engines) // who is first changes
			if reasons[k] != "" {
				continue
			}
			t, err := c.run(k, n.file, threads, filepath.Join(scratch, c.engines[k].name))
			if err != nil && k <= reference {
				res.Error = err.Error()
				return res
			}
			if err != nil {
				reasons[k] = err.Error()
				continue
			}
			best[k].add(t)
		}
	}
	res.AnyNPU = figure(best[ours], n)
	r.Engines[c.engines[ours].name] = best[ours].Version
	expected := filepath.Join(scratch, c.engines[reference].name)
	var err error
	if res.Difference, err = agree(filepath.Join(scratch, c.engines[ours].name), expected, n); err != nil {
		res.Error = err.Error()
	}
	for k := reference; k < len(c.engines); k++ {
		p := Peer{Name: c.engines[k].name, Reason: reasons[k]}
		if p.Reason == "" {
			r.Engines[p.Name] = best[k].Version
			p.Difference, err = agree(filepath.Join(scratch, p.Name), expected, n)
			if err != nil && k > reference {
				p.Reason = p.Name + ": " + err.Error()
			} else {
				p.Figure = figure(best[k], n)
				p.Ratio = best[k].Best / best[ours].Best
			}
		}
		res.Peers = append(res.Peers, p)
		if p.Reason == "" && (res.Peer == "" || p.Ratio < res.Ratio) {
			res.Peer, res.Ratio = p.Name, p.Ratio
		}
	}
	res.ORT = res.Peers[0].Figure
	return res
}

// add joins the figures of another round.
func (b *taken) add(t taken) {
	if b.Runs == 0 {
		*b = t
		return
	}
	b.Best, b.Median, b.Load = min(b.Best, t.Best), min(b.Median, t.Median), min(b.Load, t.Load)
	b.Runs, b.PeakRSS = b.Runs+t.Runs, max(b.PeakRSS, t.PeakRSS)
}

// run runs one engine's process.
func (c *comparison) run(k int, model string, threads int, outputs string) (t taken, err error) {
	args := c.engines[k].command
	if k != ours {
		args = append(args[:len(args):len(args)], strconv.Itoa(threads))
	}
	args = append(args[:len(args):len(args)], model, fmt.Sprint(c.settings.Seconds), strconv.Itoa(c.settings.Runs),
		outputs)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second // for what it has started
	cmd.Env = append(os.Environ(), "ANYNPU_THREADS="+strconv.Itoa(threads))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	name := c.engines[k].name
	if err := cmd.Run(); err != nil {
		return t, fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(errs.String()+out.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return t, fmt.Errorf("%s: %w in %q", name, err, out.String())
	}
	if !(t.Best > 0) || t.Runs < 1 {
		return t, fmt.Errorf("%s: no figures in %q", name, out.String())
	}
	return t, nil
}

// tolerance is how far the outputs of two engines may be apart, relative to the largest value. Integer kernels round at
// other places, and so do those of halves.
func tolerance(n *network) float64 {
	switch {
	case n.quantized():
		return 0.1
	case n.Format == "fp16":
		return 2e-2
	}
	return 1e-3
}

// agree returns the difference of two files of outputs, and an error when it is more than n's tolerance.
func agree(file, expected string, n *network) (float64, error) {
	x, y, err := values(file, expected)
	if err != nil {
		return 0, err
	}
	apart := difference
	if n.Selects && n.Format != "fp32" {
		apart = spread
	}
	d, err := apart(x, y)
	if err != nil {
		return d, err
	}
	if most := tolerance(n); !(d <= most) {
		return d, fmt.Errorf("outputs differ by %.2g of the largest value, want at most %g", d, most)
	}
	return d, nil
}

// values returns the float32 values of two files, of which there are as many in both. One that is not finite is an
// error.
func values(files ...string) (x, y []float64, err error) {
	var all [2][]float64
	for k, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		for ; len(b) >= 4; b = b[4:] {
			all[k] = append(all[k], float64(math.Float32frombits(binary.NativeEndian.Uint32(b))))
		}
	}
	if x, y = all[0], all[1]; len(x) != len(y) || len(x) == 0 {
		return nil, nil, fmt.Errorf("outputs of %d and %d values", len(x), len(y))
	}
	for i := range x {
		if d := x[i] - y[i]; math.IsNaN(d) || math.IsInf(d, 0) {
			return nil, nil, fmt.Errorf("outputs: value %d is %g and %g", i, x[i], y[i])
		}
	}
	return x, y, nil
}

// difference returns the largest difference of x from y relative to y's largest value.
func difference(x, y []float64) (float64, error) {
	worst, largest, at := 0.0, 0.0, 0
	for i := range x {
		if d := math.Abs(x[i] - y[i]); d > worst {
			worst, at = d, i
		}
		largest = max(largest, math.Abs(y[i]))
	}
	if worst == 0 {
		return 0, nil
	}
	if largest == 0 {
		return 0, fmt.Errorf("outputs: value %d is %g, all of the other engine are 0", at, worst)
	}
	return worst / largest, nil
}

// spread returns the mean difference of the values in order of size, relative to y's largest value. It is for networks
// that choose among candidates: rounding decides which of two that are nearly as good comes first.
func spread(x, y []float64) (float64, error) {
	slices.Sort(x)
	slices.Sort(y)
	sum, largest := 0.0, 0.0
	for i := range x {
		sum += math.Abs(x[i] - y[i])
		largest = max(largest, math.Abs(y[i]))
	}
	if sum == 0 {
		return 0, nil
	}
	if largest == 0 {
		return 0, errors.New("outputs: all of the other engine are 0")
	}
	return sum / float64(len(x)) / largest, nil
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
