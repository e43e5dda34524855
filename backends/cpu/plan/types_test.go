package plan

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// values is a tensor of small numbers of a type, positive ones if so asked.
func (m *maker) values(d tensor.DType, positive bool, dims ...int64) tensor.Tensor {
	t := tensor.New(d, dims...)
	for i := range t.Count() {
		v := m.rnd.IntN(9) - 4
		if positive || d.IsUnsigned() {
			v = 1 + m.rnd.IntN(9)
		}
		switch {
		case d == tensor.Bool:
			t.Data[i] = byte(m.rnd.IntN(2))
		case d.IsFloat():
			tensor.PutFloat(d, t.Data, i, float64(v)/2, false)
		default:
			tensor.PutInt(d, t.Data, i, int64(v))
		}
	}
	return t
}

// of is an input of a type.
func (m *maker) of(d tensor.DType, dims ...int64) graph.Value {
	t := m.values(d, false, dims...)
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// counts is an input of positive numbers.
func (m *maker) counts(d tensor.DType, dims ...int64) graph.Value {
	t := m.values(d, true, dims...)
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// places is an input of indices below n.
func (m *maker) places(n int, dims ...int64) graph.Value {
	t := tensor.New(tensor.Int64, dims...)
	for i := range t.Count() {
		tensor.PutInt(tensor.Int64, t.Data, i, int64(m.rnd.IntN(n)))
	}
	m.in = append(m.in, t)
	return m.Input("", t.Type())
}

// fixed is a constant of a type.
func (m *maker) fixed(d tensor.DType, dims ...int64) graph.Value {
	t := m.values(d, false, dims...)
	return m.Const("", t.Type(), t.Data)
}

var (
	wholeTypes = []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16,
		tensor.Uint32, tensor.Uint64}
	orderedTypes = append([]tensor.DType{tensor.Float32, tensor.Float64, tensor.Bool}, wholeTypes...)
	movedTypes   = append([]tensor.DType{tensor.Float16}, orderedTypes...)
	signedTypes  = wholeTypes[:4]
	summedTypes  = []tensor.DType{tensor.Float32, tensor.Int32, tensor.Int64}
	rankedTypes  = []tensor.DType{tensor.Float32, tensor.Int32, tensor.Int16, tensor.Uint16, tensor.Int8, tensor.Uint8,
		tensor.Bool}
)

// shapes are sizes of two operands that are broadcast.
var shapes = [][2][]int64{{{3, 5, 7}, {3, 5, 7}}, {{2, 3, 300}, {300}}, {{2, 3, 300}, {2, 3, 1}}, {{1}, {40, 9}},
	{{5, 1, 6}, {4, 1}}, {{40000}, {1}}, {{3, 1, 129, 2}, {1, 4, 129, 1}}}

// typeCases are nodes that kernels compute in several element types, and whose results are the reference's to the bit.
var typeCases = []struct {
	name  string
	types []tensor.DType
	build func(m *maker, d tensor.DType) []graph.Value
}{
	{"comparisons", orderedTypes, func(m *maker, d tensor.DType) []graph.Value {
		return m.ofPairs(d, false, &op.Less{}, &op.LessEqual{}, &op.Greater{}, &op.GreaterEqual{}, &op.Equal{},
			&op.NotEqual{})
	}},
	{"logic", []tensor.DType{tensor.Bool}, func(m *maker, d tensor.DType) []graph.Value {
		return append(m.ofPairs(d, false, &op.And{}, &op.Or{}, &op.Xor{}), m.Add(&op.Not{}, m.of(d, 3, 77)))
	}},
	{"arithmetic", wholeTypes, func(m *maker, d tensor.DType) []graph.Value {
		return m.ofPairs(d, false, &op.Add{}, &op.Sub{}, &op.Mul{}, &op.Min{}, &op.Max{}, &op.BitwiseAnd{}, &op.BitwiseOr{},
			&op.BitwiseXor{})
	}},
	{"division", wholeTypes, func(m *maker, d tensor.DType) []graph.Value {
		return m.ofPairs(d, true, &op.Div{}, &op.Div{Rounding: op.DivFloor}, &op.Mod{}, &op.Mod{Sign: op.ModDivisor})
	}},
	{"of one", signedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, o := range []graph.Op{&op.Abs{}, &op.Neg{}, &op.Relu{}, &op.Sign{}, &op.BitwiseNot{}} {
			out = append(out, m.Add(o, m.of(d, 5, 67)))
		}
		return out
	}},
	{"bounds", []tensor.DType{tensor.Int8, tensor.Int32, tensor.Int64, tensor.Uint8},
		func(m *maker, d tensor.DType) []graph.Value {
			one := tensor.New(d)
			tensor.PutInt(d, one.Data, 0, 2)
			return []graph.Value{m.Add(&op.Clip{}, m.of(d, 5, 67), graph.None, m.Const("", one.Type(), one.Data)),
				m.Add(&op.Clip{}, m.of(d, 5, 67), m.Const("", one.Type(), one.Data))}
		}},
	{"where", orderedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, s := range shapes {
			out = append(out, m.Add(&op.Where{}, m.of(tensor.Bool, s[0]...), m.of(d, s[1]...), m.of(d, s[0]...)))
		}
		return append(out, m.Add(&op.Where{}, m.of(tensor.Bool, 6, 200), m.of(d, 6, 200), m.fixed(d)))
	}},
	{"slices", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		x := m.of(d, 3, 10, 6)
		cut := func(from, to, axis, step int64) graph.Value {
			return m.Add(&op.Slice{}, x, m.Int64s(from), m.Int64s(to), m.Int64s(axis), m.Int64s(step))
		}
		return []graph.Value{cut(1, 9, 1, 1), cut(9, -99, 1, -2), cut(0, 6, 2, 2), cut(2, 3, 0, 1)}
	}},
	{"repetitions", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		return []graph.Value{m.Add(&op.Expand{}, m.of(d, 4, 1, 3), m.Int64s(2, 4, 5, 3)),
			m.Add(&op.Expand{}, m.of(d, 4, 3, 1), m.Int64s(4, 3, 7)), m.Add(&op.Tile{}, m.of(d, 2, 3, 4), m.Int64s(2, 1, 3))}
	}},
	{"paddings", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for mode := op.PadConstant; mode <= op.PadWrap; mode++ {
			for _, clamps := range []bool{false, true} {
				for _, pads := range [][]int64{{0, 0, 1, 2, 0, 0, 2, 1}, {1, 1, 0, 3, 0, 2, 5, 0}, {0, -1, 2, 0, 0, 1, -1, 0}} {
					out = append(out, m.Add(&op.Pad{Mode: mode, ClampMirror: clamps}, m.of(d, 2, 3, 4, 5), m.Int64s(pads...)))
				}
			}
		}
		return append(out, m.Add(&op.Pad{}, m.of(d, 2, 3), m.Int64s(1, 1, 1, 2), m.fixed(d)),
			m.Add(&op.CenterCropPad{}, m.of(d, 2, 9, 4), m.Int64s(3, 4, 7)))
	}},
	{"gathering", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		x := m.of(d, 3, 7, 5)
		return []graph.Value{m.Add(&op.Gather{}, x, m.places(7, 2, 4), m.Int64s(1)),
			m.Add(&op.Gather{}, x, m.places(5, 9), m.Int64s(2)), m.Add(&op.Gather{}, x, m.places(3), m.Int64s(0))}
	}},
	{"single elements", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		x := m.of(d, 3, 7, 5)
		return []graph.Value{m.Add(&op.GatherElements{Axis: 1}, x, m.places(7, 3, 4, 5)),
			m.Add(&op.GatherElements{Axis: -1}, x, m.places(5, 2, 7, 9)), m.Add(&op.GatherElements{}, x, m.places(3, 8, 6, 2)),
			m.Add(&op.ScatterElements{Axis: 1}, x, m.places(7, 3, 4, 5), m.of(d, 3, 4, 5)),
			m.Add(&op.ScatterElements{Axis: 2}, x, m.places(5, 2, 7, 9), m.of(d, 2, 7, 9))}
	}},
	{"triangles", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, k := range []int64{0, 1, -2, 9, -9} {
			x := m.of(d, 2, 4, 6)
			out = append(out, m.Add(&op.Trilu{}, x, m.Int64s(k)), m.Add(&op.Trilu{Upper: true}, x, m.Int64s(k)))
		}
		return out
	}},
	{"hot elements", orderedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, axis := range []int64{0, 1, -1} {
			for _, rule := range []op.OneHotRule{op.OneHotOff, op.OneHotWraps} {
				out = append(out, m.Add(&op.OneHot{Axis: axis, Outside: rule}, m.of(tensor.Int32, 3, 5), m.Int64s(4), m.of(d),
					m.of(d)))
			}
		}
		return out
	}},
	{"best of lines", rankedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, last := range []bool{false, true} {
			for _, axis := range []int64{0, 1, 2} {
				out = append(out, m.Add(&op.ArgMax{Axis: axis, SelectLast: last}, m.of(d, 3, 300, 5)),
					m.Add(&op.ArgMin{Axis: axis, SelectLast: last, To: tensor.Int32}, m.of(d, 3, 5, 300)))
			}
		}
		return out
	}},
	{"best elements", rankedTypes[:6], func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, o := range []op.TopK{{Axis: 1}, {Axis: -1, Smallest: true}, {Axis: 1, SelectLast: true},
			{Axis: 1, Order: op.TopKByIndex, To: tensor.Int32}} {
			for _, k := range []int64{1, 3, 40} {
				out = append(out, m.AddN(&o, 2, m.of(d, 2, 50, 41), m.Int64s(k))...)
			}
		}
		return out
	}},
	{"running sums", summedTypes, func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for axis := range int64(3) {
			x := m.of(d, 3, 7, 300)
			out = append(out, m.Add(&op.CumSum{}, x, m.Int64s(axis)), m.Add(&op.CumSum{Exclusive: true}, x, m.Int64s(axis)),
				m.Add(&op.CumSum{Reverse: true}, x, m.Int64s(axis)),
				m.Add(&op.CumSum{Exclusive: true, Reverse: true}, x, m.Int64s(axis)))
		}
		return out
	}},
	{"folds", summedTypes[1:], func(m *maker, d tensor.DType) []graph.Value {
		var out []graph.Value
		for _, axes := range [][]int64{{0}, {1}, {2}, {1, 2}, {0, 1}} {
			x := m.of(d, 3, 7, 300)
			for _, o := range []graph.Op{&op.ReduceSum{}, &op.ReduceMax{KeepDims: true}, &op.ReduceMin{}, &op.ReduceProd{},
				&op.ReduceL1{}, &op.ReduceSumSquare{}} {
				out = append(out, m.Add(o, x, m.Int64s(axes...)))
			}
		}
		return out
	}},
	{"columns", movedTypes, func(m *maker, d tensor.DType) []graph.Value {
		x := m.of(d, 3, 8, 4)
		return append(m.AddN(&op.Split{Axis: 1}, 2, x, m.Int64s(4, 4)),
			m.Add(&op.Concat{Axis: 2}, x, m.of(d, 3, 8, 12)), m.Add(&op.Concat{Axis: 1}, m.of(d, 3, 1, 4), x))
	}},
}

