package kernel

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// CompareVV makes 1 of dst[i] where the comparison of a[i] with b[i] holds, and else 0. a and b must be as long as dst.
func CompareVV[T Comparable](c Comparison, dst []uint8, a, b []T) {
	need("CompareVV", "a", len(a), len(dst))
	need("CompareVV", "b", len(b), len(dst))
	n := 0
	if f := fast.compareVV[kindOf[T]()][c]; f != nil {
		n = len(dst) &^ (pairStep - 1)
		for i := 0; i < n; i += pairsBlock {
			f(&dst[i], (*byte)(unsafe.Pointer(&a[i])), (*byte)(unsafe.Pointer(&b[i])), min(pairsBlock, n-i))
		}
	}
	if n < len(dst) {
		compareGeneric(c, dst[n:], a[n:], b[n:])
	}
}

// CompareVS makes 1 of dst[i] where the comparison of a[i] with s[0] holds, and else 0. a must be as long as dst. The
// number is in memory, because it would be put there for each call.
func CompareVS[T Comparable](c Comparison, dst []uint8, a, s []T) {
	need("CompareVS", "a", len(a), len(dst))
	need("CompareVS", "s", len(s), 1)
	n := 0
	if f := fast.compareVS[kindOf[T]()][c]; f != nil {
		n = len(dst) &^ (pairStep - 1)
		for i := 0; i < n; i += pairsBlock {
			f(&dst[i], (*byte)(unsafe.Pointer(&a[i])), (*byte)(unsafe.Pointer(&s[0])), min(pairsBlock, n-i))
		}
	}
	if n < len(dst) {
		compareEachGeneric(c, dst[n:], a[n:], s[0])
	}
}

// CompareRows is [CompareVS] for rows of n values of dst and a, one behind the other, with a number of s for each.
func CompareRows[T Comparable](c Comparison, dst []uint8, a, s []T, n, rows int) {
	need("CompareRows", "dst", len(dst), n*rows)
	need("CompareRows", "a", len(a), n*rows)
	need("CompareRows", "s", len(s), rows)
	f := fast.compareVS[kindOf[T]()][c]
	if f == nil || n%pairStep != 0 || n > pairsBlock || n <= 0 {
		for r := range rows {
			CompareVS(c, dst[r*n:][:n], a[r*n:], s[r:])
		}
		return
	}
	for r := range rows {
		f(&dst[r*n], (*byte)(unsafe.Pointer(&a[r*n])), (*byte)(unsafe.Pointer(&s[r])), n)
	}
}

// kindOf is the place of a type in tables of comparisons. It is arithmetic, which the compiler does for each type; a
// switch over types takes as long as a short row.
func kindOf[T Comparable]() int {
	var zero T
	one := zero + 1
	float, signed := one/(one+one) != zero, zero-one < zero
	switch unsafe.Sizeof(zero) {
	case 1:
		if signed {
			return 4
		}
		return 5
	case 2:
		if signed {
			return 6
		}
		return 7
	case 4:
		switch {
		case float:
			return 0
		case signed:
			return 1
		}
		return 8
	}
	switch {
	case float:
		return 3
	case signed:
		return 2
	}
	return 9
}

// inSteps calls f with parts of n values that are multiples of pairStep and returns how many values they have.
func inSteps(n int, f func(first, n int)) int {
	n &^= pairStep - 1
	for i := 0; i < n; i += pairsBlock {
		f(i, min(pairsBlock, n-i))
	}
	return n
}

// pairsBlock keeps one assembly call short.
const pairsBlock = 1 << 13

