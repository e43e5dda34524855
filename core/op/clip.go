package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// EmptyRange says what Clip makes of min > max.
type EmptyRange uint8

// The rules.
const (
	ClipMaxWins EmptyRange = iota // every element becomes max (NumPy, ONNX)
	ClipFail                      // the run fails with kind fault.Data (OH_NN)
)

// Clip is y = min(max(x, lo), hi); an absent bound does not bind. A NaN in x or in a bound gives NaN.
//
// Inputs: x of a float, quantized or integer type; lo?, hi? of one element: integers of x's type for an integer x,
// otherwise any float type or a quantized scalar. Output: y of x's type and shape. ReLU1 and ReLU6 are Clip. Source:
// ONNX Clip-13, OH_NN_OPS_CLIP, OH_NN_OPS_RELU6, ANEURALNETWORKS_RELU1, ANEURALNETWORKS_RELU6.
type Clip struct {
	Empty EmptyRange // what min > max means
}

func init() { graph.Register[*Clip]("clip", graph.Traits{Elementwise: true, InPlace: []int{0}}) }

// Infer returns the input's type and shape, with the values of small integers.
func (o *Clip) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Empty > ClipFail {
		return nil, fault.New(fault.Argument, "empty: %d is no rule", o.Empty)
	}
	if err := wantTensor(in, 0, numberWords, isNumber); err != nil {
		return nil, err
	}
	for i := 1; i < len(in); i++ {
		if !present(in, i) {
			continue
		}
		err := sameKind(in, 0, i)
		if in[0].DType == tensor.Invalid || isReal(in[0].Type) {
			err = wantTensor(in, i, numberWords, isNumber)
			if in[0].DType != tensor.Invalid {
				err = wantTensor(in, i, realWords, isReal)
			}
		}
		if err != nil {
			return nil, err
		}
		if err := wantScalar(in, i); err != nil {
			return nil, err
		}
	}
	out := outType(declared[0], in[0], in[0].Shape)
	out.Ints = o.fold(in, out)
	return []tensor.Fact{out}, nil
}

// fold clips known integers with known bounds.
func (o *Clip) fold(in []tensor.Fact, out tensor.Fact) []tensor.Dim {
	bounds := [2]tensor.Dim{{Sym: tensor.Unknown}, {Sym: tensor.Unknown}}
	for i := 1; i < len(in); i++ {
		if !present(in, i) {
			continue
		}
		v := in[i].IntValues()
		if len(v) != 1 || !v[0].Known() {
			return nil
		}
		bounds[i-1] = v[0]
	}
	lo, hi := bounds[0], bounds[1]
	if o.Empty == ClipFail && lo.Known() && hi.Known() && lo.N > hi.N {
		return nil
	}
	return foldUnary(in, out, func(a int64) int64 {
		if lo.Known() {
			a = max(a, lo.N)
		}
		if hi.Known() {
			a = min(a, hi.N)
		}
		return a
	})
}
