package ref

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var inf, nan = math.Inf(1), math.NaN()

// floats makes a tensor of any float type.
func floats(d tensor.DType, v []float64, dims ...int64) tensor.Tensor {
	if dims == nil {
		dims = []int64{int64(len(v))}
	}
	t := tensor.New(d, dims...)
	for i, x := range v {
		tensor.PutFloat(d, t.Data, i, x, true)
	}
	return t
}

// ints makes a tensor of any integer type or bool.
func ints(d tensor.DType, v []int64, dims ...int64) tensor.Tensor {
	if dims == nil {
		dims = []int64{int64(len(v))}
	}
	t := tensor.New(d, dims...)
	for i, x := range v {
		tensor.PutInt(d, t.Data, i, x)
	}
	return t
}

// quant gives an integer tensor a per-tensor quantization.
func quant(t tensor.Tensor, scale float32, zero int32) tensor.Tensor {
	t.Quant = tensor.PerTensor(scale, zero)
	return t
}

// run computes an operator with one output of which nothing is declared.
func run(t *testing.T, o graph.Op, in ...tensor.Tensor) tensor.Tensor {
	t.Helper()
	y, err := Compute(o, in, make([]tensor.Type, 1))
	require.NoError(t, err)
	return y[0]
}

// values reads a tensor of any real type as float64.
func values(t *testing.T, x tensor.Tensor) []float64 {
	t.Helper()
	v, err := tensor.ReadFloats(x.DType, x.Data, x.Count())
	require.NoError(t, err)
	return v
}

// intValues reads a tensor of any integer type or bool.
func intValues(t *testing.T, x tensor.Tensor) []int64 {
	t.Helper()
	v, err := tensor.ReadInts(x.DType, x.Data, x.Count())
	require.NoError(t, err)
	return v
}

// assertReals compares within a relative and absolute tolerance; NaN equals NaN, infinities and the sign of zero must
// match.
func assertReals(t *testing.T, want, got []float64, rel float64, msg string) {
	t.Helper()
	require.Len(t, got, len(want), msg)
	for i, w := range want {
		g := got[i]
		switch {
		case math.IsNaN(w):
			assert.True(t, math.IsNaN(g), "%s: element %d: want NaN, got %v", msg, i, g)
		case math.IsInf(w, 0) || w == 0:
			assert.True(t, w == g && math.Signbit(w) == math.Signbit(g), "%s: element %d: want %v, got %v", msg, i, w, g)
		default:
			assert.LessOrEqual(t, math.Abs(w-g), rel*math.Abs(w), "%s: element %d: want %v, got %v", msg, i, w, g)
		}
	}
}

type unaryCase struct {
	op   graph.Op
	f    func(float64) float64 // the definition, by another route than the kernel's where there is one
	x    []float64             // finite points; nil: points
	at   map[float64]float64   // stated results at special values
	nans bool                  // f(NaN) is not NaN and is stated in atNaN
	nan  float64
}

var points = []float64{-7.25, -3, -1.5, -1, -0.75, -0.25, 0.125, 0.5, 1, 1.25, 2.5, 6, 11.5}

func sigmoidDef(x float64) float64 { return 0.5 + 0.5*math.Tanh(x/2) }

