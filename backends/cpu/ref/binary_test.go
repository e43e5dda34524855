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

var floatTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16}

// Small exact operands: every float type must give the same exact results.
func TestBinary_realTable(t *testing.T) {
	a := []float64{6, -6, 1.5, -1.5, 0, 2, 8}
	b := []float64{4, 4, -0.5, -0.5, 2, 2, 0.25}
	for _, c := range []struct {
		op   graph.Op
		want []float64
	}{
		{&op.Add{}, []float64{10, -2, 1, -2, 2, 4, 8.25}},
		{&op.Sub{}, []float64{2, -10, 2, -1, -2, 0, 7.75}},
		{&op.Mul{}, []float64{24, -24, -0.75, 0.75, 0, 4, 2}},
		{&op.Div{}, []float64{1.5, -1.5, -3, 3, 0, 1, 32}},
		{&op.Div{Rounding: op.DivFloor}, []float64{1.5, -1.5, -3, 3, 0, 1, 32}},
		{&op.SquaredDifference{}, []float64{4, 100, 4, 1, 4, 0, 60.0625}},
		{&op.Max{}, []float64{6, 4, 1.5, -0.5, 2, 2, 8}},
		{&op.Min{}, []float64{4, -6, -0.5, -1.5, 0, 2, 0.25}},
		{&op.Mod{}, []float64{2, -2, 0, math.Copysign(0, -1), 0, 0, 0}},
		{&op.Mod{Sign: op.ModDivisor}, []float64{2, 2, math.Copysign(0, -1), math.Copysign(0, -1), 0, 0, 0}},
		{&op.PRelu{}, []float64{6, -24, 1.5, 0.75, 0, 2, 8}},
	} {
		for _, d := range floatTypes {
			want := c.want
			if _, square := c.op.(*op.SquaredDifference); square && d == tensor.BFloat16 {
				want = append(append([]float64{}, want[:6]...), 60) // 7 bits
			}
			got := run(t, c.op, floats(d, a), floats(d, b))
			assert.Equal(t, d, got.DType)
			assertReals(t, want, values(t, got), 0, graph.NameOf(c.op)+" "+d.String())
		}
	}
}

func TestBinary_nanAndInfinity(t *testing.T) {
	for _, c := range []struct {
		op      graph.Op
		a, b, y float64
	}{
		{&op.Add{}, inf, -inf, nan}, {&op.Sub{}, inf, inf, nan}, {&op.Mul{}, 0, inf, nan}, {&op.Div{}, 1, 0, inf},
		{&op.Div{}, -1, 0, -inf},
		{&op.Div{}, 0, 0, nan}, {&op.Max{}, nan, 1, nan}, {&op.Max{}, 1, nan, nan}, {&op.Min{}, nan, 1, nan},
		{&op.Min{}, 1, nan, nan},
		{&op.Max{NaN: op.NaNLoses}, nan, 1, 1}, {&op.Max{NaN: op.NaNLoses}, 1, nan, 1}, {&op.Max{NaN: op.NaNLoses}, nan, nan,
			nan},
		{&op.Min{NaN: op.NaNLoses}, nan, 1, 1}, {&op.Min{NaN: op.NaNLoses}, 1, nan, 1}, {&op.Max{NaN: op.NaNLoses}, -2, 3, 3},
		{&op.Min{NaN: op.NaNLoses}, -2, 3, -2}, {&op.Mod{}, 5, 0, nan}, {&op.Mod{}, inf, 2, nan}, {&op.Mod{}, 5, inf, 5},
		{&op.Mod{Sign: op.ModDivisor}, -5, inf, inf}, {&op.Pow{}, -8, 1.0 / 3, nan}, {&op.Pow{}, 0, -1, inf},
		{&op.Pow{}, nan, 0, 1},
		{&op.Pow{}, 0, 0, 1}, {&op.PRelu{}, nan, 2, nan}, {&op.PRelu{}, -inf, 2, -inf},
	} {
		for _, d := range floatTypes {
			got := run(t, c.op, floats(d, []float64{c.a}), floats(d, []float64{c.b}))
			assertReals(t, []float64{c.y}, values(t, got), 0, graph.NameOf(c.op))
		}
	}
}

