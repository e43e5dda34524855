package suite

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// documentSchema names the form of a Document as JSON.
const documentSchema = "anynpu.conformance/1"

// Document is what came of suites of several APIs in one run.
type Document struct {
	Schema  string       `json:"schema"` // "anynpu.conformance/1"
	Began   time.Time    `json:"began"`
	Seconds float64      `json:"seconds"`
	Host    string       `json:"host"`              // system, architecture and processors
	Good    bool         `json:"good"`              // every suite passed
	Stopped string       `json:"stopped,omitempty"` // why not all cases were run
	APIs    []*APIReport `json:"apis"`
}

// APIReport is what came of the suites of one API.
type APIReport struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Library  string        `json:"library"`
	Version  string        `json:"version"` // as in Greeting
	Device   string        `json:"device"`  // likewise
	Parts    []*Tally      `json:"parts"`   // by Part alone
	Places   []*Tally      `json:"places"`
	Skipped  []*Reason     `json:"skipped,omitempty"`
	Failures []*Failure    `json:"failures,omitempty"`
	Suites   []SuiteReport `json:"suites"`
}

// SuiteReport is a suite with its reports, one for each mode.
type SuiteReport struct {
	Name    string    `json:"name"`
	Short   string    `json:"short"`
	Good    bool      `json:"good"`
	Summary string    `json:"summary"` // what the suite prints at its end
	Reports []*Report `json:"reports"`
}

// Tally counts the cases of a place, of all its modes.
type Tally struct {
	Place
	Cases   int     `json:"cases"`
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"` // died and hung ones too
	Skipped int     `json:"skipped"`
	NotRun  int     `json:"not_run,omitempty"`
	Seconds float64 `json:"seconds"` // of all cases, one after the other
}

// Reason is why cases were skipped, or not run.
type Reason struct {
	Part  string `json:"part"`
	Text  string `json:"text"`
	Cases int    `json:"cases"`
}

