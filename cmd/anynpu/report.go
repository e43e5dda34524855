package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"sort"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// outputReport describes one output.
type outputReport struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Sizes      []int64 `json:"sizes"`
	Min        number  `json:"min"`
	Max        number  `json:"max"`
	Mean       number  `json:"mean"`
	NaN        int     `json:"nan"` // elements that are not a number; the statistics leave them out
	Top        []entry `json:"top,omitempty"`
	File       string  `json:"file,omitempty"`
	Compared   bool    `json:"compared"`
	Difference string  `json:"difference,omitempty"`
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

// valuesOf returns the elements as numbers; those of complex tensors as their parts.
func valuesOf(t tensor.Tensor) []float64 {
	d, n := t.DType, t.Count()
	switch d {
	case tensor.Complex64:
		d, n = tensor.Float32, 2*n
	case tensor.Complex128:
		d, n = tensor.Float64, 2*n
	}
	v := make([]float64, n)
	for i := range v {
		if d.IsFloat() {
			v[i] = tensor.FloatAt(d, t.Data, i)
		} else {
			v[i] = float64(tensor.IntAt(d, t.Data, i))
		}
	}
	return v
}

func describe(name string, t tensor.Tensor, topK int) outputReport {
	o := outputReport{Name: name, Type: t.DType.String(), Sizes: append([]int64{}, t.Dims...)}
	values, sum, n := valuesOf(t), 0.0, 0
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			o.NaN++
			continue
		case n == 0:
			o.Min, o.Max = number(v), number(v)
		}
		o.Min, o.Max = min(o.Min, number(v)), max(o.Max, number(v))
		sum += v
		n++
	}
	if n > 0 {
		o.Mean = number(sum / float64(n))
	}
	if topK > 0 {
		o.Top = topOf(values, topK)
	}
	return o
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
		printf(w, "%s  %s%s  min %.6g  max %.6g  mean %.6g", o.Name, o.Type, tensor.Of(o.Sizes...), float64(o.Min),
			float64(o.Max), float64(o.Mean))
		if o.NaN > 0 {
			printf(w, "  nan %d", o.NaN)
		}
		if o.File != "" {
			printf(w, "  -> %s", o.File)
		}
		printf(w, "\n")
		for _, e := range o.Top {
			printf(w, "  %6d  %.6g\n", e.Index, float64(e.Value))
		}
		switch {
		case o.Difference != "":
			printf(w, "  differs: %s\n", o.Difference)
		case o.Compared:
			printf(w, "  as expected\n")
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
	if f, ok := w.(*os.File); ok && total > 1 {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			p.w = w
		}
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