// ofPairs are operators on operands of all shapes.
func (m *maker) ofPairs(d tensor.DType, positive bool, list ...graph.Op) []graph.Value {
	second := m.of
	if positive {
		second = m.counts
	}
	var out []graph.Value
	for _, s := range shapes {
		a, b := m.of(d, s[0]...), second(d, s[1]...)
		for _, o := range list {
			out = append(out, m.Add(o, a, b))
		}
	}
	return out
}

// What moves, compares and counts has kernels for every element type, whose results are the reference's to the bit.
func TestBuild_elementsOfAllTypes(t *testing.T) {
	for i, c := range typeCases {
		types := c.types
		if testing.Short() { // as for the race detector: how threads meet does not depend on the type
			types = types[i%len(types):][:1]
		}
		for _, d := range types {
			t.Run(fmt.Sprintf("%s/%v", c.name, d), func(t *testing.T) {
				m := newMaker()
				sameAsReference(t, m, c.build(m, d)...)
			})
		}
	}
}

// sameAsReference computes a graph by a plan, all of whose steps are kernels, and by reference, to the bit.
func sameAsReference(t *testing.T, m *maker, out ...graph.Value) {
	g := m.graph(t, out...)
	p, got := compute(t, g, m.in, 2)
	for _, s := range p.Steps {
		assert.True(t, s.Fast, "%s of node %d", s.Kind, s.Node)
	}
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	for i, w := range want {
		require.Equal(t, w.Type(), got[i].Type())
		require.Equal(t, w.Data, got[i].Data, "output %d", i)
	}
}

