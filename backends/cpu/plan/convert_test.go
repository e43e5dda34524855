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
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// inputOf is an input of any type: floats about 0, any codes.
func (m *maker) inputOf(d tensor.DType, dims ...int64) graph.Value {
	t := m.codes(tensor.T(d, dims...))
	if d.IsFloat() {
		for i := range t.Count() {
			tensor.PutFloat(d, t.Data, i, 3*m.rnd.NormFloat64(), false)
		}
		tensor.PutFloat(d, t.Data, 0, math.NaN(), false)
		tensor.PutFloat(d, t.Data, 1, math.Inf(-1), false)
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// scales are constants for n channels.
func (m *maker) scales(d tensor.DType, n int64) (scale, zero graph.Value) {
	s, z := tensor.New(tensor.Float32, n), tensor.New(d, n)
	for i := range int(n) {
		tensor.PutFloat(tensor.Float32, s.Data, i, 0.01+0.02*m.rnd.Float64(), false)
		tensor.PutInt(d, z.Data, i, int64(m.rnd.IntN(100)))
	}
	return m.Const("", s.Type(), s.Data), m.Const("", z.Type(), z.Data)
}

// perAxis is the quantization of a type along an axis.
func perAxis(d tensor.DType, axis, n int) tensor.Type {
	t := tensor.Type{DType: d, Shape: tensor.AnyShape(), Quant: &tensor.Quant{Axis: axis}}
	for i := range n {
		t.Quant.Scale, t.Quant.Zero = append(t.Quant.Scale, 0.01*float32(i+1)), append(t.Quant.Zero, int32(i))
	}
	return t
}

var (
	floatTypes   = []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16}
	codeTypes    = []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16}
	integerTypes = append([]tensor.DType{tensor.Int32, tensor.Int64, tensor.Bool}, codeTypes...)
)