// Integers in every width, with the wrap of each.
func TestBinary_integerTable(t *testing.T) {
	for _, c := range []struct {
		op     graph.Op
		f      func(a, b int64) int64
		signed bool // only where both operands are signed
	}{
		{&op.Add{}, func(a, b int64) int64 { return a - -b }, false},
		{&op.Sub{}, func(a, b int64) int64 { return a + (^b + 1) }, false},
		{&op.Mul{}, func(a, b int64) int64 { return -(a * -b) }, false},
		{&op.SquaredDifference{}, func(a, b int64) int64 { return a*a - 2*a*b + b*b }, false},
		{&op.Max{}, func(a, b int64) int64 { return a + max(b-a, 0) }, false},
		{&op.Min{NaN: op.NaNLoses}, func(a, b int64) int64 { return a + min(b-a, 0) }, false},
		{&op.Div{}, func(a, b int64) int64 { return int64(math.Trunc(float64(a) / float64(b))) }, false},
		{&op.Div{Rounding: op.DivFloor}, func(a, b int64) int64 { return int64(math.Floor(float64(a) / float64(b))) }, false},
		{&op.Mod{}, func(a, b int64) int64 { return int64(math.Mod(float64(a), float64(b))) }, false},
		{&op.Mod{Sign: op.ModDivisor}, func(a, b int64) int64 { return a - b*int64(math.Floor(float64(a)/float64(b))) },
			false},
		{&op.BitwiseAnd{}, func(a, b int64) int64 { return a + b - (a | b) }, false},
		{&op.BitwiseOr{}, func(a, b int64) int64 { return a + b - (a & b) }, false},
		{&op.BitwiseXor{}, func(a, b int64) int64 { return (a | b) - (a & b) }, false},
	} {
		for d := tensor.Int8; d <= tensor.Uint64; d++ {
			a, b := []int64{7, 100, 3, 0, 90, 1}, []int64{2, 100, 5, 9, 50, 1}
			if d.IsSigned() {
				a, b = append(a, -7, 7, -7, -128), append(b, 2, -2, -2, 1)
			}
			var want []int64
			for i := range a {
				want = append(want, c.f(a[i], b[i]))
			}
			y := run(t, c.op, ints(d, a), ints(d, b))
			assert.Equal(t, d, y.DType)
			assert.Equal(t, intValues(t, ints(d, want)), intValues(t, y), "%s %+v %v", graph.NameOf(c.op), c.op, d)
		}
	}
	lo := int64(math.MinInt64)
	assert.Equal(t, []int64{lo}, intValues(t, run(t, &op.Div{}, ints(tensor.Int64, []int64{lo}),
		ints(tensor.Int64, []int64{-1}))), "the one quotient that does not fit")
	assert.Equal(t, []int64{-128}, intValues(t, run(t, &op.Div{}, ints(tensor.Int8, []int64{-128}),
		ints(tensor.Int8, []int64{-1}))))
	assert.Equal(t, []int64{int64(math.MaxInt64)}, intValues(t, run(t, &op.Div{}, ints(tensor.Uint64, []int64{-1}),
		ints(tensor.Uint64, []int64{2}))), "unsigned 64 bit")
}

func TestDivMod_byZero(t *testing.T) {
	for _, o := range []graph.Op{&op.Div{}, &op.Div{Rounding: op.DivFloor}, &op.Mod{}, &op.Mod{Sign: op.ModDivisor}} {
		for d := tensor.Int8; d <= tensor.Uint64; d++ {
			_, err := Compute(o, []tensor.Tensor{ints(d, []int64{1, 2}), ints(d, []int64{1, 0})}, make([]tensor.Type, 1))
			assert.Equal(t, fault.Data, fault.KindOf(err))
			assert.ErrorContains(t, err, "input 1: element 1: integer")
			y := run(t, o, ints(d, nil, 0), ints(d, []int64{0}))
			assert.Equal(t, []int64{0}, y.Dims, "nothing is divided")
		}
	}
}