// A NaN is the largest number, and the best of lines where the least is looked for as well.
func TestBuild_rankingOfNaN(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := []float32{1, nan, -inf, 3, nan, 0, float32(math.Copysign(0, -1)), inf, -1, -nan}
	for _, o := range []graph.Op{&op.ArgMax{Axis: -1}, &op.ArgMin{Axis: -1}, &op.ArgMax{Axis: -1, SelectLast: true}} {
		m := newMaker()
		m.in = []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{2, 5}, Data: run.BytesOf(x)}}
		sameAsReference(t, m, m.Add(o, m.Input("x", tensor.T(tensor.Float32, 2, 5))))
	}
	for _, o := range []graph.Op{&op.TopK{Axis: 0}, &op.TopK{Axis: 0, Smallest: true}} {
		m := newMaker()
		m.in = []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{10}, Data: run.BytesOf(x)}}
		sameAsReference(t, m, m.AddN(o, 2, m.Input("x", tensor.T(tensor.Float32, 10)), m.Int64s(8))...)
	}
}

// Reductions of float32 are near the reference's.
func TestBuild_foldsOfNumbers(t *testing.T) {
	m := newMaker()
	var out []graph.Value
	for _, axes := range [][]int64{{0}, {1}, {2}, {1, 2}, {0, 1}} {
		x := m.Add(&op.Abs{}, m.input(3, 5, 150))
		for _, o := range []graph.Op{&op.ReduceL1{}, &op.ReduceL2{KeepDims: true}, &op.ReduceSumSquare{},
			&op.ReduceLogSum{}} {
			out = append(out, m.Add(o, x, m.Int64s(axes...)))
		}
	}
	out = append(out, m.Add(&op.ReduceProd{}, m.input(6, 9), m.Int64s(1)))
	g := m.graph(t, out...)
	p, got := compute(t, g, m.in, 2)
	assert.Empty(t, byReference(p))
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	for i := range want {
		near(t, want[i], got[i], 1e-6)
	}
}
