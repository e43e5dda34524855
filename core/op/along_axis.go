package op

import "github.com/anynpu/anynpu/core/tensor"

// alongAxis infers an operator on real values that works line by line along an axis and keeps type and shape.
func alongAxis(in []tensor.Fact, declared []tensor.Type, axis int64) ([]tensor.Fact, error) {
	out, err := unary(in, declared, realWords, isReal)
	if err != nil {
		return nil, err
	}
	if _, _, err := axisOf(in, 0, axis); err != nil {
		return nil, err
	}
	return out, nil
}