var unaryCases = []unaryCase{
	{op: &op.Abs{}, f: math.Abs, at: map[float64]float64{-inf: inf, math.Copysign(0, -1): 0}},
	{op: &op.Neg{}, f: func(x float64) float64 { return 0 - x }, at: map[float64]float64{inf: -inf}},
	{op: &op.Ceil{}, f: func(x float64) float64 { return -math.Floor(-x) }, at: map[float64]float64{-inf: -inf}},
	{op: &op.Floor{}, f: func(x float64) float64 { return -math.Ceil(-x) }, at: map[float64]float64{inf: inf}},
	{op: &op.Sqrt{}, f: func(x float64) float64 { return math.Pow(x, 0.5) }, x: []float64{0.25, 2, 9},
		at: map[float64]float64{-1: nan, 0: 0, inf: inf}},
	{op: &op.Rsqrt{}, f: func(x float64) float64 { return math.Pow(x, -0.5) }, x: []float64{0.25, 2, 9},
		at: map[float64]float64{-1: nan, 0: inf, inf: 0}},
	{op: &op.Reciprocal{}, f: func(x float64) float64 { return math.Pow(x, -1) }, at: map[float64]float64{0: inf,
		-inf: math.Copysign(0, -1)}},
	{op: &op.Square{}, f: func(x float64) float64 { return math.Pow(x, 2) }, at: map[float64]float64{-inf: inf}},
	{op: &op.Log{}, f: func(x float64) float64 { return math.Log2(x) * math.Ln2 }, x: []float64{0.25, 2, 9},
		at: map[float64]float64{-1: nan, 0: -inf, inf: inf}},
	{op: &op.Sin{}, f: func(x float64) float64 { return 2 * math.Sin(x/2) * math.Cos(x/2) },
		at: map[float64]float64{0: 0, inf: nan}},
	{op: &op.Cos{}, f: func(x float64) float64 { return 1 - 2*math.Sin(x/2)*math.Sin(x/2) },
		at: map[float64]float64{0: 1, inf: nan}},
	{op: &op.Tan{}, f: func(x float64) float64 { return math.Sin(x) / math.Cos(x) }, at: map[float64]float64{inf: nan}},
	{op: &op.Asin{}, f: func(x float64) float64 { return math.Atan2(x, math.Sqrt(1-x*x)) }, x: []float64{-0.5, 0.25, 1},
		at: map[float64]float64{2: nan}},
	{op: &op.Acos{}, f: func(x float64) float64 { return math.Atan2(math.Sqrt(1-x*x), x) }, x: []float64{-0.5, 0.25, -1},
		at: map[float64]float64{2: nan}},
	{op: &op.Atan{}, f: func(x float64) float64 { return math.Asin(x / math.Sqrt(1+x*x)) },
		at: map[float64]float64{inf: math.Pi / 2}},
	{op: &op.Sinh{}, f: func(x float64) float64 { return (math.Exp(x) - math.Exp(-x)) / 2 },
		at: map[float64]float64{-inf: -inf}},
	{op: &op.Cosh{}, f: func(x float64) float64 { return (math.Exp(x) + math.Exp(-x)) / 2 },
		at: map[float64]float64{-inf: inf}},
	{op: &op.Tanh{}, f: func(x float64) float64 { e := math.Exp(2 * x); return (e - 1) / (e + 1) },
		at: map[float64]float64{-inf: -1, inf: 1}},
	{op: &op.Asinh{}, f: func(x float64) float64 {
		return math.Copysign(math.Log(math.Abs(x)+math.Sqrt(x*x+1)), x)
	}, at: map[float64]float64{inf: inf}},
	{op: &op.Acosh{}, f: func(x float64) float64 { return math.Log(x + math.Sqrt(x*x-1)) }, x: []float64{1.5, 2, 9},
		at: map[float64]float64{0.5: nan, 1: 0}},
	{op: &op.Atanh{}, f: func(x float64) float64 { return math.Log((1+x)/(1-x)) / 2 }, x: []float64{-0.5, 0.25},
		at: map[float64]float64{1: inf, 2: nan}},
	{op: &op.Erf{}, f: func(x float64) float64 { return 1 - math.Erfc(x) }, at: map[float64]float64{inf: 1, -inf: -1}},
	{op: &op.Sign{}, f: func(x float64) float64 { return math.Copysign(1, x) },
		at: map[float64]float64{0: 0, math.Copysign(0, -1): 0, -inf: -1}},
	{op: &op.Sigmoid{}, f: sigmoidDef, at: map[float64]float64{-inf: 0, inf: 1, 0: 0.5, -1000: 0}},
	{op: &op.Relu{}, f: func(x float64) float64 { return (x + math.Abs(x)) / 2 }, at: map[float64]float64{-inf: 0,
		inf: inf}},
	{op: &op.Softplus{}, f: func(x float64) float64 { return math.Log(1 + math.Exp(x)) },
		at: map[float64]float64{1000: 1000, -inf: 0}},
	{op: &op.Softsign{}, f: func(x float64) float64 { return math.Copysign(1-1/(1+math.Abs(x)), x) },
		at: map[float64]float64{inf: nan}},
	{op: &op.Mish{}, f: func(x float64) float64 {
		e := (1 + math.Exp(x)) * (1 + math.Exp(x))
		return x * (e - 1) / (e + 1)
	}, at: map[float64]float64{inf: inf}},
	{op: &op.LeakyRelu{Alpha: 0.25}, f: func(x float64) float64 { return max(x, x/4) },
		at: map[float64]float64{-inf: -inf}},
	{op: &op.Elu{Alpha: 2}, f: func(x float64) float64 { return max(x, 0) + 2*(math.Exp(min(x, 0))-1) },
		at: map[float64]float64{-inf: -2}},
	{op: &op.Celu{Alpha: 2}, f: func(x float64) float64 { return max(x, 0) + 2*(math.Exp(min(x, 0)/2)-1) },
		at: map[float64]float64{-inf: -2}},
	{op: &op.Selu{Alpha: 1.5, Gamma: 2}, f: func(x float64) float64 { return 2*max(x, 0) + 3*(math.Exp(min(x, 0))-1) },
		at: map[float64]float64{-inf: -3}},
	{op: &op.HardSigmoid{Alpha: 0.25, Beta: 0.5}, f: func(x float64) float64 { return min(max(x, -2), 2)/4 + 0.5 },
		at: map[float64]float64{-inf: 0, inf: 1}},
	{op: &op.HardSwish{}, f: func(x float64) float64 { return x * (min(max(x, -3), 3) + 3) / 6 },
		at: map[float64]float64{inf: inf, -inf: nan}},
	{op: &op.ThresholdedRelu{Alpha: 1}, f: func(x float64) float64 { return x * float64(bit(x > 1)) },
		x: []float64{0.5, 1.5, 3}, at: map[float64]float64{1: 0, -5: 0}, nans: true},
	{op: &op.Gelu{}, f: func(x float64) float64 { return x / 2 * (1 + math.Erf(x*math.Sqrt2/2)) },
		at: map[float64]float64{inf: inf}},
	{op: &op.Gelu{Approximate: op.GeluTanh}, f: func(x float64) float64 {
		return x * sigmoidDef(2*math.Sqrt(2/math.Pi)*(x+0.044715*math.Pow(x, 3)))
	}, at: map[float64]float64{inf: inf}},
	{op: &op.Swish{}, f: func(x float64) float64 { return x * sigmoidDef(x) }, at: map[float64]float64{inf: inf}},
	{op: &op.Swish{Alpha: 2}, f: func(x float64) float64 { return x * sigmoidDef(2*x) }},
	{op: &op.Shrink{Lambda: 1, Bias: 0.5}, f: func(x float64) float64 {
		return math.Copysign(math.Abs(x)-0.5,
			x) * float64(bit(math.Abs(x) > 1))
	},
		x: []float64{-3, -1.5, 1.25, 2.5}, at: map[float64]float64{1: 0, -1: 0, inf: inf}, nans: true},
	{op: &op.Round{}, f: func(x float64) float64 { return math.Floor(x + 0.5) }, x: []float64{-1.75, -1.25, 1.75, 1.25},
		at: map[float64]float64{0.5: 0, 1.5: 2, 2.5: 2, -1.5: -2, -2.5: -2, inf: inf}},
	{op: &op.Round{Ties: op.RoundAway}, f: func(x float64) float64 { return math.Floor(x + 0.5) },
		x:  []float64{-1.75, -1.25, 1.75, 1.25},
		at: map[float64]float64{0.5: 1, 1.5: 2, 2.5: 3, -1.5: -2, -2.5: -3}},
	{op: &op.Exp{}, f: func(x float64) float64 { return math.Pow(math.E, x) }, at: map[float64]float64{-inf: 0, inf: inf}},
	{op: &op.Exp{Base: 2, Scale: 3, Shift: -1}, f: func(x float64) float64 { return math.Exp2(3*x - 1) }},
	{op: &op.Exp{Scale: 0.5, Shift: 1}, f: func(x float64) float64 { return math.Sqrt(math.Exp(x)) * math.E }},
}

