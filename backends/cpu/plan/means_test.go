package plan

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// inputAbout is an input of numbers about a mean, with a deviation of 1.
func (m *maker) inputAbout(mean float64, dims ...int64) graph.Value {
	v := m.input(dims...)
	x := run.Floats(m.in[len(m.in)-1].Data)
	for i := range x {
		x[i] = float32(mean + float64(x[i]))
	}
	return v
}

// last has the NHWC form of an image alone.
func (m *maker) last(x graph.Value) graph.Value {
	return m.Add(&op.MaxPool{Kernel: []int64{1, 1}}, x)
}

func (m *maker) ones(n int64) graph.Value {
	t := tensor.New(tensor.Float32, n)
	for i, v := 0, run.Floats(t.Data); i < len(v); i++ {
		v[i] = 1
	}
	return m.Const("", t.Type(), t.Data)
}

func (m *maker) zeros(n int64) graph.Value {
	t := tensor.New(tensor.Float32, n)
	return m.Const("", t.Type(), t.Data)
}

// meanCase is an operator on numbers about a mean, and its result in float64. A set is reduced or normalized as one.
type meanCase struct {
	name  string
	dims  []int64
	sum   bool // the result is a sum: errors are relative to the sum of the magnitudes
	build func(m *maker, x graph.Value, mean float64) graph.Value
	set   func(i int) int
	value func(x []float64) []float64 // of one set: a value per element, or one for all
}

func standardized(eps float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		mean, variance := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(len(x))
		}
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = (v - mean) / math.Sqrt(variance+eps)
		}
		return y
	}
}

func sumOf(x []float64) []float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return []float64{s}
}

func meanOf(x []float64) []float64 { return []float64{sumOf(x)[0] / float64(len(x))} }

func overRoot(f func(squares float64, n int) float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		s := 0.0
		for _, v := range x {
			s += v * v
		}
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = v / f(s, len(x))
		}
		return y
	}
}

func softmaxOf(log bool) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		largest, sum := math.Inf(-1), 0.0
		for _, v := range x {
			largest = max(largest, v)
		}
		for _, v := range x {
			sum += math.Exp(v - largest)
		}
		y := make([]float64, len(x))
		for i, v := range x {
			if y[i] = v - largest - math.Log(sum); !log {
				y[i] = math.Exp(y[i])
			}
		}
		return y
	}
}

func rowsOf(cols int) func(i int) int { return func(i int) int { return i / cols } }

