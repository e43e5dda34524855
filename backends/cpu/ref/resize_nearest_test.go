package ref

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// fraction returns a/b.
func fraction(a, b int64) *big.Rat { return big.NewRat(a, b) }

// floorOf rounds down.
func floorOf(r *big.Rat) int64 {
	return new(big.Int).Div(r.Num(), r.Denom()).Int64()
}

// place is the coordinate that the definition of ONNX gives output index k, in exact fractions.
func place(coord op.Coord, scale *big.Rat, in, out, k int64) *big.Rat {
	half := fraction(1, 2)
	at := new(big.Rat).Quo(fraction(k, 1), scale)
	switch coord {
	case op.CoordAlignCorners:
		if at.SetInt64(0); out > 1 {
			at = fraction(k*(in-1), out-1)
		}
	case op.CoordHalfPixel, op.CoordPytorchHalfPixel, op.CoordHalfPixelSymmetric:
		at.Add(fraction(k, 1), half)
		at.Quo(at, scale)
		at.Sub(at, half)
		if coord == op.CoordPytorchHalfPixel && out == 1 {
			at.SetInt64(0)
		}
		if coord == op.CoordHalfPixelSymmetric { // in/2 * (1 - out / (scale * in))
			less := new(big.Rat).Quo(fraction(out, in), scale)
			less.Sub(fraction(1, 1), less)
			at.Add(at, less.Mul(less, fraction(in, 2)))
		}
	case op.CoordTFHalfPixel:
		at.Add(fraction(k, 1), half)
		at.Quo(at, scale)
	}
	return at
}

// judge is the cell of in cells that is nearest to a coordinate.
func judge(mode op.NearestMode, shrinks bool, at *big.Rat, in int64) int {
	up := func(r *big.Rat) int64 { return -floorOf(new(big.Rat).Neg(r)) }
	var c int64
	switch {
	case mode == op.NearestRoundPreferFloor:
		c = up(new(big.Rat).Sub(at, fraction(1, 2)))
	case mode == op.NearestRoundPreferCeil:
		c = floorOf(new(big.Rat).Add(at, fraction(1, 2)))
	case mode == op.NearestCeil || mode == op.NearestCeilBelowOne && shrinks:
		c = up(at)
	default:
		c = floorOf(at)
	}
	return int(min(max(c, 0), in-1))
}

var (
	wholeCoords = []op.Coord{op.CoordAsymmetric, op.CoordAlignCorners, op.CoordHalfPixel, op.CoordPytorchHalfPixel,
		op.CoordHalfPixelSymmetric, op.CoordTFHalfPixel}
	nearestModes = []op.NearestMode{op.NearestRoundPreferFloor, op.NearestRoundPreferCeil, op.NearestFloor,
		op.NearestCeil, op.NearestCeilBelowOne}
)

// checkNearest compares the cells of every mode with exact fractions of the scale; out is 0 when a scale says it.
func checkNearest(t *testing.T, coord op.Coord, scale *big.Rat, in, out int64, args ...tensor.Tensor) {
	t.Helper()
	args = append([]tensor.Tensor{{DType: tensor.Float32, Dims: []int64{in}}, {}}, args...)
	var at []*big.Rat
	for _, mode := range nearestModes {
		cells, err := resampled(&op.Resize{Coord: coord, Nearest: mode}, args, []int{0})
		require.NoError(t, err)
		if out != 0 && len(cells[0]) != int(out) { // the product of length and scale was rounded down
			return
		}
		for k := range cells[0] {
			if k >= len(at) {
				at = append(at, place(coord, scale, in, int64(len(cells[0])), int64(k)))
			}
			want := judge(mode, scale.Cmp(fraction(1, 1)) < 0, at[k], in)
			if got := cells[0][k][0].Index; got != want {
				t.Fatalf("%d to %d by %v, cell %d, mode %d: %d, want %d", in, len(cells[0]), scale, k, mode, got, want)
			}
		}
	}
}

