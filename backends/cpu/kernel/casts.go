package kernel

import (
	"math/bits"
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// CastIntegers makes n integers of to bytes of those of from bytes, all sizes among 1, 2, 4 and 8: their low bytes, or
// with signs, or zeros, in front of them.
func CastIntegers(dst []byte, to int, src []byte, from int, signed bool, n int) {
	need("CastIntegers", "dst", len(dst), n*to)
	need("CastIntegers", "src", len(src), n*from)
	a, b, sign := bits.TrailingZeros(uint(from)), bits.TrailingZeros(uint(to)), 0
	f := fast.narrow[a][b]
	if signed {
		sign = 1
	}
	if a < b {
		f = fast.widen[sign][a][b]
	}
	done := castSteps(f, dst, to, src, from, n)
	castGeneric(dst[done*to:], to, src[done*from:], from, signed, n-done)
}

// castSteps runs a kernel, which may be nil, and returns how many values are done.
func castSteps(f castFn, dst []byte, to int, src []byte, from, n int) int {
	if f == nil {
		return 0
	}
	done := inSteps(n, func(i, n int) { f(&dst[i*to], &src[i*from], n) })
	if done > 0 && done < n { // some are made twice
		f(&dst[(n-pairStep)*to], &src[(n-pairStep)*from], pairStep)
		return n
	}
	return done
}

// Int32ToFloat rounds to nearest, ties to even. src must be as long as dst.
func Int32ToFloat(dst []float32, src []int32) { castNumbers(fast.int32ToFloat, dst, src) }

// Uint32ToFloat is [Int32ToFloat] of unsigned numbers.
func Uint32ToFloat(dst []float32, src []uint32) { castNumbers(fast.uint32ToFloat, dst, src) }

// DoubleToFloat is [Int32ToFloat] of float64.
func DoubleToFloat(dst []float32, src []float64) { castNumbers(fast.doubleToFloat, dst, src) }

// FloatToDouble is exact. src must be as long as dst.
func FloatToDouble(dst []float64, src []float32) { castNumbers(fast.floatToDouble, dst, src) }

func castNumbers[R, T int32 | uint32 | float32 | float64](f castFn, dst []R, src []T) {
	need("a cast", "src", len(src), len(dst))
	var r R
	var t T
	y, x := mem.Bytes(dst), mem.Bytes(src)
	done := castSteps(f, y, int(unsafe.Sizeof(r)), x, int(unsafe.Sizeof(t)), len(dst))
	castEach(dst[done:], src[done:len(dst)])
}

// Int64ToFloat is [Int32ToFloat] of int64.
func Int64ToFloat(dst []float32, src []int64) {
	need("Int64ToFloat", "src", len(src), len(dst))
	done := 0
	if f := fast.int64ToFloat; f != nil {
		done = inSteps(len(dst), func(i, n int) {
			d, s := dst[i:i+n], src[i:i+n]
			if f(&mem.Bytes(d)[0], &mem.Bytes(s)[0], n)>>51 != 0 {
				castEach(d, s)
			}
		})
	}
	castEach(dst[done:], src[done:len(dst)])
}

// FloatToInt32 drops fractions and reports whether all numbers have a place in int32; others become any number.
func FloatToInt32(dst []int32, src []float32) (whole bool) {
	need("FloatToInt32", "src", len(src), len(dst))
	var bad uint64
	done := 0
	if f := fast.floatToInt32; f != nil {
		done = inSteps(len(dst), func(i, n int) {
			bad |= f(&mem.Bytes(dst[i : i+n])[0], &mem.Bytes(src[i : i+n])[0], n)
		})
	}
	return floatToInt32Generic(dst[done:], src[done:len(dst)]) && bad == 0
}

// BrainToFloat widens bfloat16. src must be as long as dst.
func BrainToFloat(dst []float32, src []uint16) {
	need("BrainToFloat", "src", len(src), len(dst))
	done := castSteps(fast.brainToFloat, mem.Bytes(dst), 4, mem.Bytes(src), 2, len(dst))
	brainToFloatGeneric(dst[done:], src[done:len(dst)])
}

// FloatToBrain rounds to bfloat16, to nearest, ties to even. src must be as long as dst.
func FloatToBrain(dst []uint16, src []float32) {
	need("FloatToBrain", "src", len(src), len(dst))
	done := castSteps(fast.floatToBrain, mem.Bytes(dst), 2, mem.Bytes(src), 4, len(dst))
	floatToBrainGeneric(dst[done:], src[done:len(dst)])
}
