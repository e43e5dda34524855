package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// verdictSchema names the form of a Verdict.
const verdictSchema = "anynpu.conformance.result/1"

// Verdict is what a vendor submits of a run: what was judged, and how many cases of each rule and operator passed.
type Verdict struct {
	Schema  string        `json:"schema"` // "anynpu.conformance.result/1"
	Suites  string        `json:"suites"` // version of the suites
	Began   time.Time     `json:"began"`
	Host    string        `json:"host"`
	Stopped string        `json:"stopped,omitempty"` // why not all cases were run
	APIs    []*VerdictAPI `json:"apis"`
}

// VerdictAPI is the verdict on the library of one API.
type VerdictAPI struct {
	Name    string                  `json:"name"`
	Library string                  `json:"library"` // the file's name
	Version string                  `json:"version"` // as in Greeting
	Device  string                  `json:"device"`  // likewise
	Counts  map[Status]int          `json:"counts"`
	Groups  map[string]*VerdictPart `json:"groups"` // by suite, mode if there are several, and rule or operator
	Reasons map[string]int          `json:"reasons,omitempty"`
}

// VerdictPart counts the cases of a rule or operator.
type VerdictPart struct {
	Counts map[Status]int    `json:"counts"`
	Cases  map[string]Status `json:"cases,omitempty"` // those that did not pass
}

// Verdict is the document as a verdict. version is that of the suites.
func (d *Document) Verdict(version string) *Verdict {
	v := &Verdict{Schema: verdictSchema, Suites: version, Began: d.Began, Host: d.Host, Stopped: d.Stopped}
	for _, a := range d.APIs {
		out := &VerdictAPI{Name: a.Name, Library: filepath.Base(a.Library), Version: a.Version, Device: a.Device,
			Counts: map[Status]int{}, Groups: map[string]*VerdictPart{}, Reasons: map[string]int{}}
		for _, s := range a.Suites {
			for _, rep := range s.Reports {
				for _, x := range rep.Results {
					out.add(s.Name, rep.Mode, &x)
				}
			}
		}
		v.APIs = append(v.APIs, out)
	}
	return v
}

// add counts a result.
func (a *VerdictAPI) add(suite, mode string, x *Result) {
	group, rest, found := strings.Cut(x.ID, "/")
	if !found {
		rest = x.ID
	}
	key := suite + " " + group
	if mode != "" {
		key = suite + " " + mode + " " + group
	}
	p := entry(a.Groups, key, func() *VerdictPart { return &VerdictPart{Counts: map[Status]int{}} })
	p.Counts[x.Status]++
	a.Counts[x.Status]++
	if x.Status == Pass {
		return
	}
	if p.Cases == nil {
		p.Cases = map[string]Status{}
	}
	p.Cases[rest] = x.Status
	if x.Status == Skip || x.Status == NotRun {
		a.Reasons[x.Message]++
	}
}

// Write writes the verdict as JSON.
func (v *Verdict) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// ReadVerdict reads what Write has written.
func ReadVerdict(r io.Reader) (*Verdict, error) {
	v := &Verdict{}
	if err := json.NewDecoder(r).Decode(v); err != nil {
		return nil, fmt.Errorf("no result of conformance: %w", err)
	}
	if v.Schema != verdictSchema {
		return nil, fmt.Errorf("no result of conformance: want schema %q, got %q", verdictSchema, v.Schema)
	}
	return v, nil
}

// Diff prints what is otherwise in a later verdict, and tells whether nothing is worse: a case that passed does so
// again, unless it is no longer there.
func (v *Verdict) Diff(later *Verdict, w io.Writer) bool {
	good := true
	for _, old := range v.APIs {
		i := slices.IndexFunc(later.APIs, func(a *VerdictAPI) bool { return a.Name == old.Name })
		if i < 0 {
			fmt.Fprintf(w, "%s: not judged any more\n", old.Name)
			good = false
			continue
		}
		good = old.diff(later.APIs[i], w) && good
	}
	for _, a := range later.APIs {
		if !slices.ContainsFunc(v.APIs, func(old *VerdictAPI) bool { return old.Name == a.Name }) {
			fmt.Fprintf(w, "%s: judged now: %s\n", a.Name, shownCounts(a.Counts))
		}
	}
	return good
}

func (a *VerdictAPI) diff(later *VerdictAPI, w io.Writer) bool {
	fmt.Fprintf(w, "%s: %s %s, %s\n  was: %s\n  now: %s\n", a.Name, later.Library, later.Version, later.Device,
		shownCounts(a.Counts), shownCounts(later.Counts))
	worse, better := 0, 0
	keys := maps.Keys(a.Groups)
	all := slices.Collect(keys)
	for k := range later.Groups {
		if a.Groups[k] == nil {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	for _, k := range all {
		old, now := a.Groups[k], later.Groups[k]
		switch {
		case now == nil:
			fmt.Fprintf(w, "  gone   %s: %s\n", k, shownCounts(old.Counts))
			continue
		case old == nil:
			fmt.Fprintf(w, "  new    %s: %s\n", k, shownCounts(now.Counts))
			continue
		}
		for _, c := range union(old.Cases, now.Cases) {
			was, is := old.status(c), now.status(c)
			switch {
			case was == is:
			case is == Pass:
				better++
				fmt.Fprintf(w, "  better %s/%s: %s, was %s\n", k, c, is, was)
			case was == Pass || is.bad() && !was.bad():
				worse++
				fmt.Fprintf(w, "  worse  %s/%s: %s, was %s\n", k, c, is, was)
			default:
				fmt.Fprintf(w, "  other  %s/%s: %s, was %s\n", k, c, is, was)
			}
		}
	}
	fmt.Fprintf(w, "  %d better, %d worse\n", better, worse)
	return worse == 0
}

// status is that of a case: those that are not listed have passed.
func (p *VerdictPart) status(name string) Status {
	if s, ok := p.Cases[name]; ok {
		return s
	}
	return Pass
}

// union are the cases of both lists, in order.
func union(a, b map[string]Status) []string {
	out := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, in := a[name]; !in {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// shownCounts are counts in the order of outcomes.
func shownCounts(counts map[Status]int) string {
	var out []string
	for _, s := range []Status{Pass, Fail, Crash, Hang, Skip, NotRun} {
		if n := counts[s]; n > 0 || s == Pass || s == Fail {
			out = append(out, fmt.Sprintf("%s %d", s, n))
		}
	}
	return strings.Join(out, ", ")
}
