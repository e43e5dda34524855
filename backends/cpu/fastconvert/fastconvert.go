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
