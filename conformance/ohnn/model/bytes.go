package model

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// A DataType is an OH_NN_DataType: its number and what it is.
type DataType struct {
	Number int32
	DType  tensor.DType
}

// DataTypes are the element types by the names that cases use.
var DataTypes = map[string]DataType{
	"bool": {1, tensor.Bool}, "int8": {2, tensor.Int8}, "int16": {3, tensor.Int16}, "int32": {4, tensor.Int32},
	"int64": {5, tensor.Int64},
	"uint8": {6, tensor.Uint8}, "uint16": {7, tensor.Uint16}, "uint32": {8, tensor.Uint32}, "uint64": {9, tensor.Uint64},
	"float16": {10, tensor.Float16}, "float32": {11, tensor.Float32}, "float64": {12, tensor.Float64},
}

// Encode returns the bytes of the numbers in the element type.
func Encode(v []Number, d tensor.DType) []byte {
	var b []byte
	for _, n := range v {
		f := n.Real
		switch {
		case d == tensor.Float16:
			b = binary.LittleEndian.AppendUint16(b, tensor.Float32To16(float32(f)))
		case d == tensor.Float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
		case d == tensor.Float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		case d.Bits() == 8:
			b = append(b, byte(n.Int))
		case d.Bits() == 16:
			b = binary.LittleEndian.AppendUint16(b, uint16(n.Int))
		case d.Bits() == 32:
			b = binary.LittleEndian.AppendUint32(b, uint32(n.Int))
		default:
			b = binary.LittleEndian.AppendUint64(b, n.Int)
		}
	}
	return b
}

// Decode is the inverse of Encode.
func Decode(b []byte, d tensor.DType, n int) ([]Number, error) {
	out := make([]Number, n)
	if size, _ := d.ByteSize(int64(n)); int64(len(b)) < size {
		return nil, fmt.Errorf("%d bytes for %d elements of %v", len(b), n, d)
	}
	for i := range out {
		switch d {
		case tensor.Float16:
			out[i] = Real(float64(tensor.Float16To32(binary.LittleEndian.Uint16(b[2*i:]))))
		case tensor.Float32:
			out[i] = Real(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
		case tensor.Float64:
			out[i] = Real(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		case tensor.Bool: // the byte itself: a result must be 0 or 1
			out[i] = Int(int64(b[i]))
		case tensor.Uint64:
			u := binary.LittleEndian.Uint64(b[8*i:])
			out[i] = Number{float64(u), u}
		default:
			v, err := tensor.ReadInts(d, b, n)
			if err != nil {
				return nil, err
			}
			for k, x := range v {
				out[k] = Int(x)
			}
			return out, nil
		}
	}
	return out, nil
}
