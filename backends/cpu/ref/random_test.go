package ref

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sampleMoments returns mean, variance and the range.
func sampleMoments(v []float64) (mean, variance, lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		mean += x / float64(len(v))
		lo, hi = min(lo, x), max(hi, x)
	}
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, variance, lo, hi
}

func TestRandom_moments(t *testing.T) {
	shape := i64s(100, 200)
	x := tensor.New(tensor.Float64, 100, 200)
	for _, c := range []struct {
		o              graph.Op
		in             tensor.Tensor
		to             tensor.DType
		mean, variance float64
		lo, hi         float64
	}{
		{&op.RandomNormal{Mean: 3, Scale: 2, Seed: 1, Seeded: true}, shape, tensor.Float32, 3, 4, -20, 25},
		{&op.RandomNormal{Mean: -1, Scale: 1, To: tensor.Float16, Seed: 7, Seeded: true}, shape, tensor.Float16, -1, 1, -9,
			8},
		{&op.RandomUniform{Low: -1, High: 3, Seed: 2, Seeded: true}, shape, tensor.Float32, 1, 16.0 / 12, -1, 3},
		{&op.RandomNormalLike{Mean: 0, Scale: 1, Seed: 3, Seeded: true}, x, tensor.Float64, 0, 1, -8, 8},
		{&op.RandomUniformLike{Low: 0, High: 1, To: tensor.BFloat16, Seed: 4, Seeded: true}, x, tensor.BFloat16, 0.5,
			1.0 / 12, 0, 1},
	} {
		y := run(t, c.o, c.in)
		require.Equal(t, c.to, y.DType)
		require.Equal(t, []int64{100, 200}, y.Dims)
		mean, variance, lo, hi := sampleMoments(values(t, y))
		assert.InDelta(t, c.mean, mean, 5*math.Sqrt(c.variance/20000), "%s mean", graph.NameOf(c.o))
		assert.InEpsilon(t, c.variance, variance, 0.05, "%s variance", graph.NameOf(c.o))
		assert.True(t, lo >= c.lo && hi <= c.hi, "%s: %v to %v", graph.NameOf(c.o), lo, hi)
		assert.Equal(t, y.Data, run(t, c.o, c.in).Data, "%s: the seed decides", graph.NameOf(c.o))
		assert.True(t, graph.TraitsOf(c.o).Impure)
	}
	assert.NotEqual(t, run(t, &op.RandomNormal{Scale: 1, Seed: 1, Seeded: true}, shape).Data,
		run(t, &op.RandomNormal{Scale: 1, Seed: 2, Seeded: true}, shape).Data)
	free := &op.RandomUniform{High: 1}
	assert.NotEqual(t, run(t, free, shape).Data, run(t, free, shape).Data)
}

func TestBernoulli_followsProbabilities(t *testing.T) {
	p := tensor.New(tensor.Float32, 30000)
	for i := range p.Count() {
		view[float32](p)[i] = []float32{0, 0.25, 1}[i%3]
	}
	y := intValues(t, run(t, &op.Bernoulli{To: tensor.Bool, Seed: 5, Seeded: true}, p))
	var ones [3]int
	for i, v := range y {
		ones[i%3] += int(v)
	}
	assert.Zero(t, ones[0])
	assert.InDelta(t, 2500, ones[1], 250)
	assert.Equal(t, 10000, ones[2])
	_, err := Compute(&op.Bernoulli{}, []tensor.Tensor{f32([]float32{1.5}, 1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
}

func TestMultinomial_followsWeights(t *testing.T) {
	none := math.Inf(-1)
	x := floats(tensor.Float32, []float64{none, math.Log(1), math.Log(3), none, 700, none, none, none}, 2, 4)
	o := &op.Multinomial{To: tensor.Int32, Seed: 6, Seeded: true}
	y := run(t, o, x, i64scalar(20000))
	require.Equal(t, []int64{2, 20000}, y.Dims)
	var counts [2][4]int
	for i, c := range intValues(t, y) {
		counts[i/20000][c]++
	}
	assert.Zero(t, counts[0][0]+counts[0][3])
	assert.InDelta(t, 5000, counts[0][1], 300)
	assert.Equal(t, 20000, counts[1][0])
	for _, bad := range [][]float64{{none, none}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		_, err := Compute(o, []tensor.Tensor{floats(tensor.Float32, bad, 1, 2), i64scalar(1)}, make([]tensor.Type, 1))
		assert.Equal(t, fault.Data, fault.KindOf(err))
	}
	_, err := Compute(o, []tensor.Tensor{x, i64scalar(1 << 40)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Memory, fault.KindOf(err))
}

func TestMultinomial_seedsOfTheRun(t *testing.T) {
	x := floats(tensor.Float32, []float64{0, math.Log(3)}, 1, 2)
	draw := func(d tensor.DType, seeds ...int64) []int64 {
		return intValues(t, run(t, &op.Multinomial{}, x, i64scalar(4000), ints(d, seeds, 2)))
	}
	for _, seeds := range [][]int64{{1, 0}, {0, 1}, {37, -42}, {math.MinInt32, math.MaxInt32}} {
		y := draw(tensor.Int32, seeds...)
		assert.Equal(t, y, draw(tensor.Int64, seeds...), "the same numbers each time")
		assert.NotEqual(t, y, draw(tensor.Int32, seeds[0], seeds[1]-1))
		ones := 0
		for _, c := range y {
			ones += int(c)
		}
		assert.InDelta(t, 3000, ones, 150, "%v", seeds)
	}
	assert.NotEqual(t, draw(tensor.Int32, 1, 0), draw(tensor.Int32, 0, 1))
	assert.NotEqual(t, draw(tensor.Int32, 0, 0), draw(tensor.Int32, 0, 0), "no seed")
	assert.Len(t, intValues(t, run(t, &op.Multinomial{}, x, i64scalar(3), tensor.Tensor{})), 3)
}
