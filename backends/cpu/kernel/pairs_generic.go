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
	if repeats {
		var line [64]byte // of the element
		size := len(b)
		for i := 0; i < min(len(line), len(dst)); i += size {
			copy(line[i:], b)
		}
		for len(dst) > 0 {
			n := min(len(line), len(dst))
			integersGeneric(op, dst[:n], a[:n], line[:n], false)
			dst, a = dst[n:], a[n:]
		}
		return
	}
	b = b[:len(dst)]
	if op >= numSized {
		bytesEach(op, dst, a[:len(dst)], b)
		return
	}
	switch op.Size() {
	case 1:
		integersEach[int8, uint8](op.bytes(), dst, a, b)
	case 2:
		integersEach[int16, uint16](op.bytes(), dst, a, b)
	case 4:
		integersEach[int32, uint32](op.bytes(), dst, a, b)
	default:
		integersEach[int64, uint64](op.bytes(), dst, a, b)
	}
}

func integersEach[S int8 | int16 | int32 | int64, U uint8 | uint16 | uint32 | uint64](op IntegerOp, dst, a, b []byte) {
	y, x, z := mem.Elements[S](dst), mem.Elements[S](a), mem.Elements[S](b)
	x, z = x[:len(y)], z[:len(y)]
	switch op {
	case AddI8:
		for i := range y {
			y[i] = x[i] + z[i]
		}
	case SubI8:
		for i := range y {
			y[i] = x[i] - z[i]
		}
	case MulI8:
		for i := range y {
			y[i] = x[i] * z[i]
		}
	case MinI8:
		for i := range y {
			y[i] = min(x[i], z[i])
		}
	case MaxI8:
		for i := range y {
			y[i] = max(x[i], z[i])
		}
	case LeastU8:
		for i := range y {
			y[i] = S(min(U(x[i]), U(z[i])))
		}
	case MostU8:
		for i := range y {
			y[i] = S(max(U(x[i]), U(z[i])))
		}
	case ShlI8:
		for i := range y {
			y[i] = x[i] << U(z[i])
		}
	case ShrU8:
		for i := range y {
			y[i] = S(U(x[i]) >> U(z[i]))
		}
	}
}

// bytesEach is integersEach of bits and of truth.
func bytesEach(op IntegerOp, y, x, z []byte) {
	switch op {
	case AndBits:
		for i := range y {
			y[i] = x[i] & z[i]
		}
	case OrBits:
		for i := range y {
			y[i] = x[i] | z[i]
		}
	case XorBits:
		for i := range y {
			y[i] = x[i] ^ z[i]
		}
	case AndBool:
		for i := range y {
			y[i] = bit(x[i] != 0) & bit(z[i] != 0)
		}
	case OrBool:
		for i := range y {
			y[i] = bit(x[i]|z[i] != 0)
		}
	default:
		for i := range y {
			y[i] = bit(x[i] != 0) ^ bit(z[i] != 0)
		}
	}
}

// eachGeneric is [IntegersEach].
func eachGeneric(f IntegerFunction, dst, a []byte) {
	switch f.Size() {
	case 1:
		functionEach[int8](f-f%4, dst, a)
	case 2:
		functionEach[int16](f-f%4, dst, a)
	case 4:
		functionEach[int32](f-f%4, dst, a)
	default:
		functionEach[int64](f-f%4, dst, a)
	}
}

func functionEach[T int8 | int16 | int32 | int64](f IntegerFunction, dst, a []byte) {
	y, x := mem.Elements[T](dst), mem.Elements[T](a)
	x = x[:len(y)]
	switch f {
	case AbsI8:
		for i := range y {
			y[i] = max(x[i], -x[i])
		}
	case NegI8:
		for i := range y {
			y[i] = -x[i]
		}
	default:
		for i := range y {
			y[i] = T(bit(x[i] > 0)) - T(bit(x[i] < 0))
		}
	}
}
