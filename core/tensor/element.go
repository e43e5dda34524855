package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
)

// ReadInts decodes n elements of an integer type or Bool. It fails for other types and when data is too short.
func ReadInts(d DType, data []byte, n int) ([]int64, error) {
	size, ok := d.ByteSize(int64(n))
	if !ok || int64(len(data)) < size || !(d.IsInt() || d == Bool) {
		return nil, fmt.Errorf("cannot read %d %v from %d bytes", n, d, len(data))
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = IntAt(d, data, i)
	}
	return out, nil
}

// IntAt decodes element i of an integer type or Bool; a uint64 is returned as the int64 of the same bits. Other types
// give 0.
func IntAt(d DType, b []byte, i int) int64 {
	switch d {
	case Bool:
		if b[i] != 0 {
			return 1
		}
		return 0
	case Uint8:
		return int64(b[i])
	case Int8:
		return int64(int8(b[i]))
	case Int16:
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case Uint16:
		return int64(binary.LittleEndian.Uint16(b[2*i:]))
	case Int32:
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	case Uint32:
		return int64(binary.LittleEndian.Uint32(b[4*i:]))
	case Int64, Uint64:
		return int64(binary.LittleEndian.Uint64(b[8*i:]))
	case Uint4, Uint2:
		return int64(Code(d, b, i))
	case Int4, Int2:
		unused := 8 - d.Bits()
		return int64(int8(Code(d, b, i)<<unused) >> unused)
	}
	return 0
}

// Int32s returns the bytes of an int32 tensor with the values v.
func Int32s(v ...int32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// Int64s returns the bytes of an int64 tensor with the values v.
func Int64s(v ...int64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// Float32s returns the bytes of a float32 tensor with the values v.
func Float32s(v ...float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// ReadFloat32s decodes n float32 elements.
func ReadFloat32s(data []byte, n int) ([]float32, error) {
	if n < 0 || len(data)/4 < n {
		return nil, fmt.Errorf("cannot read %d float32 from %d bytes", n, len(data))
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out, nil
}

// PutInt writes v, wrapped to the element type, as element i of a tensor of an integer type or Bool (v != 0). Other
// types are ignored.
func PutInt(d DType, data []byte, i int, v int64) {
	switch d {
	case Bool:
		data[i] = 0
		if v != 0 {
			data[i] = 1
		}
	case Int8, Uint8:
		data[i] = byte(v)
	case Int16, Uint16:
		binary.LittleEndian.PutUint16(data[2*i:], uint16(v))
	case Int32, Uint32:
		binary.LittleEndian.PutUint32(data[4*i:], uint32(v))
	case Int64, Uint64:
		binary.LittleEndian.PutUint64(data[8*i:], uint64(v))
	case Int4, Uint4, Int2, Uint2:
		PutCode(d, data, i, byte(v))
	}
}

// IntLimits returns the smallest and the largest value of an integer type or Bool; the largest uint64 is not
// representable and given as math.MaxInt64. Other types give 0, 0.
func IntLimits(d DType) (lo, hi int64) {
	bits := d.Bits()
	switch {
	case d == Bool:
		return 0, 1
	case d == Uint64:
		return 0, math.MaxInt64
	case d.IsSigned():
		return -1 << (bits - 1), 1<<(bits-1) - 1
	case d.IsUnsigned():
		return 0, 1<<bits - 1
	}
	return 0, 0
}

// FloatAt decodes element i of any float type; exact. Other types give NaN.
func FloatAt(d DType, b []byte, i int) float64 {
	switch d {
	case Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	case Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	case Float16:
		return float64(Float16To32(binary.LittleEndian.Uint16(b[2*i:])))
	case BFloat16:
		return float64(BFloat16To32(binary.LittleEndian.Uint16(b[2*i:])))
	case Float8E8M0:
		return powerOf(b[i])
	}
	return float64(SmallFloatTo32(d, Code(d, b, i)))
}

// PutFloat writes v as element i of a tensor of any float type, rounding once to nearest, ties to even, those of
// Float8E8M0 up. saturate acts as in Float32ToSmall and ToPower; float16, bfloat16 and wider types become infinite
// instead. Other types are ignored.
func PutFloat(d DType, data []byte, i int, v float64, saturate bool) {
	switch d {
	case Float32:
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(v)))
	case Float64:
		binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(v))
	case Float16:
		binary.LittleEndian.PutUint16(data[2*i:], Float32To16(oddFloat32(v)))
	case BFloat16:
		binary.LittleEndian.PutUint16(data[2*i:], Float32ToBFloat16(oddFloat32(v)))
	case Float8E8M0:
		data[i] = ToPower(v, PowerNearest, saturate)
	case Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1, Float6E2M3, Float6E3M2:
		PutCode(d, data, i, Float32ToSmall(d, oddFloat32(v), saturate))
	}
}

// oddFloat32 rounds v to float32 such that a second rounding to a narrower format gives what rounding v at once would:
// an inexact result is the neighbour with an odd last bit.
func oddFloat32(v float64) float32 {
	f := float32(v)
	if float64(f) == v || math.IsNaN(v) || math.IsInf(v, 0) {
		return f
	}
	if math.Abs(float64(f)) > math.Abs(v) {
		f = math.Nextafter32(f, 0)
	}
	return math.Float32frombits(math.Float32bits(f) | 1)
}

// ReadFloats decodes n elements of any float type. It fails for other types and when data is too short.
func ReadFloats(d DType, data []byte, n int) ([]float64, error) {
	size, ok := d.ByteSize(int64(n))
	if !ok || int64(len(data)) < size || !d.IsFloat() {
		return nil, fmt.Errorf("cannot read %d %v from %d bytes", n, d, len(data))
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = FloatAt(d, data, i)
	}
	return out, nil
}
