package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/profile"
)

// profileFlags are the flags of profile.
type profileFlags struct {
	measureFlags
	out       string
	runs, top int
	json      bool
}

func newProfile(stdout, stderr io.Writer) *cobra.Command {
	f := profileFlags{}
	cmd := &cobra.Command{
		Use:   "profile MODEL",
		Short: "Show where the time of a run goes",
		Long: `profile runs an ONNX model some times and shows, of the fastest run, the time
per operator, as the model calls it, and per node: milliseconds, share of the run, GFLOP/s (two
operations per multiply-add), and how the node was computed: by a fast kernel,
by the reference kernel, or within another node's time (fused). Steps that no
node asks for have names of their own: "layout" changes between NCHW and NHWC,
"decode" makes numbers of 8-bit codes, "unsign" and "centre" move codes to the
range that a kernel takes, "requantize" makes codes of sums, "repeat" broadcasts.

With -o the steps are also written as Chrome trace events, which Perfetto and
chrome://tracing show.`,
		Example: `  anynpu profile model.onnx -o trace.json
  anynpu profile model.onnx --threads 1 --top 0`,
		Args: oneModel,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], stdout, stderr) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write trace events to `FILE`")
	fl.IntVar(&f.runs, "runs", 10, "run `N` times and take the fastest")
	fl.IntVar(&f.top, "top", 20, "show the `N` slowest nodes; 0: all")
	fl.BoolVar(&f.json, "json", false, `write JSON, schema "anynpu.profile/1"`)
	return cmd
}

// profileReport is the JSON form of profile.
type profileReport struct {
	Schema    string        `json:"schema"` // "anynpu.profile/1"
	File      string        `json:"file"`
	Device    string        `json:"device"`
	API       string        `json:"api"` // whose programs run the same: "ohnn" or "rknn"
	Threads   int           `json:"threads"`
	Kernels   string        `json:"kernels"` // of the CPU: "reference", or an instruction set
	Runs      int           `json:"runs"`
	TotalMS   float64       `json:"total_ms"` // of the fastest run
	StepsMS   float64       `json:"steps_ms"` // sum of the nodes
	GFLOP     float64       `json:"gflop"`
	Operators []profileLine `json:"operators"` // longest first
	Nodes     []profileLine `json:"nodes"`     // in order of the run, then the fused ones
}

// profileLine is an operator or a node.
type profileLine struct {
	Operator int     `json:"operator"` // index of the model's node, -1: none, or several
	Op       string  `json:"op"`
	Name     string  `json:"name,omitempty"`
	Kernel   string  `json:"kernel"`
	Nodes    int     `json:"nodes"`
	StartMS  float64 `json:"start_ms"`
	MS       float64 `json:"ms"`
	Share    float64 `json:"share"` // of the sum of the nodes
	GFLOP    float64 `json:"gflop"`
	GFLOPS   float64 `json:"gflops"`
}

func (f *profileFlags) run(path string, stdout, stderr io.Writer) error {
	if f.runs < 1 || f.top < 0 {
		return usage("--runs %d --top %d: want 1 and 0 or more [tool-runs-top]", f.runs, f.top)
	}
	on, err := f.machine(stderr)
	if err != nil {
		return err
	}
	defer on.close()
	m, err := f.ready(path, on, true, stderr, stderr)
	if err != nil {
		return err
	}
	defer m.close()
	nodes, total, err := m.profiled(f.runs)
	if err != nil {
		return err
	}
	r := profileReport{Schema: "anynpu.profile/1", File: path, Device: on.devices[0].Info().ID, API: f.api,
		Threads: on.threads, Kernels: on.kernels(), Runs: f.runs, TotalMS: msOf(total)}
	r.fill(nodes)
	if f.out != "" {
		if err := writeTrace(f.out, path, nodes); err != nil {
			return exit(exitRun, err)
		}
	}
	if f.json {
		return writeJSON(stdout, r)
	}
	r.write(stdout, f.top)
	return nil
}

// profiled runs the model, once more than counts, and returns the nodes and the length of the fastest run.
func (m *measured) profiled(runs int) (nodes []profile.Node, total time.Duration, err error) {
	var best device.Stats
	for i := range runs + 1 {
		if err := m.Repeat(time.Time{}); err != nil {
			return nil, 0, exit(exitRun, err)
		}
		if s := m.Stats(); i > 0 && (i == 1 || s.LastRun < best.LastRun) {
			best = s
		}
	}
	nodes, err = profile.Join(m.Graph, m.in, best.Nodes)
	for i := range nodes {
		nodes[i].Op = m.operator(nodes[i].Node, nodes[i].Op)
	}
	return nodes, best.LastRun, exit(exitModel, err)
}

