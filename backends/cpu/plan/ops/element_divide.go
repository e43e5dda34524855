package ops

import (
	"math/bits"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/mem"
)

// divisor divides integers of at most 63 bits and a sign by one number: the product of the amount with factor, shifted,
// is the quotient of the amounts, because factor is 2^(63+l)/d rounded up, for d <= 2^l (Granlund and Montgomery).
type divisor struct {
	factor uint64
	shift  uint  // below 64
	sign   int64 // -1: the number is negative
}

// divisorOf prepares a division; ok is false for 0, 1 and -1.
func divisorOf(by int64) (d divisor, ok bool) {
	d.sign = by >> 63
	amount := uint64((by ^ d.sign) - d.sign)
	if amount < 2 {
		return d, false
	}
	d.shift = uint(bits.Len64(amount-1) - 1)
	factor, rest := bits.Div64(1<<d.shift, 0, amount)
	if d.factor = factor; rest > 0 {
		d.factor++
	}
	return d, true
}

// of is the quotient of x, truncated.
func (d divisor) of(x int64) int64 {
	sign := x >> 63
	high, _ := bits.Mul64(uint64((x^sign)-sign), d.factor)
	sign ^= d.sign
	return (int64(high>>(d.shift&63)) ^ sign) - sign
}

// byDivisor is the truncated quotient of integers by one number without divisions, false when it has none.
func byDivisor[T int32 | int64](y, a []T, b T) bool {
	d, ok := divisorOf(int64(b))
	if !ok || len(y) < 8 {
		return false
	}
	a = a[:len(y)]
	for i := range y {
		y[i] = T(d.of(int64(a[i])))
	}
	return true
}

// dividing is the loop of a quotient by kernels. Blocks that these cannot divide go to byOne, which may be nil, or
// each.
func dividing[T int32 | int64 | float32](op kernel.Quotient, each func(y, a, b []T), byOne func(y, a []T, b T) bool,
) pairLoop {
	return func(y, a, b []byte, n, as, bs int) {
		u, v, w := mem.Elements[T](y)[:n], mem.Elements[T](a), mem.Elements[T](b)
		if as != 1 || bs > 1 {
			spread(u, v, w, as, bs, each)
			return
		}
		for len(u) > 0 {
			by := w[:1]
			if bs == 1 {
				by = w[:len(u)]
			}
			k := kernel.Quotients(op, u, v, by)
			u, v, w = u[k:], v[k:], w[k*bs:]
			k = min(kernel.QuotientBlock, len(u))
			if k > 0 && (bs == 1 || byOne == nil || !byOne(u[:k], v, w[0])) {
				spread(u[:k], v, w, 1, bs, each)
			}
			u, v, w = u[k:], v[k:], w[k*bs:]
		}
	}
}
