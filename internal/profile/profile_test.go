package profile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// one returns a graph of one node over float32 inputs of the given sizes.
func one(t *testing.T, o graph.Op, sizes ...[]int64) *graph.Graph {
	b := graph.NewBuilder("one")
	in := make([]graph.Value, len(sizes))
	for i, s := range sizes {
		if in[i] = graph.None; s != nil {
			in[i] = b.Input("", tensor.T(tensor.Float32, s...))
		}
	}
	b.Output(b.Add(o, in...))
	g, err := b.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	return g
}

func TestFLOPs_table(t *testing.T) {
	for _, c := range []struct {
		name  string
		op    graph.Op
		in    [][]int64
		want  int64
		class string
	}{
		{"conv", &op.Conv{Pads: []int64{1, 1, 1, 1}, Strides: []int64{2, 2}}, [][]int64{{1, 3, 8, 8}, {16, 3, 3, 3}},
			2 * 16 * 4 * 4 * 27, "3x3 s2"},
		{"conv, channels last", &op.Conv{ChannelsLast: true}, [][]int64{{1, 8, 8, 3}, {16, 1, 3, 3}}, 2 * 16 * 8 * 6 * 9,
			"1x3"},
		{"depthwise", &op.Conv{Groups: 8, Strides: []int64{1, 2}}, [][]int64{{1, 8, 5, 5}, {8, 1, 1, 1}}, 2 * 8 * 5 * 3,
			"1x1 s1x2 depthwise"},
		{"grouped", &op.Conv{Groups: 2}, [][]int64{{1, 8, 5, 5}, {4, 1, 1, 4}}, 2 * 4 * 25 * 4, "1x1 2 groups"},
		{"transposed", &op.ConvTranspose{Strides: []int64{2, 2}}, [][]int64{{2, 3, 4, 4}, {5, 2, 2, 3}},
			2 * 2 * 16 * 3 * 5 * 4, "2x2 s2"},
		{"product", &op.MatMul{}, [][]int64{{7, 2, 3}, {3, 5}}, 2 * 7 * 2 * 3 * 5, ""},
		{"product, transposed", &op.MatMul{TransposeA: true}, [][]int64{{3, 2}, {3, 5}}, 2 * 2 * 3 * 5, ""},
		{"vector", &op.MatMul{TransposeA: true}, [][]int64{{3}, {3, 5}}, 2 * 3 * 5, ""},
		{"full", &op.FullyConnected{}, [][]int64{{4, 3}, {5, 3}}, 2 * 4 * 3 * 5, ""},
		{"einsum", &op.Einsum{Equation: "bij,bjk->bik"}, [][]int64{{2, 3, 4}, {2, 4, 5}}, 2 * 2 * 3 * 4 * 5, ""},
		{"lstm", &op.LSTM{}, [][]int64{{6, 2, 3}, {1, 16, 3}, {1, 16, 4}}, 2 * 6 * 2 * 16 * 7, ""},
		{"lstm, projected", &op.LSTM{}, [][]int64{{6, 2, 3}, {1, 16, 3}, {1, 16, 5}, nil, nil, nil, nil, nil, {1, 5, 4}},
			2 * 6 * 2 * (16*8 + 20), ""},
		{"max pool", &op.MaxPool{Kernel: []int64{3, 3}, Strides: []int64{2, 2}}, [][]int64{{1, 4, 7, 7}}, 4 * 9 * 9, ""},
		{"global pool", &op.AveragePool{Global: true}, [][]int64{{1, 4, 7, 7}}, 4 * 49, ""},
		{"attention", &op.Attention{}, [][]int64{{2, 4, 6, 8}, {2, 4, 10, 8}, {2, 4, 10, 3}}, 2 * 2 * 4 * 6 * 10 * 11, ""},
		{"broadcast sum", &op.Add{}, [][]int64{{3, 1}, {1, 5}}, 15, ""},
		{"reduction", &op.ReduceSum{}, [][]int64{{3, 5}}, 15, ""},
		{"movement", &op.Flatten{Axis: 1}, [][]int64{{3, 5, 2}}, 0, ""},
	} {
		g := one(t, c.op, c.in...)
		assert.Equal(t, c.want, FLOPs(g, 0), c.name)
		assert.Equal(t, c.class, class(g, 0), c.name)
	}
}