// Every operator on real values against its definition in float64, in each float type within one rounding of the type.
func TestUnary_matchesDefinition(t *testing.T) {
	for _, c := range unaryCases {
		x := c.x
		if x == nil {
			x = points
		}
		for _, d := range []struct {
			d   tensor.DType
			eps float64
		}{{tensor.Float64, 1e-13}, {tensor.Float32, 0x1p-23}, {tensor.Float16, 0x1p-10}, {tensor.BFloat16, 0x1p-7}} {
			in := floats(d.d, x, 1, int64(len(x)))
			var want []float64
			for _, v := range values(t, in) {
				want = append(want, values(t, floats(d.d, []float64{c.f(v)}))[0])
			}
			y := run(t, c.op, in)
			assert.Equal(t, d.d, y.DType)
			assert.Equal(t, in.Dims, y.Dims)
			got := values(t, y)
			for i, w := range want {
				// The definitions cancel digits where the result is small: 1e-13 of the argument's size is granted there.
				tol := d.eps*math.Abs(w) + 1e-13
				if d.d == tensor.Float16 {
					tol += 0x1p-24 // one subnormal step
				}
				assert.True(t, w == got[i] || math.Abs(w-got[i]) <= tol, "%s %+v of %v in %v: want %v, got %v", graph.NameOf(c.op),
					c.op, x[i], d.d, w, got[i])
			}
		}
	}
}

