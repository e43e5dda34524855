package convert

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Kernels are the inner loops that a processor has faster ways for than Go has. Slices need not be aligned; dst is as
// long as src or longer, and does not overlap it.
type Kernels interface {
	// HalfToFloat widens float16 values exactly.
	HalfToFloat(dst []float32, src []uint16)
	// FloatToHalf rounds to float16, to nearest, ties to even.
	FloatToHalf(dst []uint16, src []float32)
	// BrainToFloat and FloatToBrain convert bfloat16.
	BrainToFloat(dst []float32, src []uint16)
	FloatToBrain(dst []uint16, src []float32)
	// CastIntegers makes n integers of to bytes of those of from bytes: their low bytes, or with signs, or zeros, in front
	// of them.
	CastIntegers(dst []byte, to int, src []byte, from int, signed bool, n int)
	// Numbers of 32 and 64 bits are rounded to nearest, ties to even.
	Int32ToFloat(dst []float32, src []int32)
	Uint32ToFloat(dst []float32, src []uint32)
	Int64ToFloat(dst []float32, src []int64)
	DoubleToFloat(dst []float32, src []float64)
	FloatToDouble(dst []float64, src []float32)
	// FloatToInt32 drops fractions, and reports whether all numbers have a place in int32.
	FloatToInt32(dst []int32, src []float32) bool
	// NotZero makes 1 of integers of size bytes, and else 0; n of them.
	NotZero(dst, src []byte, size, n int)
	// DequantizeU8 computes dst[i] = (src[i] - zero) * scale: the difference exact, the product rounded once.
	DequantizeU8(dst []float32, src []uint8, scale float32, zero int32)
	DequantizeS8(dst []float32, src []int8, scale float32, zero int32)
	// QuantizeU8 computes dst[i] = clamp(round(src[i] / scale) + zero, 0, 255), ties to even, with a quotient of float32;
	// NaN gives zero, which is in 0..255.
	QuantizeU8(dst []uint8, src []float32, scale float32, zero int)
	// QuantizeS8 is QuantizeU8 for -128..127.
	QuantizeS8(dst []int8, src []float32, scale float32, zero int)
	// Transpose writes the transpose of a matrix of rows and columns of elements of 1, 2, 4 or 8 bytes. ldd and lds are
	// the elements from one row to the next.
	Transpose(dst []byte, ldd int, src []byte, lds, rows, cols, size int)
}

// kernels are those in use.
var kernels Kernels = portable{}

// Use has all conversions of the process computed with k from now on. It is for the init function of a package that has
// kernels for the processor.
func Use(k Kernels) { kernels = k }

// portable are the kernels for any processor.
type portable struct{}

func (portable) HalfToFloat(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = tensor.Float16To32(h)
	}
}

func (portable) FloatToHalf(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = tensor.Float32To16(x)
	}
}

func (portable) BrainToFloat(dst []float32, src []uint16) {
	for i, h := range src[:len(dst)] {
		dst[i] = math.Float32frombits(uint32(h) << 16)
	}
}

func (portable) FloatToBrain(dst []uint16, src []float32) {
	for i, x := range src[:len(dst)] {
		dst[i] = tensor.Float32ToBFloat16(x)
	}
}

func (portable) CastIntegers(dst []byte, to int, src []byte, from int, signed bool, n int) {
	var line [Line]int64
	for at := 0; at < n; at += Line {
		v := line[:min(Line, n-at)]
		fromInts(v, integerOf(from, signed), src[at*from:])
		PutInts(dst[at*to:], integerOf(to, signed), v, tensor.Int64, false)
	}
}

// integerOf is the type of integers of a size.
func integerOf(size int, signed bool) tensor.DType {
	types := map[int][2]tensor.DType{1: {tensor.Uint8, tensor.Int8}, 2: {tensor.Uint16, tensor.Int16},
		4: {tensor.Uint32, tensor.Int32}, 8: {tensor.Uint64, tensor.Int64}}[size]
	if signed {
		return types[1]
	}
	return types[0]
}

