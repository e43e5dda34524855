package ohnn

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// Return codes that the runner names.
var codeNames = [...]string{"SUCCESS", "FAILED", "INVALID_PARAMETER", "MEMORY_ERROR", "OPERATION_FORBIDDEN", "NULL_PTR", "INVALID_FILE",
	"UNAVALIDABLE_DEVICE", "INVALID_PATH", "TIMEOUT", "UNSUPPORTED", "CONNECTION_EXCEPTION", "SAVE_CACHE_EXCEPTION", "DYNAMIC_SHAPE", "UNAVAILABLE_DEVICE"}

func codeName(c int32) string {
	if c >= 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", c)
}

type dataType struct {
	number int32
	dtype  tensor.DType
}

var dataTypes = map[string]dataType{
	"bool": {1, tensor.Bool}, "int8": {2, tensor.Int8}, "int16": {3, tensor.Int16}, "int32": {4, tensor.Int32}, "int64": {5, tensor.Int64},
	"uint8": {6, tensor.Uint8}, "uint16": {7, tensor.Uint16}, "uint32": {8, tensor.Uint32}, "uint64": {9, tensor.Uint64},
	"float16": {10, tensor.Float16}, "float32": {11, tensor.Float32}, "float64": {12, tensor.Float64},
}

// encode returns the bytes of the numbers in the element type.
func encode(v []Number, d tensor.DType) []byte {
	var b []byte
	for _, n := range v {
		f := float64(n)
		switch {
		case d == tensor.Float16:
			b = binary.LittleEndian.AppendUint16(b, tensor.Float32To16(float32(f)))
		case d == tensor.Float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
		case d == tensor.Float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		case d.Bits() == 8:
			b = append(b, byte(int64(f)))
		case d.Bits() == 16:
			b = binary.LittleEndian.AppendUint16(b, uint16(int64(f)))
		case d.Bits() == 32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int64(f)))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(f)))
		}
	}
	return b
}

// decode is the inverse of encode.
func decode(b []byte, d tensor.DType, n int) ([]float64, error) {
	out := make([]float64, n)
	if size, _ := d.ByteSize(int64(n)); int64(len(b)) < size {
		return nil, fmt.Errorf("%d bytes for %d elements of %v", len(b), n, d)
	}
	switch d {
	case tensor.Float16:
		for i := range out {
			out[i] = float64(tensor.Float16To32(binary.LittleEndian.Uint16(b[2*i:])))
		}
	case tensor.Float32:
		for i := range out {
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case tensor.Float64:
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	default:
		v, err := tensor.ReadInts(d, b, n)
		if err != nil {
			return nil, err
		}
		for i, x := range v {
			out[i] = float64(x)
		}
	}
	return out, nil
}

// compare checks computed values against the expected ones within the case's tolerance.
func (c *Case) compare(got []float64, want []Number, t *Tensor) error {
	float := dataTypes[t.Type].dtype.IsFloat()
	for i, w := range want {
		g, w := got[i], float64(w)
		ok := g == w || math.IsNaN(g) && math.IsNaN(w)
		switch {
		case ok:
		case float && !math.IsInf(w, 0):
			ok = math.Abs(g-w) <= c.Abs+c.Rel*math.Abs(w)
		case t.Quant != nil:
			ok = math.Abs(g-w) <= float64(c.Steps)
		}
		if !ok {
			return fmt.Errorf("element %d: want %v, got %v", i, w, g)
		}
	}
	return nil
}