// RunAll runs suites, prints what came of them and returns it. It has the document saved as soon as there are results,
// and again when failures have their calls and programs. An error says that a library could not be judged, or not to
// the end; the document has what there is.
func RunAll(suites []*Suite, o Options, w io.Writer, save func(*Document) error) (*Document, error) {
	out := &Document{Schema: documentSchema, Began: time.Now().UTC().Truncate(time.Second), Good: true,
		Host: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	start := time.Now()
	n := &session{options: o}
	for _, s := range suites {
		if err := n.add(s); err != nil {
			return nil, err
		}
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	if err := n.survey(w); err != nil {
		return nil, err
	}
	failure := n.run()
	if failure != nil {
		out.Good, out.Stopped = false, failure.Error()
	}
	for _, r := range n.runs {
		if r.outcome.Filtered && r.cases() == 0 {
			continue
		}
		var summary strings.Builder
		good := r.print(io.MultiWriter(w, &summary), &o)
		a := out.api(r)
		a.Suites = append(a.Suites, SuiteReport{r.suite.Name, r.suite.Short, good, clip(summary.String(), mostSummary),
			r.outcome.Reports})
		out.Good = out.Good && good
	}
	for _, a := range out.APIs {
		a.count()
	}
	out.Seconds = time.Since(start).Seconds()
	if err := save(out); err != nil {
		return out, errors.Join(failure, err)
	}
	if n.options.context().Err() == nil && n.explain(out) {
		out.Seconds = time.Since(start).Seconds()
		failure = errors.Join(failure, save(out))
	}
	out.table(w)
	return out, failure
}

// mostSummary bounds what a suite printed, in bytes, as the document has it: it has every failure besides.
const mostSummary = 64 << 10

// cases counts those of all modes.
func (r *suiteRun) cases() (n int) {
	for _, rep := range r.outcome.Reports {
		n += len(rep.Results)
	}
	return n
}

// api is the report of the API of a run.
func (d *Document) api(r *suiteRun) *APIReport {
	name := r.suite.API.Name
	i := slices.IndexFunc(d.APIs, func(a *APIReport) bool { return a.Name == name })
	if i < 0 {
		i = len(d.APIs)
		d.APIs = append(d.APIs, &APIReport{Name: name, Title: r.suite.API.Title})
	}
	a := d.APIs[i]
	for _, rep := range r.outcome.Reports {
		a.Library = rep.Library
		a.Version, a.Device = cmp.Or(rep.Version, a.Version), cmp.Or(rep.Device, a.Device)
	}
	return a
}

// count fills the tallies, the reasons and the failures.
func (a *APIReport) count() {
	parts, places, reasons := map[string]*Tally{}, map[Place]*Tally{}, map[Reason]*Reason{}
	for _, s := range a.Suites {
		for _, rep := range s.Reports {
			for _, x := range rep.Results {
				p := entry(parts, x.Part, func() *Tally { return &Tally{Place: Place{Part: x.Part}} })
				if p.Cases == 0 {
					a.Parts = append(a.Parts, p)
				}
				p.add(&x)
				t := entry(places, x.Place, func() *Tally { return &Tally{Place: x.Place} })
				if t.Cases == 0 {
					a.Places = append(a.Places, t)
				}
				t.add(&x)
				if x.Status == Skip || x.Status == NotRun {
					key := Reason{Part: x.Part, Text: x.Message}
					r := entry(reasons, key, func() *Reason { return &key })
					r.Cases++
				}
			}
		}
	}
	a.fold()
	a.Skipped = slices.SortedFunc(maps.Values(reasons), func(x, y *Reason) int {
		return cmp.Or(cmp.Compare(y.Cases, x.Cases), cmp.Compare(x.Part, y.Part), cmp.Compare(x.Text, y.Text))
	})
}

// entry is the entry of a key, made if there is none.
func entry[K comparable, V any](m map[K]*V, key K, make func() *V) *V {
	if m[key] == nil {
		m[key] = make()
	}
	return m[key]
}

func (t *Tally) add(x *Result) {
	t.Cases++
	t.Seconds += x.Time.Seconds()
	switch x.Status {
	case Pass:
		t.Passed++
	case Skip:
		t.Skipped++
	case NotRun:
		t.NotRun++
	default:
		t.Failed++
	}
}

// Total counts the cases of all parts.
func (a *APIReport) Total() Tally {
	var t Tally
	for _, p := range a.Parts {
		t.Cases, t.Passed, t.Failed, t.Skipped = t.Cases+p.Cases, t.Passed+p.Passed, t.Failed+p.Failed, t.Skipped+p.Skipped
		t.NotRun, t.Seconds = t.NotRun+p.NotRun, t.Seconds+p.Seconds
	}
	return t
}

// Total counts the cases of all APIs.
func (d *Document) Total() Tally {
	all := &APIReport{}
	for _, a := range d.APIs {
		t := a.Total()
		all.Parts = append(all.Parts, &t)
	}
	return all.Total()
}

// table prints a line for each part of each API, and one of all.
func (d *Document) table(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	all := d.Total()
	row := func(cells ...any) {
		if all.NotRun == 0 {
			cells = slices.Delete(cells, 6, 7)
		}
		fmt.Fprintln(t, strings.Join(strs(cells), "\t")+"\t")
	}
	row("", "", "cases", "passed", "failed", "skipped", "not run", "seconds of cases")
	for _, a := range d.APIs {
		for _, p := range a.Parts {
			row(a.Name, p.Part, p.Cases, p.Passed, p.Failed, p.Skipped, p.NotRun, fmt.Sprintf("%.1f", p.Seconds))
		}
	}
	t.Flush() //nolint:errcheck // like the other lines of a run
	fmt.Fprintf(w, "conformance: cases %d, failed %d, skipped %d, ", all.Cases, all.Failed, all.Skipped)
	if all.NotRun > 0 {
		fmt.Fprintf(w, "not run %d, ", all.NotRun)
	}
	fmt.Fprintf(w, "%.1f s\n", d.Seconds)
}

func strs(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// WriteJSON writes the document as JSON.
func (d *Document) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(d) }

// WriteJUnit writes the document in the form that CI systems read.
func (d *Document) WriteJUnit(w io.Writer) error {
	all := struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []any
	}{}
	for _, a := range d.APIs {
		for _, s := range a.Suites {
			for _, rep := range s.Reports {
				all.Suites = append(all.Suites, rep.junit())
			}
		}
	}
	return writeXML(w, all)
}
