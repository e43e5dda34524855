package plan

import (
	"context"
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

// quant is a type of the given scale and zero point.
func quant(d tensor.DType, scale float32, zero int32, dims ...int64) tensor.Type {
	t := tensor.T(d, dims...)
	t.Quant = &tensor.Quant{Scale: []float32{scale}, Zero: []int32{zero}}
	return t
}

// codes is a tensor with random codes of any value.
func (m *maker) codes(t tensor.Type) tensor.Tensor {
	dims, _ := t.Shape.Ints()
	x := tensor.New(t.DType, dims...)
	x.Quant = t.Quant
	for i := range x.Data {
		x.Data[i] = byte(m.rnd.IntN(256))
	}
	return x
}

func (m *maker) inputCodes(t tensor.Type) graph.Value {
	x := m.codes(t)
	m.in = append(m.in, x)
	return m.Input("", t)
}

func (m *maker) weightCodes(t tensor.Type) graph.Value {
	x := m.codes(t)
	return m.Const("", t, x.Data)
}

func (m *maker) bias(n int) graph.Value {
	t := tensor.New(tensor.Int32, int64(n))
	for i := range n {
		tensor.PutInt(tensor.Int32, t.Data, i, int64(m.rnd.IntN(20001)-10000))
	}
	return m.Const("", t.Type(), t.Data)
}

// typed adds a node whose output has the given type.
func (m *maker) typed(o graph.Op, t tensor.Type, in ...graph.Value) graph.Value {
	t.Shape = tensor.AnyShape()
	return m.AddTyped(o, "", []tensor.Type{t}, in...)[0]
}

const u8, i8 = tensor.Uint8, tensor.Int8

var quantizedCases = []testCase{
	{"pointwise, bias, relu6", 0, func(m *maker) []graph.Value {
		x := m.inputCodes(quant(u8, 0.03, 128, 2, 7, 5, 16))
		y := m.typed(&op.Conv{ChannelsLast: true}, quant(u8, 0.4, 100), x, m.weightCodes(quant(u8, 0.01, 120, 24, 1, 1, 16)),
			m.bias(24))
		return []graph.Value{m.typed(&op.Clip{}, quant(u8, 0.02, 0), y, m.Float32(0), m.Float32(6)), y}
	}},
	{"filters per channel, signed, padding, stride", 0, func(m *maker) []graph.Value {
		w := quant(i8, 1, 0, 12, 3, 3, 8)
		w.Quant = &tensor.Quant{Zero: make([]int32, 12)}
		for i := range 12 {
			w.Quant.Scale = append(w.Quant.Scale, 0.001*float32(i+1))
		}
		x := m.inputCodes(quant(i8, 0.05, -7, 1, 9, 11, 8))
		return []graph.Value{m.typed(&op.Conv{ChannelsLast: true, Pads: []int64{1, 2, 0, 1}, Strides: []int64{2, 1},
			Dilations: []int64{1, 2}}, quant(i8, 0.3, 5), x, m.weightCodes(w), m.bias(12))}
	}},
	{"depthwise and groups", 0, func(m *maker) []graph.Value {
		x := m.inputCodes(quant(u8, 0.05, 3, 1, 8, 9, 12))
		y := m.typed(&op.Conv{ChannelsLast: true, Groups: 12, Pads: []int64{1, 1, 1, 1}}, quant(u8, 0.5, 130), x,
			m.weightCodes(quant(u8, 0.02, 111, 12, 3, 3, 1)), m.bias(12))
		return []graph.Value{m.typed(&op.Conv{ChannelsLast: true, Groups: 3}, quant(i8, 0.9, 0), y,
			m.weightCodes(quant(i8, 0.02, 1, 6, 2, 2, 4)))}
	}},
	{"first layer, three dimensions, one", 0, func(m *maker) []graph.Value {
		x := m.inputCodes(quant(u8, 1./255, 0, 2, 12, 14, 3))
		y := m.typed(&op.Conv{ChannelsLast: true, Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, quant(u8, 0.03, 90), x,
			m.weightCodes(quant(i8, 0.01, 0, 16, 3, 3, 3)), m.bias(16))
		z := m.typed(&op.Conv{ChannelsLast: true}, quant(u8, 0.03, 90), m.inputCodes(quant(u8, 0.02, 9, 1, 4, 5, 6, 5)),
			m.weightCodes(quant(i8, 0.01, 0, 3, 2, 3, 2, 5)))
		w := m.typed(&op.Conv{ChannelsLast: true}, quant(u8, 0.03, 90), m.inputCodes(quant(u8, 0.02, 9, 1, 14, 6)),
			m.weightCodes(quant(i8, 0.01, 0, 3, 3, 6)))
		return []graph.Value{y, z, w}
	}},
	{"deep sums in parts", 0, func(m *maker) []graph.Value {
		x := m.inputCodes(quant(u8, 0.01, 0, 3, 3000))
		y := m.typed(&op.FullyConnected{}, quant(i8, 0.6, 0), x, m.weightCodes(quant(i8, 0.02, -128, 10, 3000)), m.bias(10))
		c := m.inputCodes(quant(i8, 0.01, -128, 1, 4, 4, 512))
		return []graph.Value{y, m.typed(&op.Conv{ChannelsLast: true}, quant(u8, 3, 128), c,
			m.weightCodes(quant(u8, 0.02, 255, 6, 3, 3, 512)))}
	}},
	{"products", 0, func(m *maker) []graph.Value {
		x := m.inputCodes(quant(i8, 0.05, 4, 2, 5, 20))
		own := quant(tensor.Int32, 0.003, 6, 8)
		b := m.Const("", own, tensor.Int32s(1, -5, 900, -7000, 22, 0, 3, 9))
		y := m.typed(&op.FullyConnected{}, quant(u8, 0.2, 77), x, m.weightCodes(quant(i8, 0.02, 3, 8, 20)), b)
		z := m.typed(&op.MatMul{}, quant(i8, 0.1, 0), y, m.weightCodes(quant(u8, 0.03, 100, 8, 6)))
		return []graph.Value{z, m.typed(&op.MatMul{TransposeB: true}, quant(i8, 0.1, 0), y,
			m.weightCodes(quant(u8, 0.03, 100, 5, 8)))}
	}},
	{"pooling", 0, func(m *maker) []graph.Value {
		x, y := m.inputCodes(quant(u8, 0.1, 12, 2, 9, 8, 5)), m.inputCodes(quant(i8, 0.1, 12, 1, 7, 6, 4))
		pads := []int64{1, 0, 1, 1}
		return []graph.Value{
			m.typed(&op.MaxPool{ChannelsLast: true, Kernel: []int64{3, 2}, Strides: []int64{2, 1}, Pads: pads},
				quant(u8, 0.1, 12), x),
			m.typed(&op.MaxPool{ChannelsLast: true, Kernel: []int64{2, 2}}, quant(i8, 0.07, -3), y),
			m.typed(&op.AveragePool{ChannelsLast: true, Kernel: []int64{3, 2}, Pads: pads, CountPads: true, Ceil: op.RoundCeil,
				Strides: []int64{2, 2}}, quant(u8, 0.07, 99), x),
			m.typed(&op.AveragePool{ChannelsLast: true, Kernel: []int64{3, 2}, Pads: pads, Dilations: []int64{1, 2}},
				quant(i8, 0.1, 12), y),
			m.typed(&op.AveragePool{ChannelsLast: true, Global: true}, quant(u8, 0.1, 12), x),
		}
	}},
	{"codes between operators", 0, quantNetwork(u8)},
	{"signed codes between operators", 0, quantNetwork(i8)},
	{"codes of operators read as elements", 0, func(m *maker) []graph.Value {
		q := quant(i8, 0.05, 11)
		x := m.typed(&op.Conv{ChannelsLast: true}, q, m.inputCodes(quant(i8, 0.05, 3, 2, 16, 16, 16)),
			m.weightCodes(quant(i8, 0.02, 0, 24, 1, 1, 16)), m.bias(24))
		y := m.typed(&op.Transpose{}, q, x, m.Int64s(0, 3, 1, 2))
		return []graph.Value{
			m.typed(&op.AveragePool{ChannelsLast: true, Kernel: []int64{2, 2}}, quant(i8, 0.06, 3), x),
			m.typed(&op.MaxPool{ChannelsLast: true, Kernel: []int64{2, 2}}, quant(i8, 0.07, 3), x),
			m.typed(&op.Transpose{}, q, x, m.Int64s(3, 0, 1, 2)),
			m.typed(&op.Reshape{}, q, y, m.Int64s(-1)), m.typed(&op.Mul{}, quant(i8, 0.3, -5), x, x), y,
		}
	}},
	{"functions of codes", 0, func(m *maker) []graph.Value {
		x, y := m.inputCodes(quant(u8, 0.05, 128, 3, 4000)), m.inputCodes(quant(u8, 0.1, 12, 3, 4000))
		return []graph.Value{
			m.typed(&op.Sigmoid{}, quant(u8, 1./256, 0), x), m.typed(&op.HardSwish{}, quant(u8, 0.03, 10), x),
			m.typed(&op.Add{}, quant(u8, 0.11, 30), x, y),
			m.typed(&op.Mul{}, quant(u8, 0.4, 90), x, y), m.typed(&op.Convert{}, quant(i8, 0.06, 0), x),
			m.typed(&op.Convert{}, tensor.T(tensor.Float32), x),
			m.typed(&op.Add{}, quant(u8, 0.05, 128), x, m.Const("", quant(u8, 0.1, 3), []byte{200})),
			m.Add(&op.Reshape{}, x, m.Int64s(-1)),
		}
	}},
}

// A clamp to codes of the same type is part of the store, unless something else reads what it clamps.
func TestBuild_quantClampIsFused(t *testing.T) {
	for _, typ := range []tensor.DType{u8, i8} {
		for _, shared := range []bool{false, true} {
			m := newMaker()
			q := quant(typ, 0.11, map[tensor.DType]int32{u8: 100, i8: -28}[typ])
			x := m.inputCodes(quant(typ, 0.03, 5, 1, 9, 8, 16))
			y := m.typed(&op.Conv{ChannelsLast: true}, q, x, m.weightCodes(quant(i8, 0.02, 0, 24, 1, 1, 16)), m.bias(24))
			out := []graph.Value{m.typed(&op.Clip{}, q, y, m.Float32(-1), m.Float32(1))}
			if shared {
				out = append(out, y)
			}
			g := m.graph(t, out...)
			p, got := compute(t, g, m.in, 1)
			var steps []string
			for _, st := range p.Steps {
				if st.Node != run.None {
					steps = append(steps, graph.NameOf(g.Nodes[st.Node].Op))
				}
			}
			if kernel.FastInt8() && !shared {
				assert.Equal(t, []string{"conv"}, steps)
			} else {
				assert.Equal(t, []string{"conv", "clip"}, steps)
			}
			want, err := ref.Run(context.Background(), g, m.in)
			require.NoError(t, err)
			for i := range want {
				require.Equal(t, want[i].Data, got[i].Data)
			}
		}
	}
}

// quantNetwork is a network of quantized types as a program of NNAPI makes it of one in NCHW: turned around sums, with
// real numbers at its ends.
func quantNetwork(typ tensor.DType) func(m *maker) []graph.Value {
	return func(m *maker) []graph.Value {
		zero := map[tensor.DType]int32{u8: 130, i8: -2}[typ]
		same := []int64{1, 1, 1, 1}
		last, front := m.Int64s(0, 2, 3, 1), m.Int64s(0, 3, 1, 2)
		turned := func(t tensor.Type, x, perm graph.Value) graph.Value { return m.typed(&op.Transpose{}, t, x, perm) }
		in := quant(typ, 0.031, zero)
		x := turned(in, m.typed(&op.Convert{}, in, m.input(1, 3, 33, 34)), last)
		a := quant(typ, 0.043, zero)
		y := m.typed(&op.Conv{ChannelsLast: true, Pads: same, Strides: []int64{2, 2}}, a, x,
			m.weightCodes(quant(i8, 0.002, 0, 32, 3, 3, 3)), m.bias(32))
		y = m.typed(&op.MaxPool{ChannelsLast: true, Kernel: []int64{3, 3}, Pads: same}, a, y)
		b := quant(typ, 0.057, zero)
		z := m.typed(&op.Conv{ChannelsLast: true, Pads: same, Groups: 32}, b, y,
			m.weightCodes(quant(i8, 0.003, 0, 32, 3, 3, 1)), m.bias(32))
		z = m.typed(&op.HardSwish{}, b, z)
		c := quant(typ, 0.083, zero)
		sum := m.typed(&op.Add{}, c, turned(a, y, front), turned(b, z, front))
		y = m.typed(&op.Conv{ChannelsLast: true}, a, turned(c, sum, last), m.weightCodes(quant(i8, 0.003, 0, 8, 1, 1, 32)))
		y = m.typed(&op.Reshape{}, a, y, m.Int64s(1, -1))
		return []graph.Value{m.typed(&op.Convert{}, tensor.T(tensor.Float32), y)}
	}
}

// Nothing is between the operators of a network of quantized types: no orders of dimensions, no signs, no numbers.
func TestBuild_quantNetworkHasNoOtherSteps(t *testing.T) {
	if !kernel.FastInt8() {
		t.Skip("sums are those of float32 here")
	}
	for _, typ := range []tensor.DType{u8, i8} {
		m := newMaker()
		p, _ := compute(t, m.graph(t, quantNetwork(typ)(m)...), m.in, 2)
		var steps []string
		for _, st := range p.Steps {
			if assert.NotEqual(t, run.None, st.Node, st.Kind) {
				steps = append(steps, graph.NameOf(p.Graph.Nodes[st.Node].Op))
			}
		}
		assert.Equal(t, []string{"convert", "conv", "max_pool", "conv", "hard_swish", "add", "conv", "convert"}, steps)
	}
}

func TestBuild_quantEqualsReferenceToTheBit(t *testing.T) {
	equalsReference(t, quantizedCases, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		_, slow := p.Fast()
		assert.Zero(t, slow, "nodes by reference")
		for i := range want {
			assert.Equal(t, want[i].Dims, got[i].Dims)
			require.Equal(t, want[i].Data, got[i].Data, "output %d", i)
		}
	})
}

// Signed filters are multiplied as integers where that is faster, and equal the reference to the bit at the ends of the
// range too.
func TestBuild_quantSumsOfIntegers(t *testing.T) {
	m := newMaker()
	x := m.inputCodes(quant(i8, 0.05, -128, 1, 9, 7, 17))
	y := m.typed(&op.Conv{ChannelsLast: true, Pads: []int64{1, 1, 1, 1}}, quant(i8, 0.7, 127), x,
		m.weightCodes(quant(i8, 0.01, 0, 20, 3, 3, 17)), m.bias(20))
	z := m.typed(&op.Conv{ChannelsLast: true}, quant(u8, 0.5, 0), y, m.weightCodes(quant(u8, 0.01, 128, 70, 1, 1, 20)))
	// Halves on both sides of zero: no factor makes those of both go away from it.
	halves := m.typed(&op.FullyConnected{}, quant(i8, 0.5, -20), m.inputCodes(quant(i8, 0.25, 3, 5, 33)),
		m.weightCodes(quant(i8, 0.125, 0, 11, 33)))
	g := m.graph(t, z, m.typed(&op.FullyConnected{}, quant(u8, 0.3, 200), m.inputCodes(quant(u8, 0.05, 255, 5, 33)),
		m.weightCodes(quant(i8, 0.02, 0, 11, 33))), halves)
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	p, got := compute(t, g, m.in, 2)
	for i := range want {
		require.Equal(t, want[i].Data, got[i].Data, "output %d", i)
	}
	fused, apart := 0, 0
	for _, st := range p.Steps {
		switch taskOf(p, st) {
		case "qdqGemmTask":
			fused++
		case "integerTask":
			apart++
		}
	}
	if kernel.FastInt8() {
		assert.Equal(t, []int{3, 1}, []int{fused, apart}, "steps of integers that make codes in the store, and after it")
	}
}

// kinds counts the steps that no node of the graph asks for.
func kinds(p *run.Plan) map[string]int {
	count := map[string]int{}
	for _, st := range p.Steps {
		if st.Node == run.None {
			count[st.Kind]++
		}
	}
	return count
}

// Between convolutions of quantized types there is nothing but codes: depthwise ones, those of few channels, strides.
func TestBuild_quantTypesStayCodes(t *testing.T) {
	if !kernel.FastInt8() {
		t.Skip("sums are those of float32 here")
	}
	for _, typ := range []tensor.DType{u8, i8} {
		zero := map[tensor.DType]int32{u8: 130, i8: 2}[typ]
		m := newMaker()
		x := m.inputCodes(quant(typ, 0.03, zero, 1, 17, 17, 3))
		same := []int64{1, 1, 1, 1}
		y := m.typed(&op.Conv{ChannelsLast: true, Pads: same, Strides: []int64{2, 2}}, quant(typ, 0.11, zero), x,
			m.weightCodes(quant(i8, 0.02, 0, 32, 3, 3, 3)), m.bias(32))
		y = m.typed(&op.Conv{ChannelsLast: true, Pads: same, Groups: 32}, quant(typ, 0.23, zero), y,
			m.weightCodes(quant(i8, 0.013, 0, 32, 3, 3, 1)), m.bias(32))
		y = m.typed(&op.Conv{ChannelsLast: true}, quant(typ, 0.5, zero), y, m.weightCodes(quant(i8, 0.017, 0, 16, 1, 1, 32)))
		y = m.typed(&op.Conv{ChannelsLast: true, Pads: same}, quant(typ, 1.7, zero), y,
			m.weightCodes(quant(i8, 0.019, 0, 24, 3, 3, 16)), m.bias(24))
		g := m.graph(t, y)
		p, got := compute(t, g, m.in, 2)
		assert.Equal(t, map[string]int{"unsign": 1, "decode": 1}, kinds(p), "where codes come in and go out")
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err)
		require.Equal(t, want[0].Data, got[0].Data)
	}
}

func BenchmarkQuantConv(b *testing.B) {
	for _, isa := range kernel.Supported()[1:] {
		b.Run(isa.String(), func(b *testing.B) {
			restore, err := kernel.Select(isa)
			require.NoError(b, err)
			defer restore()
			m := newMaker()
			x := m.inputCodes(quant(i8, 0.05, 3, 1, 56, 56, 64))
			y := m.typed(&op.Conv{ChannelsLast: true, Pads: []int64{1, 1, 1, 1}}, quant(i8, 2, 0), x,
				m.weightCodes(quant(i8, 0.01, 0, 64, 3, 3, 64)), m.bias(64))
			g := m.graph(b, m.typed(&op.Conv{ChannelsLast: true}, quant(i8, 0.7, 0), y,
				m.weightCodes(quant(i8, 0.01, 0, 256, 1, 1, 64))))
			s, release := stateOf(b, g)
			defer release()
			for b.Loop() {
				_, err := runOnce(s, m.in, false)
				require.NoError(b, err)
			}
		})
	}
}