// IntegersVV computes dst = op(a, b) of all bytes of dst, in place if dst is a. The lengths must be equal, and a
// multiple of the size.
func IntegersVV(op IntegerOp, dst, a, b []byte) {
	need("IntegersVV", "a", len(a), len(dst))
	need("IntegersVV", "b", len(b), len(dst))
	n := 0
	if f := fast.integersVV[op]; f != nil {
		n = len(dst) &^ (pairStep - 1)
		for i := 0; i < n; i += pairsBlock {
			f(&dst[i], &a[i], &b[i], min(pairsBlock, n-i))
		}
	}
	if n < len(dst) {
		integersGeneric(op, dst[n:], a[n:], b[n:], false)
	}
}

// IntegersVS computes dst = op(a, s) with one element s, in place if dst is a.
func IntegersVS(op IntegerOp, dst, a, s []byte) {
	need("IntegersVS", "a", len(a), len(dst))
	need("IntegersVS", "s", len(s), op.Size())
	n := 0
	if f := fast.integersVS[op]; f != nil {
		n = len(dst) &^ (pairStep - 1)
		for i := 0; i < n; i += pairsBlock {
			f(&dst[i], &a[i], &s[0], min(pairsBlock, n-i))
		}
	}
	if n < len(dst) {
		integersGeneric(op, dst[n:], a[n:], s[:op.Size()], true)
	}
}

// FoldIntegers computes acc = op(acc, x) of 32 bytes at a time, until all of x is in acc, which has 32 bytes. The
// length of x must be a multiple of 32, and op must fold.
func FoldIntegers(op IntegerOp, acc, x []byte) {
	need("FoldIntegers", "acc", len(acc), pairStep)
	if len(x)%pairStep != 0 || !op.Folds() {
		panic("kernel: FoldIntegers: " + op.String())
	}
	if f := fast.foldIntegers[op]; f != nil {
		inSteps(len(x), func(i, n int) { f(&acc[0], &x[i], n) })
		return
	}
	for i := 0; i < len(x); i += pairStep {
		integersGeneric(op, acc[:pairStep], acc[:pairStep], x[i:i+pairStep], false)
	}
}

// IntegersEach computes dst = f(a) of all bytes of dst, in place if dst is a. The length must be a multiple of the
// size.
func IntegersEach(f IntegerFunction, dst, a []byte) {
	need("IntegersEach", "a", len(a), len(dst))
	n := 0
	if k := fast.integersEach[f]; k != nil {
		n = inSteps(len(dst), func(i, n int) { k(&dst[i], &a[i], n) })
	}
	eachGeneric(f, dst[n:], a[n:])
}

// Choose takes elements of size bytes of a where a byte of c is not 0, and else of b. All of dst is written.
func Choose(dst, c, a, b []byte, size int) {
	n := len(c)
	need("Choose", "dst", len(dst), n*size)
	need("Choose", "a", len(a), n*size)
	need("Choose", "b", len(b), n*size)
	done := 0
	if f := fast.selects[sizeOf(size)]; f != nil {
		done = inSteps(n, func(i, n int) { f(&dst[i*size], &c[i], &a[i*size], &b[i*size], n) })
	}
	dst, c, a, b = dst[done*size:], c[done:], a[done*size:], b[done*size:]
	switch size {
	case 1:
		selectEach(dst, c, a, b)
	case 2:
		selectEach(mem.Elements[uint16](dst), c, mem.Elements[uint16](a), mem.Elements[uint16](b))
	case 4:
		selectEach(mem.Elements[uint32](dst), c, mem.Elements[uint32](a), mem.Elements[uint32](b))
	default:
		selectEach(mem.Elements[uint64](dst), c, mem.Elements[uint64](a), mem.Elements[uint64](b))
	}
}

func selectEach[T uint8 | uint16 | uint32 | uint64](y []T, c []uint8, a, b []T) {
	y, a, b = y[:len(c)], a[:len(c)], b[:len(c)]
	for i := range y {
		mask := -T(bit(c[i] != 0))
		y[i] = b[i] ^ (a[i]^b[i])&mask
	}
}

// sizeOf is the place of a size of 1, 2, 4 or 8 in tables.
func sizeOf(size int) int {
	switch size {
	case 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	}
	return 3
}
