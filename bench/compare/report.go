package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

const schema = "anynpu.comparison/1"

// Report is bench.json.
type Report struct {
	Schema    string            `json:"schema"` // "anynpu.comparison/1"
	Date      string            `json:"date"`
	Machine   Machine           `json:"machine"`
	Settings  Settings          `json:"settings"`
	Engines   map[string]string `json:"engines"` // versions
	Peaks     []Peak            `json:"peaks"`
	Results   []Result          `json:"results"`
	Summaries []Summary         `json:"summaries"`
}

// Machine is where it was measured.
type Machine struct {
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"` // that the process may use
	ISA  string `json:"isa"`  // level of vector instructions of this library's kernels
}

// Settings are those of the command.
type Settings struct {
	Threads []int   `json:"threads"`
	Seconds float64 `json:"seconds"`
	Rounds  int     `json:"rounds"`
	Runs    int     `json:"runs"`
}

// Peak is the highest float32 rate seen during the measurements.
type Peak struct {
	Threads int     `json:"threads"`
	GFLOPS  float64 `json:"gflops"`
}

// Result compares one network at one number of threads.
type Result struct {
	Network    string  `json:"network"`
	Format     string  `json:"format"`
	Product    bool    `json:"product"` // one matrix product, not a network
	GFLOP      float64 `json:"gflop"`   // two per multiply-add
	Threads    int     `json:"threads"`
	AnyNPU     Figure  `json:"anynpu"`
	ORT        Figure  `json:"onnxruntime"`
	Ratio      float64 `json:"ratio"`      // best time of ONNX Runtime by best time of this library
	Difference float64 `json:"difference"` // of the outputs, relative to the largest value
	Error      string  `json:"error,omitempty"`
}

// Figure is what one engine did.
type Figure struct {
	BestMS   float64 `json:"best_ms"`   // of all runs of all rounds
	MedianMS float64 `json:"median_ms"` // the lowest of the rounds
	GFLOPS   float64 `json:"gflops"`    // by the best time
	LoadMS   float64 `json:"load_ms"`   // the lowest of the rounds
	RSSMB    float64 `json:"peak_rss_mb"`
	Runs     int     `json:"runs"`
}

func figure(t taken, n *network) Figure {
	return Figure{1e3 * t.Best, 1e3 * t.Median, n.gflop() / t.Best, 1e3 * t.Load, t.PeakRSS / 1e6, t.Runs}
}

// Summary is a geometric mean over a set of networks.
type Summary struct {
	Set      string  `json:"set"`
	Threads  int     `json:"threads"`
	Networks int     `json:"networks"`
	Ratio    float64 `json:"ratio"`
}