func TestUnary_specialValues(t *testing.T) {
	for _, c := range unaryCases {
		for x, want := range c.at {
			for _, d := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16} {
				got := values(t, run(t, c.op, floats(d, []float64{x})))
				assertReals(t, values(t, floats(d, []float64{want})), got, 1e-6, graph.NameOf(c.op))
			}
		}
		want := nan
		if c.nans {
			want = c.nan
		}
		assertReals(t, []float64{want}, values(t, run(t, c.op, floats(tensor.Float32, []float64{nan}))), 0,
			graph.NameOf(c.op)+" of NaN")
	}
}

// A quantized tensor gives the quantization of the operator's value at the real values it stands for.
func TestUnary_quantized(t *testing.T) {
	for _, c := range unaryCases {
		for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16} {
			const sx, zx, sy, zy = 0.25, 3, 0.125, 5
			q := []int64{4, 7, 9, 12, 0, 100}
			x := quant(ints(d, q), sx, zx)
			y, err := Compute(c.op, []tensor.Tensor{x}, []tensor.Type{{DType: d, Quant: tensor.PerTensor(sy, zy)}})
			require.NoError(t, err)
			lo, hi := tensor.IntLimits(d)
			for i, v := range q {
				r := c.f(sx * float64(v-zx))
				if want, stated := c.at[sx*float64(v-zx)]; stated {
					r = want
				}
				want := int64(zy)
				if !math.IsNaN(r) {
					want = int64(min(max(math.Round(r/sy+zy), float64(lo)), float64(hi)))
				}
				assert.InDelta(t, want, intValues(t, y[0])[i], 1, "%s %+v of %v in %v", graph.NameOf(c.op), c.op, v, d)
			}
		}
	}
}

func TestUnary_integers(t *testing.T) {
	same := func(v int64) int64 { return v }
	for _, c := range []struct {
		op       graph.Op
		f        func(v int64) int64
		unsigned bool
	}{
		{&op.Abs{}, func(v int64) int64 { return max(v, -v) }, true},
		{&op.Neg{}, func(v int64) int64 { return 0 - v }, false},
		{&op.Ceil{}, same, true}, {&op.Floor{}, same, true}, {&op.Round{}, same, true}, {&op.Identity{}, same, true},
		{&op.Square{}, func(v int64) int64 { return v * v }, true},
		{&op.Sign{}, func(v int64) int64 { return max(min(v, 1), -1) }, true},
		{&op.Relu{}, func(v int64) int64 { return max(v, 0) }, true},
		{&op.BitwiseNot{}, func(v int64) int64 { return -v - 1 }, true},
		{&op.Shrink{Lambda: 1.5, Bias: 1}, func(v int64) int64 { return v - max(min(v, 1), -1) }, true},
	} {
		for d := tensor.Int8; d <= tensor.Uint64; d++ {
			if d.IsUnsigned() && !c.unsigned {
				_, err := Compute(c.op, []tensor.Tensor{ints(d, []int64{1})}, make([]tensor.Type, 1))
				assert.ErrorContains(t, err, "input 0: want", "%s %v", graph.NameOf(c.op), d)
				continue
			}
			x := []int64{0, 1, 2, 3, 7, 100}
			if d.IsSigned() {
				lo, _ := tensor.IntLimits(d)
				x = append(x, -1, -2, -5, lo+1)
				if _, shrink := c.op.(*op.Shrink); !shrink {
					x = append(x, lo)
				}
			}
			var want []int64
			for _, v := range x {
				want = append(want, c.f(v))
			}
			if _, shrink := c.op.(*op.Shrink); shrink && d == tensor.Int64 {
				x, want = x[:9], want[:9] // the smallest int64 is not a float64 after the bias
			}
			y := run(t, c.op, ints(d, x))
			assert.Equal(t, intValues(t, ints(d, want)), intValues(t, y), "%s %v", graph.NameOf(c.op), d)
		}
	}
}

