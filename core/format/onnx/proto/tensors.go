package proto

import (
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// dtypes maps TensorProto.DataType.
var dtypes = map[int64]tensor.DType{
	1: tensor.Float32, 2: tensor.Uint8, 3: tensor.Int8, 4: tensor.Uint16, 5: tensor.Int16, 6: tensor.Int32,
	7: tensor.Int64, 9: tensor.Bool,
	10: tensor.Float16, 11: tensor.Float64, 12: tensor.Uint32, 13: tensor.Uint64, 14: tensor.Complex64,
	15: tensor.Complex128,
	16: tensor.BFloat16, 17: tensor.Float8E4M3FN, 18: tensor.Float8E4M3FNUZ, 19: tensor.Float8E5M2,
	20: tensor.Float8E5M2FNUZ,
	21: tensor.Uint4, 22: tensor.Int4, 23: tensor.Float4E2M1, 24: tensor.Float8E8M0, 25: tensor.Uint2, 26: tensor.Int2,
	27: tensor.Float6E2M3, 28: tensor.Float6E3M2,
}

// StringType is TensorProto.STRING.
const StringType = 8

func DTypeOf(n int64) (tensor.DType, error) {
	if d, ok := dtypes[n]; ok {
		return d, nil
	}
	if n == StringType {
		return 0, fault.New(fault.Unsupported, "tensors of strings are not supported")
	}
	return 0, fault.New(fault.File, "element type %d is none that ONNX has", n)
}

// typeNames are the words of TensorProto.DataType that opset 1 has.
var typeNames = map[string]int64{"FLOAT": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7,
	"STRING": StringType, "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11, "UINT32": 12, "UINT64": 13, "COMPLEX64": 14,
	"COMPLEX128": 15}

// DTypeNamed is DTypeOf of a type's name, as the attributes of opsets 1 to 5 have it.
func DTypeNamed(name string) (tensor.DType, error) {
	if n, ok := typeNames[name]; ok {
		return DTypeOf(n)
	}
	return 0, fault.New(fault.File, "element type %q is none that ONNX has", name)
}

// ElementType returns TensorProto.DataType of an element type; 0 for one that ONNX does not have.
func ElementType(d tensor.DType) int64 {
	for n, t := range dtypes {
		if t == d {
			return n
		}
	}
	return 0
}

// TypeAndSize returns the type of a tensor, checked: sizes that are not negative, a product that fits.
func (t *Tensor) TypeAndSize() (tensor.Type, int64, error) {
	d, err := DTypeOf(t.DType)
	if err != nil {
		return tensor.Type{}, 0, err
	}
	typ := tensor.T(d, t.Dims...)
	size, ok := typ.ByteSize()
	if !ok {
		return typ, 0, fault.New(fault.File, "%v has no size", typ)
	}
	return typ, size, nil
}

// Bytes returns the tensor's elements as the project stores them, and what must be closed after they are copied.
func (t *Tensor) Bytes(folder string, size int64, d tensor.DType) (data []byte, own *Source, err error) {
	count, _ := tensor.Count(t.Dims)
	switch {
	case t.Location == 1:
		own, err := t.externalData(folder, size)
		if err != nil {
			return nil, nil, err
		}
		return own.Data, own, nil
	case t.HasRaw:
		data = t.Raw
	case len(t.Floats) > 0:
		if d == tensor.Complex64 {
			count *= 2
		}
		if int64(len(t.Floats)) == count {
			data = tensor.Float32s(t.Floats...)
		}
	case len(t.Doubles) > 0:
		if d == tensor.Complex128 {
			count *= 2
		}
		if int64(len(t.Doubles)) == count {
			for _, v := range t.Doubles {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			}
		}
	case len(t.Ints) > 0:
		data = packInts(t.Ints, d, count)
	}
	if int64(len(data)) != size {
		return nil, nil, fault.New(fault.File, "%v%v takes %d bytes, the file holds %d", d, t.Dims, size, len(data))
	}
	return data, nil, nil
}

// packInts stores int32_data, int64_data or uint64_data in the element type: one number an element; types of 2 and 4
// bits come packed, one byte a number. It returns nil when the count does not fit.
func packInts(v []int64, d tensor.DType, count int64) []byte {
	six := d.Bits() == 6
	want := count
	if d.Bits() < 8 && !six {
		want, _ = d.ByteSize(count)
	}
	if int64(len(v)) != want {
		return nil
	}
	var b []byte
	if six {
		size, _ := d.ByteSize(count)
		b = make([]byte, size)
		for i, x := range v {
			tensor.PutCode(d, b, i, uint8(x))
		}
		return b
	}
	for _, x := range v {
		switch {
		case d.Bits() <= 8:
			b = append(b, byte(x))
		case d.Bits() == 16:
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		case d.Bits() == 32:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return b
}
