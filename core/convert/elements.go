package convert

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Plain reports whether lines of d can be converted: floats of at least 16 bits, whole bytes of integers, Bool.
func Plain(d tensor.DType) bool {
	switch d {
	case tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float64, tensor.Bool, tensor.Int8, tensor.Uint8,
		tensor.Int16, tensor.Uint16,
		tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Uint64:
		return true
	}
	return false
}

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// Floats decodes len(dst) elements of a plain type or any float type, rounded to nearest, ties to even. Bool gives 0 or
// 1.
func Floats(dst []float32, d tensor.DType, src []byte) {
	n := len(dst)
	switch d {
	case tensor.Float32:
		copy(dst, mem.Elements[float32](src)[:n])
	case tensor.Float16:
		kernels.HalfToFloat(dst, mem.Elements[uint16](src)[:n])
	case tensor.BFloat16:
		kernels.BrainToFloat(dst, mem.Elements[uint16](src)[:n])
	case tensor.Float64:
		kernels.DoubleToFloat(dst, mem.Elements[float64](src)[:n])
	case tensor.Int32:
		kernels.Int32ToFloat(dst, mem.Elements[int32](src)[:n])
	case tensor.Uint32:
		kernels.Uint32ToFloat(dst, mem.Elements[uint32](src)[:n])
	case tensor.Int64:
		kernels.Int64ToFloat(dst, mem.Elements[int64](src)[:n])
	case tensor.Uint8:
		kernels.DequantizeU8(dst, src[:n], 1, 0)
	case tensor.Int8:
		kernels.DequantizeS8(dst, mem.Elements[int8](src)[:n], 1, 0)
	default:
		if !d.IsFloat() {
			fromInts(dst, d, src)
			return
		}
		for i := range dst {
			dst[i] = float32(tensor.FloatAt(d, src, i))
		}
	}
}

// fromInts decodes integers and Bools as numbers of another type; those of Uint64 keep their bits as int64.
func fromInts[N float32 | float64 | int64](dst []N, d tensor.DType, src []byte) {
	n := len(dst)
	switch d {
	case tensor.Bool:
		for i, b := range src[:n] {
			dst[i] = N(bit(b != 0))
		}
	case tensor.Uint8:
		widen(dst, src[:n])
	case tensor.Int8:
		widen(dst, mem.Elements[int8](src)[:n])
	case tensor.Int16:
		widen(dst, mem.Elements[int16](src)[:n])
	case tensor.Uint16:
		widen(dst, mem.Elements[uint16](src)[:n])
	case tensor.Int32:
		widen(dst, mem.Elements[int32](src)[:n])
	case tensor.Uint32:
		widen(dst, mem.Elements[uint32](src)[:n])
	case tensor.Int64:
		widen(dst, mem.Elements[int64](src)[:n])
	case tensor.Uint64:
		widen(dst, mem.Elements[uint64](src)[:n])
	}
}

// bit is the element of a Bool. It takes no branch, which nothing could predict.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func widen[N float32 | float64 | int64, T integer](dst []N, src []T) {
	for i, x := range src {
		dst[i] = N(x)
	}
}

// Put encodes numbers as elements of a plain type or any float type. Floats are rounded to nearest, ties to even. For
// integers the fraction is dropped and NaN gives 0; what is out of range takes the nearest limit if saturate, else it
// keeps its low bits and infinities give 0. Bool is x != 0.
func Put(dst []byte, d tensor.DType, src []float32, saturate bool) {
	n := len(src)
	switch d {
	case tensor.Float32:
		copy(mem.Elements[float32](dst)[:n], src)
	case tensor.Float16:
		kernels.FloatToHalf(mem.Elements[uint16](dst)[:n], src)
	case tensor.BFloat16:
		kernels.FloatToBrain(mem.Elements[uint16](dst)[:n], src)
	case tensor.Float64:
		kernels.FloatToDouble(mem.Elements[float64](dst)[:n], src)
	default:
		if !d.IsFloat() {
			putWhole(dst, d, src, saturate)
			return
		}
		for i, x := range src {
			tensor.PutFloat(d, dst, i, float64(x), saturate)
		}
	}
}

