package op

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// wants are the sizes that a list of numbers stands for, -1 for one that is not known.
func wants(n ...int64) []tensor.Dim {
	d := make([]tensor.Dim, len(n))
	for i, v := range n {
		if d[i] = tensor.D(v); v < 0 {
			d[i] = tensor.AnyDim()
		}
	}
	return d
}

// Values of three axes, 0 to 23 in the shape [2, 3, 4], move through each operator.
func TestInfer_valuesOfHigherRank(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *graph.Builder, x graph.Value) graph.Value
		shape tensor.Shape
		want  []tensor.Dim
	}{
		{"reshape", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, b.Add(&Reshape{}, x, b.Int64s(12, 2)), b.Int64s(10), b.Int64s(99))
		}, tensor.Of(2, 2), wants(20, 21, 22, 23)},
		{"flatten", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, b.Add(&Flatten{Axis: 2}, x), b.Int64s(5, 1), b.Int64s(6, 3))
		}, tensor.Of(1, 2), wants(21, 22)},
		{"transpose", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, b.Add(&Transpose{}, x, b.Int64s(2, 0, 1)), b.Int64s(1), b.Int64s(2))
		}, tensor.Of(1, 2, 3), wants(1, 5, 9, 13, 17, 21)},
		{"reversed axes", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, b.Add(&Transpose{}, x), b.Int64s(3), b.Int64s(4))
		}, tensor.Of(1, 3, 2), wants(3, 15, 7, 19, 11, 23)},
		{"slice with steps", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, x, b.Int64s(-1, 0, 3), b.Int64s(-9, 3, -5), b.Int64s(0, 1, 2), b.Int64s(-1, 2, -3))
		}, tensor.Of(2, 2, 2), wants(15, 12, 23, 20, 3, 0, 11, 8)},
		{"slice of an inner axis", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, x, b.Int64s(1), b.Int64s(2), b.Int64s(-2))
		}, tensor.Of(2, 1, 4), wants(4, 5, 6, 7, 16, 17, 18, 19)},
		{"slice of nothing", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Slice{}, x, b.Int64s(2), b.Int64s(9), b.Int64s(0))
		}, tensor.Of(0, 3, 4), wants()},
		{"concat", func(b *graph.Builder, x graph.Value) graph.Value {
			last := b.Add(&Slice{}, x, b.Int64s(2, 3), b.Int64s(3, 4), b.Int64s(1, 2))
			return b.Add(&Concat{Axis: -1}, last, last, b.Add(&Neg{}, b.Add(&Neg{}, last)))
		}, tensor.Of(2, 1, 3), wants(11, 11, 11, 23, 23, 23)},
		{"split", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.AddN(&Split{Axis: 1}, 2, x, b.Int64s(2, 1))[1]
		}, tensor.Of(2, 1, 4), wants(8, 9, 10, 11, 20, 21, 22, 23)},
		{"squeeze", func(b *graph.Builder, x graph.Value) graph.Value {
			row := b.Add(&Slice{}, x, b.Int64s(1, 1), b.Int64s(2, 2))
			return b.Add(&Unsqueeze{}, b.Add(&Squeeze{}, row, b.Int64s(0, 1)), b.Int64s(1))
		}, tensor.Of(4, 1), wants(16, 17, 18, 19)},
		{"tile", func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&Tile{}, x, b.Int64s(1, 2, 1))
		}, tensor.Of(2, 6, 4), nil},
		{"sums of one and of all", func(b *graph.Builder, x graph.Value) graph.Value {
			pair := b.Add(&Slice{}, x, b.Int64s(0, 0, 0), b.Int64s(2, 2, 1))
			row := b.Add(&Slice{}, pair, b.Int64s(1), b.Int64s(2))
			return b.Add(&Concat{}, b.Add(&Add{}, row, row), b.Add(&Mul{}, row, b.Int64s(2)), b.Add(&Add{}, row, pair))
		}, tensor.Of(4, 2, 1), wants(24, 32, 24, 32, -1, -1, -1, -1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := graph.NewBuilder(c.name)
			count := make([]int64, 24)
			for i := range count {
				count[i] = int64(i)
			}
			f := b.Fact(c.build(b, b.Const("", tensor.T(tensor.Int64, 2, 3, 4), tensor.Int64s(count...))))
			require.NoError(t, b.Err())
			assert.Equal(t, c.shape, f.Shape)
			assert.Equal(t, c.want, f.Ints)
		})
	}
}

// Sizes of a symbolic shape stay symbols while they move through a matrix.
func TestInfer_symbolsInAMatrix(t *testing.T) {
	b, x, batch := symbolic(t)
	rows := b.Add(&Reshape{}, b.Add(&Shape{}, x), b.Int64s(2, 2))
	turned := b.Add(&Slice{}, b.Add(&Transpose{}, rows), b.Int64s(-1), b.Int64s(-9), b.Int64s(1), b.Int64s(-1))
	y := b.Add(&Fill{}, b.Add(&Reshape{}, turned, b.Int64s(-1)), b.Float32(1))
	assert.Equal(t, tensor.OfDims(tensor.D(4), batch, tensor.D(5), tensor.D(3)), shapeOf(t, b, y))
}

// PyTorch's exporter writes pads of a matrix of pairs, the last axis first, with a Reshape, a Slice and a Transpose.
func TestInfer_padsOfAnExporter(t *testing.T) {
	b, x, batch := symbolic(t)
	all := b.Add(&Concat{}, b.Int64s(1, 2, 3, 4), b.Add(&Fill{}, b.Int64s(4), b.Const("", tensor.T(tensor.Int64, 1),
		tensor.Int64s(0))))
	pairs := b.Add(&Slice{}, b.Add(&Reshape{}, all, b.Int64s(-1, 2)), b.Int64s(-1), b.Int64s(-1<<63), b.Int64s(0),
		b.Int64s(-1))
	pads := b.Add(&Cast{To: tensor.Int64}, b.Add(&Reshape{}, b.Add(&Transpose{}, pairs, b.Int64s(1, 0)), b.Int64s(-1)))
	y := b.Add(&Pad{}, x, pads, b.Float32(0))
	assert.Equal(t, wants(0, 0, 3, 1, 0, 0, 4, 2), b.Fact(pads).Ints)
	assert.Equal(t, tensor.OfDims(batch, tensor.D(3), tensor.D(11), tensor.D(8)), shapeOf(t, b, y))
}

// A dimension of 0 holds no values, however large the others are.
func TestInfer_valuesOfNothing(t *testing.T) {
	b := graph.NewBuilder("nothing")
	huge := tensor.Of(1<<40, 0, 1<<40)
	x := b.Input("x", tensor.Type{DType: tensor.Int64, Shape: huge})
	y := b.Add(&Concat{Axis: 1}, b.Add(&Transpose{}, x), b.Add(&Slice{}, x, b.Int64s(-1), b.Int64s(-1<<63), b.Int64s(0),
		b.Int64s(-1)))
	assert.Equal(t, huge, shapeOf(t, b, y))
	assert.Empty(t, b.Fact(y).Ints)
	assert.NotNil(t, b.Fact(y).Ints)
}
