package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native|Judging, func(o *op.ScatterElements, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		places, err := elementPlaces(in[0].Dims, in[1], o.Axis, o.NegativeWraps)
		if err != nil {
			return nil, err
		}
		return scatter(in[0], in[2], out[0], o.Reduction, places, 1)
	})
	register(Native|Judging, func(o *op.ScatterND, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		places, err := vectorPlaces(in[0].Dims, in[1], o.NegativeWraps)
		if err != nil {
			return nil, err
		}
		k := in[1].Dims[len(in[1].Dims)-1]
		return scatter(in[0], in[2], out[0], o.Reduction, places, int(product(in[0].Dims[k:])))
	})
}

// scatter writes runs of inner elements of u into a copy of x, run i at places[i]. Without a reduction, and with three
// tensors quantized alike, bits move as they are. Otherwise it computes with the real numbers.
func scatter(x, u tensor.Tensor, out tensor.Type, r op.ScatterReduction, places []int64, inner int) ([]tensor.Tensor,
	error) {
	if r == op.ScatterSet && x.Quant.Equal(u.Quant) && x.Quant.Equal(out.Quant) && x.DType == out.DType {
		y := like(out)
		copyBytes(y.Data, x.Data)
		for i, p := range places {
			tick()
			move(y, int(p), u, i*inner, inner)
		}
		return []tensor.Tensor{y}, nil
	}
	x, err := toReal(x)
	if err != nil {
		return nil, err
	}
	if u, err = toReal(u); err != nil {
		return nil, err
	}
	y := newTensor(x.DType, x.Dims...)
	copyBytes(y.Data, x.Data)
	put, err := reducer(y, u, r)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		for k := range inner {
			tick()
			put(int(p)+k, i*inner+k)
		}
	}
	if narrow(out.DType, out.Quant) {
		y, err = fromReal(y, out)
	}
	return []tensor.Tensor{y}, err
}

// reducer returns the function that joins element j of u to element i of y.
func reducer(y, u tensor.Tensor, r op.ScatterReduction) (func(i, j int), error) {
	switch y.DType {
	case tensor.Float32:
		return reducerOf[float32](y, u, r), nil
	case tensor.Float64:
		return reducerOf[float64](y, u, r), nil
	case tensor.Int8:
		return reducerOf[int8](y, u, r), nil
	case tensor.Int16:
		return reducerOf[int16](y, u, r), nil
	case tensor.Int32:
		return reducerOf[int32](y, u, r), nil
	case tensor.Int64:
		return reducerOf[int64](y, u, r), nil
	case tensor.Uint8:
		return reducerOf[uint8](y, u, r), nil
	case tensor.Uint16:
		return reducerOf[uint16](y, u, r), nil
	case tensor.Uint32:
		return reducerOf[uint32](y, u, r), nil
	case tensor.Uint64:
		return reducerOf[uint64](y, u, r), nil
	}
	return nil, fault.New(fault.Type, "no scatter reduction on %v", y.DType)
}

func reducerOf[T elem](y, u tensor.Tensor, r op.ScatterReduction) func(i, j int) {
	a, b := view[T](y), view[T](u)
	switch r {
	case op.ScatterAdd:
		return func(i, j int) { a[i] += b[j] }
	case op.ScatterMul:
		return func(i, j int) { a[i] *= b[j] }
	case op.ScatterMax:
		return func(i, j int) { a[i] = max(a[i], b[j]) }
	case op.ScatterMin:
		return func(i, j int) { a[i] = min(a[i], b[j]) }
	}
	return func(i, j int) { a[i] = b[j] }
}
