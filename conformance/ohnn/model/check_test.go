package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The numbers are those of gen/pattern.py.
func TestPattern_numbersAreThoseOfTheGenerator(t *testing.T) {
	assert.Equal(t, reals(1, -3, -1, 0, -3, -1), (&Pattern{Seed: 7, Lo: -3, Hi: 3}).Numbers(6))
	assert.Equal(t, reals(0.5, -1.5, -0.5), (&Pattern{Seed: 7, Lo: -3, Hi: 3, Step: 0.5}).Numbers(3))
	assert.Equal(t, reals(1.2644898295402527, 0.7172433733940125, -0.20385634899139404),
		(&Pattern{Seed: 4000000000, Lo: -1, Hi: 2, Real: true}).Numbers(3))
}

// judge judges five floats by a check.
func judge(c *Check, v ...float64) (string, error) {
	t := &Tensor{Type: "float32", Expect: &Body{Dims: []int32{5}, Check: c}}
	return Tolerance{Rel: 1e-5, Abs: 1e-6}.Judge(t, []int32{5}, Encode(reals(v...), DataTypes["float32"].DType))
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
		Value Number
	}{{2, Real(3)}}}
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
