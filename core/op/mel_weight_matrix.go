package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// MelWeightMatrix is the matrix that turns a one-sided spectrum into mel bands by triangular filters. The bands+2 band
// edges lie evenly on the mel scale 2595·log10(1 + f/700), edge i at low + i·(high-low)/(bands+2), and are mapped to
// spectrum bins floor((length+1)·f/rate). Column i rises from edge i to 1 at edge i+1 and falls to edge i+2; where the
// first two share a bin the rise is that bin alone.
//
// Inputs, one element each: bands, length of the transform, rate, positive integers; lower and upper frequency, floats.
// Output: y [length/2+1, bands] of type To (0: float32), truncated toward zero for integers. Edges outside of the
// spectrum fail the run with fault.Data. Source: ONNX MelWeightMatrix-17.
type MelWeightMatrix struct {
	To tensor.DType
}

func init() {
	graph.Register[*MelWeightMatrix]("mel_weight_matrix", graph.Traits{ShapeInputs: []int{0, 1}})
}

// Infer returns the shape.
func (o *MelWeightMatrix) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 5, 5, declared, 1, 1); err != nil {
		return nil, err
	}
	var sizes [3]tensor.Dim
	for i := range sizes {
		var err error
		if sizes[i], _, err = optionalSize(in, i); err != nil {
			return nil, err
		}
	}
	for i := 3; i < 5; i++ {
		if err := wantTensor(in, i, realWords, isReal); err != nil {
			return nil, err
		}
		if err := wantScalar(in, i); err != nil {
			return nil, err
		}
	}
	to := o.To
	if to == tensor.Invalid {
		to = tensor.Float32
	}
	if !numeric(to) {
		return nil, fault.New(fault.Type, "weights of type %v", to)
	}
	return []tensor.Fact{{Type: tensor.Type{DType: to, Shape: tensor.OfDims(halfSpectrum(sizes[1]), sizes[0])}}}, nil
}
