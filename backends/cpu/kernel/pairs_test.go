package kernel

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// holds is a comparison of exact numbers.
func holds[T Comparable](c Comparison, a, b T) bool {
	switch c {
	case Less:
		return a < b
	case LessEqual:
		return a <= b
	case Greater:
		return b < a
	case GreaterEqual:
		return b <= a
	case Equal:
		return a == b
	}
	return !(a == b)
}

// comparesAll tries each comparison of numbers of a type at all lengths, with nothing written behind them.
func comparesAll[T Comparable](t *testing.T, some []T) {
	for c := range numComparisons {
		for _, n := range append(lengths(), 31, 32, 33, 64, 95, 127, 1<<13+37) {
			a, b, out := make([]T, n), make([]T, n), make([]uint8, n+40)
			for i := range a {
				a[i], b[i] = some[i%len(some)], some[(i/len(some)+i*3)%len(some)]
			}
			for i := range out {
				out[i] = 0xaa
			}
			CompareVV(c, out[:n], a, b)
			for i := range n {
				if bit(holds(c, a[i], b[i])) != out[i] {
					require.Fail(t, "wrong", "%v(%v, %v), %d of %d", c, a[i], b[i], i, n)
				}
			}
			require.Equal(t, uint8(0xaa), out[n], "written behind")
			s := some[n%len(some)]
			CompareVS(c, out[:n], a, []T{s})
			for i := range n {
				if holds(c, a[i], s) != holds(c.Swapped(), s, a[i]) || bit(holds(c, a[i], s)) != out[i] {
					require.Fail(t, "wrong", "%v(%v, %v), %d of %d", c, a[i], s, i, n)
				}
			}
			require.Equal(t, uint8(0xaa), out[n], "written behind")
		}
	}
}

func TestCompare_everyTypeAndLength(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		comparesAll(t, append([]float32{1, 2, -1}, specials...))
		comparesAll(t, []float64{1, 2, -1, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1 + 1e-15})
		comparesAll(t, []int8{0, 1, -1, math.MaxInt8, math.MinInt8, 77, 78})
		comparesAll(t, []uint8{0, 1, 255, 127, 128, 77, 78})
		comparesAll(t, []int16{0, 1, -1, math.MaxInt16, math.MinInt16, 256, 257})
		comparesAll(t, []uint16{0, 1, math.MaxUint16, math.MaxInt16, math.MaxInt16 + 1, 256, 257})
		comparesAll(t, []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 77, 78})
		comparesAll(t, []uint32{0, 1, math.MaxUint32, math.MaxInt32, math.MaxInt32 + 1, 1 << 16, 77})
		comparesAll(t, []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 32, 1<<32 + 1, -1 << 32, math.MaxUint32})
		comparesAll(t, []uint64{0, 1, math.MaxUint64, math.MaxInt64, math.MaxInt64 + 1, 1 << 32, 1<<32 + 1})
	})
}

// integerAt is an integer of some bytes as whole numbers without and with a sign.
func integerAt(x []byte, i, size int) (u uint64, s int64) {
	for k := range size {
		u |= uint64(x[i*size+k]) << (8 * k)
	}
	return u, int64(u<<(64-8*size)) >> (64 - 8*size)
}

// integerResult is the result of a function of integers, in its low bits.
func integerResult(op IntegerOp, a, b uint64, s, r int64) uint64 {
	truth := func(x uint64) uint64 { return min(x, 1) }
	switch op.String()[:4] {
	case "AddI":
		return a + b
	case "SubI":
		return a - b
	case "MulI":
		return a * b
	case "MinI":
		return uint64(min(s, r))
	case "MaxI":
		return uint64(max(s, r))
	case "Leas":
		return min(a, b)
	case "Most":
		return max(a, b)
	case "ShlI":
		return a << b
	case "ShrU":
		return a >> b
	}
	switch op {
	case AndBits:
		return a & b
	case OrBits:
		return a | b
	case XorBits:
		return a ^ b
	case AndBool:
		return truth(a) * truth(b)
	case OrBool:
		return max(truth(a), truth(b))
	}
	return truth(a) ^ truth(b)
}

// someIntegers are operands of n integers: limits, small numbers, and any.
func someIntegers(size, n int) (a, b []byte) {
	a, b = make([]byte, size*n), make([]byte, size*n)
	for i := range a {
		a[i], b[i] = byte(i*i*37>>3), byte(i*91)
	}
	for i := range n {
		x, y := a[i*size:][:size], b[i*size:][:size]
		switch i % 5 {
		case 0:
			clear(x)
			clear(y)
			x[0], y[0] = byte(i/5), byte(i/7%(9*size))
		case 1:
			clear(y)
			y[size-1] = 0x80 * byte(i%2)
		case 2:
			for k := range x {
				x[k] = 0xff
			}
			x[size-1] = 0x7f + byte(i%3)
		}
	}
	return a, b
}

