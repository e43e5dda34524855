package ops

import (
	"math/bits"

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

// dividing is divEach, of long runs by one number without divisions.
func dividing[T int32 | int64]() pairLoop {
	each := pairsOf(divEach[T])
	return func(y, a, b []byte, n, as, bs int) {
		u, v, w := mem.Elements[T](y)[:n], mem.Elements[T](a), mem.Elements[T](b)
		if as != 1 || bs != 0 || n < 8 { // without elements there is no number to divide by
			each(y, a, b, n, as, bs)
			return
		}
		d, ok := divisorOf(int64(w[0]))
		if !ok {
			each(y, a, b, n, as, bs)
			return
		}
		v = v[:len(u)]
		for i := range u {
			u[i] = T(d.of(int64(v[i])))
		}
	}
}
