package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// moments returns the mean and the biased variance of v, in two passes.
func moments(v []float64) (mean, variance float64) {
	for _, x := range v {
		tick()
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		tick()
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(v))
}

// gathered calls f with each set of elements that are normalized together: the positions of the set in x, and their
// values. sets numbers the set that element i belongs to.
func gathered(x []float64, sets int, set func(i int) int, f func(positions []int, values []float64)) {
	members := alloc[[]int](sets)
	admit(24 * len(x)) // positions, in lists that grow by doubling
	for i := range x {
		tick()
		s := set(i)
		members[s] = append(members[s], i)
	}
	var v []float64
	for _, m := range members {
		if len(m) == 0 {
			continue
		}
		v = v[:0]
		for _, i := range m {
			tick()
			v = append(v, x[i])
		}
		f(m, v)
	}
}

// standardize computes (x - mean) / sqrt(variance + epsilon) * scale[c] + bias[c] over sets of elements; channel gives
// c of an element.
func standardize(in []tensor.Tensor, out tensor.Type, epsilon float32, sets int, set,
	channel func(i int) int) []tensor.Tensor {
	x, scale, bias := reals(in[0]), reals(in[1]), reals(in[2])
	y, put := realStore(out)
	gathered(x, sets, set, func(positions []int, values []float64) {
		mean, variance := moments(values)
		d := math.Sqrt(variance + float64(epsilon))
		for k, i := range positions {
			tick()
			c := channel(i)
			put(i, (values[k]-mean)/d*scale[c]+bias[c])
		}
	})
	return []tensor.Tensor{y}
}

// rowsFrom is the number of rows and their length when the dimensions from axis on are taken together.
func rowsFrom(dims []int64, axis int64) (rows, length int, err error) {
	a, err := op.Axis(axis, len(dims))
	if err != nil {
		return 0, 0, err
	}
	return cellCount(dims[:a]), cellCount(dims[a:]), nil
}

// parameter returns an optional tensor's value at the elements it broadcasts to, otherwise when it is absent.
func parameter(in []tensor.Tensor, k int, dims []int64, otherwise float64) func(i int) float64 {
	if k >= len(in) || in[k].Absent() {
		return func(int) float64 { return otherwise }
	}
	v, index := reals(in[k]), broadcastIndex(in[k].Dims, dims)
	return func(i int) float64 { return v[index(i)] }
}
