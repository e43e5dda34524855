package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// reals returns the numbers of floats.
func reals(f ...float64) []numbers.Number {
	out := make([]numbers.Number, len(f))
	for i, x := range f {
		out[i] = numbers.Real(x)
	}
	return out
}

func TestCompare_tolerances(t *testing.T) {
	float := &Tensor{Type: "float32"}
	c := Tolerance{Rel: 1e-5, Abs: 1e-6, Steps: 1}
	nan, inf := math.NaN(), math.Inf(1)
	assert.NoError(t, c.Compare(reals(1.000009, nan, inf), reals(1, nan, inf), float))
	assert.Error(t, c.Compare(reals(1.00002), reals(1), float))
	assert.Error(t, c.Compare(reals(nan), reals(1), float))
	assert.Error(t, c.Compare(reals(1e38), reals(inf), float))
	q := &Tensor{Type: "int8", Quant: &Quant{}}
	assert.NoError(t, c.Compare(reals(5), reals(4), q))
	assert.Error(t, c.Compare(reals(6), reals(4), q))
	assert.Error(t, c.Compare(reals(5), reals(4), &Tensor{Type: "int8"}), "plain integers are exact")
	assert.Error(t, c.Compare([]numbers.Number{numbers.Int(math.MaxInt64 - 1)},
		[]numbers.Number{numbers.Int(math.MaxInt64)}, &Tensor{Type: "int64"}),
		"to the last of 64 bits")
}
