package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// compare checks a computed value of tensor t against the expected one.
func (e Tolerance) compare(got, want numbers.Number, t *Tensor) error {
	g, w := got.Real, want.Real
	ok := false
	switch {
	case DataTypes[t.Type].DType.IsFloat():
		ok = g == w || math.IsNaN(g) && math.IsNaN(w) || !math.IsInf(w, 0) && math.Abs(g-w) <= e.Abs+e.Rel*math.Abs(w)
	case t.Quant != nil:
		ok = math.Abs(g-w) <= float64(e.Steps)
	default:
		ok = got.Int == want.Int
	}
	if !ok {
		return fmt.Errorf("want %v, got %v", want, got)
	}
	return nil
}

// Compare checks computed values of tensor t against the expected ones.
func (e Tolerance) Compare(got, want []numbers.Number, t *Tensor) error {
	for i := range want {
		if err := e.compare(got[i], want[i], t); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// Judge compares the shape and the bytes of a result with what tensor t expects. rounding is the way in which halves
// were rounded, if the expectation leaves that open.
func (e Tolerance) Judge(t *Tensor, dims []int32, bytes []byte) (rounding string, err error) {
	x := t.Expect
	if !slices.Equal(dims, x.Dims) && !(len(dims) == 0 && slices.Equal(x.Dims, []int32{1})) {
		return "", shapeError(x.Dims, dims)
	}
	got, err := numbers.Decode(bytes, DataTypes[t.Type].DType, x.Count())
	if err != nil {
		return "", err
	}
	if x.Check == nil {
		return "", e.Compare(got, x.Data, t)
	}
	return x.Check.verify(got, e, t)
}
