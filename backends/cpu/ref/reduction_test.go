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

func axesOf(v ...int64) tensor.Tensor { return ints(tensor.Int64, v) }

// reductions lists every reduction with its definition over a slice.
func reductions(keep, emptyKeeps bool) map[graph.Op]func(v []float64) float64 {
	fold := func(start float64, f func(a, x float64) float64) func(v []float64) float64 {
		return func(v []float64) float64 {
			a := start
			for _, x := range v {
				a = f(a, x)
			}
			return a
		}
	}
	sum := fold(0, func(a, x float64) float64 { return a + x })
	return map[graph.Op]func(v []float64) float64{
		&op.ReduceSum{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: sum,
		&op.ReduceMean{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: func(v []float64) float64 {
			return sum(v) / float64(
				len(v))
		},
		&op.ReduceMax{KeepDims: keep, EmptyAxesKeep: emptyKeeps}:  fold(-inf, math.Max),
		&op.ReduceMin{KeepDims: keep, EmptyAxesKeep: emptyKeeps}:  fold(inf, math.Min),
		&op.ReduceProd{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: fold(1, func(a, x float64) float64 { return a * x }),
		&op.ReduceL1{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: fold(0,
			func(a, x float64) float64 { return a + math.Abs(x) }),
		&op.ReduceL2{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: fold(0, math.Hypot),
		&op.ReduceSumSquare{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: fold(0,
			func(a, x float64) float64 { return a + math.Pow(x, 2) }),
		&op.ReduceLogSum{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: func(v []float64) float64 { return math.Log(sum(v)) },
		&op.ReduceLogSumExp{KeepDims: keep, EmptyAxesKeep: emptyKeeps}: func(v []float64) float64 {
			return math.Log(fold(0, func(a, x float64) float64 { return a + math.Exp(x) })(v))
		},
	}
}

// The groups of a [2,3,2] tensor, written out by position.
func TestReductions_axesAndTypes(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 0.5, 0.25, 8, 1.5, 2, 3}
	for _, c := range []struct {
		axes   []int64
		kept   []int64
		gone   []int64
		groups [][]int
	}{
		{[]int64{1}, []int64{2, 1, 2}, []int64{2, 2}, [][]int{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}}},
		{[]int64{-1}, []int64{2, 3, 1}, []int64{2, 3}, [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}},
		{[]int64{0}, []int64{1, 3, 2}, []int64{3, 2}, [][]int{{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 11}}},
		{[]int64{2, 0}, []int64{1, 3, 1}, []int64{3}, [][]int{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}}},
		{[]int64{0, -3, 0, 1}, []int64{1, 1, 2}, []int64{2}, [][]int{{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}},
		{nil, []int64{1, 1, 1}, []int64{}, [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}},
	} {
		for _, keep := range []bool{false, true} {
			for o, f := range reductions(keep, false) {
				for _, d := range floatTypes {
					in := floats(d, x, 2, 3, 2)
					vals := values(t, in)
					var want []float64
					for _, g := range c.groups {
						var v []float64
						for _, i := range g {
							v = append(v, vals[i])
						}
						want = append(want, values(t, floats(d, []float64{f(v)}))[0])
					}
					y := run(t, o, in, axesOf(c.axes...))
					dims := c.gone
					if keep {
						dims = c.kept
					}
					require.Equal(t, dims, append([]int64{}, y.Dims...), graph.NameOf(o))
					eps := map[tensor.DType]float64{tensor.Float64: 1e-14, tensor.Float32: 0x1p-23, tensor.Float16: 0x1p-10,
						tensor.BFloat16: 0x1p-7}[d]
					for i := range want {
						assert.InDelta(t, want[i], values(t, y)[i], eps*(1+math.Abs(want[i])), "%s %v axes %v", graph.NameOf(o), d,
							c.axes)
					}
				}
			}
		}
	}
}

func TestReductions_emptyAxes(t *testing.T) {
	x := f32([]float32{4, 9}, 2)
	for o, f := range reductions(false, true) {
		for _, in := range [][]tensor.Tensor{{x}, {x, axesOf()}, {x, {}}} {
			y := run(t, o, in...)
			assert.Equal(t, []int64{2}, y.Dims, graph.NameOf(o))
			assert.InDelta(t, f([]float64{9}), values(t, y)[1], 1e-6, "%s of each element alone", graph.NameOf(o))
		}
	}
	for o, f := range reductions(false, false) {
		for _, in := range [][]tensor.Tensor{{x}, {x, axesOf()}, {x, {}}} {
			y := run(t, o, in...)
			assert.Empty(t, y.Dims, graph.NameOf(o))
			assert.InDelta(t, f([]float64{4, 9}), values(t, y)[0], 1e-4, graph.NameOf(o))
		}
	}
	y := run(t, &op.ReduceSum{}, f32([]float32{3}), axesOf())
	assert.Equal(t, []float64{3}, values(t, y), "of a scalar")
	y = run(t, &op.ReduceMax{}, f32([]float32{3, 4}, 2), ints(tensor.Int32, []int64{0}, []int64{}...))
	assert.Equal(t, []float64{4}, values(t, y), "one axis as a scalar")
}

func TestReductions_ofNothing(t *testing.T) {
	want := map[string]float64{"reduce_sum": 0, "reduce_mean": nan, "reduce_max": -inf, "reduce_min": inf,
		"reduce_prod": 1, "reduce_l1": 0, "reduce_l2": 0,
		"reduce_sum_square": 0, "reduce_log_sum": -inf, "reduce_log_sum_exp": -inf}
	for o := range reductions(false, false) {
		y := run(t, o, f32(nil, 2, 0), axesOf(1))
		assertReals(t, []float64{want[graph.NameOf(o)], want[graph.NameOf(o)]}, values(t, y), 0, graph.NameOf(o))
		y = run(t, o, f32(nil, 2, 0), axesOf(0))
		assert.Equal(t, []int64{0}, y.Dims)
	}
	none := tensor.New(tensor.Int8, 0)
	assert.Equal(t, []int64{-128}, intValues(t, run(t, &op.ReduceMax{}, none)))
	assert.Equal(t, []int64{127}, intValues(t, run(t, &op.ReduceMin{}, none)))
	assert.Equal(t, []int64{-1}, intValues(t, run(t, &op.ReduceMin{}, tensor.New(tensor.Uint64, 0))), "largest uint64")
	assert.Equal(t, []int64{1}, intValues(t, run(t, &op.ReduceProd{}, none)))
	_, err := Compute(&op.ReduceMean{}, []tensor.Tensor{none}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	for _, c := range []struct {
		op   graph.Op
		want []int64
	}{{&op.ReduceAll{}, []int64{1}}, {&op.ReduceAny{}, []int64{0}}, {&op.ReduceMax{}, []int64{0}},
		{&op.ReduceMin{}, []int64{1}}} {
		assert.Equal(t, c.want, intValues(t, run(t, c.op, tensor.New(tensor.Bool, 0))), graph.NameOf(c.op))
	}
}

func TestReductions_integers(t *testing.T) {
	for d := tensor.Int8; d <= tensor.Uint64; d++ {
		x := ints(d, []int64{3, 100, 100, 2}, 4)
		for o, want := range map[graph.Op]int64{
			&op.ReduceSum{}: 205, &op.ReduceMean{}: 51, &op.ReduceMax{}: 100, &op.ReduceMin{}: 2, &op.ReduceProd{}: 60000,
			&op.ReduceL1{}:        205,
			&op.ReduceSumSquare{}: 20013, &op.ReduceLogSum{}: 5, &op.ReduceLogSumExp{}: 100,
		} {
			assert.Equal(t, intValues(t, ints(d, []int64{want})), intValues(t, run(t, o, x)), "%s %v", graph.NameOf(o), d)
		}
		assert.Equal(t, []int64{5}, intValues(t, run(t, &op.ReduceL2{}, ints(d, []int64{3, 4}))), "%v", d)
		if d.IsSigned() {
			x = ints(d, []int64{-3, -4})
			assert.Equal(t, []int64{-3}, intValues(t, run(t, &op.ReduceMean{}, x)), "-3.5 truncated, %v", d)
			assert.Equal(t, []int64{7}, intValues(t, run(t, &op.ReduceL1{}, x)), "%v", d)
			assert.Equal(t, []int64{-3}, intValues(t, run(t, &op.ReduceMax{}, x)), "%v", d)
		}
	}
	big := ints(tensor.Uint64, []int64{-1, 1, math.MinInt64})
	assert.Equal(t, []int64{-1}, intValues(t, run(t, &op.ReduceMax{}, big)))
	assert.Equal(t, []int64{1}, intValues(t, run(t, &op.ReduceMin{}, big)))
	assert.Equal(t, []int64{math.MaxInt64}, intValues(t, run(t, &op.ReduceMean{}, ints(tensor.Uint64, []int64{-2, 0}))),
		"unsigned quotient")
	const most, least = math.MaxInt64, math.MinInt64
	for _, tc := range []struct {
		d    tensor.DType
		x    []int64
		mean int64
	}{
		{tensor.Int64, []int64{most, most, most - 3}, most - 1}, {tensor.Int64, []int64{least, least, least, least + 2},
			least + 1},
		{tensor.Int64, []int64{most, least}, 0}, {tensor.Int64, []int64{-7, 4, 0}, -1}, {tensor.Int64, []int64{7, -4, 0}, 1},
		{tensor.Int64, []int64{-4, 1, 1}, 0},
		{tensor.Uint64, []int64{-1, -1, -4}, -2}, {tensor.Int64, []int64{5, 5, 5, -1, -1, -1, -1}, 1},
		{tensor.Int64, []int64{-5, -5, -5, 1, 1, 1, 1}, -1},
	} {
		assert.Equal(t, []int64{tc.mean}, intValues(t, run(t, &op.ReduceMean{}, ints(tc.d, tc.x))), "%v of %v", tc.d, tc.x)
	}
}

func TestReductions_nanInfinityAndOverflow(t *testing.T) {
	x := floats(tensor.Float32, []float64{1, nan, 3, 4}, 2, 2)
	for _, o := range []graph.Op{&op.ReduceSum{}, &op.ReduceMax{}, &op.ReduceMin{}, &op.ReduceProd{}, &op.ReduceMean{},
		&op.ReduceL2{}, &op.ReduceLogSumExp{}} {
		y := values(t, run(t, o, x, axesOf(1)))
		assert.True(t, math.IsNaN(y[0]), graph.NameOf(o))
		assert.False(t, math.IsNaN(y[1]), graph.NameOf(o))
	}
	y := run(t, &op.ReduceLogSumExp{}, floats(tensor.Float32, []float64{1000, 1000}))
	assertReals(t, []float64{1000 + math.Ln2}, values(t, y), 1e-7, "no overflow")
	assertReals(t, []float64{inf}, values(t, run(t, &op.ReduceLogSumExp{}, floats(tensor.Float32, []float64{inf, -inf}))),
		0, "")
	assertReals(t, []float64{-inf}, values(t,
		run(t, &op.ReduceLogSumExp{}, floats(tensor.Float32, []float64{-inf, -inf}))), 0, "")
	assertReals(t, []float64{3e38}, values(t, run(t, &op.ReduceL2{}, f32([]float32{3e38}, 1))), 1e-7, "float64 in between")
	many := make([]float64, 1<<16)
	for i := range many {
		many[i] = 0.1
	}
	assertReals(t, []float64{0.1}, values(t, run(t, &op.ReduceMean{}, floats(tensor.Float32, many))), 1e-7,
		"no loss in long sums")
}

func TestReductions_truth(t *testing.T) {
	x := ints(tensor.Bool, []int64{1, 1, 0, 1, 0, 0}, 3, 2)
	assert.Equal(t, []int64{1, 0, 0}, intValues(t, run(t, &op.ReduceAll{}, x, axesOf(1))))
	assert.Equal(t, []int64{1, 1, 0}, intValues(t, run(t, &op.ReduceAny{}, x, axesOf(1))))
	assert.Equal(t, []int64{1, 1}, intValues(t, run(t, &op.ReduceAny{}, x, axesOf(0))))
	y := run(t, &op.ReduceAll{KeepDims: true}, floats(tensor.Float32, []float64{nan, 2}), axesOf(0))
	assert.Equal(t, tensor.Bool, y.DType)
	assert.Equal(t, []int64{1}, y.Dims)
	assert.Equal(t, []int64{1}, intValues(t, y))
}

func TestReductions_quantized(t *testing.T) {
	x := quant(ints(tensor.Int8, []int64{10, -20, 40, 3, 5, 7}, 2, 3), 0.5, 2) // 4 -11 19 | 0.5 1.5 2.5
	to := []tensor.Type{{DType: tensor.Int8, Quant: tensor.PerTensor(0.25, -1)}}
	for o, want := range map[graph.Op][]int64{
		&op.ReduceSum{}: {47, 17}, &op.ReduceMean{}: {15, 5}, &op.ReduceMax{}: {75, 9}, &op.ReduceMin{}: {-45, 1},
		&op.ReduceL1{}: {127, 17},
	} {
		y, err := Compute(o, []tensor.Tensor{x, axesOf(1)}, to)
		require.NoError(t, err)
		assert.Equal(t, want, intValues(t, y[0]), graph.NameOf(o))
	}
	y := run(t, &op.ReduceMean{}, x, axesOf(1))
	assert.Equal(t, x.Quant, y.Quant, "the input's quantization when nothing is declared")
	assert.Equal(t, []int64{10, 5}, intValues(t, y))
}

func TestReductions_errors(t *testing.T) {
	x := f32(seq32(6), 2, 3)
	for _, c := range []struct {
		in   []tensor.Tensor
		kind fault.Kind
		msg  string
	}{
		{[]tensor.Tensor{x, axesOf(2)}, fault.Argument, "input 1: axis 2 is outside a tensor of rank 2"},
		{[]tensor.Tensor{x, axesOf(0, -3)}, fault.Argument, "input 1: axis -3 is outside"},
		{[]tensor.Tensor{x, f32(seq32(1), 1)}, fault.Type, "input 1: want an integer type, got float32"},
		{[]tensor.Tensor{x, ints(tensor.Int64, []int64{0}, 1, 1)}, fault.Shape, "input 1: want rank 1, got [1,1]"},
		{[]tensor.Tensor{tensor.New(tensor.Complex64, 1)}, fault.Type, "input 0: want"},
		{[]tensor.Tensor{}, fault.Argument, "want 1 to 2 inputs, got 0"},
		{[]tensor.Tensor{{}, axesOf(0)}, fault.Argument, "input 0 is missing"},
	} {
		for o := range reductions(false, false) {
			_, err := Compute(o, c.in, make([]tensor.Type, 1))
			assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", graph.NameOf(o), err)
			assert.ErrorContains(t, err, c.msg)
		}
	}
	_, err := Compute(&op.ReduceSum{}, []tensor.Tensor{ints(tensor.Bool, []int64{1})}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "got bool")
}
