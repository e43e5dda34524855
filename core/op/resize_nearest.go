package op

import (
	"math"
	"math/big"
)

// NearestCells returns where the cells of a resized axis read x, by output index; -1 where they are extrapolated. start
// and end are the region of interest, of CoordTFCrop. Coordinates are exact: they are fractions of the sizes, and of
// the numbers that a model gives as the fractions that they stand for, so that a half is a half.
func (o *Resize) NearestCells(e Extent, start, end float32) func(k int64) int64 {
	c, ok := lineOf(o.Coord, e, start, end)
	if !ok {
		return func(int64) int64 { return -1 }
	}
	// The cell is floor((numerator + shift) / divisor).
	up := false
	switch o.Nearest {
	case NearestRoundPreferFloor, NearestRoundPreferCeil:
		c.slope.Lsh(c.slope, 1)
		c.offset.Lsh(c.offset, 1)
		half := new(big.Int).Set(c.divisor) // of the doubled divisor
		c.divisor.Lsh(c.divisor, 1)
		if up = o.Nearest == NearestRoundPreferFloor; up {
			half.Neg(half)
		}
		return c.cells(e, half, up, o.Coord == CoordTFCrop)
	case NearestCeil:
		up = true
	case NearestCeilBelowOne:
		up = e.ratio().Cmp(big.NewRat(1, 1)) < 0
	}
	return c.cells(e, new(big.Int), up, o.Coord == CoordTFCrop)
}

// line is the coordinate (slope * k + offset) / divisor of output index k; the divisor is above 0.
type line struct{ slope, offset, divisor *big.Int }

// lineOf is the map of a mode; ok is false when a region of interest is no number.
func lineOf(mode Coord, e Extent, start, end float32) (c line, ok bool) {
	number := func(v int64) *big.Rat { return big.NewRat(v, 1) }
	scale, slope, offset := e.ratio(), new(big.Rat), new(big.Rat)
	if scale.Sign() <= 0 {
		return c, false
	}
	inverse := new(big.Rat).Inv(scale)
	half := func() { // (k+0.5)/scale - 0.5
		slope.Set(inverse)
		offset.Quo(inverse, number(2))
		offset.Sub(offset, big.NewRat(1, 2))
	}
	switch mode {
	case CoordAsymmetric:
		slope.Set(inverse)
	case CoordAlignCorners:
		if e.Out > 1 {
			slope.SetFrac64(e.In-1, e.Out-1)
		}
	case CoordPytorchHalfPixel:
		if e.Out > 1 {
			half()
		}
	case CoordHalfPixelSymmetric: // in/2 * (1 - out/(scale*in)) more
		half()
		moved := new(big.Rat).Sub(number(e.In), new(big.Rat).Mul(number(e.Out), inverse))
		offset.Add(offset, moved.Quo(moved, number(2)))
	case CoordTFCrop:
		from, ok := fractionOf(start)
		to, ok2 := fractionOf(end)
		if !ok || !ok2 {
			return c, false
		}
		last := number(e.In - 1)
		if e.Out == 1 {
			offset.Mul(offset.Add(from, to), last)
			offset.Quo(offset, number(2))
			break
		}
		offset.Mul(from, last)
		slope.Mul(slope.Sub(to, from), last)
		slope.Quo(slope, number(e.Out-1))
	case CoordTFHalfPixel:
		half()
		offset.Add(offset, big.NewRat(1, 2))
	default:
		half()
	}
	c.divisor = new(big.Int).Mul(slope.Denom(), offset.Denom())
	c.slope = new(big.Int).Mul(slope.Num(), offset.Denom())
	c.offset = new(big.Int).Mul(offset.Num(), slope.Denom())
	return c, true
}

