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
		out[i] = intAt(d, data, i)
	}
	return out, nil
}

func intAt(d DType, b []byte, i int) int64 {
	switch d {
	case Bool, Uint8:
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
	case Uint4:
		return int64(b[i/2] >> (4 * (i & 1)) & 15)
	case Int4:
		return int64(int8(b[i/2]>>(4*(i&1))<<4) >> 4)
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
