package ops

import (
	"cmp"

	"github.com/anynpu/anynpu/core/mem"
)

type whole interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// lineLen is how many elements of an operand that repeats stand side by side at once.
const lineLen = 128

// pairLoop computes n elements of y of elements of a and b that lie as and bs apart.
type pairLoop func(y, a, b []byte, n, as, bs int)

// pairsOf is the loop of a function of elements side by side.
func pairsOf[T, R any](f func(y []R, a, b []T)) pairLoop {
	return func(y, a, b []byte, n, as, bs int) {
		u, v, w := mem.Elements[R](y)[:n], mem.Elements[T](a), mem.Elements[T](b)
		if as == 1 && bs == 1 {
			f(u, v[:n], w[:n])
			return
		}
		spread(u, v, w, as, bs, f)
	}
}

// spread is f of operands that do not both lie side by side.
func spread[T, R any](y []R, a, b []T, as, bs int, f func(y []R, a, b []T)) {
	var own [2][lineLen]T
	for at := 0; at < len(y); at += lineLen {
		k := min(lineLen, len(y)-at)
		f(y[at:at+k], line(&own[0], a, at, k, as), line(&own[1], b, at, k, bs))
	}
}

// line returns k elements from at on side by side.
func line[T any](own *[lineLen]T, x []T, at, k, stride int) []T {
	switch {
	case stride == 1:
		return x[at : at+k]
	case stride != 0:
		for i := range own[:k] {
			own[i] = x[(at+i)*stride]
		}
	case at == 0:
		v := x[0]
		for i := range own[:k] {
			own[i] = v
		}
	}
	return own[:k]
}

// bit is the element of a bool.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func lessEach[T cmp.Ordered](y []uint8, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = bit(a[i] < b[i])
	}
}

func lessEqualEach[T cmp.Ordered](y []uint8, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = bit(a[i] <= b[i])
	}
}

func equalEach[T cmp.Ordered](y []uint8, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = bit(a[i] == b[i])
	}
}

func notEqualEach[T cmp.Ordered](y []uint8, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = bit(a[i] != b[i])
	}
}

func addEach[T whole | float64](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] + b[i]
	}
}

func subEach[T whole | float64](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] - b[i]
	}
}

func mulEach[T whole | float64](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] * b[i]
	}
}

func minEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = min(a[i], b[i])
	}
}

func maxEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = max(a[i], b[i])
	}
}

// divEach truncates, divFloorEach rounds down; no divisor is 0.
func divEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] / b[i]
	}
}

func divFloorEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		q := a[i] / b[i]
		if q*b[i] != a[i] && (a[i] < 0) != (b[i] < 0) {
			q--
		}
		y[i] = q
	}
}

// modEach has the sign of the dividend, modFloorEach that of the divisor.
func modEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] % b[i]
	}
}

func modFloorEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		m := a[i] % b[i]
		if m != 0 && (m < 0) != (b[i] < 0) {
			m += b[i]
		}
		y[i] = m
	}
}

func andEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] & b[i]
	}
}

func orEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] | b[i]
	}
}

func xorEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] ^ b[i]
	}
}

// ones has a 1 in each of eight bytes.
const ones = 0x0101010101010101

// truth makes 1 of each of eight bytes that is not 0.
func truth(x uint64) uint64 {
	const low = 0x7f * ones
	return ((x&low + low) | x) >> 7 & ones
}

// logicEach computes a logical function of bytes, which are true unless they are 0, eight at a time: f gets zeros and
// ones.
func logicEach(f func(a, b uint64) uint64) func(y, a, b []uint8) {
	return func(y, a, b []uint8) {
		n := len(y) &^ 7
		u, v, w := mem.Elements[uint64](y[:n]), mem.Elements[uint64](a[:n]), mem.Elements[uint64](b[:n])
		for i := range u {
			u[i] = f(truth(v[i]), truth(w[i]))
		}
		for i := n; i < len(y); i++ {
			y[i] = uint8(f(truth(uint64(a[i])), truth(uint64(b[i]))))
		}
	}
}

// singleLoop computes elements of y of those of x at the same places.
type singleLoop func(y, x []byte, n int)

// singlesOf is the loop of a function of elements.
func singlesOf[T, R any](f func(y []R, x []T)) singleLoop {
	return func(y, x []byte, n int) { f(mem.Elements[R](y)[:n], mem.Elements[T](x)[:n]) }
}

func absEach[T whole](y, x []T) {
	x = x[:len(y)]
	for i := range y {
		v := x[i]
		if v < 0 {
			v = -v
		}
		y[i] = v
	}
}

func negEach[T whole](y, x []T) {
	x = x[:len(y)]
	for i := range y {
		y[i] = -x[i]
	}
}

func notEach[T whole](y, x []T) {
	x = x[:len(y)]
	for i := range y {
		y[i] = ^x[i]
	}
}

func signEach[T whole](y, x []T) {
	x = x[:len(y)]
	for i := range y {
		y[i] = T(bit(x[i] > 0)) - T(bit(x[i] < 0))
	}
}

// signReal is -1, 0, 1 or NaN.
func signReal(y, x []float32) {
	x = x[:len(y)]
	for i := range y {
		v := x[i]
		switch {
		case v > 0:
			v = 1
		case v < 0:
			v = -1
		case v == 0:
			v = 0 // also for -0
		}
		y[i] = v
	}
}

// clampEach bounds elements.
func clampEach[T whole](lo, hi T) func(y, x []T) {
	return func(y, x []T) {
		x = x[:len(y)]
		for i := range y {
			y[i] = min(max(x[i], lo), hi)
		}
	}
}

// notTrue is 1 where a byte is 0, and else 0.
func notTrue(y, x []uint8) {
	n := len(y) &^ 7
	u, v := mem.Elements[uint64](y[:n]), mem.Elements[uint64](x[:n])
	for i := range u {
		u[i] = truth(v[i]) ^ ones
	}
	for i := n; i < len(y); i++ {
		y[i] = bit(x[i] == 0)
	}
}

func isNaNEach(y []uint8, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] = bit(x[i] != x[i])
	}
}

// whereEach takes elements of a where c is not 0, and else of b.
func whereEach[T ~uint8 | ~uint16 | ~uint32 | ~uint64](y []T, c []uint8, a, b []T) {
	c, a, b = c[:len(y)], a[:len(y)], b[:len(y)]
	for i := range y {
		mask := -T(bit(c[i] != 0))
		y[i] = b[i] ^ (a[i]^b[i])&mask
	}
}
