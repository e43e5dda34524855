package convert

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Line is how many elements are converted at once.
const Line = 512

// Work is how many values of scratch memory a conversion needs.
const Work = 2 * Line

// Cast converts n elements between plain types as op.Cast does; saturate is for integers. work holds [Work] values.
func Cast(dst []byte, to tensor.DType, src []byte, from tensor.DType, n int, saturate bool, work []float32) {
	sizeTo, sizeFrom := to.Bits()/8, from.Bits()/8
	if from == to && from != tensor.Bool {
		copy(dst[:n*sizeTo], src)
		return
	}
	switch { // by one kernel, whatever the length
	case to == tensor.Float32 && from != tensor.Bool:
		Floats(mem.Elements[float32](dst)[:n], from, src)
		return
	case from == tensor.Float32 && to.IsFloat():
		Put(dst, to, mem.Elements[float32](src)[:n], saturate)
		return
	}
	for at := 0; at < n; at += Line {
		k := min(Line, n-at)
		castLine(dst[at*sizeTo:], to, src[at*sizeFrom:], from, k, saturate, work)
	}
}

func castLine(dst []byte, to tensor.DType, src []byte, from tensor.DType, n int, saturate bool, work []float32) {
	small := from.Bits() <= 16 // float32 holds it
	switch {
	case from == tensor.Bool && !to.IsFloat():
		kernels.NotZero(dst, src, 1, n)
		if size := to.Bits() / 8; size > 1 {
			ones := mem.Bytes(work)[:n]
			copy(ones, dst)
			kernels.CastIntegers(dst, size, ones, 1, false, n)
		}
	case !from.IsFloat() && to == tensor.Bool:
		kernels.NotZero(dst, src, from.Bits()/8, n)
	case !from.IsFloat() && !to.IsFloat() && (!saturate || holds(to, from)):
		kernels.CastIntegers(dst, to.Bits()/8, src, from.Bits()/8, from.IsSigned(), n)
	case from == tensor.Bool && to == tensor.Float32:
		ones := mem.Bytes(work)[:n]
		kernels.NotZero(ones, src, 1, n)
		kernels.DequantizeU8(mem.Elements[float32](dst)[:n], ones, 1, 0)
	case from == tensor.Float32:
		put(dst, to, mem.Elements[float32](src)[:n], saturate, work)
	case from == tensor.Float64:
		putDoubles(dst, to, mem.Elements[float64](src)[:n], saturate)
	case from.IsFloat() || to.IsFloat() && small:
		v := work[:n]
		Floats(v, from, src)
		put(dst, to, v, saturate, work[Line:])
	case !to.IsFloat():
		v := integers(work)[:n]
		Ints(v, from, src)
		PutInts(dst, to, v, from, saturate)
	case to == tensor.Float64:
		fromInts(mem.Elements[float64](dst)[:n], from, src)
	default:
		v := integers(work)[:n]
		Ints(v, from, src)
		for i, x := range v {
			tensor.PutFloat(to, dst, i, odd(x, from), true)
		}
	}
}

// put is Put with scratch memory of a line: numbers that int32 holds go through it.
func put(dst []byte, to tensor.DType, src []float32, saturate bool, work []float32) {
	v := mem.Elements[int32](mem.Bytes(work))[:len(src)]
	if to.IsFloat() || to == tensor.Bool || !kernels.FloatToInt32(v, src) {
		Put(dst, to, src, saturate)
		return
	}
	if lo, hi := tensor.IntLimits(to); saturate && lo >= math.MinInt32 {
		least, most := int32(lo), int32(min(hi, math.MaxInt32))
		for i, x := range v {
			v[i] = min(max(x, least), most)
		}
	}
	kernels.CastIntegers(dst, to.Bits()/8, mem.Bytes(v), 4, true, len(v))
}

// holds reports whether integers of type to have all numbers of type from.
func holds(to, from tensor.DType) bool {
	if from.IsSigned() == to.IsSigned() {
		return to.Bits() >= from.Bits()
	}
	return to.IsSigned() && to.Bits() > from.Bits()
}

func integers(work []float32) []int64 { return mem.Elements[int64](mem.Bytes(work)) }

// putDoubles encodes float64 numbers as Put does.
func putDoubles(dst []byte, to tensor.DType, src []float64, saturate bool) {
	if !to.IsFloat() {
		putWhole(dst, to, src, saturate)
		return
	}
	for i, x := range src {
		tensor.PutFloat(to, dst, i, x, true)
	}
}

// odd converts an integer to float64 such that another rounding to fewer bits gives what one alone would: bits that do
// not fit make the last one odd.
func odd(x int64, from tensor.DType) float64 {
	negative := x < 0 && from != tensor.Uint64
	m := uint64(x)
	if negative {
		m = -m
	}
	if m>>53 != 0 {
		const low = 1<<12 - 1
		if m&low != 0 {
			m = m&^low | 1<<11
		}
	}
	if negative {
		return -float64(m)
	}
	return float64(m)
}
