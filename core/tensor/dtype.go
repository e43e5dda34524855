// Package tensor holds what a tensor is: element type, shape, quantization, and, when it is known, its value. It knows
// no operator and no device. Elements lie in row-major order (the last dimension is contiguous), little-endian, without
// padding; types below 8 bits are packed, the first element in the low bits.
package tensor

import "fmt"

// DType is an element type. The numbers are stable: they are written into caches and conformance cases.
type DType uint8

// The element types.
const (
	Invalid        DType = 0
	Bool           DType = 1 // one byte, 0 or 1
	Int8           DType = 2
	Int16          DType = 3
	Int32          DType = 4
	Int64          DType = 5
	Uint8          DType = 6
	Uint16         DType = 7
	Uint32         DType = 8
	Uint64         DType = 9
	Float16        DType = 10
	Float32        DType = 11
	Float64        DType = 12
	BFloat16       DType = 13
	Int4           DType = 14 // two elements a byte
	Uint4          DType = 15 // two elements a byte
	Float8E4M3FN   DType = 16 // no infinity, one NaN per sign
	Float8E4M3FNUZ DType = 17 // no infinity, no negative zero, one NaN
	Float8E5M2     DType = 18
	Float8E5M2FNUZ DType = 19
	Float4E2M1     DType = 20 // two elements a byte
	Complex64      DType = 21
	Complex128     DType = 22
	Uint2          DType = 23 // four elements a byte
	Int2           DType = 24 // four elements a byte
	Float8E8M0     DType = 25 // powers of two and NaN: no sign, no zero, no infinity
	Float6E2M3     DType = 26 // four elements in three bytes
	Float6E3M2     DType = 27 // four elements in three bytes
)

type dtypeInfo struct {
	name string
	bits int
}

var dtypes = [...]dtypeInfo{
	{"invalid", 0}, {"bool", 8}, {"int8", 8}, {"int16", 16}, {"int32", 32}, {"int64", 64}, {"uint8", 8}, {"uint16", 16},
	{"uint32", 32},
	{"uint64", 64}, {"float16", 16}, {"float32", 32}, {"float64", 64}, {"bfloat16", 16}, {"int4", 4}, {"uint4", 4},
	{"float8e4m3fn", 8},
	{"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8}, {"float4e2m1", 4}, {"complex64", 64},
	{"complex128", 128}, {"uint2", 2}, {"int2", 2}, {"float8e8m0", 8}, {"float6e2m3", 6}, {"float6e3m2", 6},
}

// String returns the type's name, e.g. "float32".
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Bits returns the size of one element in bits, 0 for Invalid and unknown numbers.
func (d DType) Bits() int {
	if int(d) < len(dtypes) {
		return dtypes[d].bits
	}
	return 0
}

// Valid reports whether d is one of the element types above other than Invalid.
func (d DType) Valid() bool { return d != Invalid && int(d) < len(dtypes) }

// IsFloat reports whether d is a real floating-point type of any width.
func (d DType) IsFloat() bool {
	switch d {
	case Float16, Float32, Float64, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1,
		Float8E8M0, Float6E2M3, Float6E3M2:
		return true
	}
	return false
}

// IsInt reports whether d is an integer type of any width; Bool is none.
func (d DType) IsInt() bool { return d.IsSigned() || d.IsUnsigned() }

// IsSigned reports whether d is a signed integer type.
func (d DType) IsSigned() bool {
	return d == Int2 || d == Int4 || d == Int8 || d == Int16 || d == Int32 || d == Int64
}

// IsUnsigned reports whether d is an unsigned integer type.
func (d DType) IsUnsigned() bool {
	return d == Uint2 || d == Uint4 || d == Uint8 || d == Uint16 || d == Uint32 || d == Uint64
}

// ByteSize returns how many bytes n elements take, rounded up to whole bytes; ok is false when n is negative or the
// result does not fit.
func (d DType) ByteSize(n int64) (size int64, ok bool) {
	bits := int64(d.Bits())
	if n < 0 || bits == 0 || n > (1<<63-1-7)/bits {
		return 0, false
	}
	return (n*bits + 7) / 8, true
}
