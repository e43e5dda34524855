package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// summer computes sums of products over x and w and hands each to store: i is the element of the output, c its output
// channel (its place among per-channel scales). Its methods are one generic loop in four arithmetics: float32 and
// float64 operands are summed in float64, int32 in int32 (wrapping), int64 in int64.
type summer interface {
	f32(x, w []float32, store func(i, c int, s float64))
	f64(x, w []float64, store func(i, c int, s float64))
	i32(x, w []int32, store func(i, c int, s int32))
	i64(x, w []int64, store func(i, c int, s int64))
	// bias returns which element of the bias belongs to output element i in channel c.
	bias(i, c int) int
}

// linear computes an operator that sums products, x = in[0], w = in[1], bias? = in[2]. axis is the dimension of w
// that counts output channels (-1: none), where per-channel weight scales are taken from.
//
// Quantized operands are summed as integers, (x-zero)*(w-zero) in int32, for 16-bit operands in int64, and requantized
// in float64: round(sum*scale(x)*scale(w)/scale(y) + bias/scale(y) + zero(y)), halves away from zero, saturating. An
// integer bias without quantization is in units of scale(x)*scale(w). Everything else is summed in float64 and rounded
// once.
func linear(o graph.Op, in []tensor.Tensor, out tensor.Type, axis int, s summer) ([]tensor.Tensor, error) {
	if empty(out) {
		return zeros([]tensor.Type{out}), nil
	}
	x, w := in[0], in[1]
	var bias tensor.Tensor
	if len(in) > 2 {
		bias = in[2]
	}
	switch {
	case quantizedSum(x, w, bias, out, axis):
		return linearQuant(x, w, bias, out, axis, s)
	case x.Quant == nil && w.Quant == nil && x.DType.IsInt():
		return linearInt(x, w, bias, out, s)
	}
	if !bias.Absent() && bias.DType.IsInt() && bias.Quant == nil {
		b, err := realBias(x, w, bias, axis)
		if err != nil {
			return nil, err
		}
		bias = b
	}
	return computeReal(func(_ graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return linearReal(in[0], in[1], in[2], out[0], s)
	}, o, []tensor.Tensor{x, w, bias}, []tensor.Type{out})
}

// quantizedSum reports whether the sum can be computed on the integers.
func quantizedSum(x, w, bias tensor.Tensor, out tensor.Type, axis int) bool {
	narrowOut := out.Quant.IsPerTensor() || out.Quant == nil && (out.DType == tensor.Float32 ||
		out.DType == tensor.Float64)
	perChannel := w.Quant != nil && w.Quant.Block == 0 && w.Quant.Axis == axis && axis >= 0 &&
		len(w.Quant.Scale) == int(w.Dims[axis])
	return x.Quant.IsPerTensor() && (w.Quant.IsPerTensor() || perChannel) && narrowOut &&
		(bias.Absent() || bias.DType.IsInt())
}

// centred returns the integers of a quantized tensor minus their zero points.
func centred[T int32 | int64](t tensor.Tensor) ([]T, error) {
	q, err := readInts(t.DType, t.Data, t.Count())
	if err != nil {
		return nil, fault.As(fault.Type, err, "quantized operand")
	}
	index, err := scaleIndex(t)
	if err != nil {
		return nil, err
	}
	v := alloc[T](len(q))
	if t.Quant.IsPerTensor() {
		z := int64(t.Quant.ZeroAt(0))
		for i := range v {
			tick()
			v[i] = T(q[i] - z)
		}
		return v, nil
	}
	for i := range v {
		tick()
		v[i] = T(q[i] - int64(t.Quant.ZeroAt(index(i))))
	}
	return v, nil
}

// biasScale returns the step of an integer bias at channel c: its own scale, or scale(x)*scale(w[c]).
func biasScale(x, w, bias tensor.Tensor) (func(c int) (scale float64, zero int32), error) {
	if bias.Quant == nil {
		return func(c int) (float64, int32) {
			return float64(x.Quant.Scale[0]) * float64(w.Quant.Scale[c%len(w.Quant.Scale)]), 0
		}, nil
	}
	index, err := scaleIndex(bias)
	if err != nil {
		return nil, fault.Wrap(err, "input 2")
	}
	return func(c int) (float64, int32) {
		k := index(c)
		return float64(bias.Quant.Scale[k]), bias.Quant.ZeroAt(k)
	}, nil
}

func linearQuant(x, w, bias tensor.Tensor, out tensor.Type, axis int, s summer) ([]tensor.Tensor, error) {
	y, put, err := requantizer(out)
	if err != nil {
		return nil, err
	}
	var offset []float64
	if !bias.Absent() {
		b, err := readInts(bias.DType, bias.Data, bias.Count())
		if err != nil {
			return nil, fault.As(fault.Type, err, "input 2")
		}
		step, err := biasScale(x, w, bias)
		if err != nil {
			return nil, err
		}
		offset = alloc[float64](len(b))
		for c := range b {
			tick()
			scale, zero := step(c)
			offset[c] = float64(b[c]-int64(zero)) * scale
		}
	}
	sx, sw := float64(x.Quant.Scale[0]), w.Quant.Scale
	store := func(i, c int, sum float64) {
		r := sum * (sx * float64(sw[c%len(sw)]))
		if offset != nil {
			r += offset[s.bias(i, c)%len(offset)]
		}
		put(i, r)
	}
	if x.DType.Bits() > 8 || w.DType.Bits() > 8 {
		a, err := centred[int64](x)
		if err != nil {
			return nil, fault.Wrap(err, "input 0")
		}
		b, err := centred[int64](w)
		if err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
		s.i64(a, b, func(i, c int, v int64) { store(i, c, float64(v)) })
		return []tensor.Tensor{y}, nil
	}
	a, err := centred[int32](x)
	if err != nil {
		return nil, fault.Wrap(err, "input 0")
	}
	b, err := centred[int32](w)
	if err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	s.i32(a, b, func(i, c int, v int32) { store(i, c, float64(v)) })
	return []tensor.Tensor{y}, nil
}

