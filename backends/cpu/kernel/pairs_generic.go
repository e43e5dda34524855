package kernel

import "github.com/anynpu/anynpu/core/mem"

// compareGeneric is [CompareVV].
func compareGeneric[T Comparable](c Comparison, dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch c {
	case Less:
		for i := range dst {
			dst[i] = bit(a[i] < b[i])
		}
	case LessEqual:
		for i := range dst {
			dst[i] = bit(a[i] <= b[i])
		}
	case Greater:
		for i := range dst {
			dst[i] = bit(a[i] > b[i])
		}
	case GreaterEqual:
		for i := range dst {
			dst[i] = bit(a[i] >= b[i])
		}
	case Equal:
		for i := range dst {
			dst[i] = bit(a[i] == b[i])
		}
	default:
		for i := range dst {
			dst[i] = bit(a[i] != b[i])
		}
	}
}

// compareEachGeneric is [CompareVS].
func compareEachGeneric[T Comparable](c Comparison, dst []uint8, a []T, s T) {
	var line [64]T
	for i := range line[:min(len(line), len(dst))] {
		line[i] = s
	}
	for len(dst) > 0 {
		n := min(len(line), len(dst))
		compareGeneric(c, dst[:n], a[:n], line[:n])
		dst, a = dst[n:], a[n:]
	}
}

// bit is the byte of a bool.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// integersGeneric is [IntegersVV], or with repeats [IntegersVS].
func integersGeneric(op IntegerOp, dst, a, b []byte, repeats bool) {
	switch op.Size() {
	case 4:
		f := [...]func(a, b int32) int32{
			AddI32: func(a, b int32) int32 { return a + b }, SubI32: func(a, b int32) int32 { return a - b },
			MulI32: func(a, b int32) int32 { return a * b }, MinI32: func(a, b int32) int32 { return min(a, b) },
			MaxI32: func(a, b int32) int32 { return max(a, b) },
		}[op]
		integersEach(f, dst, a, b, repeats)
	case 8:
		f := [...]func(a, b int64) int64{
			AddI64: func(a, b int64) int64 { return a + b }, SubI64: func(a, b int64) int64 { return a - b },
			MinI64: func(a, b int64) int64 { return min(a, b) }, MaxI64: func(a, b int64) int64 { return max(a, b) },
		}[op]
		integersEach(f, dst, a, b, repeats)
	default:
		f := [...]func(a, b uint8) uint8{
			AndBits: func(a, b uint8) uint8 { return a & b }, OrBits: func(a, b uint8) uint8 { return a | b },
			XorBits: func(a, b uint8) uint8 { return a ^ b }, AndBool: func(a, b uint8) uint8 { return bit(a != 0 && b != 0) },
			OrBool:  func(a, b uint8) uint8 { return bit(a|b != 0) },
			XorBool: func(a, b uint8) uint8 { return bit((a != 0) != (b != 0)) },
		}[op]
		integersEach(f, dst, a, b, repeats)
	}
}

func integersEach[T int32 | int64 | uint8](f func(a, b T) T, dst, a, b []byte, repeats bool) {
	y, x, z := mem.Elements[T](dst), mem.Elements[T](a), mem.Elements[T](b)
	for i := range y {
		k := i
		if repeats {
			k = 0
		}
		y[i] = f(x[i], z[k])
	}
}
