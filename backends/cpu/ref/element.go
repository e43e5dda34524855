package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// scalar is one element of a plain tensor: a float, or an integer (bool: 0 or 1) of which u holds uint64 values.
type scalar struct {
	f    float64
	i    int64
	u    uint64
	kind uint8
}

const (
	floatKind uint8 = iota
	intKind
	uintKind
)

// scalarAt reads element i of a tensor of any float, integer or bool type as it stands, quantization ignored.
func scalarAt(t tensor.Tensor, i int) scalar {
	if t.DType.IsFloat() {
		return scalar{f: tensor.FloatAt(t.DType, t.Data, i)}
	}
	v := tensor.IntAt(t.DType, t.Data, i)
	if t.DType == tensor.Uint64 {
		return scalar{u: uint64(v), kind: uintKind}
	}
	return scalar{i: v, kind: intKind}
}

// isTrue reports whether the element is not 0; NaN is not 0.
func (s scalar) isTrue() bool { return s.f != 0 || s.i != 0 || s.u != 0 }

// float returns the element as a float64, rounded such that another rounding to at most 52 bits gives what one alone
// would.
func (s scalar) float() float64 {
	switch s.kind {
	case intKind:
		if s.i < 0 {
			return -oddFloat(uint64(-s.i))
		}
		return oddFloat(uint64(s.i))
	case uintKind:
		return oddFloat(s.u)
	}
	return s.f
}

// oddFloat converts a magnitude to float64. Bits that do not fit make the last bit odd.
func oddFloat(v uint64) float64 {
	if v>>53 == 0 {
		return float64(v)
	}
	const low = 1<<12 - 1
	if v&low != 0 {
		v = v&^low | 1<<11
	}
	return float64(v)
}

// put writes the element into element i of t, converted to t's type: floats round to nearest even; a float becomes an
// integer by dropping its fraction, NaN by becoming 0. Integers out of range keep their low bits, or with saturate take
// the nearest limit; saturate also is that of the float8 types. Bool is whether the element is not 0.
func (s scalar) put(t tensor.Tensor, i int, saturate, saturate8 bool) {
	switch d := t.DType; {
	case d == tensor.Bool:
		t.Data[i] = bit(s.isTrue())
	case d == tensor.Float64 && s.kind == intKind:
		view[float64](t)[i] = float64(s.i)
	case d == tensor.Float64 && s.kind == uintKind:
		view[float64](t)[i] = float64(s.u)
	case d.IsFloat():
		tensor.PutFloat(d, t.Data, i, s.float(), saturate8)
	default:
		tensor.PutInt(d, t.Data, i, s.integer(d, saturate))
	}
}

// integer returns the bits of the element as integer type d; see put.
func (s scalar) integer(d tensor.DType, saturate bool) int64 {
	lo, hi := tensor.IntLimits(d)
	switch {
	case s.kind == floatKind:
		return truncate(s.f, d, saturate)
	case !saturate:
		return s.i | int64(s.u)
	case s.kind == uintKind:
		if d == tensor.Uint64 {
			return int64(s.u)
		}
		return int64(min(s.u, uint64(hi)))
	}
	return min(max(s.i, lo), hi)
}

// truncate drops the fraction of v and returns the bits of integer type d.
func truncate(v float64, d tensor.DType, saturate bool) int64 {
	if math.IsNaN(v) {
		return 0
	}
	if saturate {
		lo, hi := tensor.IntLimits(d)
		switch {
		case d == tensor.Uint64 && v >= 1<<63:
			if v >= 1<<64 {
				return -1
			}
			return int64(uint64(v))
		case v >= float64(hi):
			return hi
		case v <= float64(lo):
			return lo
		}
		return int64(v)
	}
	if math.IsInf(v, 0) {
		return 0
	}
	m := math.Mod(math.Trunc(v), 1<<64) // exact: floats of that size have no fraction
	if m < 0 {
		return -int64(uint64(-m))
	}
	return int64(uint64(m))
}

// bits returns an integer element as 64 bits, sign extended.
func (s scalar) bits() uint64 { return uint64(s.i) | s.u }