func TestFLOPs_ofOneStep(t *testing.T) {
	count := func(o graph.Op, in func(b *graph.Builder) []graph.Value) int64 {
		b := graph.NewBuilder("step")
		b.Output(b.AddN(o, 2, in(b)...)...)
		g, err := b.Graph()
		require.NoError(t, err)
		require.NoError(t, g.Infer())
		return FLOPs(g, 0)
	}
	assert.Equal(t, int64(2*3*8*(5+7)), count(&op.SVDF{Rank: 2}, func(b *graph.Builder) []graph.Value {
		in := func(d ...int64) graph.Value { return b.Input("", tensor.T(tensor.Float32, d...)) }
		return []graph.Value{in(3, 5), in(8, 5), in(8, 7), graph.None, in(3, 56)}
	}))
	coded := func(b *graph.Builder, d tensor.DType, scale float32, zero int32, dims ...int64) graph.Value {
		typ := tensor.T(d, dims...)
		typ.Quant = tensor.PerTensor(scale, zero)
		return b.Input("", typ)
	}
	const u8, i8, i16, i32 = tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32
	assert.Equal(t, int64(2*3*4*(6*5+6*6)), count(&op.Quantized16BitLSTM{}, func(b *graph.Builder) []graph.Value {
		in := []graph.Value{coded(b, u8, 1./128, 128, 3, 5)}
		for i := range 12 {
			switch {
			case i < 4:
				in = append(in, coded(b, u8, 1, 0, 6, 5))
			case i < 8:
				in = append(in, coded(b, u8, 1, 0, 6, 6))
			default:
				in = append(in, coded(b, i32, 1./128, 0, 6))
			}
		}
		return append(in, coded(b, i16, 1./2048, 0, 3, 6), coded(b, u8, 1./128, 128, 3, 6))
	}))
	coupled := &op.QuantizedLSTM{HiddenScale: 1, Intermediate: []float32{1, 1, 1, 1}}
	assert.Equal(t, int64(2*3*(3*6*5+3*6*2+2*6)), count(coupled, func(b *graph.Builder) []graph.Value {
		in := make([]graph.Value, 20)
		for i := range in {
			in[i] = graph.None
		}
		in[0], in[16] = coded(b, i8, 1, 0, 3, 5), coded(b, i8, 1, 0, 2, 6)
		for i := 2; i <= 4; i++ {
			in[i], in[4+i], in[11+i] = coded(b, i8, 1, 0, 6, 5), coded(b, i8, 1, 0, 6, 2), coded(b, i32, 1, 0, 6)
		}
		in[18], in[19] = coded(b, i8, 1, 0, 3, 2), coded(b, i16, 1./2048, 0, 3, 6)
		return in
	}))
}

func TestJoin_sizesOfTheRunAndSharedOrigins(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim())})
	y := b.Add(&op.Add{}, x, x)
	b.Output(b.Add(&op.Add{}, b.Add(&op.ReduceSum{KeepDims: true}, y), x))
	g, err := b.Graph()
	require.NoError(t, err)
	for i := range g.Nodes {
		g.Nodes[i].Origin = 0
	}
	require.NoError(t, g.Infer())
	in := []tensor.Tensor{tensor.New(tensor.Float32, 7)}
	times := []device.NodeTime{
		{Node: 0, Op: "add", Kernel: device.KernelFast, Length: 7},
		{Node: -1, Op: "layout", Kernel: device.KernelFast, Length: 5},
		{Node: 0, Op: "reduce_sum", Kernel: device.KernelReference, Length: 14 * time.Nanosecond},
		{Node: 0, Op: "add", Kernel: device.KernelFused},
		{Node: 0, Op: "add", Kernel: device.KernelFast}, // more than the graph has
	}
	nodes, err := Join(g, in, times)
	require.NoError(t, err)
	var flops []int64
	for _, n := range nodes {
		flops = append(flops, n.FLOPs)
	}
	assert.Equal(t, []int64{7, 0, 7, 7, 0}, flops)
	assert.InDelta(t, 1.0, nodes[0].GFLOPS(), 1e-12, "7 operations in 7 ns")
	assert.Zero(t, nodes[3].GFLOPS())
	total, err := Total(g, in)
	require.NoError(t, err)
	assert.EqualValues(t, 21, total)

	s := ShareOf(nodes[:4])
	assert.Equal(t, Share{Nodes: 3, FastNodes: 2, FLOPs: 21, FastFLOPs: 14, Elements: 21, FastElements: 14,
		Slow: nodes[2:3]}, s)
	assert.InDelta(t, 200.0/3, s.ElementPercent(), 1e-9)
	assert.Equal(t, 100.0, (&Share{}).ElementPercent())
	assert.InDelta(t, 200.0/3, s.FLOPPercent(), 1e-9)
	assert.InDelta(t, 200.0/3, s.NodePercent(), 1e-9)
	assert.Equal(t, 100.0, (&Share{}).FLOPPercent())

	_, err = Join(g, nil, nil)
	assert.Error(t, err)
}

// What only moves has no arithmetic, but elements, and so have the graphs of a condition.
func TestElements_movedComparedAndInBodies(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.Of(3, 5)})
	c := b.Input("c", tensor.Type{DType: tensor.Bool, Shape: tensor.Of()})
	y := b.Add(&op.Transpose{}, x, b.Int64s(1, 0))
	z := b.Add(&op.Greater{}, y, b.Float32(2))
	body := func(o graph.Op) *graph.Graph {
		inner := graph.NewBuilder("body")
		v := inner.Input("v", tensor.Type{DType: tensor.Float32, Shape: tensor.Of(3, 5)})
		inner.Output(inner.Add(o, inner.Add(&op.Transpose{}, v, inner.Int64s(1, 0))))
		g, err := inner.Graph()
		require.NoError(t, err)
		require.NoError(t, g.Infer())
		return g
	}
	w := b.Add(&op.If{Then: body(&op.Relu{}), Else: body(&op.Identity{})}, c, x)
	b.Output(z, w, b.Add(&op.Shape{}, x))
	g, err := b.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	got := map[string][2]int64{}
	for i := range g.Nodes {
		got[graph.NameOf(g.Nodes[i].Op)] = [2]int64{FLOPs(g, i), Elements(g, i)}
	}
	assert.Equal(t, map[string][2]int64{"transpose": {0, 15}, "greater": {15, 15}, "if": {15, 15 + 4*15},
		"shape": {0, 1}}, got)
}
