package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// If runs one of two bodies.
//
// Inputs: cond, bool, one element; captures..., the inputs of both bodies in order. Outputs: those of the body that
// ran; both must give the same element types, shapes may differ. A body that does not fit the sizes of the captures
// fails the run that takes it, and no other. Source: ONNX If-21, ANEURALNETWORKS_IF.
type If struct {
	Then, Else *graph.Graph
}

func init() { graph.Register[*If]("if", graph.Traits{DataDependent: true, ShapeInputs: []int{0}}) }

// AdjustTraits adds what the operators of the bodies bring in.
func (o *If) AdjustTraits(t graph.Traits) graph.Traits { return withBodies(t, o.Bodies()) }

// Bodies returns Then and Else.
func (o *If) Bodies() []*graph.Graph { return []*graph.Graph{o.Then, o.Else} }

// Infer returns what both bodies agree on, or what the one gives that a constant cond selects, or that alone fits the
// sizes.
func (o *If) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, math.MaxInt32, declared, 0, math.MaxInt32); err != nil {
		return nil, err
	}
	if err := wantCondition(in, 0); err != nil {
		return nil, err
	}
	var ways [][]tensor.Fact
	var unfit error
	cond, known := in[0].KnownInts()
	for i, g := range o.Bodies() {
		if known && len(cond) == 1 && (cond[0] != 0) != (i == 0) {
			continue
		}
		if err := takesInputs(g, len(in)-1); err != nil {
			return nil, err
		}
		out, err := inferBody(g, in[1:])
		if k := fault.KindOf(err); err != nil && (k == fault.Shape || k == fault.Argument) {
			if unfit == nil {
				unfit = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(out) != len(declared) {
			return nil, fault.New(fault.Argument, "body %q: has %d outputs, want %d", g.Name, len(out), len(declared))
		}
		ways = append(ways, out)
	}
	if len(ways) == 0 {
		return nil, unfit
	}
	out := make([]tensor.Fact, len(declared))
	for i := range out {
		f := ways[0][i]
		if len(ways) > 1 {
			var err error
			if f, _, err = either(f, ways[1][i]); err != nil {
				return nil, fault.Wrap(err, "output %d", i)
			}
		}
		out[i] = declaredQuant(f, declared[i])
	}
	return out, nil
}

// wantCondition checks that input i is one bool.
func wantCondition(in []tensor.Fact, i int) error {
	if err := wantType(in, i, "bool", func(d tensor.DType) bool { return d == tensor.Bool }); err != nil {
		return err
	}
	return wantScalar(in, i)
}
