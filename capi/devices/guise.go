package devices

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
)

// Guise is how a device appears to programs of an API under one name: they can be tried against a lesser device than
// the machine has. Abilities that a guise lacks are not reported, and are refused as a device without them refuses
// them.
type Guise struct {
	Name      string
	Operators []string             // that it does not compute, by the API's names
	Offline   bool                 // it is not listed
	hide      []func(*device.Info) // what the device is reported without, or as
}

// attributes are the words that may follow a name, beside no-OPERATOR.
var attributes = map[string]func(*Guise){
	"no-float16":     hiding(func(i *device.Info) { i.Float16 = device.Lacks }),
	"no-performance": hiding(func(i *device.Info) { i.Performance = device.Lacks }),
	"no-priority":    hiding(func(i *device.Info) { i.Priority = false }),
	"no-cache":       hiding(func(i *device.Info) { i.Cache = false }),
	"no-dynamic":     hiding(func(i *device.Info) { i.Dynamic = false }),
	"no-ranges":      hiding(func(i *device.Info) { i.DimMin, i.DimMax = 0, 0 }),
	"as-gpu":         hiding(func(i *device.Info) { i.Kind = device.GPU }),
	"as-accelerator": hiding(func(i *device.Info) { i.Kind = device.Accelerator }),
	"as-other":       hiding(func(i *device.Info) { i.Kind = device.Other }),
	"offline":        func(g *Guise) { g.Offline = true },
}

func hiding(f func(*device.Info)) func(*Guise) {
	return func(g *Guise) { g.hide = append(g.hide, f) }
}

// With returns the guise with another change of the device's description.
func (g Guise) With(f func(*device.Info)) Guise {
	g.hide = append(slices.Clip(g.hide), f)
	return g
}

// Hide removes from a device's description the abilities that the guise lacks.
func (g *Guise) Hide(info *device.Info) {
	for _, f := range g.hide {
		f(info)
	}
}

// Lacks reports whether the guise does not compute an operator.
func (g *Guise) Lacks(operator string) bool { return slices.Contains(g.Operators, operator) }

// Guises is a variable of the environment that lists guises: NAME[:ATTRIBUTE...], separated by commas.
type Guises struct {
	Component  string                     // of the log
	Variable   string                     // its name
	Attributes []string                   // that have an effect in the API; nil: all
	Operator   func(operator string) bool // whether the API has an operator of that name
}

// Read reads the variable's value. Attributes that mean nothing are ignored and reported.
func (v *Guises) Read(value string) (out []Guise) {
	for entry := range strings.SplitSeq(value, ",") {
		g, bad := v.one(entry)
		for _, a := range bad {
			boundary.Caution(v.Component, "attribute ignored "+
				"[device-attribute-ignored]", v.Variable, a, "of", g.Name, "want",
				"no-OPERATOR, "+strings.Join(v.known(), ", "))
		}
		if g.Name != "" {
			out = append(out, g)
		}
	}
	return out
}

// one reads one entry. bad lists the attributes that mean nothing.
func (v *Guises) one(text string) (g Guise, bad []string) {
	parts := strings.Split(text, ":")
	g.Name = strings.TrimSpace(parts[0])
	for _, a := range parts[1:] {
		a = strings.TrimSpace(a)
		operator, _ := strings.CutPrefix(a, "no-")
		switch {
		case slices.Contains(v.known(), a):
			attributes[a](&g)
		case operator != a && v.Operator(operator):
			g.Operators = append(g.Operators, operator)
		default:
			bad = append(bad, a)
		}
	}
	return g, bad
}

func (v *Guises) known() (names []string) {
	for a := range attributes {
		if v.Attributes == nil || slices.Contains(v.Attributes, a) {
			names = append(names, a)
		}
	}
	slices.Sort(names)
	return names
}
