package ohnn

import (
	"cmp"
	"slices"
)

// A Support is what a library computes of one operator.
type Support struct {
	Op        string
	Types     []string // element types of the operands that carry data, in the order of the API's numbers
	Quantised []string // the same for quantised tensors
	Dynamic   bool     // computes a model with an open dimension
}

// plainTypes are the element types that are tried, in the order of their numbers.
var plainTypes = []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"}

// Probe finds out what the library computes, operator by operator: it takes the cases of an operator that compute, puts other element types
// in the place of the one that carries the data, and sees whether the library builds and runs the model. Results are not judged here; the
// cases themselves do that for the types they are written in.
func Probe(library string, cases []*Case) ([]Support, error) {
	a, err := open(library)
	if err != nil {
		return nil, err
	}
	byOp := map[string][]*Case{}
	for _, c := range cases {
		if c.Reject == nil {
			byOp[c.Op] = append(byOp[c.Op], c)
		}
	}
	var out []Support
	for op, cs := range byOp {
		s := Support{Op: op}
		for _, t := range plainTypes {
			if a.computesAs(cs, t, false) {
				s.Types = append(s.Types, t)
			}
			if (t == "int8" || t == "uint8") && a.computesAs(cs, t, true) { // the API quantises to 8 bits only
				s.Quantised = append(s.Quantised, t)
			}
		}
		s.Dynamic = slices.ContainsFunc(cs, func(c *Case) bool { return c.open() && a.computes(c) })
		out = append(out, s)
	}
	slices.SortFunc(out, func(x, y Support) int { return cmp.Compare(operators[x.Op], operators[y.Op]) })
	return out, nil
}

// computesAs reports whether one of the cases computes with its data in type t. Cases written in t are tried first: their values suit it.
func (a *api) computesAs(cases []*Case, t string, quantised bool) bool {
	const most = 8 // cases of different signatures that are tried in another type than their own
	tried := map[string]bool{}
	for _, own := range []bool{true, false} {
		for _, c := range cases {
			if c.dynamic() || own != (c.principal() == t && c.quantised() == quantised) {
				continue
			}
			d := c.with(t, quantised)
			s := d.Signature()
			if tried[s] || !own && len(tried) >= most {
				continue
			}
			tried[s] = true
			if a.computes(d) {
				return true
			}
		}
	}
	return false
}

func (a *api) computes(c *Case) bool {
	probe := *c
	probe.Reject = &Reject{} // the result is not judged
	r := &run{a: a, c: &probe}
	defer r.close()
	return r.execute() == nil
}

func (c *Case) quantised() bool {
	return slices.ContainsFunc(c.Tensors, func(t Tensor) bool { return t.Quant != nil })
}

// open reports whether the model leaves a dimension open anywhere.
func (c *Case) open() bool {
	return slices.ContainsFunc(c.Tensors, func(t Tensor) bool { return slices.Contains(t.Dims, -1) })
}

// dynamic reports whether an input has an open dimension.
func (c *Case) dynamic() bool {
	return slices.ContainsFunc(c.In, func(i uint32) bool { return slices.Contains(c.Tensors[i].Dims, -1) })
}

// operands returns the inputs and outputs of the case's operation.
func (c *Case) operands() []uint32 { return append(slices.Clone(c.In), c.Out...) }

// principal returns the element type that carries the case's data: that of a quantised tensor, else the commonest among operands and results,
// the first of several.
func (c *Case) principal() string {
	if c.Op == "CONSTANT_OF_SHAPE" { // its one input is a shape
		return c.Tensors[c.Out[0]].Type
	}
	n := map[string]int{}
	best := ""
	for _, i := range c.operands() {
		t := c.Tensors[i].Type
		if c.Tensors[i].Quant != nil {
			return t
		}
		n[t]++
		if best == "" || n[t] > n[best] {
			best = t
		}
	}
	return best
}

// with returns the case with type t, quantised or not, in the place of the one that carries the data.
func (c *Case) with(t string, quantised bool) *Case {
	from := c.principal()
	d := *c
	d.Tensors = slices.Clone(c.Tensors)
	for _, i := range c.operands() {
		x := &d.Tensors[i]
		if x.Type != from {
			continue
		}
		x.Type = t
		switch {
		case !quantised:
			x.Quant = nil
		case x.Quant == nil:
			x.Quant = &Quant{Scale: []float64{0.5}, Zero: []int32{0}}
		}
	}
	return &d
}