var meanCases = []meanCase{
	{"layer norm", []int64{7, 1500}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, x)
	}, rowsOf(1500), standardized(1e-5)},
	{"layer norm of long rows", []int64{2, 70000}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.LayerNorm{Axis: 1, Epsilon: 1e-5}, x)
	}, rowsOf(70000), standardized(1e-5)},
	{"layer norm in parts", []int64{5, 300}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		mean := func(x graph.Value) graph.Value { return m.Add(&op.ReduceMean{KeepDims: true}, x, m.Int64s(-1)) }
		d := m.Add(&op.Sub{}, x, mean(x))
		d = m.Add(&op.Sub{}, d, mean(d))
		return m.Add(&op.Div{}, d, m.Add(&op.Sqrt{}, m.Add(&op.Add{}, mean(m.Add(&op.Square{}, d)), m.Float32(1e-5))))
	}, rowsOf(300), standardized(1e-5)},
	{"a sum and its layer norm", []int64{9, 700}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.LayerNorm{Axis: -1, Epsilon: 1e-5}, m.Add(&op.Add{}, x, m.zeros(700)))
	}, rowsOf(700), standardized(1e-5)},
	{"a sum of two and its layer norm", []int64{9, 700}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.LayerNorm{Axis: -1, Epsilon: 4e-5}, m.Add(&op.Add{}, x, x))
	}, rowsOf(700), standardized(1e-5)},
	{"instance norm", []int64{2, 6, 40, 50}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, x, m.ones(6), m.zeros(6))
	}, rowsOf(2000), standardized(1e-5)},
	{"instance norm of NHWC images", []int64{2, 6, 40, 50}, false,
		func(m *maker, x graph.Value, _ float64) graph.Value {
			return m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, m.last(x), m.ones(6), m.zeros(6))
		}, rowsOf(2000), standardized(1e-5)},
	{"group norm", []int64{2, 6, 20, 50}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.GroupNorm{Groups: 3, Epsilon: 1e-5}, x, m.ones(6), m.zeros(6))
	}, rowsOf(2000), standardized(1e-5)},
	{"group norm of NHWC images", []int64{2, 6, 20, 50}, false,
		func(m *maker, x graph.Value, _ float64) graph.Value {
			return m.Add(&op.GroupNorm{Groups: 3, Epsilon: 1e-5}, m.last(x), m.ones(6), m.zeros(6))
		}, rowsOf(2000), standardized(1e-5)},
	{"batch norm", []int64{2, 3, 4, 5}, false, func(m *maker, x graph.Value, mean float64) graph.Value {
		at := m.Const("", tensor.T(tensor.Float32, 3), tensor.Float32s(float32(mean), float32(mean), float32(mean)))
		return m.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, x, m.ones(3), m.zeros(3), at, m.ones(3))
	}, nil, nil},
	{"root mean square norm", []int64{5, 9000}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.RMSNorm{Axis: -1, Epsilon: 1e-5}, x, m.ones(9000))
	}, rowsOf(9000), overRoot(func(s float64, n int) float64 { return math.Sqrt(s/float64(n) + 1e-5) })},
	{"division by the norm", []int64{5, 9000}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.L2Normalize{Epsilon: 1e-12}, x, m.Int64s(1))
	}, rowsOf(9000), overRoot(func(s float64, _ int) float64 { return math.Sqrt(s) })},
	{"softmax", []int64{5, 9000}, false, func(m *maker, x graph.Value,
		_ float64) graph.Value {
		return m.Add(&op.Softmax{Axis: -1}, x)
	}, rowsOf(9000), softmaxOf(false)},
	{"log softmax", []int64{5, 9000}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.LogSoftmax{Axis: -1}, x)
	}, rowsOf(9000), softmaxOf(true)},
	{"sums of rows", []int64{3, 100000}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceSum{}, x, m.Int64s(1))
	}, rowsOf(100000), sumOf},
	{"sums of columns", []int64{100000, 3}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceSum{}, x, m.Int64s(0))
	}, func(i int) int { return i % 3 }, sumOf},
	{"means of rows", []int64{3, 100000}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceMean{}, x, m.Int64s(1))
	}, rowsOf(100000), meanOf},
	{"means of columns", []int64{2, 70000, 3}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceMean{}, x, m.Int64s(1))
	}, func(i int) int { return i/210000*3 + i%3 }, meanOf},
	{"means of NHWC images", []int64{2, 3, 150, 100}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceMean{}, m.last(x), m.Int64s(2, 3))
	}, rowsOf(15000), meanOf},
	{"global average pooling", []int64{2, 40, 80, 90}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.AveragePool{Global: true}, x)
	}, rowsOf(7200), meanOf},
	{"average pooling of large windows", []int64{1, 1, 64, 3000}, true,
		func(m *maker, x graph.Value, _ float64) graph.Value {
			return m.Add(&op.AveragePool{Kernel: []int64{64, 1000}, Strides: []int64{1, 1000}}, x)
		}, func(i int) int { return i % 3000 / 1000 }, meanOf},
	{"logarithm of the sum of powers", []int64{2, 3000}, false, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceLogSumExp{}, x, m.Int64s(1))
	}, rowsOf(3000), func(x []float64) []float64 { return []float64{x[0] - softmaxOf(true)(x)[0]} }},
	{"root of the sum of squares", []int64{2, 3000}, true, func(m *maker, x graph.Value, _ float64) graph.Value {
		return m.Add(&op.ReduceL2{}, x, m.Int64s(1))
	}, rowsOf(3000), func(x []float64) []float64 {
		return []float64{math.Sqrt(sumOf(mapped(x, func(v float64) float64 { return v * v }))[0])}
	}},
}