// requantizer returns a new tensor of type out and the function that stores a real in it: quantized per tensor, or
// float32 or float64.
func requantizer(out tensor.Type) (tensor.Tensor, func(i int, r float64), error) {
	if out.Quant == nil {
		y, put := realStore(out)
		return y, put, nil
	}
	dims, _ := out.Shape.Ints()
	y := newTensor(out.DType, dims...)
	y.Quant = out.Quant
	lo, hi, err := intRange(out.DType)
	if err != nil {
		return y, nil, err
	}
	scale, zero := float64(out.Quant.Scale[0]), float64(out.Quant.ZeroAt(0))
	return y, func(i int, r float64) { storeInt(y, i, quantize(r, scale, zero, lo, hi)) }, nil
}

// realStore returns a new float32 or float64 tensor of type out and the function that stores an element.
func realStore(out tensor.Type) (tensor.Tensor, func(i int, r float64)) {
	if out.DType == tensor.Float64 {
		y, v := newLike[float64](out)
		return y, func(i int, r float64) { v[i] = r }
	}
	y, v := newLike[float32](out)
	return y, func(i int, r float64) { v[i] = float32(r) }
}

// realBias turns an integer bias in units of scale(x)*scale(w) into float32.
func realBias(x, w, bias tensor.Tensor, axis int) (tensor.Tensor, error) {
	if !x.Quant.IsPerTensor() || w.Quant == nil || w.Quant.Block > 0 || !w.Quant.IsPerTensor() && w.Quant.Axis != axis {
		return bias, fault.New(fault.Type, "input 2: an integer bias needs its own quantization here")
	}
	b, err := readInts(bias.DType, bias.Data, bias.Count())
	if err != nil {
		return bias, fault.As(fault.Type, err, "input 2")
	}
	step, err := biasScale(x, w, bias)
	if err != nil {
		return bias, err
	}
	t := newTensor(tensor.Float32, bias.Dims...)
	f := view[float32](t)
	for c := range f {
		tick()
		scale, _ := step(c)
		f[c] = float32(float64(b[c]) * scale)
	}
	return t, nil
}

func linearReal(x, w, bias tensor.Tensor, out tensor.Type, s summer) ([]tensor.Tensor, error) {
	y, put := realStore(out)
	b := reals(bias)
	store := func(i, c int, sum float64) { put(i, sum) }
	if b != nil {
		store = func(i, c int, sum float64) { put(i, sum+b[s.bias(i, c)%len(b)]) }
	}
	if x.DType == tensor.Float32 && w.DType == tensor.Float32 {
		s.f32(view[float32](x), view[float32](w), store)
	} else {
		s.f64(reals(x), reals(w), store)
	}
	return []tensor.Tensor{y}, nil
}

// linearInt sums plain 32- and 64-bit integers, wrapping around.
func linearInt(x, w, bias tensor.Tensor, out tensor.Type, s summer) ([]tensor.Tensor, error) {
	if out.DType.Bits() == 64 {
		return linearWrap(bias, s.bias, out, func(store func(i, c int, v int64)) {
			s.i64(view[int64](x), view[int64](w),
				store)
		}), nil
	}
	return linearWrap(bias, s.bias, out, func(store func(i, c int, v int32)) {
		s.i32(view[int32](x), view[int32](w),
			store)
	}), nil
}

func linearWrap[T int32 | int64](bias tensor.Tensor, at func(i, c int) int, out tensor.Type,
	run func(store func(i, c int, v T))) []tensor.Tensor {
	t, y := newLike[T](out)
	var b []T
	if !bias.Absent() {
		b = view[T](bias)
	}
	run(func(i, c int, v T) {
		if b != nil {
			v += b[at(i, c)%len(b)]
		}
		y[i] = v
	})
	return []tensor.Tensor{t}
}

// reals returns the elements of a float32, float64, int32 or int64 tensor as float64, nil for an absent one.
func reals(t tensor.Tensor) []float64 {
	switch t.DType {
	case tensor.Invalid:
		return nil
	case tensor.Float64:
		return view[float64](t)
	case tensor.Float32:
		return widen[float32](t)
	case tensor.Int32:
		return widen[int32](t)
	case tensor.Int64:
		return widen[int64](t)
	}
	v, _ := readInts(t.DType, t.Data, t.Count())
	f := alloc[float64](len(v))
	for i := range v {
		tick()
		f[i] = float64(v[i])
	}
	return f
}

func widen[T elem](t tensor.Tensor) []float64 {
	v := view[T](t)
	f := alloc[float64](len(v))
	for i := range v {
		tick()
		f[i] = float64(v[i])
	}
	return f
}

// summable lists the types that sums add.
type summable interface {
	int32 | int64 | float32 | float64
}

// inner returns the sum of a[i]*b[i]; the products are formed in S. b is at least as long as a.
func inner[T, S summable](a, b []T) S {
	var s0, s1, s2, s3 S
	b = b[:len(a)]
	i := 0
	for i+4 <= len(a) {
		tick()
		for end := min(i+stretch, len(a)); i+4 <= end; i += 4 {
			s0 += S(a[i]) * S(b[i])
			s1 += S(a[i+1]) * S(b[i+1])
			s2 += S(a[i+2]) * S(b[i+2])
			s3 += S(a[i+3]) * S(b[i+3])
		}
	}
	for ; i < len(a); i++ {
		s0 += S(a[i]) * S(b[i])
	}
	return s0 + s1 + s2 + s3
}
