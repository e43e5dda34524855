package main

import (
	"fmt"
	"io"
	"math"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/layers"
)

// compareReport is the JSON form of compare.
type compareReport struct {
	Schema  string     `json:"schema"` // "anynpu.compare/1"
	A       string     `json:"a"`
	B       string     `json:"b"`
	Limit   float64    `json:"limit_db"`
	Outputs []compared `json:"outputs"`
	// With --layers: a row per value that has a counterpart, in the order of computation.
	Layers []layer `json:"layers,omitempty"`
	// Indices into layers of the nodes that depart, the first one first.
	Departs []int `json:"departs,omitempty"`
}

// compared is a value beside its counterpart.
type compared struct {
	Name  string    `json:"name"`
	Type  string    `json:"type"`
	Sizes []int64   `json:"sizes"`
	Error *distance `json:"error,omitempty"`
	Why   string    `json:"why,omitempty"` // why there is no error
}

// distance is how far a value is from its counterpart.
type distance struct {
	SNR    number  `json:"snr_db"` // "+Inf": equal
	Cosine number  `json:"cosine"`
	Max    number  `json:"max_difference"`
	Mean   number  `json:"mean_difference"`
	At     []int64 `json:"at"` // of the largest difference
	Value  number  `json:"value"`
	Want   number  `json:"want"`
}

// layer is a value that a node makes.
type layer struct {
	Node     int    `json:"node"` // index of the model's node, -1: none
	Operator string `json:"operator"`
	NodeName string `json:"node_name"`
	compared
	Added   *distance `json:"added,omitempty"`
	Nodes   int       `json:"nodes"` // how many nodes were computed for Added
	Departs bool      `json:"departs"`
}

func distanceOf(d *layers.Difference, dims []int64) *distance {
	if d == nil {
		return nil
	}
	out := &distance{SNR: number(d.SNR), Cosine: number(d.Cosine), Max: number(d.Max), Mean: number(d.Mean), At: []int64{},
		Value: number(d.Got), Want: number(d.Want)}
	if d.Worst >= 0 {
		out.At = indices(d.Worst, dims)
	}
	return out
}

func (o *compared) measure(got, want tensor.Tensor) {
	d, ok := layers.Measure(got, want)
	if !ok {
		o.Why = fmt.Sprintf("its sizes are %v there", want.Dims)
		return
	}
	o.Error = distanceOf(&d, got.Dims)
}

// withoutCounterpart is why a value has no distance when the first side has nothing that it belongs to.
const withoutCounterpart = "it has no counterpart"

// nothing reports whether no value at all was compared.
func (r *compareReport) nothing() bool {
	for _, o := range r.Outputs {
		if o.Why != withoutCounterpart {
			return false
		}
	}
	return len(r.Layers) == 0
}

// verdict is empty when nothing departs.
func (r *compareReport) verdict() string {
	if len(r.Departs) > 0 {
		l := &r.Layers[r.Departs[0]]
		return fmt.Sprintf("%s %s, the first is %s", counted(len(r.Departs), "node"),
			verb(len(r.Departs), "departs", "depart"), l.label())
	}
	for _, o := range r.Outputs {
		if o.Error == nil && o.Why != withoutCounterpart || o.Error != nil && float64(o.Error.SNR) < r.Limit {
			return fmt.Sprintf("output %q departs", o.Name)
		}
	}
	return ""
}

func (l *layer) label() string {
	text := l.Operator
	if l.NodeName != "" {
		text += fmt.Sprintf(" %q", l.NodeName)
	}
	if l.Node >= 0 {
		text = fmt.Sprintf("node %d, %s", l.Node, text)
	}
	return text
}

// decibels is a signal-to-noise ratio for a reader.
func decibels(d *distance) string {
	switch {
	case d == nil:
		return "-"
	case math.IsInf(float64(d.SNR), 0):
		return d.SNR.text()
	}
	return fmt.Sprintf("%.1f", float64(d.SNR))
}

func (d *distance) text() string {
	if math.IsInf(float64(d.SNR), 1) {
		return "equal"
	}
	return fmt.Sprintf("%s dB, cosine %.8g, largest difference %s at %v (%s, want %s), mean %s", decibels(d),
		float64(d.Cosine), d.Max.text(), d.At, d.Value.text(), d.Want.text(), d.Mean.text())
}

func (r *compareReport) write(w io.Writer, byLayer bool) {
	printf(w, "first   %s\nsecond  %s\n", r.A, r.B)
	for _, o := range r.Outputs {
		text := o.Why
		if o.Error != nil {
			text = o.Error.text()
		}
		printf(w, "output  %s %s%v: %s\n", o.Name, o.Type, o.Sizes, text)
	}
	if !byLayer {
		return
	}
	printf(w, "\n %5s  %-24s %-28s %8s %8s  %10s\n", "node", "operator", "value", "total", "added", "largest")
	for i := range r.Layers {
		l := &r.Layers[i]
		mark, largest := " ", "-"
		if l.Departs {
			mark = "*"
		}
		if l.Added != nil {
			largest = l.Added.Max.text()
		}
		printf(w, "%s%5d  %-24s %-28s %8s %8s  %10s", mark, l.Node, l.Operator, l.Name, decibels(l.Error), decibels(l.Added),
			largest)
		if l.Added == nil && l.Why != "" {
			printf(w, "  %s", l.Why)
		}
		printf(w, "\n")
	}
	if len(r.Departs) == 0 {
		printf(w, "\nno node departs\n")
		return
	}
	l := &r.Layers[r.Departs[0]]
	printf(w, "\nfirst to depart: %s", l.label())
	if l.Added != nil {
		printf(w, ": of the first side's inputs it makes %q with %s", l.Name, l.Added.text())
	} else {
		printf(w, ": %q: %s", l.Name, l.Why)
	}
	if l.Nodes > 1 {
		printf(w, ", %d nodes before it included, whose results have no counterpart", l.Nodes-1)
	}
	printf(w, "\n")
}
