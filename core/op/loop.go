package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Loop runs a body while a condition holds and a number of trips is not reached.
//
// Inputs: trip?, one integer (absent: no limit); cond?, bool, one element (absent: true); carried..., Carried values;
// captures..., whatever else the body reads. Body inputs: the trip's number, int64; cond; carried...; captures... .
// Body outputs: cond for the next trip, carried..., then any number of values of which every trip must give the same
// type and shape. Outputs: carried after the last trip, then these values stacked on a new first dimension. The shapes
// of carried values may change from trip to trip. A run may limit how long a loop takes (device.RunRequest.LoopLimit).
// Source: ONNX Loop-21; ANEURALNETWORKS_WHILE lowers to it.
type Loop struct {
	Body    *graph.Graph
	Carried int64
}

func init() {
	graph.Register[*Loop]("loop", graph.Traits{DataDependent: true, ShapeInputs: []int{0, 1}})
}

// AdjustTraits adds what the operators of the bodies bring in.
func (o *Loop) AdjustTraits(t graph.Traits) graph.Traits { return withBodies(t, o.Bodies()) }

// Bodies returns the body.
func (o *Loop) Bodies() []*graph.Graph { return []*graph.Graph{o.Body} }

// Infer returns what holds after any number of trips.
func (o *Loop) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	n := o.Carried
	if n < 0 || int64(len(in)) < 2+n || int64(len(declared)) < n {
		return nil, fault.New(fault.Argument, "%d carried values with %d inputs and %d outputs", n, len(in), len(declared))
	}
	if present(in, 0) {
		if _, err := single(in, 0); err != nil {
			return nil, err
		}
	}
	if present(in, 1) {
		if err := wantCondition(in, 1); err != nil {
			return nil, err
		}
	}
	before := []tensor.Fact{{Type: tensor.Type{DType: tensor.Int64}}, {Type: tensor.Type{DType: tensor.Bool}}}
	final, each, err := inferRepeated(o.Body, before, in[2:2+n], in[2+n:], 1)
	if err != nil {
		return nil, err
	}
	if len(final)+len(each) != len(declared) {
		return nil, fault.New(fault.Argument, "body %q: has %d outputs, want %d", o.Body.Name, 1+len(final)+len(each),
			1+len(declared))
	}
	out := final
	for _, f := range each {
		out = append(out, tensor.Fact{Type: tensor.Type{DType: f.DType, Quant: f.Quant,
			Shape: stacked(f.Shape, tensor.AnyDim(), 0)}})
	}
	for i := range out {
		out[i] = declaredQuant(out[i], declared[i])
	}
	return out, nil
}

// stacked inserts a dimension into a shape.
func stacked(s tensor.Shape, d tensor.Dim, at int) tensor.Shape {
	if !s.Ranked {
		return s
	}
	return tensor.OfDims(slices.Insert(s.Clone().Dims, at, d)...)
}
