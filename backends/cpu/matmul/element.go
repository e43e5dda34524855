package matmul

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// load widens n elements of o from an index on.
func load(dst []float32, o *matrix.Operand, index, n int) {
	dst = dst[:n]
	switch o.Type {
	case tensor.Float16:
		kernel.HalfToFloat(dst, mem.Elements[uint16](o.Data[2*index:])[:n])
	case tensor.Int8:
		kernel.DequantizeS8(dst, mem.Elements[int8](o.Data[index:])[:n], 1, 0)
	case tensor.Int4:
		loadNibbles(dst, o.Data, index)
	}
}

// nibbles are the values of both halves of a byte.
var nibbles = func() (t [256][2]float32) {
	for i := range t {
		t[i] = [2]float32{float32(int8(i<<4) >> 4), float32(int8(i) >> 4)}
	}
	return t
}()

func loadNibbles(dst []float32, data []byte, index int) {
	if index%2 == 1 && len(dst) > 0 {
		dst[0] = nibbles[data[index/2]][1]
		dst, index = dst[1:], index+1
	}
	src := data[index/2:]
	for i := range len(dst) / 2 {
		v := &nibbles[src[i]]
		dst[2*i], dst[2*i+1] = v[0], v[1]
	}
	if last := len(dst) - 1; last%2 == 0 {
		dst[last] = nibbles[src[last/2]][0]
	}
}

// store rounds sums to the type of p.C. scale holds the factors that remain, one per column.
func store(p *matrix.Product, index int, sums, scale []float64) {
	switch p.C.Type {
	case tensor.Int32:
		put(mem.Elements[int32](p.C.Data[4*index:])[:len(sums)], sums, func(v float64, _ int) int32 {
			return int32(min(max(v, math.MinInt32), math.MaxInt32))
		})
	case tensor.Int16:
		put(mem.Elements[int16](p.C.Data[2*index:])[:len(sums)], sums, func(v float64, _ int) int16 {
			return int16(min(max(v, math.MinInt16), math.MaxInt16))
		})
	case tensor.Int8:
		put(mem.Elements[int8](p.C.Data[index:])[:len(sums)], sums,
			func(v float64, i int) int8 { return requantize(p, v, scale[i]) })
	case tensor.Float32:
		put(mem.Elements[float32](p.C.Data[4*index:])[:len(sums)], sums,
			func(v float64, i int) float32 { return float32(v * scale[i]) })
	case tensor.Float16:
		storeHalf(mem.Elements[uint16](p.C.Data[2*index:])[:len(sums)], sums, scale)
	case tensor.BFloat16:
		put(mem.Elements[uint16](p.C.Data[2*index:])[:len(sums)], sums, func(v float64, i int) uint16 {
			return tensor.Float32ToBFloat16(toOdd(v * scale[i]))
		})
	}
}

func storeHalf(dst []uint16, sums, scale []float64) {
	var odd [256]float32
	for i := 0; i < len(sums); i += len(odd) {
		n := min(len(odd), len(sums)-i)
		for k := range n {
			odd[k] = toOdd(sums[i+k] * scale[i+k])
		}
		kernel.FloatToHalf(dst[i:][:n], odd[:n])
	}
}

// requantize gives C Int8 of a sum, with the scale of B that belongs to the column.
func requantize(p *matrix.Product, sum, scaleB float64) int8 {
	var r float32
	if p.Grouped() {
		r = float32(float64(p.ScaleA)*sum) / p.ScaleC
	} else {
		r = float32(sum) * p.ScaleA
		r *= float32(scaleB)
		r /= p.ScaleC
	}
	if r != r {
		r = 0
	}
	return int8(min(max(math.RoundToEven(float64(r))+float64(p.ZeroC), math.MinInt8), math.MaxInt8))
}

// scaleOf returns the factor that remains for the sum of column n.
func scaleOf(p *matrix.Product, n int) float64 {
	switch {
	case p.C.Type == tensor.Int8 && !p.Grouped():
		return float64(p.ScaleAt(0, n))
	case p.Grouped():
		return float64(p.ScaleA)
	}
	return float64(p.ScaleA) * float64(p.ScaleAt(0, n))
}

func put[T any](dst []T, sums []float64, value func(v float64, i int) T) {
	for i, v := range sums {
		dst[i] = value(v, i)
	}
}

// toOdd rounds to a float32 whose last bit is set when anything was lost, so that rounding it again to fewer bits is
// rounding once.
func toOdd(v float64) float32 {
	f := float32(v)
	if float64(f) == v || v != v || math.IsInf(float64(f), 0) {
		return f
	}
	b := math.Float32bits(f)
	switch {
	case b&1 == 1:
		return f
	case math.Abs(v) > math.Abs(float64(f)):
		return math.Float32frombits(b + 1)
	}
	return math.Float32frombits(b - 1)
}
