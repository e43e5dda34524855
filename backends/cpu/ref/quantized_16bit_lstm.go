package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(_ *op.Quantized16BitLSTM, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, c0, h0 := view[uint8](in[0]), view[int16](in[13]), view[uint8](in[14])
		batch, features, units := int(in[0].Dims[0]), int(in[0].Dims[1]), int(in[13].Dims[1])
		zero := in[1].Quant.ZeroAt(0)
		scale := newFixedScale(4096 * float64(in[9].Quant.Scale[0])) // to 3 integer bits
		ys := zeros(out)
		c, h := view[int16](ys[0]), view[uint8](ys[1])
		joined := alloc[uint8](features + units)
		for b := range batch {
			copy(joined, x[b*features:][:features])
			copy(joined[features:], h0[b*units:][:units])
			for u := range units {
				tick()
				sum := func(gate int) int16 {
					v := view[int32](in[9+gate])[u] + aroundZero(joined[:units], view[uint8](in[5+gate])[u*units:], zero) +
						aroundZero(joined[units:], view[uint8](in[1+gate])[u*features:], zero)
					return clamp16(scale.times(v))
				}
				const input, forget, cell, output = 0, 1, 2, 3
				entered := highMul(logisticFixed(sum(input), 3), tanhFixed(sum(cell), 3))
				kept := highMul(logisticFixed(sum(forget), 3), c0[b*units+u])
				state := clamp16(shiftRight(int32(entered), 4) + int32(kept)) // 4 integer bits
				made := highMul(logisticFixed(sum(output), 3), tanhFixed(shiftLeft(state, 1), 3))
				c[b*units+u] = state
				h[b*units+u] = uint8(128 + min(max(shiftRight(int32(made), 8), -128), 127))
			}
		}
		return ys, nil
	})
}

// aroundZero is the sum of x, around 128, times w, around its zero point, in 32 bits that wrap.
func aroundZero(x, w []uint8, zero int32) int32 {
	var sum int32
	for i, v := range x {
		tick()
		sum += (int32(v) - 128) * (int32(w[i]) - zero)
	}
	return sum
}
