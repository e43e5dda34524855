package kernel

import (
	"math"
	"unsafe"
)

// The portable sums are exact to a float32 rounding: they add in float64.

func sumGeneric(src *float32, n int) (ret float32) {
	s := 0.0
	for _, x := range unsafe.Slice(src, n) {
		s += float64(x)
	}
	return float32(s)
}

func sumSquaresGeneric(src *float32, n int, mean float32) (ret float32) {
	s := 0.0
	for _, x := range unsafe.Slice(src, n) {
		d := float64(x - mean)
		s += d * d
	}
	return float32(s)
}

func addSumGeneric(dst, a, b *float32, n int) (ret float32) {
	d, y := unsafe.Slice(dst, n), unsafe.Slice(b, n)
	s := 0.0
	for i, x := range unsafe.Slice(a, n) {
		d[i] = x + y[i]
		s += float64(d[i])
	}
	return float32(s)
}

func expSumGeneric(dst, src *float32, n int, scale, shift float32) (ret float32) {
	d := unsafe.Slice(dst, n)
	s := 0.0
	for i, x := range unsafe.Slice(src, n) {
		d[i] = float32(math.Exp(float64(x)*float64(scale) - float64(shift)))
		s += float64(d[i])
	}
	return float32(s)
}

func normalizeGeneric(dst, src, gamma, beta *float32, n int, mean, rstd float32) {
	d, g, b := unsafe.Slice(dst, n), unsafe.Slice(gamma, n), unsafe.Slice(beta, n)
	for i, x := range unsafe.Slice(src, n) {
		d[i] = (x-mean)*rstd*g[i] + b[i]
	}
}

func maxGeneric(src *float32, n int) (ret float32) {
	ret = -inf32
	for _, x := range unsafe.Slice(src, n) {
		ret = max(ret, x)
	}
	return ret
}

func minGeneric(src *float32, n int) (ret float32) {
	ret = inf32
	for _, x := range unsafe.Slice(src, n) {
		ret = min(ret, x)
	}
	return ret
}
