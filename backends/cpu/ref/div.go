package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.Div, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if i, bad := zeroInt(in[1]); bad && out[0].Shape.Static() && count(out[0]) > 0 {
			return nil, fault.New(fault.Data, "input 1: element %d: integer division by 0", i)
		}
		return arithmetic(in, out[0], divider{floor: o.Rounding == op.DivFloor})
	})
}

type divider struct{ floor bool }

func (divider) float32(a, b float32) float32 { return a / b }
func (divider) float64(a, b float64) float64 { return a / b }
func (divider) uint(a, b uint64) uint64      { return a / b }

func (d divider) int(a, b int64) int64 {
	q := a / b
	if d.floor && a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
