package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// outputReport describes one output.
type outputReport struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Sizes []int64 `json:"sizes"`
	statistics
	Top        []entry     `json:"top,omitempty"`
	File       string      `json:"file,omitempty"`
	Compared   bool        `json:"compared"`
	Difference string      `json:"difference,omitempty"`
	Comparison *comparison `json:"comparison,omitempty"` // of outputs of the expected type and sizes
}

// statistics are of the elements of a tensor, of complex ones of their parts.
type statistics struct {
	Min  number `json:"min"` // NaN when no element is a number
	Max  number `json:"max"`
	Mean number `json:"mean"` // of the finite ones, NaN when there is none
	NaN  int    `json:"nan"`  // elements that are not a number; the statistics leave them out
	Inf  int    `json:"inf"`  // infinite elements
	none bool
}

// comparison is the distance of an output from the expected one.
type comparison struct {
	Max       number `json:"max_difference"`
	Mean      number `json:"mean_difference"`       // of the finite differences
	NonFinite int    `json:"nonfinite_differences"` // between a finite number and one that is not, or unequal infinities
	Cosine    number `json:"cosine"`
	Worst     *worst `json:"worst"` // null: there are no elements
}

// worst is the element with the largest difference.
type worst struct {
	Index    int     `json:"index"` // in the flattened output
	At       []int64 `json:"at"`    // the same, per dimension
	Value    number  `json:"value"`
	Expected number  `json:"expected"`
}

// entry is a large value and its index in the flattened output.
type entry struct {
	Index int    `json:"index"`
	Value number `json:"value"`
}

// number is a float64 that JSON can hold: infinities and NaN are strings there.
type number float64

// MarshalJSON writes finite numbers as such.
func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Marshal(float64(n))
}

// text is a number for a reader.
func (n number) text() string {
	switch f := float64(n); {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return strconv.FormatFloat(float64(n), 'g', 6, 64)
}

func statisticsOf(t tensor.Tensor) statistics {
	y := newTally()
	y.add(t)
	return y.result()
}

// tally gathers statistics of a tensor that comes in parts.
type tally struct {
	statistics
	sum    float64
	finite int
}

func newTally() *tally {
	nan := number(math.NaN())
	return &tally{statistics: statistics{Min: nan, Max: nan, Mean: nan, none: true}}
}

func (y *tally) add(t tensor.Tensor) {
	at, n := tensordiff.Elements(t)
	y.none = y.none && n == 0
	for i := range n {
		v := at(i)
		if math.IsNaN(v) {
			y.NaN++
			continue
		}
		if y.Inf+y.finite == 0 { // the first number
			y.Min, y.Max = number(v), number(v)
		}
		y.Min, y.Max = min(y.Min, number(v)), max(y.Max, number(v))
		if math.IsInf(v, 0) {
			y.Inf++
			continue
		}
		y.sum += v
		y.finite++
	}
}

func (y *tally) result() statistics {
	s := y.statistics
	if y.finite > 0 {
		s.Mean = number(y.sum / float64(y.finite))
	}
	return s
}

func (s *statistics) text() string {
	if s.none {
		return "no elements"
	}
	text := fmt.Sprintf("min %s  max %s  mean %s", s.Min.text(), s.Max.text(), s.Mean.text())
	if s.NaN > 0 {
		text += fmt.Sprintf("  nan %d", s.NaN)
	}
	if s.Inf > 0 {
		text += fmt.Sprintf("  inf %d", s.Inf)
	}
	return text
}

func describe(name string, t tensor.Tensor, topK int) outputReport {
	o := outputReport{Name: name, Type: t.DType.String(), Sizes: append([]int64{}, t.Dims...), statistics: statisticsOf(t)}
	if topK > 0 {
		at, n := tensordiff.Elements(t)
		values := make([]float64, n)
		for i := range values {
			values[i] = at(i)
		}
		o.Top = topOf(values, topK)
	}
	return o
}

// compare notes the distance of the output from the expected one.
func (o *outputReport) compare(got, want tensor.Tensor, rtol, atol float64) {
	o.Compared, o.Difference = true, difference(got, want, rtol, atol)
	m, ok := tensordiff.Measure(got, want)
	if !ok {
		return
	}
	o.Comparison = &comparison{number(m.Max), number(m.Mean), m.NonFinite, number(m.Cosine), nil}
	if m.Worst >= 0 {
		o.Comparison.Worst = &worst{m.Worst, indices(m.Worst, got.Dims), number(m.Got), number(m.Want)}
	}
}

// indices is an index of the flattened tensor per dimension.
func indices(i int, dims []int64) []int64 {
	at := make([]int64, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = int64(i) % dims[k]
		i /= int(dims[k])
	}
	return at
}

func (c *comparison) write(w io.Writer) {
	printf(w, "  largest difference %s, mean %s, cosine %s\n", c.Max.text(), c.Mean.text(),
		strconv.FormatFloat(float64(c.Cosine), 'g', 8, 64))
	if c.NonFinite > 0 {
		printf(w, "  %s between a finite number and one that is not, or between infinities\n",
			counted(c.NonFinite, "difference"))
	}
	if c.Worst != nil && c.Max > 0 {
		printf(w, "  worst element %d %v: %s, want %s\n", c.Worst.Index, c.Worst.At, c.Worst.Value.exact(),
			c.Worst.Expected.exact())
	}
}

// exact is text with all digits that tell the number from others.
func (n number) exact() string {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return n.text()
	}
	return strconv.FormatFloat(float64(n), 'g', 9, 64)
}

