package kernel

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// castGeneric is [CastIntegers].
func castGeneric(dst []byte, to int, src []byte, from int, signed bool, n int) {
	switch {
	case from == 1 && signed:
		castTo(dst, to, mem.Elements[int8](src)[:n])
	case from == 1:
		castTo(dst, to, src[:n])
	case from == 2 && signed:
		castTo(dst, to, mem.Elements[int16](src)[:n])
	case from == 2:
		castTo(dst, to, mem.Elements[uint16](src)[:n])
	case from == 4 && signed:
		castTo(dst, to, mem.Elements[int32](src)[:n])
	case from == 4:
		castTo(dst, to, mem.Elements[uint32](src)[:n])
	default:
		castTo(dst, to, mem.Elements[uint64](src)[:n])
	}
}

func castTo[T int8 | uint8 | int16 | uint16 | int32 | uint32 | uint64](dst []byte, to int, src []T) {
	switch to {
	case 1:
		castEach(dst[:len(src)], src)
	case 2:
		castEach(mem.Elements[uint16](dst)[:len(src)], src)
	case 4:
		castEach(mem.Elements[uint32](dst)[:len(src)], src)
	default:
		castEach(mem.Elements[uint64](dst)[:len(src)], src)
	}
}

type number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

func castEach[R, T number](dst []R, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = R(src[i])
	}
}

// floatToInt32Generic is [FloatToInt32].
func floatToInt32Generic(dst []int32, src []float32) bool {
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

// brainToFloatGeneric is [BrainToFloat].
func brainToFloatGeneric(dst []float32, src []uint16) {
	for i, h := range src {
		dst[i] = math.Float32frombits(uint32(h) << 16)
	}
}

// floatToBrainGeneric is [FloatToBrain].
func floatToBrainGeneric(dst []uint16, src []float32) {
	for i, x := range src {
		dst[i] = tensor.Float32ToBFloat16(x)
	}
}
