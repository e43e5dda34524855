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
