package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(_ *op.Pow, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x, e := in[0], in[1]
		dims, _ := out[0].Shape.Ints()
		y := newTensor(out[0].DType, dims...)
		ix, ie := broadcastIndex(x.Dims, dims), broadcastIndex(e.Dims, dims)
		for i, n := 0, y.Count(); i < n; i++ {
			tick()
			a, b := scalarAt(x, ix(i)), scalarAt(e, ie(i))
			if a.kind == floatKind || b.kind == floatKind {
				scalar{f: power(a.float(), b.float())}.put(y, i, true, true)
				continue
			}
			v, ok := intPower(a, b)
			if !ok {
				return nil, fault.New(fault.Data, "element %d: 0 to the power of %d", i, b.i)
			}
			tensor.PutInt(y.DType, y.Data, i, int64(v))
		}
		return []tensor.Tensor{y}, nil
	})
}

// power returns x^e, for small integral e by repeated multiplication.
func power(x, e float64) float64 {
	n := math.Abs(e)
	if e != math.Trunc(e) || n > 64 {
		return math.Pow(x, e)
	}
	y := 1.0
	for range int(n) {
		tick()
		y *= x
	}
	if e < 0 {
		return 1 / y
	}
	return y
}

// intPower returns the low 64 bits of x^e; ok is false for a negative power of 0.
func intPower(x, e scalar) (y uint64, ok bool) {
	base, n := x.bits(), e.bits()
	if e.i < 0 {
		switch {
		case base == 0:
			return 0, false
		case base == 1, x.i == -1 && e.i%2 == 0:
			return 1, true
		case x.i == -1:
			return base, true
		}
		return 0, true
	}
	y = 1
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= base
		}
		base *= base
	}
	return y, true
}