// conversionCases are graphs at whose border stand conversions. Every result equals the reference's.
var conversionCases = []testCase{
	{"casts of inputs and of outputs", 0, func(m *maker) (out []graph.Value) {
		for _, d := range append(append([]tensor.DType{tensor.Float64}, floatTypes...), integerTypes...) {
			x := m.Add(&op.Cast{To: tensor.Float32}, m.inputOf(d, 3, 1000))
			out = append(out, m.Add(&op.Cast{To: d, OutOfRange: op.CastSaturate}, m.Add(&op.Neg{}, x)))
		}
		return out
	}},
	{"codes of outputs, per tensor and per axis", 0, func(m *maker) (out []graph.Value) {
		x := m.Add(&op.Relu{}, m.input(2, 6, 9, 40))
		for _, d := range codeTypes {
			for axis, n := range []int64{2, 6, 9, 40} {
				s, z := m.scales(d, n)
				out = append(out, m.Add(&op.Quantize{Axis: int64(axis)}, x, s, z))
			}
			s, z := m.scales(d, 1)
			out = append(out, m.Add(&op.Quantize{}, x, s, z))
		}
		return append(out, m.Add(&op.Quantize{}, x, m.Float32(0.1)))
	}},
	{"codes of halves", 0, func(m *maker) (out []graph.Value) {
		for _, f := range floatTypes[1:] {
			x := m.inputOf(f, 5, 700)
			for _, d := range codeTypes {
				s, z := m.scales(d, 5)
				out = append(out, m.Add(&op.Quantize{Axis: 0}, x, s, z))
			}
		}
		return out
	}},
	{"numbers of inputs of codes, per tensor and per axis", 0, func(m *maker) (out []graph.Value) {
		for _, d := range append(codeTypes, tensor.Int32) {
			x := m.inputOf(d, 2, 6, 9, 40)
			for axis, n := range []int64{2, 6, 9, 40, 1} {
				s, z := m.scales(d, n)
				out = append(out, m.Add(&op.Relu{}, m.Add(&op.Dequantize{Axis: int64(axis % 4)}, x, s, z)))
			}
			s, z := m.scales(d, 1)
			out = append(out, m.Add(&op.Dequantize{To: tensor.Float16}, x, s, z))
		}
		return out
	}},
	{"codes that an output is and something else reads", 0, func(m *maker) []graph.Value {
		q := m.quantize(m.Add(&op.Relu{}, m.input(1, 6, 7, 5)), signed)
		return []graph.Value{q, m.Add(&op.Neg{}, m.dequantize(q, signed)), m.Add(&op.Cast{To: tensor.Float32}, q)}
	}},
	{"NHWC numbers become codes", 0, func(m *maker) []graph.Value {
		bound := &op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{1, 3}}
		pool := func() graph.Value { return m.Add(bound, m.input(2, 70, 9, 40)) }
		s, z := m.scales(tensor.Int8, 70)
		return []graph.Value{m.quantize(m.Add(&op.Neg{}, pool()), signed), m.quantize(pool(), wide),
			m.Add(&op.Quantize{Axis: 1}, pool(), s, z),
			m.Add(&op.Cast{To: tensor.Float16}, pool())}
	}},
	{"representations of real numbers", 0, func(m *maker) (out []graph.Value) {
		as := func(t tensor.Type, x graph.Value) graph.Value { return m.typed(&op.Convert{}, t, x) }
		plain := func(d tensor.DType) tensor.Type { return tensor.Type{DType: d, Shape: tensor.AnyShape()} }
		for _, f := range floatTypes {
			x := m.inputOf(f, 2, 6, 9, 40)
			out = append(out, as(plain(tensor.Float32), x), as(plain(tensor.Float16), x), as(plain(tensor.BFloat16), x))
			for _, d := range codeTypes {
				q := as(quant(d, 0.05, 3), x)
				out = append(out, q, as(perAxis(d, 1, 6), x), as(perAxis(d, 3, 40), x), as(plain(f), q),
					as(quant(tensor.Int16, 0.001, -5), q))
			}
		}
		return append(out, as(plain(tensor.Float32),
			m.inputCodes(tensor.Type{DType: tensor.Int8, Shape: tensor.Of(2, 6, 9, 40), Quant: perAxis(tensor.Int8, 1,
				6).Quant})))
	}},
	{"layouts of elements that are no float32", 0, func(m *maker) (out []graph.Value) {
		for _, d := range append(append([]tensor.DType{tensor.Float64}, floatTypes...), integerTypes...) {
			x := m.inputOf(d, 2, 19, 70, 3)
			for _, perm := range [][]int64{{0, 3, 1, 2}, {3, 2, 1, 0}, {1, 0, 2, 3}, {0, 2, 3, 1}} {
				out = append(out, m.Add(&op.Transpose{}, x, m.Int64s(perm...)))
			}
		}
		x := m.Add(&op.Cast{To: tensor.Float32}, m.Add(&op.Transpose{}, m.inputOf(tensor.Uint8, 1, 30, 20, 3),
			m.Int64s(0, 3, 1, 2)))
		return append(out, m.Add(&op.MaxPool{Kernel: []int64{3, 3}}, m.Add(&op.Mul{}, x, m.Float32(1./256))))
	}},
}

// equalBits compares two tensors; every NaN is like any other.
func equalBits(t *testing.T, want, got tensor.Tensor) {
	t.Helper()
	require.Equal(t, want.DType, got.DType)
	require.Equal(t, want.Dims, got.Dims)
	size := want.DType.Bits() / 8
	for i := range want.Count() {
		w, g := want.Data[i*size:][:size], got.Data[i*size:][:size]
		if string(w) == string(g) || want.DType.IsFloat() && math.IsNaN(tensor.FloatAt(want.DType, w, 0)) &&
			math.IsNaN(tensor.FloatAt(got.DType, g, 0)) {
			continue
		}
		require.Failf(t, "differs from the reference", "%v, element %d: want %v, got %v", want.DType, i, w, g)
	}
}

func TestBuild_conversionsEqualReferenceToTheBit(t *testing.T) {
	equalsReference(t, conversionCases, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for i := range want {
			t.Run(fmt.Sprint("output ", i), func(t *testing.T) { equalBits(t, want[i], got[i]) })
		}
	})
}

func TestState_conversionsAllocateNothing(t *testing.T) {
	for _, c := range conversionCases {
		m := newMaker()
		m.allocatesNothing(t, c.name, m.graph(t, c.build(m)...))
	}
}

