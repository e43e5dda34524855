package ohnn

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// wantWithin checks a parameter whose default is def.
func (n *node) wantWithin(name string, def, lo, hi int64) error {
	switch v := n.int(name, def); {
	case v >= lo && v <= hi:
		return nil
	case !n.has(name):
		return fault.New(fault.Argument, "%s is missing: want %d to %d [ohnn-parameter-missing]", name, lo, hi)
	default:
		return fault.New(fault.Argument, "%s: %d: want %d to %d [ohnn-parameter-range]", name, v, lo, hi)
	}
}

// wantPositive checks a parameter that has no meaning below 1.
func (n *node) wantPositive(name string) error { return n.wantWithin(name, 0, 1, math.MaxInt32) }

// wantList checks a list of count values from lo on. One that is missing or empty passes if it may be; what says what
// the values are.
func (n *node) wantList(name string, optional bool, count int, what string, lo int64) error {
	v := n.ints(name)
	switch {
	case len(v) == 0 && optional:
		return nil
	case !n.has(name):
		return fault.New(fault.Argument, "%s is missing: want %s [ohnn-missing]", name, what)
	case len(v) != count:
		return fault.New(fault.Argument, "%s: %v: want %d values: %s [ohnn-parameter-values]", name, v, count, what)
	case slices.Min(v) < lo || slices.Max(v) > math.MaxInt32:
		return fault.New(fault.Argument, "%s: %v: want values from %d to %d [ohnn-values]", name, v, lo, math.MaxInt32)
	}
	return nil
}

// axis returns the value of a parameter that names a dimension of a tensor of some rank.
func (n *node) axis(name string, def int64, rank int) (int64, error) {
	v := n.int(name, def)
	_, err := op.Axis(v, rank)
	return v, fault.Wrap(err, "%s", name)
}

// checkQuants checks the quantization of the operation's integer tensors. The API takes any numbers; what they make of
// a tensor shows here.
func (n *node) checkQuants() error {
	for i, index := range n.inputs {
		if err := n.m.tensors[index].checkQuant(); err != nil {
			return fault.Wrap(err, "input %d", i)
		}
	}
	for i, index := range n.outputs {
		if err := n.m.tensors[index].checkQuant(); err != nil {
			return fault.Wrap(err, "output %d", i)
		}
	}
	return nil
}

// checkQuant wants scales that are positive in float32, zero points that the type holds, and as many of them as one
// dimension has, or one.
func (t *modelTensor) checkQuant() error {
	d := t.dataType.DType()
	if !d.IsInt() || len(t.quant.scales) == 0 {
		return nil
	}
	for k, s := range t.quant.scales {
		if x := float32(s); !(x > 0) || math.IsInf(float64(x), 0) {
			return fault.New(fault.Argument, "quantization: scale %d is %v: want a positive float32 number "+
				"[ohnn-quantization-scale-positive]", k, s)
		}
	}
	if bits := d.Bits(); bits < 32 {
		lo, hi := int32(0), int32(1)<<bits-1
		if d.IsSigned() {
			lo, hi = -1<<(bits-1), 1<<(bits-1)-1
		}
		for k, z := range t.quant.zeros {
			if z < lo || z > hi {
				return fault.New(fault.Argument, "quantization: zero point %d is %d: want %d to %d for %v "+
					"[ohnn-quantization-zero-point]", k, z, lo, hi, d)
			}
		}
	}
	count := len(t.quant.scales)
	if count == 1 {
		return nil
	}
	for _, dim := range t.shape {
		if dim < 0 || int(dim) == count {
			return nil
		}
	}
	return fault.New(fault.Shape, "quantization: %d scales: no dimension of %v is as long "+
		"[ohnn-quantization-scales-no]", count, t.typ().Shape)
}

// wantShape notes a contradiction when output i is not declared with the shape of got.
func (n *node) wantShape(i int, got tensor.Shape) {
	if want := n.outType(i).Shape; !sameShape(want, got) {
		n.contradict("output %d is declared with shape %v and has shape %v [ohnn-output-declared-shape]", i, want, got)
	}
}

func sameShape(a, b tensor.Shape) bool {
	_, ok := a.Merge(b)
	return ok
}
