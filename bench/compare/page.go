package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// group is the part of the page for one number of threads and one format.
type group struct {
	Title string
	Peak  float64 // percent of the bars' width, 0: none
	Rows  []row
}

type row struct {
	*Result
	Ours, Theirs bar
}

type bar struct {
	Width  float64 // percent
	Figure *Figure
	Note   string // percent of the peak
}

// page returns the report as an HTML page that needs no other file.
func (r *Report) page() ([]byte, error) {
	data := struct {
		*Report
		Groups []group
	}{Report: r}
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

func (r *Report) group(threads int, has func(*Result) bool) group {
	g, peak, top := group{}, r.peak(threads), 0.0
	for i := range r.Results {
		if x := &r.Results[i]; x.Threads == threads && has(x) {
			g.Rows = append(g.Rows, row{Result: x})
			top = max(top, x.AnyNPU.GFLOPS, x.ORT.GFLOPS)
			if x.Format != "fp32" {
				peak = 0
			}
		}
	}
	if top = max(top, peak); top == 0 {
		return g
	}
	g.Peak = 100 * peak / top
	for i := range g.Rows {
		x := &g.Rows[i]
		x.Ours, x.Theirs = x.bar(&x.AnyNPU, peak, top), x.bar(&x.ORT, peak, top)
	}
	return g
}

func (x *Result) bar(f *Figure, peak, top float64) bar {
	b := bar{Width: 100 * f.GFLOPS / top, Figure: f}
	if peak > 0 {
		b.Note = fmt.Sprintf("%.0f %% of peak", 100*f.GFLOPS/peak)
	}
	return b
}
