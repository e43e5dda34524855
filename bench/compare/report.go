package main

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	peers     []string          // names
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
	Peers      []Peer  `json:"peers"`      // ONNX Runtime and other engines
	Peer       string  `json:"peer"`       // the fastest of them
	Ratio      float64 `json:"ratio"`      // best time of the fastest peer by best time of this library
	Difference float64 `json:"difference"` // of the outputs from ONNX Runtime's, relative to the largest value
	Error      string  `json:"error,omitempty"`
}

// Peer is what another engine did with a network, or the reason why it has no figures.
type Peer struct {
	Name string `json:"name"`
	Figure
	Ratio      float64 `json:"ratio"`      // its best time by best time of this library
	Difference float64 `json:"difference"` // of its outputs from ONNX Runtime's
	Reason     string  `json:"reason,omitempty"`
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

func threadsText(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
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

// titles are the names of engines as the table and the page have them; others stand as they are.
var titles = map[string]string{"anynpu": "AnyNPU", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}

func title(engine string) string { return cmp.Or(titles[engine], engine) }

// heading has a column of best times for each peer.
func (r *Report) heading() string {
	s := fmt.Sprintf("%-30s %9s %9s  ", "network", "ours ms", "median")
	for _, p := range r.peers {
		s += fmt.Sprintf(" %12s", title(p))
	}
	return s + fmt.Sprintf("  %6s %-12s  %7s %5s  %11s  %11s", "ratio", "beside", "GFLOP/s", "peak", "load ms its",
		"RSS MB  its")
}

// line is the result as a row under heading: the best times of the peers, and more of the fastest one. The percentage
// is of the float32 peak, hence not for others.
func (x *Result) line(peak float64) string {
	if x.Error != "" && x.AnyNPU.Runs == 0 {
		return fmt.Sprintf("%-30s FAILED: %s", x.Network, x.Error)
	}
	a, o := &x.AnyNPU, &Peer{}
	s := fmt.Sprintf("%-30s %9.3f %9.3f  ", x.Network, a.BestMS, a.MedianMS)
	for i := range x.Peers {
		p := &x.Peers[i]
		if p.Name == x.Peer {
			o = p
		}
		if p.Reason != "" {
			s += fmt.Sprintf(" %12s", "-")
		} else {
			s += fmt.Sprintf(" %12.3f", p.BestMS)
		}
	}
	s += fmt.Sprintf("  %6.2f %-12s  %7.1f %s  %5.0f %5.0f  %5.0f %5.0f", x.Ratio, title(x.Peer), a.GFLOPS,
		x.percent(a, peak), a.LoadMS, o.LoadMS, a.RSSMB, o.RSSMB)
	if x.Error != "" {
		s += "  FAILED: " + x.Error
	}
	for _, p := range x.Peers {
		if p.Reason != "" {
			s += "\n    " + p.Reason
		}
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
