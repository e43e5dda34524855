package kernel

import (
	"math"
	"unsafe"
)

func combineGeneric(dst, a, b *uint8, n int, fa, fb, add float32, zero, lo, hi int) {
	q := Requantize{Zero: zero, Lo: uint8(lo), Hi: uint8(hi)}
	d, y := unsafe.Slice(dst, n), []uint8(nil)
	if b != nil {
		y = unsafe.Slice(b, n)
	}
	for i, x := range unsafe.Slice(a, n) {
		v := float32(x) * fa
		if y != nil {
			w := float32(y[i]) * fb
			v = float32(v) + float32(w)
		}
		d[i] = q.narrow(toInt(float32(v) + add))
	}
}

func maxU8Generic(dst, src *uint8, n int) {
	d := unsafe.Slice(dst, n)
	for i, v := range unsafe.Slice(src, n) {
		d[i] = max(d[i], v)
	}
}

func encodeGeneric(dst *uint8, src *float32, n int, scale, lo, hi float32, zero int) {
	d := unsafe.Slice(dst, n)
	for i, x := range unsafe.Slice(src, n) {
		x /= scale
		if x != x {
			x = 0
		}
		d[i] = uint8(int(math.RoundToEven(float64(min(max(x, lo), hi)))) + zero)
	}
}
