package convert

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Code maps integers to real numbers: real = (q - Zero) x Scale.
type Code struct {
	Scale float32
	Zero  int64
}

// CodeOf returns the code of a tensor with one scale, nil where it has none or several.
func CodeOf(q *tensor.Quant) *Code {
	if q == nil || !q.IsPerTensor() {
		return nil
	}
	return &Code{q.Scale[0], int64(q.ZeroAt(0))}
}

// Codes says which code belongs to which element: that at position i has Of[i/Inner%len(Of)].
type Codes struct {
	Of    []Code
	Inner int // at least 1
}

// PerTensor is one code for all elements.
func PerTensor(c Code) *Codes { return &Codes{[]Code{c}, 1} }

// at is the code of the element at a position, and how many elements from there on share it.
func (c *Codes) at(i int) (code Code, run int) {
	if len(c.Of) == 1 {
		return c.Of[0], math.MaxInt
	}
	return c.Of[i/c.Inner%len(c.Of)], c.Inner - i%c.Inner
}

// runs calls f for every stretch of one code among n elements from position first on.
func (c *Codes) runs(first, n int, f func(from, to int, code Code)) {
	for i := 0; i < n; {
		code, run := c.at(first + i)
		k := min(run, n-i)
		f(i, i+k, code)
		i += k
	}
}

// short reports whether codes change so often that calls of kernels do not pay.
func (c *Codes) short() bool { return len(c.Of) > 1 && c.Inner < 32 }

// Codable reports whether numbers can become codes of type d: integers of 8 to 32 bits.
func Codable(d tensor.DType) bool {
	return d.IsInt() && Plain(d) && d.Bits() <= 32
}

// Quantize encodes numbers as codes, the first of them being at position first of a tensor: round(x / scale) + zero,
// ties to even, with a quotient of float32, saturated; NaN gives the zero point.
func Quantize(dst []byte, d tensor.DType, src []float32, c *Codes, first int) {
	n := len(src)
	switch d {
	case tensor.Uint8:
		if c.short() {
			round(dst[:n], src, c, first, 0, math.MaxUint8)
			return
		}
		c.runs(first, n, func(i, k int, code Code) { kernels.QuantizeU8(dst[i:k], src[i:k], code.Scale, int(code.Zero)) })
	case tensor.Int8:
		if c.short() {
			round(mem.Elements[int8](dst)[:n], src, c, first, math.MinInt8, math.MaxInt8)
			return
		}
		c.runs(first, n, func(i, k int, code Code) {
			kernels.QuantizeS8(mem.Elements[int8](dst)[i:k], src[i:k], code.Scale, int(code.Zero))
		})
	case tensor.Int16:
		round(mem.Elements[int16](dst)[:n], src, c, first, math.MinInt16, math.MaxInt16)
	case tensor.Uint16:
		round(mem.Elements[uint16](dst)[:n], src, c, first, 0, math.MaxUint16)
	case tensor.Int32:
		round(mem.Elements[int32](dst)[:n], src, c, first, math.MinInt32, math.MaxInt32)
	case tensor.Uint32:
		round(mem.Elements[uint32](dst)[:n], src, c, first, 0, math.MaxUint32)
	}
}

func round[T integer](dst []T, src []float32, c *Codes, first int, lo, hi float64) {
	for i := 0; i < len(src); {
		code, run := c.at(first + i)
		zero := float64(code.Zero)
		end := i + min(run, len(src)-i)
		for ; i < end; i++ {
			v := math.RoundToEven(float64(src[i] / code.Scale))
			if v != v {
				v = 0
			}
			dst[i] = T(int64(min(max(v+zero, lo), hi)))
		}
	}
}

// QuantizeAway is Quantize with the rounding of op.Convert: x / scale + zero in float64, halves away from zero.
func QuantizeAway(dst []byte, d tensor.DType, src []float32, c *Codes, first int) {
	n := len(src)
	switch d {
	case tensor.Uint8:
		away(dst[:n], src, c, first, 0, math.MaxUint8)
	case tensor.Int8:
		away(mem.Elements[int8](dst)[:n], src, c, first, math.MinInt8, math.MaxInt8)
	case tensor.Int16:
		away(mem.Elements[int16](dst)[:n], src, c, first, math.MinInt16, math.MaxInt16)
	case tensor.Uint16:
		away(mem.Elements[uint16](dst)[:n], src, c, first, 0, math.MaxUint16)
	case tensor.Int32:
		away(mem.Elements[int32](dst)[:n], src, c, first, math.MinInt32, math.MaxInt32)
	case tensor.Uint32:
		away(mem.Elements[uint32](dst)[:n], src, c, first, 0, math.MaxUint32)
	}
}

func away[T integer](dst []T, src []float32, c *Codes, first int, lo, hi float64) {
	for i := 0; i < len(src); {
		code, run := c.at(first + i)
		scale, zero := float64(code.Scale), float64(code.Zero)
		end := i + min(run, len(src)-i)
		for ; i < end; i++ {
			v := float64(src[i])/scale + zero
			if v != v {
				v = zero
			}
			r := math.Trunc(v)
			if math.Abs(v-r) >= 0.5 {
				r += math.Copysign(1, v)
			}
			dst[i] = T(int64(min(max(r, lo), hi)))
		}
	}
}

// Dequantize decodes codes, the first of them being at position first of a tensor: (q - zero) x scale, the difference
// exact, the product rounded to float32.
func Dequantize(dst []float32, d tensor.DType, src []byte, c *Codes, first int) {
	n := len(dst)
	switch d {
	case tensor.Uint8:
		if c.short() {
			reals(dst, src[:n], c, first)
			return
		}
		c.runs(first, n, func(i, k int, code Code) { kernels.DequantizeU8(dst[i:k], src[i:k], code.Scale, int32(code.Zero)) })
	case tensor.Int8:
		q := mem.Elements[int8](src)[:n]
		if c.short() {
			reals(dst, q, c, first)
			return
		}
		c.runs(first, n, func(i, k int, code Code) { kernels.DequantizeS8(dst[i:k], q[i:k], code.Scale, int32(code.Zero)) })
	case tensor.Int16:
		reals(dst, mem.Elements[int16](src)[:n], c, first)
	case tensor.Uint16:
		reals(dst, mem.Elements[uint16](src)[:n], c, first)
	case tensor.Int32:
		reals(dst, mem.Elements[int32](src)[:n], c, first)
	case tensor.Uint32:
		reals(dst, mem.Elements[uint32](src)[:n], c, first)
	}
}

func reals[T integer](dst []float32, src []T, c *Codes, first int) {
	for i := 0; i < len(src); {
		code, run := c.at(first + i)
		scale := float64(code.Scale)
		end := i + min(run, len(src)-i)
		for ; i < end; i++ {
			dst[i] = float32(float64(int64(src[i])-code.Zero) * scale)
		}
	}
}
