package ops

import (
	"math"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
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
	scratch := borrowLines()
	defer returnLines(scratch)
	own := mem.Elements[T](mem.Bytes(scratch[:]))
	for at := 0; at < len(y); at += lineLen {
		k := min(lineLen, len(y)-at)
		f(y[at:at+k], line(own[:lineLen], a, at, k, as), line(own[lineLen:2*lineLen], b, at, k, bs))
	}
}

// lineScratch is memory for lines that kernels read: what they are given does not stay on the stack.
type lineScratch [4 * lineLen]uint64

func (s *lineScratch) floats() []float32 { return mem.Elements[float32](mem.Bytes(s[:])) }

// freeLines keeps scratch memory between runs. A sync.Pool loses what it has to the garbage collector, and a run would
// allocate it again.
var freeLines = make(chan *lineScratch, 64)

// borrowLines returns scratch memory, for returnLines.
func borrowLines() *lineScratch {
	select {
	case s := <-freeLines:
		return s
	default:
		return new(lineScratch)
	}
}

func returnLines(s *lineScratch) {
	select {
	case freeLines <- s:
	default:
	}
}

// line returns k elements from at on side by side.
func line[T any](own, x []T, at, k, stride int) []T {
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

// rowsLoop computes rows of n elements, where the other operand has one for each.
type rowsLoop func(y, a, b []byte, n, rows int)

// comparesOf is the loop of a comparison by kernels.
func comparesOf[T kernel.Comparable](c kernel.Comparison) pairLoop {
	return func(y, a, b []byte, n, as, bs int) {
		u, v, w := y[:n], mem.Elements[T](a), mem.Elements[T](b)
		switch {
		case as == 1 && bs == 1:
			kernel.CompareVV(c, u, v[:n], w[:n])
		case as == 1 && bs == 0:
			kernel.CompareVS(c, u, v[:n], w[:1])
		case as == 0 && bs == 1:
			kernel.CompareVS(c.Swapped(), u, w[:n], v[:1])
		default:
			spread(u, v, w, as, bs, func(y []uint8, a, b []T) { kernel.CompareVV(c, y, a, b) })
		}
	}
}

// rowsCompared is comparesOf for whole rows, of which each has a number of its own to compare with.
func rowsCompared[T kernel.Comparable](c kernel.Comparison) rowsLoop {
	return func(y, a, b []byte, n, rows int) {
		kernel.CompareRows(c, y, mem.Elements[T](a), mem.Elements[T](b), n, rows)
	}
}

// integersOf is the loop of a function of elements of T by kernels.
func integersOf[T whole](op kernel.IntegerOp) pairLoop {
	size := int(unsafe.Sizeof(T(0)))
	commutes := op.Commutes()
	return func(y, a, b []byte, n, as, bs int) {
		y = y[:n*size]
		switch {
		case as == 1 && bs == 1:
			kernel.IntegersVV(op, y, a[:n*size], b[:n*size])
		case as == 1 && bs == 0 && op.Size() == size:
			kernel.IntegersVS(op, y, a[:n*size], b[:size])
		case as == 0 && bs == 1 && op.Size() == size && commutes:
			kernel.IntegersVS(op, y, b[:n*size], a[:size])
		default:
			spread(mem.Elements[T](y), mem.Elements[T](a), mem.Elements[T](b), as, bs, func(y, a, b []T) {
				kernel.IntegersVV(op, mem.Bytes(y), mem.Bytes(a), mem.Bytes(b))
			})
		}
	}
}

// zeroOf is where the first integer of size bytes is that is 0, -1: nowhere.
func zeroOf(b []byte, size int) int {
	switch size {
	case 1:
		return slices.Index(b, 0)
	case 2:
		return slices.Index(mem.Elements[uint16](b), 0)
	case 4:
		return slices.Index(mem.Elements[uint32](b), 0)
	}
	return slices.Index(mem.Elements[uint64](b), 0)
}

// fits reports whether two integers have places in int32: the quotient of their float64 has the same whole part then,
// and takes a third of the time.
func fits(a, b int64) bool { return int64(int32(a)) == a && int64(int32(b)) == b }

// quotient truncates; b is not 0.
func quotient[T whole](a, b T) T {
	x, y := int64(a), int64(b)
	if fits(x, y) && (x < 0) == (a < 0) && (y < 0) == (b < 0) { // large uint64 are negative there
		return T(int64(float64(x) / float64(y)))
	}
	return a / b
}

// divEach truncates, divFloorEach rounds down; no divisor is 0.
func divEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = quotient(a[i], b[i])
	}
}

func divFloorEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		q := quotient(a[i], b[i])
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
		y[i] = a[i] - quotient(a[i], b[i])*b[i]
	}
}

func modFloorEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		m := a[i] - quotient(a[i], b[i])*b[i]
		if m != 0 && (m < 0) != (b[i] < 0) {
			m += b[i]
		}
		y[i] = m
	}
}

// fmodEach is the remainder of float32 with the sign of the dividend. Below 2^24 a quotient of float64 has the right
// whole part, and all that follows is exact.
func fmodEach(y, a, b []float32) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		u, v := float64(a[i]), float64(b[i])
		switch q := u / v; {
		case !(math.Abs(q) < 1<<24):
			y[i] = float32(math.Mod(u, v))
		case math.Abs(q) < 1: // v may be infinite
			y[i] = a[i]
		default:
			y[i] = float32(math.Copysign(u-float64(int64(q))*v, u))
		}
	}
}

// rightEach leaves nothing, or the sign, where the shift is negative or too large.
func rightEach[T whole](y, a, b []T) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] >> uint64(b[i])
	}
}

// singleLoop computes elements of y of those of x at the same places.
type singleLoop func(y, x []byte, n int)

// singlesOf is the loop of a function of elements.
func singlesOf[T, R any](f func(y []R, x []T)) singleLoop {
	return func(y, x []byte, n int) { f(mem.Elements[R](y)[:n], mem.Elements[T](x)[:n]) }
}

// clamped bounds integers of size bytes: first from below, then from above.
func clamped(most, least kernel.IntegerOp, size int, lo, hi []byte) singleLoop {
	return func(y, x []byte, n int) {
		y = y[:n*size]
		kernel.IntegersVS(most, y, x[:n*size], lo)
		kernel.IntegersVS(least, y, y, hi)
	}
}

// Operands of kernels.
var (
	trueByte, ones = []byte{1}, []byte{0xff}
	infinities     = []float32{float32(math.Inf(1)), float32(math.Inf(-1))}
)

// notTrue is 1 where a byte is 0, and else 0.
func notTrue(y, x []byte, n int) { kernel.IntegersVS(kernel.XorBool, y[:n], x[:n], trueByte) }

// isNaNEach is 1 where a number is NaN.
func isNaNEach(y []uint8, x []float32) { kernel.CompareVV(kernel.NotEqual, y, x, x) }

// isInfEach is 1 where a number is one of two infinities.
func isInfEach(positive, negative bool) func(y []uint8, x []float32) {
	return func(y []uint8, x []float32) {
		switch {
		case positive && negative:
			scratch := borrowLines()
			line := scratch.floats()
			for len(y) > 0 {
				n := min(len(line), len(y))
				kernel.Unary(kernel.Abs, line[:n], x[:n], 0, 0)
				kernel.CompareVS(kernel.Equal, y[:n], line[:n], infinities[:1])
				y, x = y[n:], x[n:]
			}
			returnLines(scratch)
		case positive:
			kernel.CompareVS(kernel.Equal, y, x, infinities[:1])
		case negative:
			kernel.CompareVS(kernel.Equal, y, x, infinities[1:])
		default:
			clear(y)
		}
	}
}

// atLeast is the larger of an element and a number.
func atLeast(op kernel.IntegerOp, number []byte) singleLoop {
	size := op.Size()
	return func(y, x []byte, n int) { kernel.IntegersVS(op, y[:n*size], x[:n*size], number) }
}
