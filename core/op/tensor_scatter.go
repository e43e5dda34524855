package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// TensorScatter writes new steps into a cache: y = cache, but y[b, ..., start[b]+t, ...] = update[b, ..., t, ...] along
// Axis; with Circular the step number is taken modulo the size of the cache.
//
// Inputs: cache of any type [batch, ..., steps, ...]; update of that type and shape but for fewer steps; start?,
// integers [batch] (absent: 0). Output: y like cache. A step outside the cache fails the run with fault.Data. Source:
// ONNX TensorScatter-24.
type TensorScatter struct {
	Axis     int64 // of the steps, not 0; negative counts from the end
	Circular bool
}

func init() {
	graph.Register[*TensorScatter]("tensor_scatter", graph.Traits{InPlace: []int{0}, Moves: true})
}

// Infer returns the shape of cache.
func (o *TensorScatter) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := sameKind(in, 0, 1); err != nil {
		return nil, err
	}
	x, u := in[0].Shape, in[1].Shape
	a, known, err := axisOf(in, 0, o.Axis)
	if err != nil {
		return nil, err
	}
	if known && a == 0 {
		return nil, fault.New(fault.Argument, "axis %d is the batch", o.Axis)
	}
	if known && u.Ranked {
		if err := wantRank(in, 1, x.Rank()); err != nil {
			return nil, err
		}
		for d := range x.Dims {
			_, ok := meet(x.Dims[d], u.Dims[d])
			if d == a {
				ok = !x.Dims[d].Known() || !u.Dims[d].Known() || u.Dims[d].N <= x.Dims[d].N
			}
			if !ok {
				return nil, fault.New(fault.Shape, "input 1: %v does not fit into %v at dimension %d", u, x, d)
			}
		}
	}
	if present(in, 2) {
		if err := wantIndex(in, 2); err != nil {
			return nil, err
		}
		if err := wantRank(in, 2, 1); err != nil {
			return nil, err
		}
		if known && in[2].Shape.Ranked {
			if _, ok := meet(in[2].Shape.Dims[0], x.Dims[0]); !ok {
				return nil, fault.New(fault.Shape, "input 2: %v starts for %v", in[2].Shape, x)
			}
		}
	}
	return movedOne(declared, in[0], x, sameAxis())
}
