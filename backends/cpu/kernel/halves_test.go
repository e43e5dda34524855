package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// eachHalfType runs a test for each type of 16 bits.
func eachHalfType(t *testing.T, f func(t *testing.T, h HalfType)) {
	for h, name := range [numHalfTypes]string{"binary16", "brain16"} {
		t.Run(name, func(t *testing.T) { f(t, HalfType(h)) })
	}
}

// rounded is x as a number of the type, by the portable twins, and wide is its float32.
func (h HalfType) rounded(x float32) uint16 {
	if h == Brain16 {
		return tensor.Float32ToBFloat16(x)
	}
	return floatToHalf(x)
}

func (h HalfType) wide(x uint16) float32 {
	if h == Brain16 {
		return math.Float32frombits(uint32(x) << 16)
	}
	return halfToFloat(x)
}

// halfSlice is n numbers of a type, special ones among them, and their float32.
func halfSlice(h HalfType, seed uint64, n int) ([]uint16, []float32) {
	x, f := make([]uint16, n), make([]float32, n)
	for i, v := range withSpecials(seed, n) {
		x[i] = h.rounded(v)
		f[i] = h.wide(x[i])
	}
	return x, f
}

// checkHalves compares numbers of a type with float32 results that are rounded by the portable twin.
func checkHalves(t *testing.T, h HalfType, what string, got []uint16, want []float32) {
	t.Helper()
	inf := h.rounded(inf32)
	for i, x := range got {
		if w := h.rounded(want[i]); x != w && (x&0x7fff <= inf || w&0x7fff <= inf) {
			t.Fatalf("%s: element %d of %d: %#04x (%v), want %#04x (%v)", what, i, len(got), x, h.wide(x), w, want[i])
		}
	}
}

// guardedHalves is memory for n numbers with others before and behind them.
func guardedHalves(n int) (all, own []uint16) {
	all = make([]uint16, n+66)
	for i := range all {
		all[i] = 0x1234
	}
	return all, all[33 : 33+n : 33+n]
}

func checkGuards(t *testing.T, what string, all []uint16) {
	t.Helper()
	for i, h := range all {
		if (i < 33 || i >= len(all)-33) && h != 0x1234 {
			t.Fatalf("%s: wrote outside of the %d numbers, at %d", what, len(all)-66, i-33)
		}
	}
}

func TestUnaryHalves_equalsFloat32Rounded(t *testing.T) {
	work := make([]float32, HalvesWork)
	eachISA(t, func(t *testing.T) {
		eachHalfType(t, func(t *testing.T, h HalfType) {
			for op := range numUnary {
				for _, n := range lengths() {
					src, wide := halfSlice(h, uint64(n), n)
					want := make([]float32, n)
					Unary(op, want, wide, 0.25, 0.75)
					all, dst := guardedHalves(n)
					UnaryHalves(h, op, dst, src, 0.25, 0.75, work)
					checkHalves(t, h, op.String(), dst, want)
					checkGuards(t, op.String(), all)
					UnaryHalves(h, op, src, src, 0.25, 0.75, work)
					require.Equal(t, dst, src, "%v in place", op)
				}
			}
		})
	})
}

func TestBinaryHalves_equalFloat32Rounded(t *testing.T) {
	work := make([]float32, HalvesWork)
	eachISA(t, func(t *testing.T) {
		eachHalfType(t, func(t *testing.T, h HalfType) {
			for op := range numBinary {
				for _, n := range lengths() {
					a, fa := halfSlice(h, uint64(n), n)
					b, fb := halfSlice(h, uint64(n)+1, n)
					want := make([]float32, n)
					BinaryVV(op, want, fa, fb)
					all, dst := guardedHalves(n)
					BinaryHalvesVV(h, op, dst, a, b, work)
					checkHalves(t, h, op.String(), dst, want)
					for _, s := range []float32{0.75, -3, inf32, math.Float32frombits(0xffffffff)} {
						BinaryVS(op, want, fa, s)
						BinaryHalvesVS(h, op, dst, a, s, false, work)
						checkHalves(t, h, fmt.Sprint(op, " by ", s), dst, want)
						BinarySV(op, want, s, fa)
						BinaryHalvesVS(h, op, dst, a, s, true, work)
						checkHalves(t, h, fmt.Sprint(op, " of ", s), dst, want)
					}
					checkGuards(t, op.String(), all)
				}
			}
		})
	})
}

func TestAffineHalves_equalsFloat32Rounded(t *testing.T) {
	work := make([]float32, HalvesWork)
	eachISA(t, func(t *testing.T) {
		eachHalfType(t, func(t *testing.T, h HalfType) {
			for _, n := range lengths() {
				src, wide := halfSlice(h, uint64(n), n)
				want := make([]float32, n)
				Affine(want, wide, 0.5, 1.25, -2)
				all, dst := guardedHalves(n)
				AffineHalves(h, dst, src, 0.5, 1.25, -2, work)
				checkHalves(t, h, "affine", dst, want)
				checkGuards(t, "affine", all)
			}
		})
	})
}

// Every quotient of two numbers of binary16 is rounded once, by some divisors of each exponent.
func TestBinaryHalves_divideExactly(t *testing.T) {
	var a []uint16
	var wide []float32
	for h := range 1 << 16 {
		a, wide = append(a, uint16(h)), append(wide, halfToFloat(uint16(h)))
	}
	work, dst, want := make([]float32, HalvesWork), make([]uint16, len(a)), make([]float32, len(a))
	eachISA(t, func(t *testing.T) {
		for h := 1; h < 0x7c00; h += 337 {
			s := halfToFloat(uint16(h))
			for i, x := range wide {
				want[i] = x / s
			}
			BinaryHalvesVS(Binary16, Div, dst, a, s, false, work)
			checkHalves(t, Binary16, fmt.Sprint("by ", s), dst, want)
		}
	})
}

// Every number of bfloat16 is rounded as the portable twin does it, after a product that leaves all kinds of rests.
func TestBinaryHalves_roundBrainsToEven(t *testing.T) {
	a, wide := make([]uint16, 1<<16), make([]float32, 1<<16)
	for x := range a {
		a[x], wide[x] = uint16(x), Brain16.wide(uint16(x))
	}
	work, dst, want := make([]float32, HalvesWork), make([]uint16, len(a)), make([]float32, len(a))
	eachISA(t, func(t *testing.T) {
		for _, s := range []float32{1, 1.5, 1.25, 1.0078125, 0x1p-100, 3e38, 0x1p-133} {
			for i, x := range wide {
				want[i] = x * s
			}
			BinaryHalvesVS(Brain16, Mul, dst, a, s, false, work)
			checkHalves(t, Brain16, fmt.Sprint("by ", s), dst, want)
		}
	})
}