// putWhole is Put for integers and Bool.
func putWhole[F float32 | float64](dst []byte, d tensor.DType, src []F, saturate bool) {
	n := len(src)
	switch d {
	case tensor.Bool:
		for i, x := range src {
			dst[i] = bit(x != 0)
		}
	case tensor.Int8:
		whole(mem.Elements[int8](dst)[:n], src, saturate, math.MinInt8, math.MaxInt8)
	case tensor.Uint8:
		whole(dst[:n], src, saturate, 0, math.MaxUint8)
	case tensor.Int16:
		whole(mem.Elements[int16](dst)[:n], src, saturate, math.MinInt16, math.MaxInt16)
	case tensor.Uint16:
		whole(mem.Elements[uint16](dst)[:n], src, saturate, 0, math.MaxUint16)
	case tensor.Int32:
		whole(mem.Elements[int32](dst)[:n], src, saturate, math.MinInt32, math.MaxInt32)
	case tensor.Uint32:
		whole(mem.Elements[uint32](dst)[:n], src, saturate, 0, math.MaxUint32)
	case tensor.Int64:
		whole(mem.Elements[int64](dst)[:n], src, saturate, math.MinInt64, math.MaxInt64)
	case tensor.Uint64:
		whole(mem.Elements[uint64](dst)[:n], src, saturate, 0, math.MaxUint64)
	}
}

// whole drops fractions. lo and hi are the limits of T.
func whole[T integer, F float32 | float64](dst []T, src []F, saturate bool, lo, hi T) {
	least, most := float64(lo), float64(hi)
	for i, x := range src {
		v := float64(x)
		switch {
		case v > least && v < most && math.Abs(v) < 1<<63:
			dst[i] = T(int64(v))
		case v != v:
			dst[i] = 0
		case saturate && v >= most:
			dst[i] = hi
		case saturate && v <= least:
			dst[i] = lo
		case saturate: // between 2^63 and 2^64
			dst[i] = T(uint64(v))
		default:
			dst[i] = T(lowBits(v))
		}
	}
}

// lowBits returns the low 64 bits of a number without its fraction, 0 of an infinity.
func lowBits(v float64) uint64 {
	if math.IsInf(v, 0) {
		return 0
	}
	m := math.Mod(math.Trunc(v), 1<<64)
	if m < 0 {
		return -uint64(-m)
	}
	return uint64(m)
}

// Ints decodes len(dst) integers or Bools; a uint64 is given by its bits.
func Ints(dst []int64, d tensor.DType, src []byte) { fromInts(dst, d, src) }

// PutInts encodes integers, those of type from, as integers of type d or Bool. An integer out of range takes the
// nearest limit if saturate, else it keeps its low bits.
func PutInts(dst []byte, d tensor.DType, src []int64, from tensor.DType, saturate bool) {
	if saturate && d != tensor.Bool {
		lo, hi := tensor.IntLimits(d)
		for i, x := range src {
			switch {
			case from == tensor.Uint64 && d == tensor.Uint64:
			case from == tensor.Uint64 && x < 0: // 2^63 and more
				src[i] = hi
			default:
				src[i] = min(max(x, lo), hi)
			}
		}
	}
	n := len(src)
	switch d {
	case tensor.Bool:
		for i, x := range src {
			dst[i] = bit(x != 0)
		}
	case tensor.Int8, tensor.Uint8:
		bits(dst[:n], src)
	case tensor.Int16, tensor.Uint16:
		bits(mem.Elements[uint16](dst)[:n], src)
	case tensor.Int32, tensor.Uint32:
		bits(mem.Elements[uint32](dst)[:n], src)
	case tensor.Int64, tensor.Uint64:
		copy(mem.Elements[int64](dst)[:n], src)
	}
}

func bits[T uint8 | uint16 | uint32](dst []T, src []int64) {
	for i, x := range src {
		dst[i] = T(x)
	}
}
