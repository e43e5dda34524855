package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Where is y = a where cond is true, b elsewhere; the three are broadcast as NumPy does, unless SameShape demands that
// they have one shape.
//
// Inputs: cond bool; a, b of one type, any; quantized, each with parameters of its own. Output: y of that type. Where
// an operand is quantized otherwise than y its real values are quantized anew.
// Source: ONNX Where-16, OH_NN_OPS_WHERE, OH_NN_OPS_SELECT, ANEURALNETWORKS_SELECT.
type Where struct {
	SameShape bool
}

func init() {
	graph.Register[*Where]("where", graph.Traits{Elementwise: true, InPlace: []int{1, 2}, Moves: true})
}

// Infer returns the broadcast shape, with the values of small integers.
func (w *Where) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantType(in, 0, "bool", func(d tensor.DType) bool { return d == tensor.Bool }); err != nil {
		return nil, err
	}
	for i := 1; i <= 2; i++ {
		if err := wantType(in, i, "a known type", tensor.DType.Valid); err != nil {
			return nil, err
		}
	}
	if err := sameKind(in, 1, 2); err != nil {
		return nil, err
	}
	s, err := w.shape(in)
	if err != nil {
		return nil, err
	}
	like := in[1]
	if like.DType == tensor.Invalid {
		like = in[2]
	}
	out := outType(declared[0], like, s)
	out.Ints = foldMap(out, func(v []tensor.Dim) tensor.Dim {
		switch {
		case v[0].Known() && v[0].N != 0, v[1].Same(v[2]):
			return v[1]
		case v[0].Known():
			return v[2]
		}
		return tensor.AnyDim()
	}, in...)
	return []tensor.Fact{out}, nil
}

// shape is the result's shape.
func (w *Where) shape(in []tensor.Fact) (tensor.Shape, error) {
	if !w.SameShape {
		s, err := broadcastInputs(in, 1, 2)
		if err != nil {
			return s, err
		}
		if s, err = tensor.Broadcast(in[0].Shape, s); err != nil {
			return s, fault.New(fault.Shape, "input 0: %v", err)
		}
		return s, nil
	}
	s := in[0].Shape
	for i := 1; i <= 2; i++ {
		both, same := s.Merge(in[i].Shape)
		if !same {
			return s, fault.New(fault.Shape, "input %d: want dimensions %v, got %v", i, s, in[i].Shape)
		}
		s = both
	}
	return s, nil
}
