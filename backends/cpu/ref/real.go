package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// toReal widens float types below 32 bits and quantized integers to float32; other tensors are returned as they are.
func toReal(t tensor.Tensor) (tensor.Tensor, error) {
	if t.Absent() || !narrow(t.DType, t.Quant) {
		return t, nil
	}
	out := newTensor(tensor.Float32, t.Dims...)
	y := view[float32](out)
	if t.Quant == nil {
		for i := range y {
			tick()
			y[i] = float32(tensor.FloatAt(t.DType, t.Data, i))
		}
		return out, nil
	}
	if _, _, err := intRange(t.DType); err != nil {
		return out, err
	}
	q, err := readInts(t.DType, t.Data, len(y))
	if err != nil {
		return out, fault.As(fault.Type, err, "dequantize")
	}
	index, err := scaleIndex(t)
	if err != nil {
		return out, err
	}
	for i := range y {
		tick()
		k := index(i)
		y[i] = float32(float64(q[i]-int64(t.Quant.ZeroAt(k))) * float64(t.Quant.Scale[k]))
	}
	return out, nil
}

// fromReal rounds float32 elements to type t: float types to nearest even (float8 and float4 saturate); quantized
// integers half away from zero after the zero point is added, saturating, NaN to the zero point (docs/abi/ohnn.md,
// operators 4).
func fromReal(x tensor.Tensor, t tensor.Type) (tensor.Tensor, error) {
	if x.DType != tensor.Float32 {
		return x, fault.New(fault.Type, "%v cannot become %v", x.DType, t)
	}
	out := newTensor(t.DType, x.Dims...)
	out.Quant = t.Quant
	f := view[float32](x)
	if t.Quant == nil {
		for i, v := range f {
			tick()
			tensor.PutFloat(t.DType, out.Data, i, float64(v), true)
		}
		return out, nil
	}
	index, err := scaleIndex(out)
	if err != nil {
		return out, err
	}
	lo, hi, err := intRange(t.DType)
	if err != nil {
		return out, err
	}
	for i, v := range f {
		tick()
		k := index(i)
		storeInt(out, i, quantize(float64(v), float64(t.Quant.Scale[k]), float64(t.Quant.ZeroAt(k)), lo, hi))
	}
	return out, nil
}

// quantize returns clamp(round(x/scale + zero)) with halves away from zero; NaN gives the zero point.
func quantize(x, scale, zero, lo, hi float64) int64 {
	v := x/scale + zero
	if math.IsNaN(v) {
		v = zero
	}
	return int64(min(max(math.Round(v), lo), hi))
}

// intRange returns the limits of an integer type of at most 32 bits.
func intRange(d tensor.DType) (lo, hi float64, err error) {
	bits := d.Bits()
	switch {
	case d.IsSigned() && bits <= 32:
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1, nil
	case d.IsUnsigned() && bits <= 32:
		return 0, math.Ldexp(1, bits) - 1, nil
	}
	return 0, 0, fault.New(fault.Type, "%v cannot be quantized", d)
}

// storeInt writes element i of an integer tensor, wrapped to its type.
func storeInt(t tensor.Tensor, i int, v int64) { tensor.PutInt(t.DType, t.Data, i, v) }

// scaleIndex returns the function from an element's position to its scale.
func scaleIndex(t tensor.Tensor) (func(i int) int, error) {
	q := t.Quant
	switch {
	case q == nil || len(q.Scale) == 0:
		return nil, fault.New(fault.Argument, "%v has no scale", t.Type())
	case q.IsPerTensor():
		return func(int) int { return 0 }, nil
	case q.Axis < 0 || q.Axis >= len(t.Dims) || q.Block < 0:
		return nil, fault.New(fault.Shape, "quantization axis %d of %v", q.Axis, t.Type())
	}
	axis, block := q.Axis, q.Block
	size := int(t.Dims[axis])
	want := size
	if block > 0 {
		want = t.Count() / max(size, 1) * (size/block + min(1, size%block))
	}
	if len(q.Scale) != want {
		return nil, fault.New(fault.Shape, "%v has %d scales on axis %d, want %d", t.Type(), len(q.Scale), axis, want)
	}
	return alongAxis(t.Dims, axis, block), nil
}

// alongAxis returns the function from an element's position in a tensor of shape dims to its parameter: the index on
// axis, or, with block > 0, the position in a tensor where each entry serves block neighbours on axis.
func alongAxis(dims []int64, axis, block int) func(i int) int {
	size, inner := int(dims[axis]), 1
	for _, d := range dims[axis+1:] {
		inner *= int(d)
	}
	if block == 0 {
		return func(i int) int { return i / inner % size }
	}
	blocks := size/block + min(1, size%block)
	return func(i int) int { return (i/(inner*size)*blocks+i/inner%size/block)*inner + i%inner }
}
