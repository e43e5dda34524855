package kernel

import (
	"math"
	"unsafe"
)

func dequantizeGeneric[T uint8 | int8](dst *float32, src *T, n int, scale float32, zero int32) {
	d := unsafe.Slice(dst, n)
	for i, q := range unsafe.Slice(src, n) {
		d[i] = float32(int32(q)-zero) * scale
	}
}

func roundTripGeneric(dst, src *float32, n int, scale, lo, hi, back float32) {
	d := unsafe.Slice(dst, n)
	for i, x := range unsafe.Slice(src, n) {
		x /= scale
		if x != x {
			x = 0
		}
		d[i] = float32(int32(math.RoundToEven(float64(min(max(x, lo), hi))))) * back
	}
}