func (r *profileReport) fill(nodes []profile.Node) {
	sum := time.Duration(0)
	for i := range nodes {
		sum += nodes[i].Length
	}
	r.StepsMS = msOf(sum)
	r.Nodes, r.Operators = []profileLine{}, []profileLine{}
	index := map[[2]string]int{}
	for i := range nodes {
		n := &nodes[i]
		line := profileLine{Operator: n.Node, Op: n.OpText(), Name: n.Name, Kernel: n.Kernel, Nodes: 1,
			StartMS: msOf(n.Start), MS: msOf(n.Length),
			GFLOP: 1e-9 * float64(n.FLOPs)}
		r.GFLOP += line.GFLOP
		k := [2]string{line.Op, n.Kernel}
		at, known := index[k]
		if !known {
			at = len(r.Operators)
			index[k] = at
			r.Operators = append(r.Operators, profileLine{Operator: -1, Op: line.Op, Kernel: n.Kernel, StartMS: line.StartMS})
		}
		o := &r.Operators[at]
		o.Nodes++
		o.MS += line.MS
		o.GFLOP += line.GFLOP
		line.finish(r.StepsMS)
		r.Nodes = append(r.Nodes, line)
	}
	for i := range r.Operators {
		r.Operators[i].finish(r.StepsMS)
	}
	slices.SortStableFunc(r.Operators, func(a, b profileLine) int { return cmp.Compare(b.MS, a.MS) })
}

// finish computes share and rate.
func (l *profileLine) finish(sum float64) {
	if sum > 0 {
		l.Share = l.MS / sum
	}
	if l.MS > 0 {
		l.GFLOPS = 1e3 * l.GFLOP / l.MS
	}
}

func (r *profileReport) write(w io.Writer, top int) {
	printf(w, "%s on %s (%s), %s: fastest of %d runs %.4f ms, %.1f GFLOP/s\n\n", r.File, r.Device, r.Kernels,
		threadsText(r.Threads), r.Runs, r.TotalMS,
		rate(r.GFLOP, r.TotalMS))
	printf(w, "%10s %7s %6s %9s  %s\n", "ms", "share", "nodes", "GFLOP/s", "operator")
	for _, l := range r.Operators {
		printf(w, "%10.4f %6.1f%% %6d %9s  %s\n", l.MS, 100*l.Share, l.Nodes, l.rateText(), l.opText())
	}
	printf(w, "%10.4f between the nodes\n\n", r.TotalMS-r.StepsMS)
	slow := slices.Clone(r.Nodes)
	slices.SortStableFunc(slow, func(a, b profileLine) int { return cmp.Compare(b.MS, a.MS) })
	if top > 0 && len(slow) > top {
		slow = slow[:top]
	}
	width := 0
	for _, l := range slow {
		width = max(width, len(l.opText()))
	}
	printf(w, "%10s %7s %6s %9s  %-*s  %s\n", "ms", "share", "node", "GFLOP/s", width, "operator", "name")
	for _, l := range slow {
		node := "-"
		if l.Operator >= 0 {
			node = fmt.Sprint(l.Operator)
		}
		line := fmt.Sprintf("%10.4f %6.1f%% %6s %9s  %-*s  %s", l.MS, 100*l.Share, node, l.rateText(), width, l.opText(),
			l.Name)
		printf(w, "%s\n", strings.TrimRight(line, " "))
	}
}

func (l *profileLine) opText() string { return l.Op + ", " + l.Kernel }

// rateText is empty where there is no arithmetic or no time of its own.
func (l *profileLine) rateText() string {
	if l.GFLOPS == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", l.GFLOPS)
}

func rate(gflop, ms float64) float64 {
	if ms <= 0 {
		return 0
	}
	return 1e3 * gflop / ms
}

// traceEvent is one entry of the Chrome trace event format: phase "X" is a slice with a duration, "M" names a process
// or thread. Times are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Category string         `json:"cat,omitempty"`
	TS       float64        `json:"ts"`
	Dur      *float64       `json:"dur,omitempty"`
	PID      int            `json:"pid"`
	TID      int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// writeTrace writes the steps of a run, which follow each other on one track.
func writeTrace(path, model string, nodes []profile.Node) error {
	named := func(what, name string) traceEvent {
		return traceEvent{Name: what, Phase: "M", PID: 1, TID: 1, Args: map[string]any{"name": name}}
	}
	events := []traceEvent{named("process_name", "anynpu "+model), named("thread_name", "steps")}
	for i := range nodes {
		n := &nodes[i]
		if n.Kernel == device.KernelFused {
			continue
		}
		dur := float64(n.Length.Nanoseconds()) / 1e3
		name := n.OpText()
		if n.Name != "" {
			name += " " + n.Name
		}
		events = append(events, traceEvent{Name: name, Phase: "X", Category: n.Kernel,
			TS: float64(n.Start.Nanoseconds()) / 1e3, Dur: &dur, PID: 1, TID: 1,
			Args: map[string]any{"operator": n.Node, "device": n.Device, "kernel": n.Kernel, "MFLOP": float64(n.FLOPs) / 1e6,
				"GFLOP/s": n.GFLOPS()}})
	}
	f, err := os.Create(path)
	if err != nil {
		return fault.As(fault.File, err, "trace")
	}
	err = writeJSON(f, map[string]any{"displayTimeUnit": "ms", "traceEvents": events})
	if closed := f.Close(); err == nil {
		err = closed
	}
	return fault.As(fault.File, err, "trace %s", path)
}
