package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// cumulative infers CumSum and CumProd.
func cumulative(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, numberWords, isNumber); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 1); err != nil {
		return nil, err
	}
	if err := wantScalar(in, 1); err != nil {
		return nil, err
	}
	if v, ok := in[1].KnownInts(); ok && len(v) == 1 {
		if _, _, err := axisOf(in, 0, v[0]); err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}
