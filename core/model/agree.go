package model

import (
	"slices"

	"github.com/anynpu/anynpu/core/format/rknn"
)

// sought describes the model that is looked for.
type sought struct {
	in, out          map[string][]int64
	inner, constants map[string][]int64
}

func wanted(c *rknn.File) *sought {
	ports := func(list []rknn.Port) map[string][]int64 {
		m := map[string][]int64{}
		for _, p := range list {
			if p.Name != "" {
				m[p.Name] = p.Dims
			}
		}
		return m
	}
	inputs, _ := rknn.Images(c.Inputs)
	s := &sought{in: ports(inputs), out: ports(c.Outputs), inner: map[string][]int64{}, constants: map[string][]int64{}}
	if len(c.Graphs) == 0 {
		return s
	}
	for i := range c.Graphs[0].Tensors {
		switch t := &c.Graphs[0].Tensors[i]; {
		case t.Name == "":
		case t.Kind == rknn.Intermediate:
			s.inner[t.Name] = t.Dims
		case t.Kind == rknn.Other:
			s.constants[t.Name] = t.Dims
		case t.Kind == rknn.Input && len(c.Inputs) == 0:
			s.in[t.Name] = t.Dims
		case t.Kind == rknn.Output && len(c.Outputs) == 0:
			s.out[t.Name] = t.Dims
		}
	}
	return s
}

// agreement is how well a model agrees with the wanted one.
type agreement struct {
	score     float64 // 1 at best
	inner     float64 // part of the inner tensors that it has, -1: there are none to compare
	constants float64 // part of the constants that both have and that have as many elements, 1 for none
	ports     bool    // it has all inputs and outputs, with their shapes
}

// fits reports whether a model alone has the properties that are looked for.
func (a *agreement) fits() bool {
	return a.score >= minScore && a.constants >= minInner && (a.inner >= minInner || a.inner < 0 && a.ports)
}

// clear reports whether a model is it where no other one comes near.
func (a *agreement) clear() bool {
	return a.ports && a.constants >= minInner && (a.inner < 0 || a.inner >= clearInner)
}

// compare says how well a model agrees.
func (s *sought) compare(n *nameSets) agreement {
	found, unlike := 0, 0
	for _, side := range [][2]map[string][]int64{{s.in, n.in}, {s.out, n.out}} {
		for name, dims := range side[0] {
			here, ok := side[1][name]
			if !ok { // the model is cut there, or the converter has made two inputs of one
				if base := n.find(name); base != "" {
					ok, here = true, n.sizes[base]
				}
			}
			if ok {
				found++
			}
			if ok && !sameSizes(dims, here) {
				unlike++
			}
		}
	}
	count := len(s.in) + len(s.out)
	own := len(n.in) + len(n.out)
	a := agreement{inner: -1, constants: 1, ports: found == count && unlike == 0}
	ports := 2 * float64(found) / float64(count+max(own, found))
	a.score = ports
	if hits, all := s.innerHits(n); all > 0 {
		a.inner = float64(hits) / float64(all)
		a.score = (ports+a.inner)/2 - 0.05*(1-float64(min(hits, len(n.inner)))/float64(max(1, len(n.inner))))
	}
	common, other := 0, 0
	for name, dims := range s.constants {
		if here, ok := n.sizes[name]; ok && len(dims) > 0 {
			common++
			if !sameElements(dims, here) {
				other++
			}
		}
	}
	if common > 0 {
		a.constants = 1 - float64(other)/float64(common)
		a.score *= (1 + a.constants) / 2
	}
	if len(s.constants) > 0 { // those that it lacks decide between models of one form: the converter makes some of its own
		a.score -= 0.02 * (1 - float64(common-other)/float64(len(s.constants)))
	}
	a.score -= 0.1 * float64(unlike) / float64(max(1, count))
	return a
}

// innerHits counts the inner tensors that are looked for and those of them that the model has. Names that the converter
// makes up for an operator's steps count only where no others do.
func (s *sought) innerHits(n *nameSets) (hits, all int) {
	steps := 0
	for name, dims := range s.inner {
		base := n.find(name)
		switch {
		case base == name && !sameChannels(dims, n.sizes[name]):
			all++
		case base != "":
			hits, all = hits+1, all+1
		case rknn.Step(name):
			steps++
		default:
			all++
		}
	}
	if all == 0 {
		all = steps
	}
	return hits, all
}

// find returns what the model calls a tensor of a file: a result of a node, an input, or a node, by the name there, or
// by that name without the endings that the converter adds; empty for nothing.
func (n *nameSets) find(name string) string {
	for {
		if _, port := n.in[name]; port || n.inner[name] || n.nodes[name] {
			return name
		}
		base, ok := rknn.Base(name)
		if !ok {
			return ""
		}
		name = base
	}
}

// sameSizes reports whether sizes agree as far as both are known; the first may be another batch, and sizes of 1 may be
// left out.
func sameSizes(a, b []int64) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	if len(a) != len(b) {
		one := func(d int64) bool { return d == 1 }
		a, b = slices.DeleteFunc(slices.Clone(a[1:]), one), slices.DeleteFunc(slices.Clone(b[1:]), one)
		return slices.Equal(a, b) || slices.Contains(b, -1)
	}
	for i := 1; i < len(a); i++ {
		if a[i] != b[i] && a[i] > 0 && b[i] > 0 {
			return false
		}
	}
	return true
}

// sameElements reports whether constants have as many elements: the converter may give them other dimensions.
func sameElements(a, b []int64) bool {
	x, y := int64(1), int64(1)
	for _, d := range a {
		x *= d
	}
	for _, d := range b {
		y *= d
	}
	return x == y
}

// sameChannels reports whether images have as many channels, as far as both are known: the others of their sizes follow
// those of the inputs, which a conversion may change.
func sameChannels(a, b []int64) bool {
	return len(a) != 4 || len(b) != 4 || a[1] < 1 || b[1] < 1 || a[1] == b[1]
}
