package op

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// symbolic starts a graph with an image batch of unknown size: [?1, 3, 4, 5].
func symbolic(t *testing.T) (*graph.Builder, graph.Value, tensor.Dim) {
	t.Helper()
	b := graph.NewBuilder("symbolic")
	batch := tensor.Dim{Sym: 1}
	return b, b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(batch, tensor.D(3), tensor.D(4),
		tensor.D(5))}), batch
}

func shapeOf(t *testing.T, b *graph.Builder, v graph.Value) tensor.Shape {
	t.Helper()
	require.NoError(t, b.Err())
	return b.Fact(v).Shape
}

// The chain that exporters write for x.view(x.size(0), -1): Shape, Gather, Unsqueeze, Concat, Reshape.
func TestInfer_shapeChainKeepsSymbols(t *testing.T) {
	b, x, batch := symbolic(t)
	dims := b.Add(&Shape{}, x)
	zero := b.Const("", tensor.T(tensor.Int64), tensor.Int64s(0))
	n := b.Add(&Unsqueeze{}, b.Add(&Gather{}, dims, zero), b.Int64s(0))
	y := b.Add(&Reshape{}, x, b.Add(&Concat{}, n, b.Int64s(-1)))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(60)), shapeOf(t, b, y))
	tail := b.Add(&Slice{}, dims, b.Int64s(2), b.Int64s(4))
	z := b.Add(&Reshape{}, x, b.Add(&Concat{}, b.Int64s(-1), tail))
	assert.Equal(t, 3, shapeOf(t, b, z).Rank())
	assert.Equal(t, tensor.OfDims(tensor.AnyDim(), tensor.D(4), tensor.D(5)), shapeOf(t, b, z))
	halves := b.AddN(&Split{}, 2, dims)
	w := b.Add(&Expand{}, b.Float32(0), b.Add(&Concat{}, halves[0], b.Add(&Tile{}, b.Int64s(7), b.Int64s(2))))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(3), tensor.D(7), tensor.D(7)), shapeOf(t, b, w))
	v := b.Add(&Fill{}, b.Add(&Squeeze{}, b.Add(&Reshape{}, dims, b.Int64s(1, 4)), b.Int64s(0)), b.Float32(1))
	assert.Equal(t, b.Fact(x).Shape, shapeOf(t, b, v))
}

func TestInfer_batchSymbolSurvivesMovement(t *testing.T) {
	b, x, batch := symbolic(t)
	flat := b.Add(&Flatten{Axis: 1}, x)
	assert.Equal(t, tensor.OfDims(batch, tensor.D(60)), shapeOf(t, b, flat))
	nhwc := b.Add(&Transpose{}, x, b.Int64s(0, 2, 3, 1))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(4), tensor.D(5), tensor.D(3)), shapeOf(t, b, nhwc))
	rows := b.Add(&Reshape{}, nhwc, b.Int64s(-1, 60))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(60)), shapeOf(t, b, rows))
	kept := b.Add(&Reshape{ZeroCopies: true}, x, b.Int64s(0, -1, 5))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(12), tensor.D(5)), shapeOf(t, b, kept))
	cut := b.Add(&Slice{}, x, b.Int64s(0, 1), b.Int64s(math.MaxInt64, 2))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(1), tensor.D(4), tensor.D(5)), shapeOf(t, b, cut))
	both := b.Add(&Concat{Axis: 1}, x, cut)
	assert.Equal(t, tensor.OfDims(batch, tensor.D(4), tensor.D(4), tensor.D(5)), shapeOf(t, b, both))
	padded := b.Add(&Pad{}, x, b.Int64s(0, 0, 1, 1, 0, 0, 1, 1))
	assert.Equal(t, tensor.OfDims(batch, tensor.D(3), tensor.D(6), tensor.D(7)), shapeOf(t, b, padded))
}