// topOf returns the k largest values, equal ones in the order of their indices, NaN never.
func topOf(values []float64, k int) []entry {
	order := make([]int, 0, len(values))
	for i, v := range values {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return values[order[a]] > values[order[b]] })
	out := []entry{}
	for _, i := range order[:min(k, len(order))] {
		out = append(out, entry{i, number(values[i])})
	}
	return out
}

func difference(got, want tensor.Tensor, rtol, atol float64) string {
	return tensordiff.Compare(got, want, tensordiff.Tolerance{Rel: rtol, Abs: atol})
}

func (r *runReport) write(w io.Writer) {
	for _, o := range r.Outputs {
		printf(w, "%s  %s%s  %s", o.Name, o.Type, tensor.Of(o.Sizes...), o.text())
		if o.File != "" {
			printf(w, "  -> %s", o.File)
		}
		printf(w, "\n")
		for _, e := range o.Top {
			printf(w, "  %6d  %s\n", e.Index, e.Value.text())
		}
		switch {
		case o.Difference != "":
			printf(w, "  differs: %s\n", o.Difference)
		case o.Compared:
			printf(w, "  as expected\n")
		}
		if o.Comparison != nil {
			o.Comparison.write(w)
		}
	}
	printf(w, "%s; load %.1f ms, %s, fastest %.3f ms, mean %.3f ms\n", r.Placement, r.LoadMS, counted(r.Runs, "run"),
		r.MinMS, r.MeanMS)
}

// progress shows how far a command is, on a terminal only.
type progress struct {
	w     io.Writer
	total int
	shown bool
}

func newProgress(w io.Writer, total int) *progress {
	p := &progress{total: total}
	if total > 1 && onTerminal(w) {
		p.w = w
	}
	return p
}

func (p *progress) step(n int) {
	if p.w == nil {
		return
	}
	const width = 30
	bar := make([]byte, width)
	for i := range bar {
		bar[i] = '.'
		if i*p.total < n*width {
			bar[i] = '#'
		}
	}
	printf(p.w, "\r[%s] %d of %d runs", bar, n, p.total)
	p.shown = true
}

func (p *progress) done() {
	if p.shown {
		printf(p.w, "\r\033[K")
		p.shown = false
	}
}

// runReport is the JSON form of run.
type runReport struct {
	Schema    string         `json:"schema"` // "anynpu.run/1"
	File      string         `json:"file"`
	Device    string         `json:"device"`
	Threads   int            `json:"threads"`
	Kernels   string         `json:"kernels"` // of the CPU: "reference", or an instruction set
	Placement string         `json:"placement"`
	Nodes     int            `json:"nodes"`
	LoadMS    float64        `json:"load_ms"`
	Runs      int            `json:"runs"`
	MinMS     float64        `json:"min_ms"`
	MeanMS    float64        `json:"mean_ms"`
	PeakBytes int64          `json:"peak_bytes"` // intermediate results held at once
	Outputs   []outputReport `json:"outputs"`
	Different int            `json:"different"`        // outputs that differ from --expect
	Dumped    int            `json:"dumped,omitempty"` // files of --dump
}
