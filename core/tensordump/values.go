package tensordump

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/npy"
	"github.com/anynpu/anynpu/core/tensor"
)

// Value is a value of a program.
type Value struct {
	Name     string
	Node     string // what makes it, "" for an input
	Operator string
}

// Index is the file of a run's folder that lists the values.
const Index = "tensors.json"

// entry is a value in the index. Statistics cover the finite elements, as they are stored.
type entry struct {
	Name      string   `json:"name"`
	Node      string   `json:"node,omitempty"`
	Operator  string   `json:"operator,omitempty"`
	File      string   `json:"file,omitempty"` // none: statistics alone, or a type that NumPy does not have
	Type      string   `json:"type"`
	Shape     []int64  `json:"shape"`
	Least     *float64 `json:"least,omitempty"`
	Largest   *float64 `json:"largest,omitempty"`
	Mean      *float64 `json:"mean,omitempty"`
	Deviation *float64 `json:"deviation,omitempty"`
	NotFinite int      `json:"not_finite,omitempty"`
}

// Wants reports whether a value is written.
func (d *Dump) Wants(name string) bool { return d != nil && d.chosen.Name(name) }

// Fused reports whether nodes that are computed together stay so.
func (d *Dump) Fused() bool { return d.chosen.Fused }

// Run is a run of which values are written.
type Run struct {
	dump    *Dump
	folder  string
	entries []entry
	taken   map[string]bool
}

// Run begins the folder of a run; nil for a run that is not to be written. A nil Run takes values and does nothing.
func (d *Dump) Run(model string) *Run {
	folder := d.Begin(model)
	if folder == "" {
		return nil
	}
	return &Run{dump: d, folder: folder, entries: []entry{}, taken: map[string]bool{}}
}

// Add writes a value.
func (r *Run) Add(v Value, t tensor.Tensor) {
	if r == nil || r.dump.Ended() {
		return
	}
	e := entry{Name: v.Name, Node: v.Node, Operator: v.Operator, Type: t.DType.String(),
		Shape: append([]int64{}, t.Dims...)}
	e.measure(t)
	if !r.dump.chosen.statistics {
		header, err := npy.Header(t)
		if err == nil {
			e.File = r.file(v.Name)
			path := filepath.Join(r.folder, e.File)
			if err := Create(path, header, t.Data); err != nil {
				r.dump.Fail(path, err)
				return
			}
		} else if fault.KindOf(err) != fault.Unsupported {
			r.dump.Fail(r.folder, err)
			return
		}
	}
	r.entries = append(r.entries, e)
}

// file is the name of a value's file, apart from those that there are, also where letters of both cases are one.
func (r *Run) file(name string) string {
	safe := FileName(name)
	unique := safe
	for n := 2; r.taken[strings.ToLower(unique)]; n++ {
		unique = safe + "-" + strconv.Itoa(n)
	}
	r.taken[strings.ToLower(unique)] = true
	return unique + ".npy"
}

// End writes the index.
func (r *Run) End() {
	if r == nil || r.dump.Ended() {
		return
	}
	path := filepath.Join(r.folder, Index)
	text, err := json.MarshalIndent(map[string]any{"tensors": r.entries}, "", "  ")
	if err == nil {
		err = Create(path, append(text, '\n'))
	}
	if err != nil {
		r.dump.Fail(path, err)
	}
}

// measure finds the statistics of a value.
func (e *entry) measure(t tensor.Tensor) {
	read := tensor.FloatAt
	switch {
	case t.DType.IsFloat():
	case t.DType.IsInt():
		read = func(d tensor.DType, data []byte, i int) float64 { return float64(tensor.IntAt(d, data, i)) }
	default:
		return
	}
	n, mean, squares := 0, 0.0, 0.0
	least, largest := math.Inf(1), math.Inf(-1)
	for i := range t.Count() {
		v := read(t.DType, t.Data, i)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			e.NotFinite++
			continue
		}
		n++
		least, largest = min(least, v), max(largest, v)
		delta := v - mean
		mean += delta / float64(n)
		squares += delta * (v - mean)
	}
	if n == 0 {
		return
	}
	deviation := math.Sqrt(squares / float64(n))
	e.Least, e.Largest, e.Mean, e.Deviation = &least, &largest, finite(mean), finite(deviation)
}

// finite is a number that JSON has, nil for infinities.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
