package kernel

import "unsafe"

// quotientStep is how many elements a kernel divides at a time.
const quotientStep = 8

// QuotientBlock is how many elements are divided before it is known whether they all are right.
const QuotientBlock = 1 << 10

// Quotients computes dst = op(a, b) from the first element on and returns how many it has computed: all but the last
// few, or those before a block of [QuotientBlock] elements that kernels cannot divide: a float32 in it is not finite or
// has a quotient of 2^24 or more, or an integer has 51 bits or more, which some kernels divide. Its part of dst is
// undefined. b has an element for each of a, or one. dst shares no memory with them. Integers are not divided by 0.
func Quotients[T int32 | int64 | float32](op Quotient, dst, a, b []T) int {
	need("Quotients", "a", len(a), len(dst))
	repeats := len(b) == 1
	f := fast.quotientsVV[kindOf[T]()][op]
	if repeats {
		f = fast.quotientsVS[kindOf[T]()][op]
	} else {
		need("Quotients", "b", len(b), len(dst))
	}
	if f == nil {
		return 0
	}
	all := len(dst) &^ (quotientStep - 1)
	for i := 0; i < all; i += QuotientBlock {
		y := &b[0]
		if !repeats {
			y = &b[i]
		}
		if f(bytesOf(&dst[i]), bytesOf(&a[i]), bytesOf(y), min(QuotientBlock, all-i)) != 0 {
			return i
		}
	}
	return all
}

func bytesOf[T any](x *T) *byte { return (*byte)(unsafe.Pointer(x)) }
