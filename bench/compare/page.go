package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// mean is a line of the table of geometric means: one set, a ratio per number of threads, nil where there is none.
type mean struct {
	Set    string
	Ratios []*Summary
}

// group is the part of the page for one number of threads and one format.
type group struct {
	Title string
	Peak  bool // the rows have shares of the peak
	Rows  []row
}

type row struct {
	*Result
	Ours, Theirs bar
}

// bar is one engine's rate; Width, Peak and Share are percentages: of the page's widest bar, where on that scale the
// peak is (0: not shown), and of the peak.
type bar struct {
	Ours               bool
	Width, Peak, Share float64
}

// Text tells the number of threads.
func (p Peak) Text() string { return threadsText(p.Threads) }

// page returns the report as an HTML page that needs no other file.
func (r *Report) page() ([]byte, error) {
	data := struct {
		*Report
		When   string
		Means  []mean
		Groups []group
	}{Report: r, When: r.Date, Means: r.means()}
	if t, err := time.Parse(time.RFC3339, r.Date); err == nil {
		data.When = t.UTC().Format("2006-01-02 15:04 UTC")
	}
	for _, threads := range r.Settings.Threads {
		for _, set := range []struct {
			name string
			has  func(*Result) bool
		}{
			{"float32 networks", func(x *Result) bool { return x.Format == "fp32" && !x.Product }},
			{"float32 matrix products", func(x *Result) bool { return x.Format == "fp32" && x.Product }},
			{"int8", func(x *Result) bool { return x.Format != "fp32" }},
		} {
			if g := r.group(threads, set.has); len(g.Rows) > 0 {
				g.Title = set.name + ", " + threadsText(threads)
				data.Groups = append(data.Groups, g)
			}
		}
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, data)
	return b.Bytes(), err
}

// means has the summaries in order of their sets' first mention.
func (r *Report) means() []mean {
	var ms []mean
	for i := range r.Summaries {
		s := &r.Summaries[i]
		k := slices.IndexFunc(ms, func(m mean) bool { return m.Set == s.Set })
		if k < 0 {
			k, ms = len(ms), append(ms, mean{s.Set, make([]*Summary, len(r.Settings.Threads))})
		}
		if t := slices.Index(r.Settings.Threads, s.Threads); t >= 0 {
			ms[k].Ratios[t] = s
		}
	}
	return ms
}

func (r *Report) group(threads int, has func(*Result) bool) group {
	var g group
	peak, top := r.peak(threads), 0.0
	for i := range r.Results {
		if x := &r.Results[i]; x.Threads == threads && has(x) {
			g.Rows = append(g.Rows, row{Result: x})
			top = max(top, x.AnyNPU.GFLOPS, x.ORT.GFLOPS)
			if x.Format != "fp32" {
				peak = 0
			}
		}
	}
	g.Peak, top = peak > 0, max(top, peak)
	for i := range g.Rows {
		x := &g.Rows[i]
		x.Ours, x.Theirs = newBar(&x.AnyNPU, peak, top), newBar(&x.ORT, peak, top)
		x.Ours.Ours = true
	}
	return g
}

func newBar(f *Figure, peak, top float64) bar {
	var b bar
	if top > 0 {
		b.Width, b.Peak = 100*f.GFLOPS/top, 100*peak/top
	}
	if peak > 0 {
		b.Share = 100 * f.GFLOPS / peak
	}
	return b
}