// Every pair of lengths up to 40, by sizes and by the scale that they have, in every mode, against exact fractions.
func TestResize_nearestIsExact(t *testing.T) {
	const most = 40
	for _, coord := range wholeCoords {
		t.Run(fmt.Sprint(coord), func(t *testing.T) {
			for in := int64(1); in <= most; in++ {
				for out := int64(1); out <= most; out++ {
					scale := float32(float64(out) / float64(in))
					checkNearest(t, coord, fraction(out, in), in, out, tensor.Tensor{}, tensor.Tensor{DType: tensor.Int64,
						Dims: []int64{1}, Data: tensor.Int64s(out)})
					checkNearest(t, coord, fraction(out, in), in, out, tensor.Tensor{DType: tensor.Float32,
						Dims: []int64{1}, Data: tensor.Float32s(scale)})
				}
			}
		})
	}
}

// A scale that no pair of the lengths has is the fraction that it stands for: 0.7 is 7/10, so that cell 7 of 10 reads
// at 10 and not behind it.
func TestResize_nearestReadsScalesAsFractions(t *testing.T) {
	for _, scale := range []*big.Rat{fraction(7, 10), fraction(11, 10), fraction(1, 3), fraction(13, 10), fraction(9, 4),
		fraction(3, 5), fraction(123, 100), fraction(5, 1)} {
		f, _ := scale.Float32()
		for in := int64(1); in <= 40; in++ {
			for _, coord := range wholeCoords {
				checkNearest(t, coord, scale, in, 0, tensor.Tensor{DType: tensor.Float32, Dims: []int64{1},
					Data: tensor.Float32s(f)})
			}
		}
	}
}

// The region of interest is one of fractions as well: of 6 cells 0.2 to 0.8 begins at cell 1 and ends at cell 4.
func TestResize_nearestOfRegions(t *testing.T) {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{6}}
	cells := func(mode op.NearestMode, start, end float32, out int64) (at []int) {
		list, err := resampled(&op.Resize{Coord: op.CoordTFCrop, Nearest: mode}, []tensor.Tensor{x,
			{DType: tensor.Float32, Dims: []int64{2}, Data: tensor.Float32s(start, end)}, {},
			{DType: tensor.Int64, Dims: []int64{1}, Data: tensor.Int64s(out)}}, []int{0})
		require.NoError(t, err)
		for _, c := range list[0] {
			if len(c) == 0 {
				at = append(at, -1)
				continue
			}
			at = append(at, c[0].Index)
		}
		return at
	}
	assert.Equal(t, []int{1, 2, 3, 4}, cells(op.NearestFloor, 0.2, 0.8, 4))
	assert.Equal(t, []int{1, 2, 3, 4}, cells(op.NearestCeil, 0.2, 0.8, 4))
	assert.Equal(t, []int{1, 1, 2, 2, 3, 3, 4}, cells(op.NearestRoundPreferFloor, 0.2, 0.8, 7), "1 to 4 by halves")
	assert.Equal(t, []int{1, 2, 2, 3, 3, 4, 4}, cells(op.NearestRoundPreferCeil, 0.2, 0.8, 7))
	assert.Equal(t, []int{-1, 0, 1, 2}, cells(op.NearestFloor, -0.2, 0.4, 4), "-1 to 2")
	assert.Equal(t, []int{3}, cells(op.NearestCeil, 0.2, 0.8, 1), "2.5")
	nan := float32(math.NaN())
	assert.Equal(t, []int{-1, -1}, cells(op.NearestFloor, nan, 1, 2))
}

// One scale for all axes is a fraction, and halves are rounded up: of 2 and 5 cells the sizes 1 and 4 that are not to
// be exceeded give the scale 1/2, and 1 and 3 cells.
func TestResize_aspectIsExact(t *testing.T) {
	for in := int64(1); in <= 40; in++ {
		for out := int64(1); out <= 40; out++ {
			for other := int64(1); other <= 40; other += 9 {
				o := &op.Resize{KeepAspect: op.AspectNotLarger}
				e, err := o.ExtentsOf([]int64{in, other}, nil, []int64{out, 1000 * other})
				require.NoError(t, err)
				want := new(big.Rat).Mul(fraction(other, 1), fraction(out, in))
				if w := floorOf(want.Add(want, fraction(1, 2))); w != e[1].Out {
					t.Fatalf("%d of %d to %d: %d, want %d", other, in, out, e[1].Out, w)
				}
				require.Equal(t, out, e[0].Out)
			}
		}
	}
}
