package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real|Judging, func(o *op.Clip, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		r := clipRange{lo: math.Inf(-1), hi: math.Inf(1), intLo: math.MinInt64, intHi: math.MaxInt64, uintHi: math.MaxUint64}
		if len(in) > 1 && !in[1].Absent() {
			r.low(scalarAt(in[1], 0))
		}
		if len(in) > 2 && !in[2].Absent() {
			r.high(scalarAt(in[2], 0))
		}
		if o.Empty == op.ClipFail && r.empty(in[0].DType) {
			return nil, fault.New(fault.Data, "inputs 1 and 2: the lower bound is above the upper one")
		}
		return mapNumber(in[0], out[0], number{
			real: func(x float64) float64 { return min(max(x, r.lo), r.hi) },
			int:  func(x int64) int64 { return min(max(x, r.intLo), r.intHi) },
			uint: func(x uint64) uint64 { return min(max(x, r.uintLo), r.uintHi) },
		})
	})
}

// clipRange holds the bounds for every kind of number; only the kind of the data is set.
type clipRange struct {
	lo, hi         float64
	intLo, intHi   int64
	uintLo, uintHi uint64
}

// empty reports whether no number of data type d lies between the bounds.
func (r *clipRange) empty(d tensor.DType) bool {
	switch {
	case d.IsFloat():
		return r.lo > r.hi
	case d.IsUnsigned():
		return r.uintLo > r.uintHi
	}
	return r.intLo > r.intHi
}

func (r *clipRange) low(s scalar) {
	switch s.kind {
	case floatKind:
		r.lo = s.f
	default:
		r.intLo, r.uintLo = s.i, s.bits()
	}
}

func (r *clipRange) high(s scalar) {
	switch s.kind {
	case floatKind:
		r.hi = s.f
	default:
		r.intHi, r.uintHi = s.i, s.bits()
	}
}
