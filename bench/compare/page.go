package main

import (
	"bytes"
	_ "embed"
	"fmt"
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

// row has a bar of each engine with figures, this library first, and the reasons of those without.
type row struct {
	*Result
	Bars    []bar
	Reasons []string
}

// bar is one engine's rate; Width, Peak and Share are percentages: of the page's widest bar, where on that scale the
// peak is (0: not shown), and of the peak.
type bar struct {
	*Figure
	Name               string
	Ours               bool
	Width, Peak, Share float64
}

// Beside names the fastest peer.
func (r row) Beside() string { return title(r.Peer) }

// Beside is the mean beside each peer, with the lowest ratio.
func (s *Summary) Beside() string {
	return fmt.Sprintf("of %d; lowest %.3f %s%s", s.Networks, s.Lowest, s.Network, s.beside())
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
			{"float16", func(x *Result) bool { return x.Format == "fp16" }},
			{"int8", func(x *Result) bool { return quantized(x.Format) }},
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
			top = max(top, x.AnyNPU.GFLOPS)
			for k := range x.Peers {
				top = max(top, x.Peers[k].GFLOPS)
			}
			if x.Format != "fp32" {
				peak = 0
			}
		}
	}
	g.Peak, top = peak > 0, max(top, peak)
	for i := range g.Rows {
		x := &g.Rows[i]
		x.Bars = []bar{newBar("anynpu", &x.AnyNPU, peak, top)}
		x.Bars[0].Ours = true
		for k := range x.Peers {
			if p := &x.Peers[k]; p.Reason != "" {
				x.Reasons = append(x.Reasons, p.Reason)
			} else {
				x.Bars = append(x.Bars, newBar(p.Name, &p.Figure, peak, top))
			}
		}
	}
	return g
}

func newBar(engine string, f *Figure, peak, top float64) bar {
	b := bar{Figure: f, Name: title(engine)}
	if top > 0 {
		b.Width, b.Peak = 100*f.GFLOPS/top, 100*peak/top
	}
	if peak > 0 {
		b.Share = 100 * f.GFLOPS / peak
	}
	return b
}