func TestUnary_rejectsTypes(t *testing.T) {
	for _, o := range []graph.Op{&op.Sqrt{}, &op.Sigmoid{}, &op.Exp{}, &op.Softmax{}, &op.Gelu{}, &op.IsNaN{}} {
		for _, d := range []tensor.DType{tensor.Int32, tensor.Uint8, tensor.Bool, tensor.Complex64, tensor.Int4} {
			_, err := Compute(o, []tensor.Tensor{tensor.New(d, 2)}, make([]tensor.Type, 1))
			assert.ErrorContains(t, err, "input 0: want a float or quantized type, got "+d.String(), graph.NameOf(o))
		}
	}
	for _, d := range []tensor.DType{tensor.Bool, tensor.Complex64, tensor.Int4} {
		_, err := Compute(&op.Abs{}, []tensor.Tensor{tensor.New(d, 2)}, make([]tensor.Type, 1))
		assert.ErrorContains(t, err, "input 0: want")
	}
	_, err := Compute(&op.Abs{}, []tensor.Tensor{f32(nil, 0), f32(nil, 0)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "want 1 input, got 2")
	_, err = Compute(&op.Celu{}, []tensor.Tensor{f32(nil, 0)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "alpha is 0")
	_, err = Compute(&op.Exp{Base: -2}, []tensor.Tensor{f32(nil, 0)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "base -2 is negative")
	_, err = Compute(&op.Round{Ties: 9}, []tensor.Tensor{f32(nil, 0)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "ties: 9")
	_, err = Compute(&op.Gelu{Approximate: 2}, []tensor.Tensor{f32(nil, 0)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "approximate: 2")
}

func TestUnary_zeroSizesAndScalars(t *testing.T) {
	for _, c := range unaryCases {
		y := run(t, c.op, f32(nil, 2, 0, 3))
		assert.Equal(t, []int64{2, 0, 3}, y.Dims)
		assert.Empty(t, y.Data)
		y = run(t, c.op, f32([]float32{1.5}))
		assert.Empty(t, y.Dims)
		assert.Equal(t, 1, y.Count())
	}
}

func TestPredicates_values(t *testing.T) {
	x := []float64{-inf, -1, 0, nan, inf}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.Float8E5M2} {
		in := tensor.New(d, 5)
		for i, v := range x {
			tensor.PutFloat(d, in.Data, i, v, false)
		}
		for _, c := range []struct {
			op   graph.Op
			want []int64
		}{
			{&op.IsNaN{}, []int64{0, 0, 0, 1, 0}},
			{&op.IsInf{Negative: true, Positive: true}, []int64{1, 0, 0, 0, 1}},
			{&op.IsInf{Negative: true}, []int64{1, 0, 0, 0, 0}},
			{&op.IsInf{Positive: true}, []int64{0, 0, 0, 0, 1}},
			{&op.IsInf{}, []int64{0, 0, 0, 0, 0}},
			{&op.Not{}, []int64{0, 0, 1, 0, 0}},
		} {
			y := run(t, c.op, in)
			assert.Equal(t, tensor.Bool, y.DType)
			assert.Equal(t, c.want, intValues(t, y), "%s %+v %v", graph.NameOf(c.op), c.op, d)
		}
	}
	assert.Equal(t, []int64{1, 0}, intValues(t, run(t, &op.Not{}, ints(tensor.Bool, []int64{0, 1}))))
	assert.Equal(t, []int64{1, 0, 0}, intValues(t, run(t, &op.Not{}, ints(tensor.Uint64, []int64{0, 1, -1}))))
	assert.Equal(t, []int64{0, 1}, intValues(t, run(t, &op.Not{}, quant(ints(tensor.Int8, []int64{0, 3}), 0.5, 3))))
}