// cells returns the rounded coordinates, shift being added to the numerator first, within x. With outside those that
// are not between the first and the last cell before they are rounded are -1.
func (c line) cells(e Extent, shift *big.Int, up, outside bool) func(k int64) int64 {
	last := big.NewInt(e.In - 1)
	end := new(big.Int).Mul(last, c.divisor)
	at, rest := new(big.Int), new(big.Int)
	whole := func(k int64) int64 {
		at.Mul(c.slope, big.NewInt(k))
		at.Add(at, c.offset)
		if outside && (at.Sign() < 0 || at.Cmp(end) > 0) {
			return -1
		}
		at.Add(at, shift)
		at.DivMod(at, c.divisor, rest)
		if up && rest.Sign() != 0 {
			at.Add(at, big.NewInt(1))
		}
		switch {
		case at.Sign() < 0:
			return 0
		case at.Cmp(last) > 0:
			return e.In - 1
		}
		return at.Int64()
	}
	// Almost always all of it fits a machine's word.
	most := new(big.Int).Mul(new(big.Int).Abs(c.slope), big.NewInt(max(e.Out, 1)))
	most.Add(most, new(big.Int).Abs(c.offset))
	most.Add(most, new(big.Int).Abs(shift))
	if most.BitLen() > 61 || end.BitLen() > 61 || c.divisor.BitLen() > 61 {
		return whole
	}
	slope, offset, divisor, add, final := c.slope.Int64(), c.offset.Int64(), c.divisor.Int64(), shift.Int64(), end.Int64()
	return func(k int64) int64 {
		n := slope*k + offset
		if outside && (n < 0 || n > final) {
			return -1
		}
		n += add
		q, r := n/divisor, n%divisor
		switch {
		case r < 0 && !up:
			q--
		case r > 0 && up:
			q++
		}
		return min(max(q, 0), e.In-1)
	}
}

// ratio is the factor that coordinates are computed with, as exact as it is known.
func (e Extent) ratio() *big.Rat {
	if e.Den != 0 {
		return big.NewRat(e.Num, e.Den)
	}
	if e.In > 0 && e.Out > 0 && float32(float64(e.Out)/float64(e.In)) == e.Scale {
		return big.NewRat(e.Out, e.In)
	}
	r, ok := fractionOf(e.Scale)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// fractionOf returns the simplest fraction that x is the nearest float32 of: 0.7 is seven tenths. ok is false for
// infinities and NaN.
func fractionOf(x float32) (r *big.Rat, ok bool) {
	switch {
	case math.IsNaN(float64(x)) || math.IsInf(float64(x), 0):
		return nil, false
	case x == 0:
		return new(big.Rat), true
	case x < 0:
		r, ok = fractionOf(-x)
		return r.Neg(r), ok
	}
	middle := func(a, b float32) *big.Rat {
		return new(big.Rat).SetFloat64(float64(a)/2 + float64(b)/2)
	}
	above := math.Nextafter32(x, float32(math.Inf(1)))
	if math.IsInf(float64(above), 0) {
		return new(big.Rat).SetFloat64(float64(x)), true
	}
	return simplest(middle(math.Nextafter32(x, 0), x), middle(x, above)), true
}

// simplest returns the fraction of the smallest denominator between low and high, which lie above or at 0.
func simplest(low, high *big.Rat) *big.Rat {
	whole := new(big.Int).Quo(low.Num(), low.Denom())
	next := new(big.Rat).SetInt(new(big.Int).Add(whole, big.NewInt(1)))
	if next.Cmp(high) < 0 {
		return next
	}
	n := new(big.Rat).SetInt(whole)
	low, high = new(big.Rat).Sub(low, n), new(big.Rat).Sub(high, n)
	if low.Sign() == 0 { // between whole and something that is not more than whole + 1: 1/k for the first k that fits
		k := new(big.Int).Quo(high.Denom(), high.Num())
		return n.Add(n, new(big.Rat).SetFrac(big.NewInt(1), k.Add(k, big.NewInt(1))))
	}
	inner := simplest(new(big.Rat).Inv(high), new(big.Rat).Inv(low))
	return n.Add(n, inner.Inv(inner))
}
