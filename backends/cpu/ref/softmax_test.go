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

// Logarithms of integers: the softmax is their share of the sum.
func TestSoftmax_sharesAlongEveryAxis(t *testing.T) {
	n := []float64{1, 2, 3, 4, 5, 9, 6, 8, 7, 2, 1, 1}
	logs := make([]float64, len(n))
	for i, v := range n {
		logs[i] = math.Log(v)
	}
	for axis, sums := range map[int64][]float64{
		0:  {7, 10, 10, 6, 6, 10, 7, 10, 10, 6, 6, 10},
		1:  {9, 15, 9, 15, 9, 15, 14, 11, 14, 11, 14, 11},
		-1: {3, 3, 7, 7, 14, 14, 14, 14, 9, 9, 2, 2},
	} {
		for _, d := range floatTypes {
			x := floats(d, logs, 2, 3, 2)
			eps := map[tensor.DType]float64{tensor.Float64: 1e-13, tensor.Float32: 1e-6, tensor.Float16: 4e-3,
				tensor.BFloat16: 3e-2}[d]
			y, l := values(t, run(t, &op.Softmax{Axis: axis}, x)), values(t, run(t, &op.LogSoftmax{Axis: axis}, x))
			for i := range n {
				assert.InEpsilon(t, n[i]/sums[i], y[i], eps, "%v axis %d", d, axis)
				assert.InDelta(t, math.Log(n[i]/sums[i]), l[i], eps, "%v axis %d", d, axis)
			}
		}
	}
}

func TestSoftmax_extremes(t *testing.T) {
	f := func(o graph.Op, v ...float64) []float64 { return values(t, run(t, o, floats(tensor.Float32, v))) }
	assertReals(t, []float64{0.5, 0.5, 0}, f(&op.Softmax{}, 1e30, 1e30, -1e30), 0, "no overflow")
	assertReals(t, []float64{-math.Ln2, -math.Ln2}, f(&op.LogSoftmax{}, 1e4, 1e4), 1e-7, "no overflow")
	assertReals(t, []float64{1, 0}, f(&op.Softmax{}, 3, -inf), 0, "masked")
	assertReals(t, []float64{nan, nan}, f(&op.Softmax{}, 3, inf), 0, "")
	assertReals(t, []float64{nan, nan}, f(&op.Softmax{}, -inf, -inf), 0, "")
	assertReals(t, []float64{nan, nan}, f(&op.LogSoftmax{}, nan, 0), 0, "")
	assertReals(t, []float64{0, 1, 0}, f(&op.Hardmax{}, 1, 5, 5), 0, "the first of equal ones")
	assertReals(t, []float64{0, 0, 1}, f(&op.Hardmax{}, 1, 5, nan), 0, "NaN is the largest")
	assert.Equal(t, []float64{1, 0, 0, 1, 0, 1},
		values(t, run(t, &op.Hardmax{Axis: 1}, floats(tensor.Float32, []float64{9, 1, 2, 3, 0, 5}, 3, 2))))
	assert.Equal(t, []float64{1, 0, 0, 0, 0, 1},
		values(t, run(t, &op.Hardmax{}, floats(tensor.Float32, []float64{9, 1, 2, 3, 0, 5}, 3, 2))))
}

// Beta is an exponent of what x is the logarithm of: n^beta / sum of n^beta.
func TestSoftmax_beta(t *testing.T) {
	n := []float64{1, 2, 4, 3}
	for _, beta := range []float64{0.5, 2, 3, -1, -2} {
		x, sum := make([]float64, len(n)), 0.0
		for i, v := range n {
			x[i] = math.Log(v)
			sum += math.Pow(v, beta)
		}
		y := values(t, run(t, &op.Softmax{Beta: float32(beta)}, floats(tensor.Float64, x)))
		l := values(t, run(t, &op.LogSoftmax{Beta: float32(beta)}, floats(tensor.Float64, x)))
		for i, v := range n {
			assert.InEpsilon(t, math.Pow(v, beta)/sum, y[i], 1e-12, "beta %v", beta)
			assert.InDelta(t, math.Log(math.Pow(v, beta)/sum), l[i], 1e-12, "beta %v", beta)
		}
	}
	f := func(o graph.Op, v ...float64) []float64 { return values(t, run(t, o, floats(tensor.Float32, v))) }
	assertReals(t, []float64{0, 1}, f(&op.Softmax{Beta: -4}, 1e30, -1e30), 0, "no overflow")
	assertReals(t, []float64{0, 1}, f(&op.Softmax{Beta: -1}, inf, 5), 0, "masked")
	for _, beta := range []float64{nan, inf, -inf} {
		for _, o := range []graph.Op{&op.Softmax{Beta: float32(beta)}, &op.LogSoftmax{Beta: float32(beta)}} {
			_, err := Compute(o, []tensor.Tensor{f32(seq32(2), 2)}, make([]tensor.Type, 1))
			assert.Equal(t, fault.Argument, fault.KindOf(err))
			assert.ErrorContains(t, err, "beta: ")
		}
	}
}

