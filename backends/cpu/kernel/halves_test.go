package kernel

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// halfSlice is n binary16 numbers, special ones among them, and their float32.
func halfSlice(seed uint64, n int) ([]uint16, []float32) {
	h, f := make([]uint16, n), make([]float32, n)
	for i, v := range withSpecials(seed, n) {
		h[i] = floatToHalf(v)
		f[i] = halfToFloat(h[i])
	}
	return h, f
}

// checkHalves compares binary16 numbers with float32 results that are rounded by the portable twin.
func checkHalves(t *testing.T, what string, got []uint16, want []float32) {
	t.Helper()
	for i, h := range got {
		if w := floatToHalf(want[i]); h != w && (h&0x7fff <= 0x7c00 || w&0x7fff <= 0x7c00) {
			t.Fatalf("%s: element %d of %d: %#04x (%v), want %#04x (%v)", what, i, len(got), h, halfToFloat(h), w, want[i])
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
		for op := range numUnary {
			for _, n := range lengths() {
				src, wide := halfSlice(uint64(n), n)
				want := make([]float32, n)
				Unary(op, want, wide, 0.25, 0.75)
				all, dst := guardedHalves(n)
				UnaryHalves(op, dst, src, 0.25, 0.75, work)
				checkHalves(t, op.String(), dst, want)
				checkGuards(t, op.String(), all)
				UnaryHalves(op, src, src, 0.25, 0.75, work)
				require.Equal(t, dst, src, "%v in place", op)
			}
		}
	})
}

func TestBinaryHalves_equalFloat32Rounded(t *testing.T) {
	work := make([]float32, HalvesWork)
	eachISA(t, func(t *testing.T) {
		for op := range numBinary {
			for _, n := range lengths() {
				a, fa := halfSlice(uint64(n), n)
				b, fb := halfSlice(uint64(n)+1, n)
				want := make([]float32, n)
				BinaryVV(op, want, fa, fb)
				all, dst := guardedHalves(n)
				BinaryHalvesVV(op, dst, a, b, work)
				checkHalves(t, op.String(), dst, want)
				for _, s := range []float32{0.75, -3, inf32} {
					BinaryVS(op, want, fa, s)
					BinaryHalvesVS(op, dst, a, s, false, work)
					checkHalves(t, fmt.Sprint(op, " by ", s), dst, want)
					BinarySV(op, want, s, fa)
					BinaryHalvesVS(op, dst, a, s, true, work)
					checkHalves(t, fmt.Sprint(op, " of ", s), dst, want)
				}
				checkGuards(t, op.String(), all)
			}
		}
	})
}

func TestAffineHalves_equalsFloat32Rounded(t *testing.T) {
	work := make([]float32, HalvesWork)
	eachISA(t, func(t *testing.T) {
		for _, n := range lengths() {
			src, wide := halfSlice(uint64(n), n)
			want := make([]float32, n)
			Affine(want, wide, 0.5, 1.25, -2)
			all, dst := guardedHalves(n)
			AffineHalves(dst, src, 0.5, 1.25, -2, work)
			checkHalves(t, "affine", dst, want)
			checkGuards(t, "affine", all)
		}
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
			BinaryHalvesVS(Div, dst, a, s, false, work)
			checkHalves(t, fmt.Sprint("by ", s), dst, want)
		}
	})
}
