package ops

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// rankBlock is how many neighbouring lines, or elements of one, are looked at together.
const rankBlock = 256

// keys are numbers in the order in which elements rank: the best has the largest. A NaN is the largest number; with
// nanFirst it is the best also where the least number is.
type keys struct {
	from               tensor.DType
	smallest, nanFirst bool
}

// ranks reports whether elements of a type have keys.
func ranks(d tensor.DType) bool {
	switch d {
	case tensor.Float32, tensor.Int32, tensor.Int16, tensor.Uint16, tensor.Int8, tensor.Uint8, tensor.Bool:
		return true
	}
	return false
}

// of writes the keys of elements from the first on, step elements apart.
func (k keys) of(dst []int32, x []byte, first, step int) {
	switch k.from {
	case tensor.Float32:
		v := mem.Elements[float32](x)[first:]
		for i := range dst {
			dst[i] = k.float(v[i*step])
		}
	case tensor.Int32:
		widened(dst, mem.Elements[int32](x)[first:], step)
	case tensor.Int16:
		widened(dst, mem.Elements[int16](x)[first:], step)
	case tensor.Uint16:
		widened(dst, mem.Elements[uint16](x)[first:], step)
	case tensor.Int8:
		widened(dst, mem.Elements[int8](x)[first:], step)
	default:
		widened(dst, x[first:], step)
	}
	if k.smallest && k.from != tensor.Float32 {
		for i := range dst {
			dst[i] = ^dst[i]
		}
	}
}

// float is the key of a number of float32.
func (k keys) float(v float32) int32 {
	b := int32(math.Float32bits(v + 0)) // -0 is 0
	b ^= int32(uint32(b>>31) >> 1)
	if v != v {
		if b = math.MaxInt32; k.smallest && k.nanFirst {
			b = math.MinInt32
		}
	}
	if k.smallest {
		return ^b
	}
	return b
}

func widened[T whole](dst []int32, x []T, step int) {
	for i := range dst {
		dst[i] = int32(x[i*step])
	}
}

// intsOfFloats is memory of float32 values as integers.
func intsOfFloats(v []float32) []int32 { return mem.Elements[int32](mem.Bytes(v)) }
