package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.MaxPool, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		switch out[0].DType {
		case tensor.Float32:
			return maxPool(o, in[0], out, float32(math.Inf(-1)))
		case tensor.Float64:
			return maxPool(o, in[0], out, math.Inf(-1))
		case tensor.Int8:
			return maxPool[int8](o, in[0], out, math.MinInt8)
		case tensor.Int16:
			return maxPool[int16](o, in[0], out, math.MinInt16)
		case tensor.Int32:
			return maxPool[int32](o, in[0], out, math.MinInt32)
		case tensor.Int64:
			return maxPool[int64](o, in[0], out, math.MinInt64)
		case tensor.Uint8:
			return maxPool[uint8](o, in[0], out, 0)
		case tensor.Uint16:
			return maxPool[uint16](o, in[0], out, 0)
		case tensor.Uint32:
			return maxPool[uint32](o, in[0], out, 0)
		case tensor.Uint64:
			return maxPool[uint64](o, in[0], out, 0)
		}
		return nil, fault.New(fault.Type, "max_pool: no arithmetic on %v", out[0].DType)
	})
}

func maxPool[T elem](o *op.MaxPool, in tensor.Tensor, out []tensor.Type, lowest T) ([]tensor.Tensor, error) {
	e := extentOf(in.Dims, o.ChannelsLast)
	windows, err := o.Windows(e.spatial)
	if err != nil {
		return nil, err
	}
	res, y := newLike[T](out[0])
	ye := extentOf(res.Dims, o.ChannelsLast)
	x := view[T](in)
	var where []int64
	results := []tensor.Tensor{res}
	if len(out) > 1 {
		t, v := newLike[int64](out[1])
		where, results = v, append(results, t)
	}
	newGrid(windows, sliding, slid).each(func(p int, taps []tap) {
		for n := range e.n {
			for c := range e.c {
				base, step := e.index(n, c, 0), e.step()
				best, cell := lowest, -1
				for _, t := range taps {
					tick()
					v := x[base+t.in*step]
					if cell < 0 || v > best || v != v && best == best {
						best, cell = v, t.in
					}
				}
				i := ye.index(n, c, p)
				y[i] = best
				switch {
				case where == nil:
				case cell < 0:
					where[i] = -1
				case o.ColumnMajor:
					where[i] = int64((n*e.c+c)*e.cells + columnMajor(cell, e.spatial))
				default:
					where[i] = int64((n*e.c+c)*e.cells + cell)
				}
			}
		}
	})
	return results, nil
}

// columnMajor renumbers a cell so that the first spatial dimension is the fastest.
func columnMajor(cell int, dims []int64) int {
	k, stride := 0, cellCount(dims)
	for i := len(dims) - 1; i >= 0; i-- {
		d := int(dims[i])
		stride /= d
		k += cell % d * stride
		cell /= d
	}
	return k
}