// detector is the end of a detection network: heads of every form, quantized as converters do.
func (m *maker) detector(code testParams) []graph.Value {
	x := m.qdq(m.input(1, 3, 64, 48), wide)
	conv := func(x graph.Value, n, c, k, stride int64) graph.Value {
		pads := []int64{k / 2, k / 2, k / 2, k / 2}
		return m.Add(&op.Conv{Pads: pads, Strides: []int64{stride, stride}}, x, m.imageFilter(n, c, k, k), m.weights(n))
	}
	p3 := m.qdq(m.Add(&op.Relu{}, conv(x, 16, 3, 3, 2)), ramp)
	p4 := m.qdq(m.Add(&op.Relu{}, conv(p3, 32, 16, 3, 2)), ramp)
	up := m.Add(&op.Resize{Mode: op.ResizeNearest, Coord: op.CoordAsymmetric}, p4, graph.None, graph.None,
		m.Int64s(1, 32, 32, 24))
	joined := m.qdq(m.Add(&op.Concat{Axis: 1}, up, p3), wide)
	logits := conv(joined, 75, 48, 1, 1)
	flat := func(x graph.Value, n int64) graph.Value { return m.Add(&op.Reshape{}, x, m.Int64s(1, 20, n)) }
	rows := m.Add(&op.Concat{Axis: 2}, flat(m.qdq(conv(p3, 20, 16, 1, 1), wide), 32*24),
		flat(m.qdq(conv(p4, 20, 32, 1, 1), wide), 16*12))
	decoded := m.Add(&op.Mul{}, m.Add(&op.Sigmoid{}, rows), m.Float32(2))
	return []graph.Value{
		m.qdq(m.Add(&op.Sigmoid{}, m.qdq(logits, wide)), code), m.qdq(m.Add(&op.Sigmoid{}, conv(p4, 75, 32, 1, 1)), code),
		m.qdq(conv(p3, 75, 16, 1, 1), code),
		m.qdq(rows, code), m.Add(&op.Identity{}, m.qdq(decoded, code)),
		m.qdq(m.Add(&op.Transpose{}, decoded, m.Int64s(0, 2, 1)), code), m.qdq(up, code),
	}
}

// No step of a quantized detector runs by reference, whichever way its inputs and outputs cross the border.
func TestBuild_quantDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	for _, isa := range instructionSets() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		for _, code := range []testParams{{1. / 32, 0, tensor.Uint8}, {1. / 32, -100, tensor.Int8}} {
			for _, integers := range []bool{false, true} {
				t.Run(fmt.Sprint(isa, " ", code.typ, " integers ", integers), func(t *testing.T) {
					m := newMaker()
					g := m.graph(t, m.detector(code)...)
					in := m.in
					if integers {
						_, out := model.ExposeQuantized(g, nil)
						for i, q := range out {
							require.NotNil(t, q, "output %d", i)
						}
						require.NoError(t, g.Infer())
						in = []tensor.Tensor{m.codes(g.Fact(g.In[0]).Type)}
					}
					want, err := ref.Run(context.Background(), g, in)
					require.NoError(t, err)
					for _, threads := range []int{1, 3} {
						p, got := compute(t, g, in, threads)
						assert.Empty(t, byReference(p))
						for i := range want {
							require.Equal(t, want[i].DType, got[i].DType)
							differ := 0
							for k := range want[i].Count() {
								var d float64 // in codes
								if integers {
									d = math.Abs(float64(tensor.IntAt(want[i].DType, want[i].Data, k) - tensor.IntAt(got[i].DType, got[i].Data,
										k)))
								} else {
									d = 32 * math.Abs(tensor.FloatAt(tensor.Float32, want[i].Data, k)-tensor.FloatAt(tensor.Float32, got[i].Data,
										k))
								}
								if !(d <= 2) {
									t.Fatalf("output %d at %d is %v codes from the reference", i, k, d)
								}
								if d > 0 {
									differ++
								}
							}
							assert.LessOrEqual(t, differ, 1+want[i].Count()/20, "output %d: codes that differ", i)
						}
					}
				})
			}
		}
		restore()
	}
}
