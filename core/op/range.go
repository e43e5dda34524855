package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Range lists start, start+delta, start+2·delta, ... before limit: max(0, ceil((limit-start)/delta)) values.
//
// Inputs: start, limit, delta, one element each of one type: a float, or an integer but uint64; delta is not 0. Output:
// y [n] of that type. Floats compute in float64 and round once. Source: ONNX Range-11, OH_NN_OPS_RANGE.
type Range struct{}

func init() { graph.Register[*Range]("range", graph.Traits{ShapeInputs: []int{0, 1, 2}}) }

// Infer returns the number of values when the inputs are known.
func (*Range) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	for i := range 3 {
		if err := wantTensor(in, i, "a float or an integer but uint64", isRangeType); err != nil {
			return nil, err
		}
		if err := sameType(in, 0, i); err != nil {
			return nil, err
		}
		if err := wantScalar(in, i); err != nil {
			return nil, err
		}
	}
	out := tensor.Fact{Type: tensor.Type{DType: in[0].DType, Shape: tensor.AnyOfRank(1)}}
	n, ok, err := rangeCount(in)
	if err != nil || !ok {
		return []tensor.Fact{out}, err
	}
	out.Shape = tensor.Of(n)
	if _, small := foldable(out); small {
		start, delta := in[0].IntValues()[0].N, in[2].IntValues()[0].N
		v := make([]tensor.Dim, n)
		for i := range v {
			v[i] = tensor.D(start + int64(i)*delta)
		}
		carry(&out, v)
	}
	return []tensor.Fact{out}, nil
}

func isRangeType(t tensor.Type) bool {
	return isNumber(t) && t.Quant == nil && t.DType != tensor.Uint64
}

// rangeCount reads the inputs when they are known and counts the values between them.
func rangeCount(in []tensor.Fact) (n int64, ok bool, err error) {
	if in[0].DType.IsFloat() {
		var v [3]float64
		for i, f := range in {
			c, ok := f.Shape.Count()
			if f.Const == nil || !ok || c != 1 {
				return 0, false, nil
			}
			x, err := tensor.ReadFloats(f.DType, f.Const.Data, 1)
			if err != nil {
				return 0, false, fault.As(fault.Argument, err, "input %d", i)
			}
			v[i] = x[0]
		}
		n, err = floatSteps(v[0], v[1], v[2])
		return n, err == nil, err
	}
	var v [3]int64
	for i, f := range in {
		d := f.IntValues()
		if len(d) != 1 || !d[0].Known() {
			return 0, false, nil
		}
		v[i] = d[0].N
	}
	n, err = intSteps(v[0], v[1], v[2])
	return n, err == nil, err
}

func floatSteps(start, limit, delta float64) (int64, error) {
	n := math.Ceil((limit - start) / delta)
	switch {
	case delta == 0 || math.IsNaN(n):
		return 0, fault.New(fault.Argument, "input 2: a range from %v to %v by %v: want another step", start, limit, delta)
	case n >= math.MaxInt64:
		return 0, fault.New(fault.Memory, "a range from %v to %v by %v is too large", start, limit, delta)
	}
	return int64(max(n, 0)), nil
}

func intSteps(start, limit, delta int64) (int64, error) {
	var n uint64
	switch {
	case delta == 0:
		return 0, fault.New(fault.Argument, "input 2: a range from %d to %d by 0: want another step", start, limit)
	case delta > 0 && limit > start:
		n = (uint64(limit)-uint64(start)-1)/uint64(delta) + 1
	case delta < 0 && limit < start:
		n = (uint64(start)-uint64(limit)-1)/-uint64(delta) + 1
	}
	if n > math.MaxInt64 {
		return 0, fault.New(fault.Memory, "a range from %d to %d by %d is too large", start, limit, delta)
	}
	return int64(n), nil
}
