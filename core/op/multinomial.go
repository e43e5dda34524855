package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Multinomial draws class numbers, with replacement, per row of x: class c with probability proportional to exp(x[row,
// c]).
//
// Inputs: x, float [rows, classes], logarithms of weights; samples, one integer, not negative; seeds?, integers [2].
// Output: y [rows, samples] of type To (int64 unless it says int32). A row without classes, with NaN, +infinity or only
// -infinity fails the run with fault.Data. With Seeded every run gives the numbers that Seed decides, with seeds those
// that the two decide, or other ones each time if both are 0; not both. Source: ONNX Multinomial-22,
// ANEURALNETWORKS_RANDOM_MULTINOMIAL.
type Multinomial struct {
	To     tensor.DType
	Seed   int64
	Seeded bool
}

func init() {
	graph.Register[*Multinomial]("multinomial", graph.Traits{Impure: true, ShapeInputs: []int{1}})
}

// Infer returns rows and samples.
func (o *Multinomial) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	to, err := indexType(o.To)
	if err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, realWords, isReal); err != nil {
		return nil, err
	}
	if err := wantRank(in, 0, 2); err != nil {
		return nil, err
	}
	n, err := single(in, 1)
	if err != nil {
		return nil, err
	}
	if n.Known() && n.N < 0 {
		return nil, fault.New(fault.Argument, "input 1: %d samples", n.N)
	}
	if present(in, 2) {
		if o.Seeded {
			return nil, fault.New(fault.Argument, "input 2: there is a seed already, %d", o.Seed)
		}
		if err := wantTensor(in, 2, plainIntWords, isPlainInt); err != nil {
			return nil, err
		}
		if err := fit(in, 2, sizeIs(2)); err != nil {
			return nil, err
		}
	}
	rows := tensor.AnyDim()
	if in[0].Shape.Ranked {
		rows = in[0].Shape.Dims[0]
	}
	return []tensor.Fact{{Type: tensor.Type{DType: to, Shape: tensor.OfDims(rows, n)}}}, nil
}
