package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Mod, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if i, bad := zeroInt(in[1]); bad && out[0].Shape.Static() && count(out[0]) > 0 {
			return nil, fault.New(fault.Data, "input 1: element %d: integer remainder by 0", i)
		}
		return arithmetic(in, out[0], remainder{floor: o.Sign == op.ModDivisor})
	})
}

type remainder struct{ floor bool }

func (r remainder) float32(a, b float32) float32 { return float32(r.float64(float64(a), float64(b))) }
func (remainder) uint(a, b uint64) uint64        { return a % b }

func (r remainder) float64(a, b float64) float64 {
	m := math.Mod(a, b)
	switch {
	case !r.floor:
		return m
	case m == 0:
		return math.Copysign(0, b)
	case (m < 0) != (b < 0):
		return m + b
	}
	return m
}

func (r remainder) int(a, b int64) int64 {
	m := a % b
	if r.floor && m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}
