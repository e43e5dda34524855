package numerics

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// tensor is an array in row-major order. Its elements are whatever is exact in float64: reals, integers, codes.
type tensor struct {
	dims []int
	v    []float64
}

func newTensor(dims ...int) tensor { return tensor{dims, make([]float64, count(dims))} }

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// strides are those of a tensor of these dimensions.
func strides(dims []int) []int {
	out := make([]int, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		out[i] = step
		step *= dims[i]
	}
	return out
}

// each calls f with every index of these dimensions, in row-major order, and its number.
func each(dims []int, f func(at []int, i int)) {
	at := make([]int, len(dims))
	for i := range count(dims) {
		f(at, i)
		for d := len(dims) - 1; d >= 0; d-- {
			if at[d]++; at[d] < dims[d] {
				break
			}
			at[d] = 0
		}
	}
}

// permuted has dimension i of x's perm[i].
func (x tensor) permuted(perm ...int) tensor {
	dims := make([]int, len(perm))
	for i, p := range perm {
		dims[i] = x.dims[p]
	}
	y, s := newTensor(dims...), strides(x.dims)
	each(dims, func(at []int, i int) {
		from := 0
		for d, p := range perm {
			from += at[d] * s[p]
		}
		y.v[i] = x.v[from]
	})
	return y
}

// mapped has f of each element.
func (x tensor) mapped(f func(float64) float64) tensor {
	y := newTensor(x.dims...)
	for i, v := range x.v {
		y.v[i] = f(v)
	}
	return y
}

// noise is a sequence of numbers from a seed: splitmix64.
type noise uint64

func (n *noise) next() uint64 {
	*n += 0x9e3779b97f4a7c15
	z := uint64(*n)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is at least 0 and below n.
func (n *noise) below(most int) int { return int(n.next() % uint64(most)) }

// between is an integer of lo to hi.
func (n *noise) between(lo, hi int) int { return lo + n.below(hi-lo+1) }

// integers is a tensor of integers of lo to hi.
func (n *noise) integers(lo, hi int, dims ...int) tensor {
	x := newTensor(dims...)
	for i := range x.v {
		x.v[i] = float64(n.between(lo, hi))
	}
	return x
}

// halfOf rounds to half precision: to the nearest, of two the even one; overflow is infinity.
func halfOf(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	_, exp := math.Frexp(v)
	step := math.Ldexp(1, max(exp-11, -24))
	r := math.RoundToEven(v/step) * step
	if math.Abs(r) > 65504 {
		return math.Inf(1) * math.Copysign(1, v)
	}
	return r
}

// bfloatOf rounds a float32 to bfloat16: to the nearest, of two the even one.
func bfloatOf(v float64) float64 {
	b := math.Float32bits(float32(v))
	if v == v {
		b += 0x7fff + b>>16&1
	}
	return float64(math.Float32frombits(b &^ 0xffff))
}

// elemBytes is the size of an element of a type of the API.
func elemBytes(kind uint32) int { return rknn.ElemSize(kind) }

// encoded are elements of a type of the API as bytes; each element is a value of the type.
func encoded(kind uint32, v []float64) []byte {
	le := binary.LittleEndian
	out := make([]byte, 0, len(v)*elemBytes(kind))
	for _, x := range v {
		switch kind {
		case rknn.Float32:
			out = le.AppendUint32(out, math.Float32bits(float32(x)))
		case rknn.Float16:
			out = le.AppendUint16(out, rknn.Half(float32(x)))
		case rknn.BFloat16:
			out = le.AppendUint16(out, uint16(math.Float32bits(float32(x))>>16))
		case rknn.Int8, rknn.Uint8, rknn.Bool:
			out = append(out, byte(int64(x)))
		case rknn.Int16, rknn.Uint16:
			out = le.AppendUint16(out, uint16(int64(x)))
		case rknn.Int32, rknn.Uint32:
			out = le.AppendUint32(out, uint32(int64(x)))
		case rknn.Int64:
			out = le.AppendUint64(out, uint64(int64(x)))
		default:
			panic(fmt.Sprintf("numerics: no type %d", kind))
		}
	}
	return out
}

// decoded is the inverse of encoded.
func decoded(kind uint32, b []byte) []float64 {
	le := binary.LittleEndian
	size := elemBytes(kind)
	out := make([]float64, len(b)/size)
	for i := range out {
		e := b[i*size:]
		switch kind {
		case rknn.Float32:
			out[i] = float64(math.Float32frombits(le.Uint32(e)))
		case rknn.Float16:
			out[i] = halfNumber(le.Uint16(e))
		case rknn.BFloat16:
			out[i] = float64(math.Float32frombits(uint32(le.Uint16(e)) << 16))
		case rknn.Int8:
			out[i] = float64(int8(e[0]))
		case rknn.Uint8, rknn.Bool:
			out[i] = float64(e[0])
		case rknn.Int16:
			out[i] = float64(int16(le.Uint16(e)))
		case rknn.Uint16:
			out[i] = float64(le.Uint16(e))
		case rknn.Int32:
			out[i] = float64(int32(le.Uint32(e)))
		case rknn.Uint32:
			out[i] = float64(le.Uint32(e))
		case rknn.Int64:
			out[i] = float64(int64(le.Uint64(e)))
		default:
			panic(fmt.Sprintf("numerics: no type %d", kind))
		}
	}
	return out
}

// halfNumber is the number of a half-precision pattern.
func halfNumber(h uint16) float64 {
	m, exp := float64(h&1023), int(h>>10&31)
	v := math.Ldexp(m, -24)
	switch {
	case exp == 31 && m != 0:
		v = math.NaN()
	case exp == 31:
		v = math.Inf(1)
	case exp > 0:
		v = math.Ldexp(1024+m, exp-25)
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}
