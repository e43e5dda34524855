package model

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// judge judges five floats by a check.
func judge(c *Check, v ...float64) (string, error) {
	t := &Tensor{Type: "float32", Expect: &Body{Dims: []int32{5}, Check: c}}
	return Tolerance{Rel: 1e-5, Abs: 1e-6}.Judge(t, []int32{5}, numbers.Encode(reals(v...), DataTypes["float32"].DType))
}

func TestCheck_everyElementCounts(t *testing.T) {
	exact := &Check{Hash: "0f0fcd7ac25b46f0"}
	grid := &Check{Hash: "0f0fcd7ac25b46f0", Grid: 1, Within: 0.01}
	sums := &Check{Block: 3, Sums: []float64{1 + 2*4/3. + 3*5/3., 4 + 5*4/3.}, Slack: 1e-4}
	for _, c := range []*Check{exact, grid, sums} {
		_, err := judge(c, 1, 2, 3, 4, 5)
		assert.NoError(t, err)
		for i := range 5 {
			v := []float64{1, 2, 3, 4, 5}
			v[i] += 1
			_, err := judge(c, v...)
			assert.Error(t, err, "element %d", i)
		}
		_, err = judge(c, 2, 1, 3, 4, 5)
		assert.Error(t, err, "two elements exchanged")
	}
	_, err := judge(grid, 1, 2.009, 3, 4, 5)
	assert.NoError(t, err)
	_, err = judge(exact, 1, 2.009, 3, 4, 5)
	assert.Error(t, err)
	_, err = judge(grid, 1, 2.02, 3, 4, 5)
	assert.ErrorContains(t, err, "element 1: want a multiple of 1")
}

func TestCheck_samplesAreWithinTheTolerance(t *testing.T) {
	c := &Check{Sample: []struct {
		At    int
		Value numbers.Number
	}{{2, numbers.Real(3)}}}
	_, err := judge(c, 1, 2, 3.00001, 4, 5)
	assert.NoError(t, err)
	_, err = judge(c, 1, 2, 3.001, 4, 5)
	assert.ErrorContains(t, err, "element 2: want 3")
}

func TestCheck_namesTheRounding(t *testing.T) {
	c := &Check{Hashes: map[string]string{"even": "0f0fcd7ac25b46f0", "up": "0000000000000000"}}
	way, err := judge(c, 1, 2, 3, 4, 5)
	assert.NoError(t, err)
	assert.Equal(t, "even", way)
	_, err = judge(c, 1, 2, 3, 4, 6)
	assert.Error(t, err)
}