func mapped(x []float64, f func(v float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

// expected computes a case in float64 from its definition, with a bound for the error of each value.
//
// The bounds hold whatever the mean: subtracting about the mean loses nothing when values lie close together, so a
// normalized value errs by the rounding of sums of deviations, 2^-18 of it (kernel.Sum), and by a few roundings. A sum
// errs by 2^-17 of the sum of the magnitudes. What a result that is large itself loses by being rounded to float32
// comes on top.
func (c *meanCase) expected(x []float32, mean float64) (want, bound []float64) {
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	if c.set == nil {
		for _, v := range wide {
			want = append(want, (v-float64(float32(mean)))/math.Sqrt(1+1e-5))
		}
	} else {
		sets := map[int][]int{}
		for i := range x {
			sets[c.set(i)] = append(sets[c.set(i)], i)
		}
		for s := range len(sets) {
			var values []float64
			for _, i := range sets[s] {
				values = append(values, wide[i])
			}
			if r := c.value(values); len(r) == 1 {
				want = append(want, r[0])
				if c.sum {
					bound = append(bound, math.Abs(c.value(mapped(values, math.Abs))[0])/(1<<17))
				}
			} else {
				if want == nil {
					want = make([]float64, len(x))
				}
				for k, i := range sets[s] {
					want[i] = r[k]
				}
			}
		}
	}
	if bound == nil {
		bound = mapped(want, func(w float64) float64 { return 8e-6*(1+math.Min(math.Abs(w), 20)) + math.Abs(w)/(1<<23) })
	}
	return want, bound
}

// Normalizations and reductions keep their digits where the mean is large beside the deviation.
func TestBuild_largeMeans(t *testing.T) {
	for _, c := range meanCases {
		means := []float64{0, 100, -1000, 1e6}
		if testing.Short() {
			means = means[3:]
		}
		for _, mean := range means {
			m := newMaker()
			x := m.inputAbout(mean, c.dims...)
			g := m.graph(t, c.build(m, x, mean))
			want, bound := c.expected(run.Floats(m.in[0].Data), mean)
			check := func(t *testing.T, got tensor.Tensor) {
				t.Helper()
				y := run.Floats(got.Data)
				require.Len(t, y, len(want))
				for i, w := range want {
					if d := math.Abs(w - float64(y[i])); !(d <= bound[i]) {
						require.Failf(t, "too far off", "element %d: want %v, got %v, further than %.2g", i, w, y[i], bound[i])
					}
				}
			}
			t.Run(fmt.Sprint(c.name, " ", mean, " reference"), func(t *testing.T) {
				got, err := ref.Run(context.Background(), g, m.in)
				require.NoError(t, err)
				check(t, got[0])
			})
			for _, isa := range instructionSets() {
				t.Run(fmt.Sprint(c.name, " ", mean, " ", isa), func(t *testing.T) {
					restore, err := kernel.Select(isa)
					require.NoError(t, err)
					defer restore()
					var store run.Store
					defer store.Release()
					if _, err := Build(context.Background(), g, &store, Options{}); err != nil {
						t.Skip(err) // by reference alone
					}
					_, got := compute(t, g, m.in, 2)
					check(t, got[0])
				})
			}
		}
	}
}

// Equal values have no deviation: what rounding leaves of them must not be taken for one.
func TestBuild_equalValuesNormalized(t *testing.T) {
	for _, isa := range instructionSets() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		for _, value := range []float64{0.1, -77.7, 1234567} {
			m := newMaker()
			x := m.inputAbout(0, 3, 8, 20, 11)
			for i, v := 0, run.Floats(m.in[0].Data); i < len(v); i++ {
				v[i] = float32(value)
			}
			g := m.graph(t, m.Add(&op.LayerNorm{Axis: 1, Epsilon: 1e-5}, x), m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, x,
				m.ones(8), m.zeros(8)),
				m.Add(&op.InstanceNorm{Axis: 1, Epsilon: 1e-5}, m.last(x), m.ones(8), m.zeros(8)))
			_, got := compute(t, g, m.in, 1)
			for k := range got {
				for i, v := range run.Floats(got[k].Data) {
					assert.InDelta(t, 0, v, 1e-4, "%v of %v, output %d, element %d", isa, value, k, i)
					if t.Failed() {
						return
					}
				}
			}
		}
		restore()
	}
}
