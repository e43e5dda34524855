package plan

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// numbers is an input of any integers of a type, or Bools.
func (m *maker) numbers(d tensor.DType, dims ...int64) graph.Value {
	t := tensor.New(d, dims...)
	rnd := rand.New(rand.NewPCG(uint64(len(m.in)), uint64(d)))
	for i := range t.Data {
		if t.Data[i] = byte(rnd.Uint32()); d == tensor.Bool {
			t.Data[i] &= 1
		}
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// scalar is a constant of one integer.
func (m *maker) scalar(d tensor.DType, n int64) graph.Value {
	t := tensor.New(d)
	tensor.PutInt(d, t.Data, 0, n)
	return m.Const("", t.Type(), t.Data)
}

// ofIntegers are operators of integers of a type and of truth values, whose results are equal to the bit.
func ofIntegers(m *maker, d tensor.DType) []graph.Value {
	x, y := m.numbers(d, 3, 37, 20), m.numbers(d, 3, 37, 20)
	row, one := m.numbers(d, 20), m.numbers(d, 3, 1, 1)
	list := []graph.Value{
		m.Add(&op.Equal{}, x, row), m.Add(&op.NotEqual{}, x, y), m.Add(&op.Where{}, m.Add(&op.Equal{}, row, x), x, one),
		m.Add(&op.Concat{Axis: 2}, x, m.numbers(d, 3, 37, 3), y), m.Add(&op.Concat{Axis: 0}, x, y),
		m.Add(&op.Transpose{}, x), m.Add(&op.Transpose{}, x, m.Int64s(1, 2, 0)), m.Add(&op.Transpose{}, x, m.Int64s(0, 2, 1)),
		m.Add(&op.DepthToSpace{Block: 2}, m.numbers(d, 1, 8, 3, 35)),
		m.Add(&op.SpaceToDepth{Block: 2}, m.numbers(d, 1, 3, 4, 70)),
		m.Add(&op.Pad{}, x, m.Int64s(0, 1, 2, 1, 0, 3)), m.Add(&op.Pad{Mode: op.PadEdge}, x, m.Int64s(0, 1, 2, 1, 0, 3)),
		m.Add(&op.Tile{}, row, m.Int64s(9)), m.Add(&op.Expand{}, one, m.Int64s(3, 5, 70)),
		m.Add(&op.Slice{}, x, m.Int64s(1, 1), m.Int64s(37, 20), m.Int64s(1, 2), m.Int64s(3, 2)),
		m.Add(&op.GatherND{NegativeWraps: true}, x, m.Add(&op.Reshape{}, m.Int64s(2, 36, 0, -1), m.Int64s(2, 2))),
		m.Add(&op.GatherND{BatchDims: 1, NegativeWraps: true}, x, m.Add(&op.Reshape{}, m.Int64s(2, 36, -1), m.Int64s(3, 1))),
		m.Add(&op.ScatterND{NegativeWraps: true}, x, m.Add(&op.Reshape{}, m.Int64s(2, 36, 0, -1, 2, 36), m.Int64s(3, 2)),
			m.numbers(d, 3, 20)),
		m.Add(&op.Compress{Axis: 1}, x, m.Const("", tensor.T(tensor.Bool, 5), []byte{1, 0, 0, 1, 1})),
	}
	list = append(list, m.AddN(&op.Split{Axis: 2}, 3, m.numbers(d, 2, 5, 9))...)
	for _, to := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int32, tensor.Uint32,
		tensor.Int64, tensor.Uint64, tensor.Bool, tensor.Float32, tensor.Float64, tensor.Float16} {
		list = append(list, m.Add(&op.Cast{To: to}, x), m.Add(&op.Cast{To: to, OutOfRange: op.CastSaturate}, x))
	}
	if d == tensor.Bool {
		list = append(list, m.Add(&op.EyeLike{K: 2}, m.numbers(d, 4, 5)), m.Add(&op.EyeLike{K: -9}, m.numbers(d, 4, 5)))
		return append(list, m.Add(&op.ReduceAll{}, x, m.Int64s(1)), m.Add(&op.ReduceAny{}, x, m.Int64s(1)),
			m.Add(&op.ReduceAll{KeepDims: true}, x, m.Int64s(2)), m.Add(&op.ReduceAny{}, x), m.Add(&op.And{}, x, row))
	}
	list = append(list,
		m.Add(&op.Add{}, x, row), m.Add(&op.Sub{}, row, x), m.Add(&op.Mul{}, x, one), m.Add(&op.Min{}, x, y),
		m.Add(&op.Max{}, one, x), m.Add(&op.Less{}, x, y), m.Add(&op.LessEqual{}, one, x), m.Add(&op.Greater{}, x, row),
		m.Add(&op.GreaterEqual{}, x, y), m.Add(&op.BitwiseAnd{}, x, y), m.Add(&op.BitwiseNot{}, x),
		m.Add(&op.ReduceSum{}, x, m.Int64s(1)), m.Add(&op.ReduceSum{}, x, m.Int64s(1, 2)),
		m.Add(&op.BitShift{}, x, y), m.Add(&op.ScatterND{Reduction: op.ScatterAdd}, x,
			m.Add(&op.Reshape{}, m.Int64s(2, 36, 0, 1, 2, 36), m.Int64s(3, 2)), m.numbers(d, 3, 20)))
	if !d.IsSigned() {
		list = append(list, m.Add(&op.BitShift{Right: true}, x, m.Add(&op.BitwiseAnd{}, y, m.scalar(d, 7))))
	} else {
		list = append(list, m.Add(&op.Abs{}, x), m.Add(&op.Neg{}, x), m.Add(&op.Sign{}, x), m.Add(&op.Relu{}, x))
	}
	if d != tensor.Uint64 {
		image := m.numbers(d, 2, 3, 9, 40)
		list = append(list, m.Add(&op.Clip{}, x, m.scalar(d, 3), m.scalar(d, 100)),
			m.Add(&op.ReduceProd{}, x, m.Int64s(2)), m.Add(&op.ReduceMax{}, x, m.Int64s(1)),
			m.Add(&op.ReduceMin{}, x, m.Int64s(1, 2)),
			m.Add(&op.ReduceMax{}, x, m.Int64s(2)),
			m.Add(&op.MaxPool{Kernel: []int64{3, 3}, Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, image),
			m.Add(&op.MaxPool{Kernel: []int64{2, 3}, Dilations: []int64{2, 2}, ChannelsLast: true}, image))
	}
	if d == tensor.Int32 || d == tensor.Int64 {
		for _, o := range []op.CumSum{{}, {Exclusive: true}, {Reverse: true}, {Exclusive: true, Reverse: true}} {
			list = append(list, m.Add(&o, x, m.scalar(tensor.Int64, 1)), m.Add(&o, x, m.scalar(tensor.Int64, 2)))
		}
	}
	return list
}

func TestBuild_integersOfEveryType(t *testing.T) {
	for _, isa := range instructionSets() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		for _, d := range []tensor.DType{tensor.Bool, tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int32,
			tensor.Uint32, tensor.Int64, tensor.Uint64} {
			t.Run(isa.String()+"/"+d.String(), func(t *testing.T) {
				m := newMaker()
				g := m.graph(t, ofIntegers(m, d)...)
				want, err := ref.Run(context.Background(), g, m.in)
				require.NoError(t, err)
				p, got := compute(t, g, m.in, 1)
				assert.Empty(t, byReference(p))
				for k := range want {
					node := ""
					for i := range g.Nodes {
						if g.Nodes[i].Out[0] == g.Out[k] {
							node = g.Nodes[i].Label()
						}
					}
					require.True(t, slices.Equal(want[k].Dims, got[k].Dims), "output %d: %s", k, node)
					require.Equal(t, want[k].Data, got[k].Data, "output %d: %s", k, node)
				}
			})
		}
		restore()
	}
}

// A list that grows with each trip.
func TestBuild_loopThatGrows(t *testing.T) {
	b := graph.NewBuilder("body")
	b.Input("trip", tensor.T(tensor.Int64))
	cond := b.Input("cond", tensor.T(tensor.Bool))
	state := b.Input("state", tensor.T(tensor.Float32, 1, 5))
	list := b.Input("list", tensor.Type{DType: tensor.Float32, Shape: tensor.AnyOfRank(2)})
	next := b.Add(&op.Tanh{}, b.Add(&op.Add{}, state, b.Float32(0.25)))
	b.Output(b.Add(&op.Identity{}, cond), next, b.Add(&op.Concat{Axis: 0}, list, next))
	body, err := b.Graph()
	require.NoError(t, err)
	for _, first := range []int64{0, 2} {
		m := newMaker()
		loop := m.AddN(&op.Loop{Body: body, Carried: 2}, 2, m.scalar(tensor.Int64, 7), graph.None, m.input(1, 5),
			m.Add(&op.Slice{}, m.Add(&op.Relu{}, m.input(3, 5)), m.Int64s(0), m.Int64s(first), m.Int64s(0)))
		g := m.graph(t, m.Add(&op.Relu{}, loop[0]), loop[1])
		want, err := ref.Run(context.Background(), g, m.in)
		require.NoError(t, err)
		require.Equal(t, []int64{first + 7, 5}, want[1].Dims)
		p, got := compute(t, g, m.in, 1)
		bodies := 0
		for _, s := range p.Steps {
			bodies += len(s.Bodies)
		}
		assert.Equal(t, 1, bodies)
		near(t, want[0], got[0], 1e-5)
		near(t, want[1], got[1], 1e-5)
	}
}

// neighbourCases are sums of powers of neighbours, and where the best of them are.
var neighbourCases = []testCase{
	{"powers of neighbours", 0, func(m *maker) []graph.Value {
		x := m.input(2, 7, 9, 10)
		return []graph.Value{
			m.Add(&op.LRN{Before: 2, After: 2, Alpha: 0.3, Beta: 0.75, Bias: 1, Axis: 1, DivideAlpha: true}, x),
			m.Add(&op.LRN{Before: 1, After: 3, Alpha: 0.3, Beta: 0.5, Bias: 2, Axis: -1}, x),
			m.Add(&op.LRN{Before: 20, After: 20, Alpha: 0.1, Beta: 1.25, Bias: 2, Axis: 2}, x),
			m.Add(&op.LRN{Before: 1, Alpha: 0.1, Beta: 1, Bias: 2, Axis: -1}, x),
			m.Add(&op.LpPool{Kernel: []int64{2, 3}, Strides: []int64{2, 1}, Pads: []int64{1, 0, 0, 1}}, x),
			m.Add(&op.LpPool{Kernel: []int64{3, 3}, P: 1, ChannelsLast: true}, x),
			m.Add(&op.LpPool{Kernel: []int64{2, 2}, P: 3, Strides: []int64{2, 2}}, x),
		}
	}},
	{"running sums and best elements", 0, func(m *maker) []graph.Value {
		x := m.input(3, 19, 30)
		return []graph.Value{
			m.Add(&op.CumSum{}, x, m.scalar(tensor.Int64, 1)), m.Add(&op.CumSum{Exclusive: true}, x, m.scalar(tensor.Int64, 1)),
			m.Add(&op.CumSum{Reverse: true, Exclusive: true}, x, m.scalar(tensor.Int64, 2)),
			m.Add(&op.CumSum{Reverse: true}, x, m.scalar(tensor.Int64, 0)), m.Add(&op.ReduceProd{}, x, m.Int64s(2)),
			m.Add(&op.Mod{}, m.Add(&op.Mul{}, x, m.Float32(300)), m.Add(&op.Add{}, m.input(3, 19, 30), m.Float32(3))),
			m.Add(&op.ReduceL1{}, x, m.Int64s(2)), m.Add(&op.ReduceSumSquare{}, x, m.Int64s(1)),
		}
	}},
}