func threadsText(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

func (s *Summary) line() string {
	return fmt.Sprintf("%-55s %-10s %6.3f over %d", s.Set, threadsText(s.Threads), s.Ratio, s.Networks)
}

// setScaling is the one set whose ratio is of this library alone: its best time with one thread by that with more.
const setScaling = "one thread's time by that of more"

// sets are the groups that have a geometric mean; slow says whether ONNX Runtime takes more than 1 ms.
var sets = []struct {
	name string
	has  func(r *Result, slow bool) bool
}{
	{"float32 networks above 1 ms, x ONNX Runtime", func(r *Result, slow bool) bool {
		return r.Format == "fp32" &&
			!r.Product && slow
	}},
	{"float32 networks, x ONNX Runtime", func(r *Result, _ bool) bool { return r.Format == "fp32" && !r.Product }},
	{"float32 matrix products, x ONNX Runtime", func(r *Result, _ bool) bool { return r.Format == "fp32" && r.Product }},
	{"int8 networks, x ONNX Runtime", func(r *Result, _ bool) bool { return r.Format != "fp32" && !r.Product }},
	{"int8 matrix products, x ONNX Runtime", func(r *Result, _ bool) bool { return r.Format != "fp32" && r.Product }},
}

// summarize fills Summaries. A network is above 1 ms when ONNX Runtime's best time with one thread is, or with the only
// number measured.
func (r *Report) summarize() {
	one := map[string]*Result{} // by network: one thread
	for i := range r.Results {
		if x := &r.Results[i]; x.Error == "" && (x.Threads == 1 || one[x.Network] == nil) {
			one[x.Network] = x
		}
	}
	for _, threads := range r.Settings.Threads {
		for _, set := range sets {
			r.mean(set.name, threads, func(x *Result) float64 {
				if !set.has(x, one[x.Network].ORT.BestMS > 1) {
					return 0
				}
				return x.Ratio
			})
		}
		r.mean(setScaling+", float32 above 1 ms", threads, func(x *Result) float64 {
			o := one[x.Network]
			if threads == 1 || o.Threads != 1 || !sets[0].has(x, o.ORT.BestMS > 1) {
				return 0
			}
			return o.AnyNPU.BestMS / x.AnyNPU.BestMS
		})
	}
}

// mean appends the geometric mean of ratio over the results where it is not 0.
func (r *Report) mean(set string, threads int, ratio func(*Result) float64) {
	sum, n := 0.0, 0
	for i := range r.Results {
		if x := &r.Results[i]; x.Threads == threads && x.Error == "" {
			if v := ratio(x); v > 0 {
				sum, n = sum+math.Log(v), n+1
			}
		}
	}
	if n > 0 {
		r.Summaries = append(r.Summaries, Summary{set, threads, n, math.Exp(sum / float64(n))})
	}
}

func (r *Report) failures() int {
	n := 0
	for i := range r.Results {
		if r.Results[i].Error != "" {
			n++
		}
	}
	return n
}

// notePeak measures the peak once more and returns the highest so far.
func (r *Report) notePeak(threads int) float64 {
	p := Peak{threads, measurePeak(threads)}
	for i := range r.Peaks {
		if q := &r.Peaks[i]; q.Threads == threads {
			q.GFLOPS = max(q.GFLOPS, p.GFLOPS)
			return q.GFLOPS
		}
	}
	r.Peaks = append(r.Peaks, p)
	return p.GFLOPS
}

func (r *Report) peak(threads int) float64 {
	for _, p := range r.Peaks {
		if p.Threads == threads {
			return p.GFLOPS
		}
	}
	return 0
}

var heading = fmt.Sprintf("%-30s %9s %9s   %9s %9s  %6s  %7s %5s %5s  %11s  %11s", "network", "ours ms", "median",
	"ORT ms", "median", "ratio",
	"GFLOP/s", "peak", "ORT", "load ms ORT", "RSS MB  ORT")

// line is the result as a row under heading; the percentages are of the float32 peak, hence not for int8.
func (x *Result) line(peak float64) string {
	if x.Error != "" && x.AnyNPU.Runs == 0 {
		return fmt.Sprintf("%-30s FAILED: %s", x.Network, x.Error)
	}
	a, o := &x.AnyNPU, &x.ORT
	s := fmt.Sprintf("%-30s %9.3f %9.3f   %9.3f %9.3f  %6.2f  %7.1f %s %s  %5.0f %5.0f  %5.0f %5.0f", x.Network, a.BestMS,
		a.MedianMS, o.BestMS, o.MedianMS,
		x.Ratio, a.GFLOPS, x.percent(a, peak), x.percent(o, peak), a.LoadMS, o.LoadMS, a.RSSMB, o.RSSMB)
	if x.Error != "" {
		s += "  FAILED: " + x.Error
	}
	return s
}

func (x *Result) percent(f *Figure, peak float64) string {
	if x.Format != "fp32" || peak == 0 {
		return "    -"
	}
	return fmt.Sprintf("%4.0f%%", 100*f.GFLOPS/peak)
}

// write writes bench.json and bench.html.
func (r *Report) write(folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "bench.json"), append(text, '\n'), 0o666); err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "bench.html"), page, 0o666)
}

func machine() Machine {
	m := Machine{CPU: runtime.GOARCH, CPUs: runtime.NumCPU(), ISA: kernel.Active().String()}
	text, _ := os.ReadFile("/proc/cpuinfo") // absent: the architecture will do
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}
