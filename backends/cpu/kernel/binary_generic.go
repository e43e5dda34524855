package kernel

import (
	"math"
	"unsafe"
)

func vv(f func(a, b float32) float32) vvFn {
	return func(dst, a, b *float32, n int) {
		d, y := unsafe.Slice(dst, n), unsafe.Slice(b, n)
		for i, x := range unsafe.Slice(a, n) {
			d[i] = f(x, y[i])
		}
	}
}

func vs(f func(a, b float32) float32) vsFn {
	return func(dst, a *float32, s float32, n int) {
		d := unsafe.Slice(dst, n)
		for i, x := range unsafe.Slice(a, n) {
			d[i] = f(x, s)
		}
	}
}

var scalarBinary = [numBinary]func(a, b float32) float32{
	Add: func(a, b float32) float32 { return a + b },
	Sub: func(a, b float32) float32 { return a - b },
	Mul: func(a, b float32) float32 { return a * b },
	Div: func(a, b float32) float32 { return a / b },
	Min: func(a, b float32) float32 { return min(a, b) },
	Max: func(a, b float32) float32 { return max(a, b) },
	Pow: func(a, b float32) float32 { return float32(math.Pow(float64(a), float64(b))) },
}

var binaryVVGeneric, binaryVSGeneric, binarySVGeneric = func() (v [numBinary]vvFn, s, r [numBinary]vsFn) {
	for op, f := range scalarBinary {
		v[op], s[op] = vv(f), vs(f)
		r[op] = vs(func(a, b float32) float32 { return f(b, a) })
	}
	return v, s, r
}()