func TestSoftmax_quantizedZeroSizesAndErrors(t *testing.T) {
	x := quant(ints(tensor.Uint8, []int64{100, 110, 100}), 0.1, 0) // 10, 11, 10
	y, err := Compute(&op.Softmax{}, []tensor.Tensor{x},
		[]tensor.Type{{DType: tensor.Uint8, Quant: tensor.PerTensor(1.0/256, 0)}})
	require.NoError(t, err)
	assert.Equal(t, []int64{54, 147, 54}, intValues(t, y[0])) // 256/(2+e) and 256e/(2+e)
	for _, o := range []graph.Op{&op.Softmax{Axis: 1}, &op.LogSoftmax{Axis: 1}, &op.Hardmax{Axis: 1}} {
		for _, dims := range [][]int64{{2, 0}, {0, 3}, {0, 1 << 40}} {
			assert.Equal(t, dims, run(t, o, f32(nil, dims...)).Dims)
		}
		_, err = Compute(o, []tensor.Tensor{f32(seq32(2), 2)}, make([]tensor.Type, 1))
		assert.ErrorContains(t, err, "axis 1 is outside a tensor of rank 1")
		_, err = Compute(o, []tensor.Tensor{ints(tensor.Int32, []int64{1}, 1, 1)}, make([]tensor.Type, 1))
		assert.Equal(t, fault.Type, fault.KindOf(err))
	}
	_, err = Compute(&op.Softmax{}, []tensor.Tensor{f32([]float32{1})}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err), "a scalar has no axis")
}

func TestDet_knownMatrices(t *testing.T) {
	x := []float64{1, 2, 3, 4, 0, 1, 1, 0, 2, 0, 0, 3, 1, 1, 1, 1}
	y := run(t, &op.Det{}, floats(tensor.Float32, x, 2, 2, 2, 2))
	assert.Equal(t, []int64{2, 2}, y.Dims)
	assertReals(t, []float64{-2, -1, 6, 0}, values(t, y), 1e-7, "2 x 2")
	y = run(t, &op.Det{}, floats(tensor.Float64, []float64{2, -3, 1, 2, 0, -1, 1, 4, 5}, 3, 3))
	assertReals(t, []float64{49}, values(t, y), 1e-14, "3 x 3")
	vander := []float64{1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27, 1, 5, 25, 125}
	assertReals(t, []float64{48}, values(t, run(t, &op.Det{}, floats(tensor.Float64, vander, 4, 4))), 1e-12,
		"product of differences")
	assertReals(t, []float64{nan}, values(t, run(t, &op.Det{}, floats(tensor.Float32, []float64{nan, 1, 1, 1}, 2, 2))), 0,
		"")
	assert.Equal(t, []float64{1, 1}, values(t, run(t, &op.Det{}, f32(nil, 2, 0, 0))), "the empty matrix")
	assert.Equal(t, []int64{0}, run(t, &op.Det{}, f32(nil, 0, 3, 3)).Dims)
	for _, dims := range [][]int64{{}, {4}, {2, 3}} {
		n, _ := tensor.Count(dims)
		_, err := Compute(&op.Det{}, []tensor.Tensor{f32(seq32(int(n)), dims...)}, make([]tensor.Type, 1))
		assert.Equal(t, fault.Shape, fault.KindOf(err))
	}
}
