// Package numbers is what the cases of suites have for the elements of tensors: numbers in JSON, patterns that stand
// for many of them, and their bytes in an element type.
package numbers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

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
