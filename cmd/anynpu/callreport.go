package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/record"
)

// callReport is the report of exec --report on a program.
type callReport struct {
	Command   string
	Host      string
	Began     time.Time
	Took, CPU time.Duration
	Peak      int64 // bytes of memory
	End       string
	Good      bool
	Processes []record.Process // those that called the library
	Missing   int              // further ones that had no room for a record
}

// newCallReport is the report of a program that has ended, with the records of its processes.
func newCallReport(args []string, began time.Time, e *ended, processes []record.Process) *callReport {
	r := &callReport{Command: commandLine(args), Began: began, Took: e.took, CPU: e.cpu, Peak: e.peak,
		Processes: processes, End: fmt.Sprintf("exit code %d", e.code), Good: e.code == 0 && e.signal == 0,
		Host: fmt.Sprintf("AnyNPU %s, %s, %d CPUs", version, machineOf(runtime.GOARCH), runtime.NumCPU())}
	if e.signal != 0 {
		r.End = "ended by " + unix.SignalName(e.signal)
	}
	return r
}

// machineOf is the name of a processor that people use.
func machineOf(arch string) string {
	if arch == "amd64" {
		return "x86_64"
	}
	return arch
}

// commandLine is a command as a shell takes it, cut where it is long.
func commandLine(args []string) string {
	words := make([]string, 0, len(args))
	for i, a := range args {
		if i > 2 && len(args) > 5 {
			words = append(words, fmt.Sprintf("... (%d more)", len(args)-i))
			break
		}
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

// text writes the report for people.
func (r *callReport) text(out io.Writer) error {
	w := &bytes.Buffer{}
	printf(w, "Report of %s\n%s after %s, CPU time %s, at most %s of memory\n", r.Command, r.End, spent(r.Took),
		spent(r.CPU), size(r.Peak))
	if text := r.MissingText(); text != "" {
		printf(w, "\n%s\n", text)
	} else if len(r.Processes) == 0 {
		printf(w, "\nNothing called AnyNPU: no process of the program has used a library of it.\n")
	}
	for i := range r.Processes {
		if len(r.Processes) > 1 {
			printf(w, "\nProcess %d of %d, number %d: %s\n", i+1, len(r.Processes), r.Processes[i].PID,
				commandLine(r.Processes[i].Program))
		}
		processText(w, &r.Processes[i])
	}
	_, err := w.WriteTo(out)
	return err
}

// table writes lines in columns, if there are any.
func table(w io.Writer, title string, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	printf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		printf(t, "  ")
		for k, cell := range row {
			if k > 0 {
				printf(t, "\t")
			}
			printf(t, "%s", cell)
		}
		printf(t, "\n")
	}
	t.Flush()
}

func processText(w io.Writer, p *record.Process) {
	models := [][]string{{"file", "size", "loaded"}}
	for i := range p.Models {
		m := &p.Models[i]
		models = append(models, []string{m.Name, size(m.Bytes), times(m.Times)})
	}
	table(w, "Models", models)
	for i := range p.Models {
		if m := &p.Models[i]; m.Instead != "" {
			printf(w, "  %s was loaded in place of %s\n", m.Name, standsFor(m.Model))
		}
	}
	graphs := [][]string{{"name", "computed by", "runs", "failed", "mean", "least", "most"}}
	for i := range p.Graphs {
		g := &p.Graphs[i]
		graphs = append(graphs, []string{graphName(g.Graph), computedBy(g.Graph), fmt.Sprint(g.Runs),
			fmt.Sprint(g.Failed), milliseconds(g.Mean), milliseconds(g.Least), milliseconds(g.Most)})
	}
	table(w, "Graphs", graphs)
	for i := range p.Graphs {
		for _, no := range p.Graphs[i].Refused {
			printf(w, "  %s: %s is not computed by %s: %s\n", graphName(p.Graphs[i].Graph), no.Operator, no.Device, no.Reason)
		}
	}
	functions := [][]string{{"name", "calls", "refused", "total", "median", "p99"}}
	for _, f := range p.Functions {
		t := timesOf(f)
		functions = append(functions, []string{f.Name, fmt.Sprint(f.Calls), fmt.Sprint(f.Refused), milliseconds(t.Total),
			milliseconds(t.Median), milliseconds(t.P99)})
	}
	table(w, "Functions", functions)
	if text := convertedText(p); text != "" {
		printf(w, "  %s\n", text)
	}
	sentences(w, "Refused calls", p.Refused)
	sentences(w, "Messages", p.Messages)
	if p.Lost > 0 {
		printf(w, "\n%s\n", lostText(p))
	}
	printf(w, "\nAt exit\n  %s\n", leftText(p))
}

// timesOf are the times of a function's calls, zeros where none is known.
func timesOf(f record.Function) record.Times {
	if f.Times == nil {
		return record.Times{}
	}
	return *f.Times
}

// convertedText says which part of the time in calls went into conversions, "" where no time is known.
func convertedText(p *record.Process) string {
	total := inCalls(p)
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("conversions of inputs and outputs: %s, %.1f %% of the time in calls", milliseconds(p.Converted),
		100*float64(p.Converted)/float64(total))
}

// inCalls is the sum of the times of all calls.
func inCalls(p *record.Process) (total time.Duration) {
	for _, f := range p.Functions {
		total += timesOf(f).Total
	}
	return total
}

// sentences writes events with how often each happened.
func sentences(w io.Writer, title string, list []record.Counted) {
	if len(list) == 0 {
		return
	}
	printf(w, "\n%s\n", title)
	for i := range list {
		printf(w, "  %s: %s%s%s\n", whose(list[i]), list[i].Text, bracketed(list[i].ID), again(list[i].Times))
	}
}

// whose returns the beginning of an event: the function, or the component and the level.
func whose(c record.Counted) string {
	if c.Function != "" {
		return c.Function
	}
	return c.Component + " " + c.Level
}

// bracketed is the id of a refused call as the log shows it.
func bracketed(id string) string {
	if id == "" {
		return ""
	}
	return " [" + id + "]"
}

func again(n uint64) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// standsFor tells what a model was loaded in place of.
func standsFor(m record.Model) string {
	text := m.Instead
	if len(m.Targets) > 0 {
		text += " for " + strings.Join(m.Targets, ", ")
	}
	if m.Map != "" {
		text += ", as " + filepath.Base(m.Map) + " says"
	}
	return text
}

func graphName(g record.Graph) string {
	if p := g.Product; p.M > 0 {
		return fmt.Sprintf("%s, M %d, K %d, N %d: %s x %s = %s, A and C %s, B %s", g.Name, p.M, p.K, p.N, p.Types[0],
			p.Types[1], p.Types[2], p.AC, p.B)
	}
	return cmp.Or(g.Name, "(no name)")
}

// computedBy tells which device computes how many of a graph's operators.
func computedBy(g record.Graph) string {
	parts := []string{}
	for _, d := range g.Devices {
		parts = append(parts, fmt.Sprintf("%s: %d", d.Name, d.Operators))
	}
	if len(parts) == 0 {
		return "nothing to compute"
	}
	if g.Product.M > 0 || g.Devices[0].Operators == 0 { // a product, or runs at a server
		return g.Devices[0].Name
	}
	if len(parts) == 1 {
		return fmt.Sprintf("%s: all %d operators", g.Devices[0].Name, g.Devices[0].Operators)
	}
	return strings.Join(parts, ", ") + " operators"
}

// leftText tells what was not given back.
func leftText(p *record.Process) string {
	switch l := p.Left; {
	case l == nil:
		return "not known: the process was ended by a signal or by _exit"
	case len(l.Objects) == 0 && l.Buffers == 0:
		return "everything was given back"
	default:
		what := append([]string{}, l.Objects...)
		return fmt.Sprintf("not given back: %s", strings.Join(append(what, fmt.Sprintf("%d buffers with %s", l.Buffers,
			size(l.Bytes))), ", "))
	}
}

// MissingText tells of processes without a record, "" if there are none.
func (r *callReport) MissingText() string {
	if r.Missing == 0 {
		return ""
	}
	return fmt.Sprintf("Nothing is known of what %d of the processes called: there was no room for their records.",
		r.Missing)
}

// lostText tells of events that are missing.
func lostText(p *record.Process) string {
	return fmt.Sprintf("The report is incomplete: %d of its lines could not be written, for want of room.", p.Lost)
}

// milliseconds is a time in milliseconds, with two digits that say something.
func milliseconds(d time.Duration) string {
	switch v := float64(d) / 1e6; {
	case d == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.3f ms", v)
	default:
		return fmt.Sprintf("%.1f ms", v)
	}
}

func spent(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func size(bytes int64) string {
	switch v := float64(bytes); {
	case v >= 1<<30:
		return fmt.Sprintf("%.1f GiB", v/(1<<30))
	case v >= 1<<20:
		return fmt.Sprintf("%.1f MiB", v/(1<<20))
	case v >= 1<<10:
		return fmt.Sprintf("%.1f KiB", v/(1<<10))
	default:
		return fmt.Sprintf("%d bytes", bytes)
	}
}

//go:embed callreport.html
var callReportHTML string

//go:embed style.html
var styleHTML string // of this page and of info's

var callReportPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"ms": milliseconds, "spent": spent, "size": size, "times": times, "again": again, "standsFor": standsFor,
	"graphName": graphName, "lost": lostText, "left": leftText, "whose": whose, "command": commandLine, "bracketed": bracketed,
	"timesOf": timesOf, "converted": func(p record.Process) string { return convertedText(&p) },
	"add": func(a, b int) int { return a + b },
	"share": func(part, whole time.Duration) float64 {
		if whole == 0 {
			return 0
		}
		return max(100*float64(part)/float64(whole), 1)
	},
}).Parse(callReportHTML + styleHTML))

// page writes the report as one HTML page.
func (r *callReport) page(w io.Writer) error { return callReportPage.Execute(w, r) }

// Calls, RefusedCalls and Runs are the sums of all processes, for the page.
func (r *callReport) Calls() (n uint64) {
	for i := range r.Processes {
		for _, f := range r.Processes[i].Functions {
			n += f.Calls
		}
	}
	return n
}

func (r *callReport) RefusedCalls() (n uint64) {
	for i := range r.Processes {
		for _, f := range r.Processes[i].Refused {
			n += f.Times
		}
	}
	return n
}

func (r *callReport) Runs() (n uint64) {
	for i := range r.Processes {
		for _, g := range r.Processes[i].Graphs {
			n += g.Runs
		}
	}
	return n
}