func (portable) Int32ToFloat(dst []float32, src []int32) { widen(dst, src[:len(dst)]) }

func (portable) Uint32ToFloat(dst []float32, src []uint32) { widen(dst, src[:len(dst)]) }

func (portable) Int64ToFloat(dst []float32, src []int64) { widen(dst, src[:len(dst)]) }

func (portable) DoubleToFloat(dst []float32, src []float64) {
	for i, x := range src[:len(dst)] {
		dst[i] = float32(x)
	}
}

func (portable) FloatToDouble(dst []float64, src []float32) {
	for i, x := range src[:len(dst)] {
		dst[i] = float64(x)
	}
}

func (portable) FloatToInt32(dst []int32, src []float32) bool {
	whole := true
	for i, x := range src {
		if x > math.MinInt32 && x < -math.MinInt32 {
			dst[i] = int32(x)
		} else {
			whole = false
		}
	}
	return whole
}

func (portable) NotZero(dst, src []byte, size, n int) {
	switch size {
	case 1:
		notZero(dst[:n], src)
	case 2:
		notZero(dst[:n], mem.Elements[uint16](src))
	case 4:
		notZero(dst[:n], mem.Elements[uint32](src))
	default:
		notZero(dst[:n], mem.Elements[uint64](src))
	}
}

func notZero[T word](dst []uint8, src []T) {
	for i := range dst {
		dst[i] = bit(src[i] != 0)
	}
}

func (portable) DequantizeU8(dst []float32, src []uint8, scale float32, zero int32) {
	dequantize(dst, src, scale, zero)
}

func (portable) DequantizeS8(dst []float32, src []int8, scale float32, zero int32) {
	dequantize(dst, src, scale, zero)
}

func dequantize[T int8 | uint8](dst []float32, src []T, scale float32, zero int32) {
	dst = dst[:len(src)]
	for i, q := range src {
		dst[i] = float32(int32(q)-zero) * scale
	}
}

func (portable) QuantizeU8(dst []uint8, src []float32, scale float32, zero int) {
	quantize(dst, src, scale, zero, 0, math.MaxUint8)
}

func (portable) QuantizeS8(dst []int8, src []float32, scale float32, zero int) {
	quantize(dst, src, scale, zero, math.MinInt8, math.MaxInt8)
}

func quantize[T int8 | uint8](dst []T, src []float32, scale float32, zero, lo, hi int) {
	least, most := float32(lo-zero), float32(hi-zero)
	dst = dst[:len(src)]
	for i, x := range src {
		x /= scale
		if x != x {
			x = 0
		}
		dst[i] = T(int(math.RoundToEven(float64(min(max(x, least), most)))) + zero)
	}
}

func (portable) Transpose(dst []byte, ldd int, src []byte, lds, rows, cols, size int) {
	switch size {
	case 1:
		transpose(dst, ldd, src, lds, rows, cols)
	case 2:
		transpose(mem.Elements[uint16](dst), ldd, mem.Elements[uint16](src), lds, rows, cols)
	case 4:
		transpose(mem.Elements[uint32](dst), ldd, mem.Elements[uint32](src), lds, rows, cols)
	default:
		transpose(mem.Elements[uint64](dst), ldd, mem.Elements[uint64](src), lds, rows, cols)
	}
}

// transpose goes by tiles of which the lines of both sides stay in the first-level cache.
func transpose[T word](dst []T, ldd int, src []T, lds, rows, cols int) {
	const tile = 32
	for r := 0; r < rows; r += tile {
		for c := 0; c < cols; c += tile {
			height := min(tile, rows-r)
			for k := c; k < min(c+tile, cols); k++ {
				d, at := dst[k*ldd+r:][:height], r*lds+k
				for i := range d {
					d[i], at = src[at], at+lds
				}
			}
		}
	}
}

type word interface {
	uint8 | uint16 | uint32 | uint64
}
