package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Scan runs a body once per slice of its sequences.
//
// Inputs: states..., States values; sequences..., Sequences tensors of equal length along their axes; captures...,
// whatever else the body reads. Body inputs: states..., one slice of each sequence (without its axis), captures... .
// Body outputs: states for the next slice, then any number of values of which every run must give the same type and
// shape. Outputs: the states after the last slice, then these values stacked on a new dimension. Source: ONNX Scan-21.
type Scan struct {
	Body      *graph.Graph
	States    int64
	Sequences int64
	InAxes    []int64 // axis per sequence, negative counts from the end; none given: 0
	// place of the new dimension per stacked output, negative counts from the end of the result; none given: 0
	OutAxes    []int64
	InReverse  []bool // per sequence: from the last slice to the first; none given: false
	OutReverse []bool // per stacked output: each new value goes in front; none given: false
}

func init() { graph.Register[*Scan]("scan", graph.Traits{DataDependent: true}) }

// AdjustTraits adds what the operators of the bodies bring in.
func (o *Scan) AdjustTraits(t graph.Traits) graph.Traits { return withBodies(t, o.Bodies()) }

// Bodies returns the body.
func (o *Scan) Bodies() []*graph.Graph { return []*graph.Graph{o.Body} }

// Infer returns what holds after all slices.
func (o *Scan) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	n, m := o.States, o.Sequences
	if n < 0 || m < 1 || n > int64(len(in)) || m > int64(len(in))-n || int64(len(declared)) < n {
		return nil, fault.New(fault.Argument, "%d states and %d sequences with %d inputs and %d outputs", n, m, len(in),
			len(declared))
	}
	stackedOut := len(declared) - int(n)
	if !fits(len(o.InAxes), int(m)) || !fits(len(o.InReverse), int(m)) || !fits(len(o.OutAxes), stackedOut) ||
		!fits(len(o.OutReverse), stackedOut) {
		return nil, fault.New(fault.Argument, "%d axes and %d directions for %d sequences, %d and %d for %d stacked outputs",
			len(o.InAxes), len(o.InReverse), m, len(o.OutAxes), len(o.OutReverse), stackedOut)
	}
	after := make([]tensor.Fact, 0, len(in)-int(n))
	length := tensor.AnyDim()
	for i, f := range in[n : n+m] {
		slice := tensor.Fact{Type: f.Type}
		if slice.Quant != nil && !slice.Quant.IsPerTensor() {
			return nil, fault.New(fault.Unsupported, "input %d: a sequence with scales along axis %d", int(n)+i,
				slice.Quant.Axis)
		}
		if f.Shape.Ranked {
			a, err := Axis(axisAt(o.InAxes, i), f.Shape.Rank())
			if err != nil {
				return nil, fault.Wrap(err, "input %d", int(n)+i)
			}
			var ok bool
			if length, ok = meet(length, f.Shape.Dims[a]); !ok {
				return nil, fault.New(fault.Shape, "input %d: %v does not have length %v on axis %d", int(n)+i, f.Shape, length, a)
			}
			slice.Shape = tensor.OfDims(slices.Delete(f.Shape.Clone().Dims, a, a+1)...)
		}
		after = append(after, slice)
	}
	after = append(after, in[n+m:]...)
	final, each, err := inferRepeated(o.Body, nil, in[:n], after, 0)
	if err != nil {
		return nil, err
	}
	if len(each) != stackedOut {
		return nil, fault.New(fault.Argument, "body %q: has %d outputs, want %d", o.Body.Name, len(final)+len(each),
			len(declared))
	}
	out := final
	for i, f := range each {
		at := 0
		if f.Shape.Ranked {
			if at, err = Axis(axisAt(o.OutAxes, i), f.Shape.Rank()+1); err != nil {
				return nil, fault.Wrap(err, "output %d", int(n)+i)
			}
		}
		out = append(out, tensor.Fact{Type: tensor.Type{DType: f.DType, Quant: f.Quant, Shape: stacked(f.Shape, length, at)}})
	}
	for i := range out {
		out[i] = declaredQuant(out[i], declared[i])
	}
	return out, nil
}

// fits reports whether an optional list has one entry per item.
func fits(have, want int) bool { return have == 0 || have == want }

// axisAt returns entry i of an optional list of axes.
func axisAt(axes []int64, i int) int64 {
	if i < len(axes) {
		return axes[i]
	}
	return 0
}
