package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.Pad, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		pads, err := intsOf(in[1])
		if err != nil {
			return nil, err
		}
		var axes []int64
		if len(in) > 3 {
			if axes, err = intsOf(in[3]); err != nil {
				return nil, err
			}
		}
		var value tensor.Tensor
		if len(in) > 2 {
			value = in[2]
		}
		fill, err := padValue(x, value)
		if err != nil {
			return nil, err
		}
		begin, end := make([]int64, len(x.Dims)), make([]int64, len(x.Dims))
		for i := range len(pads) / 2 {
			a := i
			if axes != nil {
				if a, err = op.Axis(axes[i], len(x.Dims)); err != nil {
					return nil, err
				}
			}
			begin[a], end[a] = pads[i], pads[i+len(pads)/2]
		}
		t := out[0]
		t.DType, t.Quant = x.DType, x.Quant
		y := like(t)
		stride := tensor.RowMajor(x.Dims)
		eachIndex(y.Dims, func(idx []int64, i int) {
			at := int64(0)
			for d, k := range idx {
				lo := max(-begin[d], 0)
				n := x.Dims[d] - lo - max(-end[d], 0)
				src, inside := o.Cell(k-max(begin[d], 0), n)
				if !inside {
					move(y, i, fill, 0, 1)
					return
				}
				at += (lo + src) * stride[d]
			}
			move(y, i, x, int(at), 1)
		})
		y, err = requantized(y, out[0])
		return []tensor.Tensor{y}, err
	})
}

// padValue returns one element of x's type: the value as it stands, converted from float32, or the real 0.
func padValue(x, value tensor.Tensor) (tensor.Tensor, error) {
	one := newTensor(x.DType, 1)
	one.Quant = x.Quant
	switch {
	case !value.Absent() && value.DType == x.DType:
		move(one, 0, value, 0, 1)
		return one, nil
	case value.Absent() && x.Quant == nil:
		return one, nil
	}
	real := newTensor(tensor.Float32, 1)
	if !value.Absent() {
		copy(real.Data, value.Data)
	}
	switch {
	case x.Quant != nil:
		if !x.Quant.IsPerTensor() {
			return one, fault.New(fault.Unsupported, "a pad value for scales along axis %d", x.Quant.Axis)
		}
		return fromReal(real, one.Type())
	case x.DType.IsFloat():
		tensor.PutFloat(x.DType, one.Data, 0, tensor.FloatAt(tensor.Float32, real.Data, 0), true)
	default:
		lo, hi := tensor.IntLimits(x.DType)
		tensor.PutInt(x.DType, one.Data, 0, saturateInt(tensor.FloatAt(tensor.Float32, real.Data, 0), lo, hi))
	}
	return one, nil
}

// saturateInt truncates toward zero into [lo, hi]; NaN gives 0.
func saturateInt(v float64, lo, hi int64) int64 {
	switch {
	case v != v:
		return 0
	case v >= float64(hi):
		return hi
	case v <= float64(lo):
		return lo
	}
	return int64(v)
}

// requantized returns y as type t: itself when both are quantized alike, otherwise through real values.
func requantized(y tensor.Tensor, t tensor.Type) (tensor.Tensor, error) {
	if y.DType == t.DType && y.Quant.Equal(t.Quant) {
		return y, nil
	}
	real, err := toReal(y)
	if err != nil {
		return y, err
	}
	return fromReal(real, t)
}
