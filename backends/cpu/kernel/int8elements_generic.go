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

func nearestGeneric(dst *uint8, src *float32, n int, scale, shift *float32, zero, flip int, far float32, near *uint8) {
	d, f, c := unsafe.Slice(dst, n), unsafe.Slice(scale, n), unsafe.Slice(shift, n)
	flags := unsafe.Slice(near, n/combineStep)
	clear(flags)
	for i, s := range unsafe.Slice(src, n) {
		v := min(max(float32(s*f[i])+c[i], -2048), 2048)
		r := float32(math.RoundToEven(float64(v)))
		if e := v - r; e > far || -e > far {
			flags[i/combineStep] = 1
		}
		d[i] = uint8(min(max(int(r)+zero, 0), 255)) ^ uint8(flip)
	}
}

const combineStep = 64
