// Package fastconvert gives core/convert the kernels of this processor when it is imported.
package fastconvert

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/mem"
)

func init() { convert.Use(kernels{}) }

// kernels implement convert.Kernels.
type kernels struct{}

func (kernels) HalfToFloat(dst []float32, src []uint16) { kernel.HalfToFloat(dst, src) }

func (kernels) FloatToHalf(dst []uint16, src []float32) { kernel.FloatToHalf(dst, src) }

func (kernels) BrainToFloat(dst []float32, src []uint16) { kernel.BrainToFloat(dst, src) }

func (kernels) FloatToBrain(dst []uint16, src []float32) { kernel.FloatToBrain(dst, src) }

func (kernels) CastIntegers(dst []byte, to int, src []byte, from int, signed bool, n int) {
	kernel.CastIntegers(dst, to, src, from, signed, n)
}

func (kernels) Int32ToFloat(dst []float32, src []int32) { kernel.Int32ToFloat(dst, src) }

func (kernels) Uint32ToFloat(dst []float32, src []uint32) { kernel.Uint32ToFloat(dst, src) }

func (kernels) Int64ToFloat(dst []float32, src []int64) { kernel.Int64ToFloat(dst, src) }

func (kernels) DoubleToFloat(dst []float32, src []float64) { kernel.DoubleToFloat(dst, src) }

func (kernels) FloatToDouble(dst []float64, src []float32) { kernel.FloatToDouble(dst, src) }

func (kernels) FloatToInt32(dst []int32, src []float32) bool { return kernel.FloatToInt32(dst, src) }

func (kernels) NotZero(dst, src []byte, size, n int) {
	zero := zeros[:]
	switch size {
	case 1:
		kernel.CompareVS(kernel.NotEqual, dst[:n], src[:n], zero[:1])
	case 2:
		kernel.CompareVS(kernel.NotEqual, dst[:n], mem.Elements[uint16](src)[:n], mem.Elements[uint16](zero))
	case 4:
		kernel.CompareVS(kernel.NotEqual, dst[:n], mem.Elements[uint32](src)[:n], mem.Elements[uint32](zero))
	default:
		kernel.CompareVS(kernel.NotEqual, dst[:n], mem.Elements[uint64](src)[:n], mem.Elements[uint64](zero))
	}
}

var zeros [8]byte

func (kernels) DequantizeU8(dst []float32, src []uint8, scale float32, zero int32) {
	kernel.DequantizeU8(dst, src, scale, zero)
}

func (kernels) DequantizeS8(dst []float32, src []int8, scale float32, zero int32) {
	kernel.DequantizeS8(dst, src, scale, zero)
}

func (kernels) QuantizeU8(dst []uint8, src []float32, scale float32, zero int) {
	kernel.EncodeU8(dst, src, scale, zero)
}

// QuantizeS8 makes unsigned codes, 128 above the signed ones, and turns their signs.
func (kernels) QuantizeS8(dst []int8, src []float32, scale float32, zero int) {
	u := mem.Bytes(dst)[:len(src)]
	kernel.EncodeU8(u, src, scale, zero+128)
	kernel.FlipSigns(u, u)
}

func (kernels) Transpose(dst []byte, ldd int, src []byte, lds, rows, cols, size int) {
	switch size {
	case 1:
		kernel.TransposeBits(dst, ldd, src, lds, rows, cols)
	case 2:
		kernel.TransposeBits(mem.Elements[uint16](dst), ldd, mem.Elements[uint16](src), lds, rows, cols)
	case 4:
		kernel.Transpose(mem.Elements[float32](dst), ldd, mem.Elements[float32](src), lds, rows, cols)
	default:
		kernel.TransposeBits(mem.Elements[uint64](dst), ldd, mem.Elements[uint64](src), lds, rows, cols)
	}
}