// Scales along an axis follow the axis where its steps survive; elsewhere the output must say what it wants.
func TestInfer_scalesAlongAxis(t *testing.T) {
	q := &tensor.Quant{Scale: []float32{1, 2}, Axis: 0}
	x := tensor.Fact{Type: tensor.Type{DType: tensor.Int8, Shape: tensor.Of(2, 3), Quant: q}}
	list := func(v ...int64) tensor.Fact {
		return tensor.Fact{Type: tensor.T(tensor.Int64, int64(len(v))), Const: tensor.NewConst(tensor.Int64s(v...))}
	}
	for _, c := range []struct {
		o    graph.Op
		in   []tensor.Fact
		axis int // -1: refused
	}{
		{&Transpose{}, []tensor.Fact{x, list(1, 0)}, 1},
		{&Unsqueeze{}, []tensor.Fact{x, list(0)}, 1},
		{&Slice{}, []tensor.Fact{x, list(1), list(2), list(1)}, 0},
		{&Slice{}, []tensor.Fact{x, list(1), list(2)}, -1},
		{&Reshape{}, []tensor.Fact{x, list(6)}, -1},
		{&Concat{Axis: 1}, []tensor.Fact{x, x}, 0},
		{&Concat{Axis: 0}, []tensor.Fact{x, x}, -1},
		{&Gather{}, []tensor.Fact{x, list(0)}, -1},
		{&Tile{}, []tensor.Fact{x, list(1, 1, 2)}, 1},
	} {
		out, err := c.o.Infer(c.in, make([]tensor.Type, 1))
		if c.axis < 0 {
			assert.Equal(t, fault.Unsupported, fault.KindOf(err), "%s", graph.NameOf(c.o))
			_, err = c.o.Infer(c.in, []tensor.Type{{DType: tensor.Int8, Quant: tensor.PerTensor(1, 0)}})
			assert.NoError(t, err, "%s with a declared output", graph.NameOf(c.o))
			continue
		}
		require.NoError(t, err, graph.NameOf(c.o))
		assert.Equal(t, c.axis, out[0].Quant.Axis, graph.NameOf(c.o))
		assert.Equal(t, q.Scale, out[0].Quant.Scale, graph.NameOf(c.o))
	}
	assert.Equal(t, 0, q.Axis, "the input's quantization is not written")
}

func TestSlice_inside(t *testing.T) {
	x := tensor.Fact{Type: tensor.T(tensor.Float32, 5)}
	open := tensor.Fact{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.AnyOfRank(1)}}
	bound := func(v int64) tensor.Fact {
		return tensor.Fact{Type: tensor.T(tensor.Int64, 1), Const: tensor.NewConst(tensor.Int64s(v))}
	}
	for _, c := range []struct {
		x          tensor.Fact
		start, end int64
		size       int64 // -1: refused, -2: open
	}{
		{x, 0, 5, 5}, {x, 5, 5, 0}, {x, 2, 4, 2}, {x, 1, math.MaxInt64, 4}, {open, 2, 4, -2}, {open, 2, math.MaxInt64, -2},
		{x, -1, 5, -1}, {x, 0, -1, -1}, {x, 3, 2, -1}, {x, 0, 6, -1}, {x, 6, math.MaxInt64, -1}, {open, -1, 2, -1},
		{open, 3, 2, -1},
	} {
		out, err := (&Slice{Inside: true}).Infer([]tensor.Fact{c.x, bound(c.start), bound(c.end)}, make([]tensor.Type, 1))
		if c.size == -1 {
			assert.Equal(t, fault.Argument, fault.KindOf(err), "%v[%d:%d]", c.x.Shape, c.start, c.end)
			continue
		}
		require.NoError(t, err, "%v[%d:%d]", c.x.Shape, c.start, c.end)
		want := tensor.Of(c.size)
		if c.size == -2 {
			want = tensor.AnyOfRank(1)
		}
		assert.Equal(t, want, out[0].Shape, "%v[%d:%d]", c.x.Shape, c.start, c.end)
	}
}