func TestBitShift_bothWays(t *testing.T) {
	for d := tensor.Int8; d <= tensor.Uint64; d++ {
		bits := int64(d.Bits())
		a, by := []int64{5, 1, 64, 127, 1}, []int64{1, bits - 1, 2, bits, bits + 60}
		l := run(t, &op.BitShift{}, ints(d, a), ints(d, by))
		assert.Equal(t, intValues(t, ints(d, []int64{10, 1 << (bits - 1), 256, 0, 0})), intValues(t, l), "%v", d)
		r := run(t, &op.BitShift{Right: true}, ints(d, a), ints(d, by))
		assert.Equal(t, []int64{2, 0, 16, 0, 0}, intValues(t, r), "%v", d)
		if d.IsSigned() {
			r = run(t, &op.BitShift{Right: true}, ints(d, []int64{-5, -5, -5, 5}), ints(d, []int64{1, 100, -1, -3}))
			assert.Equal(t, []int64{-3, -1, -1, 0}, intValues(t, r))
			l = run(t, &op.BitShift{}, ints(d, []int64{-5, 5}), ints(d, []int64{-1, -100}))
			assert.Equal(t, []int64{0, 0}, intValues(t, l))
		}
	}
}

func TestPow_table(t *testing.T) {
	f := func(v ...float64) tensor.Tensor { return floats(tensor.Float32, v) }
	i := func(d tensor.DType, v ...int64) tensor.Tensor { return ints(d, v) }
	assertReals(t, []float64{8, 0.25, -27, 1, 3, 0.125},
		values(t, run(t, &op.Pow{}, f(2, 2, -3, -5, 9, 4), f(3, -2, 3, 0, 0.5, -1.5))), 1e-7, "real")
	assertReals(t, []float64{4, 0.5}, values(t, run(t, &op.Pow{}, f(2, 2), i(tensor.Int64, 2, -1))), 0, "real to integer")
	assertReals(t, []float64{math.Pow(1.0009765625, 1000)},
		values(t, run(t, &op.Pow{}, floats(tensor.Float64, []float64{1.0009765625}),
			floats(tensor.Float64, []float64{1000}))), 1e-12, "large exponent")
	assert.Equal(t, []int64{8, -27, 1, 1, 0, -1, 1},
		intValues(t, run(t, &op.Pow{}, i(tensor.Int32, 2, -3, 0, 1, 5, -1, -1), i(tensor.Int32, 3, 3, 0, -4, -2, -3, -2))))
	assert.Equal(t, []int64{0, 128}, intValues(t, run(t, &op.Pow{}, i(tensor.Uint8, 2, 10), i(tensor.Uint8, 8, 7))),
		"wraps: 10^7 mod 256 = 128")
	assert.Equal(t, []int64{3, math.MaxInt32}, intValues(t, run(t, &op.Pow{}, i(tensor.Int32, 10, 1000), f(0.5, 5))),
		"integer to a real power")
	_, err := Compute(&op.Pow{}, []tensor.Tensor{i(tensor.Int32, 0), i(tensor.Int32, -1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.ErrorContains(t, err, "element 0: 0 to the power of -1")
}

func TestComparisons_everyTypeAndNaN(t *testing.T) {
	table := []struct {
		op                   graph.Op
		less, equal, greater int64
		nan                  int64
	}{
		{&op.Equal{}, 0, 1, 0, 0}, {&op.NotEqual{}, 1, 0, 1, 1}, {&op.Less{}, 1, 0, 0, 0},
		{&op.LessEqual{}, 1, 1, 0, 0}, {&op.Greater{}, 0, 0, 1, 0}, {&op.GreaterEqual{}, 0, 1, 1, 0},
	}
	for _, c := range table {
		want := []int64{c.less, c.equal, c.greater}
		for d := tensor.Int8; d <= tensor.Uint64; d++ {
			y := run(t, c.op, ints(d, []int64{1, 2, 3}), ints(d, []int64{2}))
			assert.Equal(t, tensor.Bool, y.DType)
			assert.Equal(t, want, intValues(t, y), "%s %v", graph.NameOf(c.op), d)
		}
		for _, d := range floatTypes {
			y := run(t, c.op, floats(d, []float64{-inf, 2, inf, nan}), floats(d, []float64{2}))
			assert.Equal(t, append(want, c.nan), intValues(t, y), "%s %v", graph.NameOf(c.op), d)
			y = run(t, c.op, floats(d, []float64{2, nan}), floats(d, []float64{nan}))
			assert.Equal(t, []int64{c.nan, c.nan}, intValues(t, y), "%s %v", graph.NameOf(c.op), d)
		}
		y := run(t, c.op, ints(tensor.Bool, []int64{0, 1, 1}), ints(tensor.Bool, []int64{1, 1, 0}))
		assert.Equal(t, want, intValues(t, y), "%s bool", graph.NameOf(c.op))
		// 2^63 and its neighbours are told apart, and large unsigned numbers are not negative.
		y = run(t, c.op, ints(tensor.Uint64, []int64{math.MaxInt64, math.MinInt64, -1}),
			ints(tensor.Uint64, []int64{math.MinInt64}))
		assert.Equal(t, want, intValues(t, y), "%s uint64", graph.NameOf(c.op))
		// 4 x 0.5 against 1 x 2: equal real values of different integers.
		a, b := quant(ints(tensor.Int8, []int64{3, 4, 5}), 0.5, 0), quant(ints(tensor.Int8, []int64{1}), 2, 0)
		assert.Equal(t, want, intValues(t, run(t, c.op, a, b)), "%s quantized", graph.NameOf(c.op))
	}
}

func TestLogical_truthTables(t *testing.T) {
	for _, c := range []struct {
		op   graph.Op
		want []int64
	}{{&op.And{}, []int64{0, 0, 0, 1}}, {&op.Or{}, []int64{0, 1, 1, 1}}, {&op.Xor{}, []int64{0, 1, 1, 0}}} {
		a, b := []int64{0, 0, 1, 1}, []int64{0, 1, 0, 1}
		assert.Equal(t, c.want, intValues(t, run(t, c.op, ints(tensor.Bool, a), ints(tensor.Bool, b))))
		assert.Equal(t, c.want, intValues(t, run(t, c.op, ints(tensor.Int32, []int64{0, 0, -7, 2}),
			ints(tensor.Int32, []int64{0, 9, 0, 4}))))
		y := run(t, c.op, floats(tensor.Float32, []float64{0, 0, nan, 0.5}), floats(tensor.Float32, []float64{0, inf, 0, -1}))
		assert.Equal(t, c.want, intValues(t, y))
	}
	a, b := ints(tensor.Bool, []int64{0, 0, 1, 1}), ints(tensor.Bool, []int64{0, 1, 0, 1})
	for _, c := range []struct {
		op   graph.Op
		want []int64
	}{{&op.Add{}, []int64{0, 1, 1, 1}}, {&op.Mul{}, []int64{0, 0, 0, 1}}, {&op.Max{}, []int64{0, 1, 1, 1}},
		{&op.Min{}, []int64{0, 0, 0, 1}}} {
		assert.Equal(t, c.want, intValues(t, run(t, c.op, a, b)), graph.NameOf(c.op))
	}
}

func TestBinary_broadcasting(t *testing.T) {
	seq := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i + 1)
		}
		return v
	}
	for _, c := range []struct{ a, b, y []int64 }{
		{[]int64{2, 3}, []int64{3}, []int64{2, 3}}, {[]int64{3}, []int64{2, 3}, []int64{2, 3}}, {[]int64{2, 1}, []int64{1, 3},
			[]int64{2, 3}},
		{[]int64{}, []int64{2, 2}, []int64{2, 2}}, {[]int64{4, 1, 3}, []int64{2, 1}, []int64{4, 2, 3}},
		{[]int64{2, 0}, []int64{1}, []int64{2, 0}},
		{[]int64{2, 1, 2, 1}, []int64{3, 1, 2}, []int64{2, 3, 2, 2}}, {[]int64{1, 1}, []int64{1}, []int64{1, 1}},
	} {
		na, _ := tensor.Count(c.a)
		nb, _ := tensor.Count(c.b)
		a, b := floats(tensor.Float32, seq(int(na)), c.a...), floats(tensor.Float32, seq(int(nb)), c.b...)
		y := run(t, &op.Sub{}, a, b)
		require.Equal(t, c.y, append([]int64{}, y.Dims...))
		at := func(x tensor.Tensor, pos []int64) float32 { // the operand's element by index arithmetic alone
			k := int64(0)
			for i, d := range x.Dims {
				p := pos[len(pos)-len(x.Dims)+i]
				if d == 1 {
					p = 0
				}
				k = k*d + p
			}
			return view[float32](x)[k]
		}
		for i, v := range view[float32](y) {
			pos, rest := make([]int64, len(c.y)), int64(i)
			for k := len(pos) - 1; k >= 0; k-- {
				pos[k], rest = rest%c.y[k], rest/c.y[k]
			}
			assert.Equal(t, at(a, pos)-at(b, pos), v, "%v - %v at %v", c.a, c.b, pos)
		}
	}
	_, err := Compute(&op.Mul{}, []tensor.Tensor{f32(seq32(6), 2, 3), f32(seq32(4), 2, 2)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Shape, fault.KindOf(err))
	assert.ErrorContains(t, err, "cannot broadcast [2,3] with [2,2] at dimension 1")
	_, err = Compute(&op.PRelu{}, []tensor.Tensor{f32(seq32(3), 3), f32(seq32(6), 2, 3)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 1: [2,3] does not broadcast to [3]")
}

func seq32(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return v
}

// Quantized operands with scales of their own, per tensor and per axis, into a third quantization: by hand over the
// reals.
func TestBinary_quantized(t *testing.T) {
	a := quant(ints(tensor.Uint8, []int64{10, 138, 255, 0}, 2, 2), 0.5, 128) // -59, 5, 63.5, -64
	b := ints(tensor.Uint8, []int64{3, 4, 5, 6}, 2, 2)
	b.Quant = &tensor.Quant{Scale: []float32{1, 2}, Zero: []int32{3, 4}, Axis: 1} // 0, 0, 2, 4
	to := []tensor.Type{{DType: tensor.Uint8, Quant: tensor.PerTensor(1, 100)}}
	for _, c := range []struct {
		op   graph.Op
		want []int64 // clamp(100 + real, halves away from zero)
	}{
		{&op.Add{}, []int64{41, 105, 166, 40}}, // 65.5 + 100 = 165.5
		{&op.Sub{}, []int64{41, 105, 162, 32}}, // 61.5 + 100 = 161.5
		{&op.Mul{}, []int64{100, 100, 227, 0}},
		{&op.Div{}, []int64{0, 255, 132, 84}}, // x/0 saturates
		{&op.Max{}, []int64{100, 105, 164, 104}},
		{&op.Min{}, []int64{41, 100, 102, 36}},
		{&op.SquaredDifference{}, []int64{255, 125, 255, 255}},
	} {
		y, err := Compute(c.op, []tensor.Tensor{a, b}, to)
		require.NoError(t, err)
		assert.Equal(t, c.want, intValues(t, y[0]), graph.NameOf(c.op))
	}
	_, err := Compute(&op.Add{}, []tensor.Tensor{a, ints(tensor.Uint8, []int64{1})}, to)
	assert.ErrorContains(t, err, "input 1: want quantized uint8 like input 0, got uint8")
	_, err = Compute(&op.Add{}, []tensor.Tensor{f32(seq32(1)), ints(tensor.Int32, []int64{1})}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 1: want float32 like input 0, got int32")
	_, err = Compute(&op.Sub{}, []tensor.Tensor{ints(tensor.Bool, []int64{1}), ints(tensor.Bool, []int64{1})},
		make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "got bool")
	_, err = Compute(&op.BitwiseAnd{}, []tensor.Tensor{a, a}, to)
	assert.ErrorContains(t, err, "want an integer type without quantization, got quantized uint8")
}

func TestBinary_attributesOutOfRange(t *testing.T) {
	x := ints(tensor.Int32, []int64{1})
	for _, o := range []graph.Op{&op.Div{Rounding: 2}, &op.Mod{Sign: 2}, &op.Max{NaN: 2}, &op.Min{NaN: 2}} {
		_, err := Compute(o, []tensor.Tensor{x, x}, make([]tensor.Type, 1))
		assert.Equal(t, fault.Argument, fault.KindOf(err), graph.NameOf(o))
	}
}