func TestIntegers_everyFunction(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for op := range numInteger {
			size := op.Size()
			for _, n := range append(lengths(), 65, 1<<12+5) {
				a, b := someIntegers(size, n)
				y := make([]byte, size*n+64)
				check := func(repeats bool) {
					for i := range n {
						k := i
						if repeats {
							k = 0
						}
						u, s := integerAt(a, i, size)
						v, r := integerAt(b, k, size)
						got, _ := integerAt(y, i, size)
						want := integerResult(op, u, v, s, r) << (64 - 8*size) >> (64 - 8*size)
						if want != got {
							require.Equal(t, want, got, "%v(%d, %d): %d of %d", op, s, r, i, n)
						}
					}
					require.Zero(t, y[size*n], "written behind")
				}
				IntegersVV(op, y[:size*n], a, b)
				check(false)
				if n > 0 {
					IntegersVS(op, y[:size*n], a, b)
					check(true)
				}
			}
		}
	})
}

func TestFoldIntegers_isTheFunctionOneAfterAnother(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for op := range numSized {
			if !op.Folds() {
				require.Panics(t, func() { FoldIntegers(op, make([]byte, 32), make([]byte, 32)) })
				continue
			}
			size := op.Size()
			for _, blocks := range []int{0, 1, 2, 7, 300} {
				x, acc := someIntegers(size, 32*blocks/size+32)
				x, acc = x[:32*blocks], acc[:32]
				want := append([]byte(nil), acc...)
				for i := range 32 / size {
					u, s := integerAt(want, i, size)
					for k := range blocks {
						v, r := integerAt(x, k*32/size+i, size)
						u = integerResult(op, u, v, s, r)
						s = int64(u<<(64-8*size)) >> (64 - 8*size)
						u = uint64(s) << (64 - 8*size) >> (64 - 8*size)
					}
					for k := range size {
						want[i*size+k] = byte(u >> (8 * k))
					}
				}
				FoldIntegers(op, acc, x)
				require.Equal(t, want, acc, "%v of %d blocks", op, blocks)
			}
		}
	})
}

func TestIntegersEach_everyFunction(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for f := range numFunctions {
			size := f.Size()
			for _, n := range append(lengths(), 65, 1<<12+5) {
				a, _ := someIntegers(size, n)
				y := make([]byte, size*n+64)
				IntegersEach(f, y[:size*n], a)
				for i := range n {
					u, s := integerAt(a, i, size)
					want := -u
					switch name := f.String()[:3]; {
					case name == "Sig" && s > 0:
						want = 1
					case name == "Sig" && s < 0:
						want = math.MaxUint64
					case name == "Sig":
						want = 0
					case name == "Abs" && s > 0:
						want = u
					}
					got, _ := integerAt(y, i, size)
					if want = want << (64 - 8*size) >> (64 - 8*size); want != got {
						require.Equal(t, want, got, "%v(%d): %d of %d", f, s, i, n)
					}
				}
				require.Zero(t, y[size*n], "written behind")
			}
		}
	})
}

func TestChoose_everySizeAndLength(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, size := range []int{1, 2, 4, 8} {
			for _, n := range append(lengths(), 32, 65, 1<<12+5) {
				a, b := someIntegers(size, n)
				c, y := make([]byte, n), make([]byte, n*size+1)
				for i := range c {
					c[i] = byte(i*i>>2) & byte(-(i % 3 & 1))
				}
				Choose(y, c, a, b, size)
				for i := range n {
					want := b
					if c[i] != 0 {
						want = a
					}
					if !bytes.Equal(want[i*size:][:size], y[i*size:][:size]) {
						require.Fail(t, "wrong", "element %d of %d", i, n)
					}
				}
				require.Zero(t, y[n*size], "written behind")
			}
		}
	})
}

func TestCompareRows_hasANumberForEach(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{1, 31, 32, 64, 96, 100} {
			const rows = 3
			a, s := make([]int32, rows*n), []int32{2, 0, 1}
			for i := range a {
				a[i] = int32(i*7) % 3
			}
			got := make([]uint8, rows*n+1)
			got[rows*n] = 77
			CompareRows(LessEqual, got, a, s, n, rows)
			for i, v := range a {
				want := uint8(0)
				if v <= s[i/n] {
					want = 1
				}
				require.Equal(t, want, got[i], "%d of %d", i, n)
			}
			require.Equal(t, uint8(77), got[rows*n])
		}
	})
}
