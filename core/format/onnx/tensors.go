package onnx

import (
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// dtypes maps TensorProto.DataType.
var dtypes = map[int64]tensor.DType{
	1: tensor.Float32, 2: tensor.Uint8, 3: tensor.Int8, 4: tensor.Uint16, 5: tensor.Int16, 6: tensor.Int32, 7: tensor.Int64, 9: tensor.Bool,
	10: tensor.Float16, 11: tensor.Float64, 12: tensor.Uint32, 13: tensor.Uint64, 14: tensor.Complex64, 15: tensor.Complex128,
	16: tensor.BFloat16, 17: tensor.Float8E4M3FN, 18: tensor.Float8E4M3FNUZ, 19: tensor.Float8E5M2, 20: tensor.Float8E5M2FNUZ,
	21: tensor.Uint4, 22: tensor.Int4, 23: tensor.Float4E2M1,
}

// stringType is TensorProto.STRING.
const stringType = 8

func dtypeOf(n int64) (tensor.DType, error) {
	if d, ok := dtypes[n]; ok {
		return d, nil
	}
	if n == stringType {
		return 0, fault.New(fault.Unsupported, "strings")
	}
	return 0, fault.New(fault.File, "element type %d", n)
}

// tensorType returns the type of a tensor, checked: sizes that are not negative, a product that fits.
func (t *tensorProto) tensorType() (tensor.Type, int64, error) {
	d, err := dtypeOf(t.dtype)
	if err != nil {
		return tensor.Type{}, 0, err
	}
	typ := tensor.T(d, t.dims...)
	size, ok := typ.ByteSize()
	if !ok {
		return typ, 0, fault.New(fault.File, "%v has no size", typ)
	}
	return typ, size, nil
}

// bytes returns the tensor's elements as the project stores them, and what must be closed after they are copied.
func (im *importer) bytes(t *tensorProto, size int64, d tensor.DType) (data []byte, own *source, err error) {
	count, _ := tensor.Count(t.dims)
	switch {
	case t.location == 1:
		own, err := im.externalData(t, size)
		if err != nil {
			return nil, nil, err
		}
		return own.data, own, nil
	case t.hasRaw:
		data = t.raw
	case len(t.floats) > 0:
		if d == tensor.Complex64 {
			count *= 2
		}
		if int64(len(t.floats)) == count {
			data = tensor.Float32s(t.floats...)
		}
	case len(t.doubles) > 0:
		if d == tensor.Complex128 {
			count *= 2
		}
		if int64(len(t.doubles)) == count {
			for _, v := range t.doubles {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			}
		}
	case len(t.ints) > 0:
		data = packInts(t.ints, d, count)
	}
	if int64(len(data)) != size {
		return nil, nil, fault.New(fault.File, "%v%v takes %d bytes, the file holds %d", d, t.dims, size, len(data))
	}
	return data, nil, nil
}

// packInts stores int32_data, int64_data or uint64_data in the element type: one number an element; types below 8 bits come packed, one
// byte a number. It returns nil when the count does not fit.
func packInts(v []int64, d tensor.DType, count int64) []byte {
	want := count
	if d.Bits() < 8 {
		want, _ = d.ByteSize(count)
	}
	if int64(len(v)) != want {
		return nil
	}
	var b []byte
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

// constant copies a tensor of the file into the weight store and makes it a value.
func (sc *scope) constant(t *tensorProto) (graph.Value, error) {
	return sc.constantAs(t, nil)
}

// constantAs is constant with the dimensions in the order perm, nil for as they are. The original is not kept.
func (sc *scope) constantAs(t *tensorProto, perm []int) (graph.Value, error) {
	typ, size, err := t.tensorType()
	if err != nil {
		return graph.None, err
	}
	data, own, err := sc.im.bytes(t, size, typ.DType)
	if err != nil {
		return graph.None, err
	}
	if own != nil {
		defer own.close()
	}
	if perm != nil {
		scratch, err := mem.Host(max(size, 1), mem.Options{})
		if err != nil {
			return graph.None, err
		}
		defer scratch.Release()
		to, err := scratch.Map()
		if err != nil {
			return graph.None, err
		}
		dims := permute(to[:size], data, t.dims, perm, typ.DType.Bits()/8)
		data, typ = to[:size], tensor.T(typ.DType, dims...)
	}
	h := tensor.HashOf(data)
	kept, err := sc.im.opt.Weights.Add(h, data)
	if err != nil {
		return graph.None, err
	}
	if t.hasRaw && (perm == nil || sc.uses[t.name] == 1) {
		sc.im.src.done(t.raw)
	}
	v := sc.b.ConstOf(t.name, typ, tensor.NewHashedConst(kept, h))
	return v, sc.b.Err()
}

// permute copies elements of width bytes from src with sizes dims to dst with the dimensions in the order perm, and returns the new sizes.
func permute(dst, src []byte, dims []int64, perm []int, width int) []int64 {
	strides := tensor.RowMajor(dims)
	out := make([]int64, len(perm))
	step := make([]int, len(perm))
	for i, p := range perm {
		out[i] = dims[p]
		step[i] = int(strides[p]) * width
	}
	if len(dst) == 0 {
		return out
	}
	at := make([]int64, len(perm))
	pos := 0
	for d := 0; d < len(dst); d += width {
		copy(dst[d:d+width], src[pos:])
		for k := len(at) - 1; k >= 0; k-- {
			at[k]++
			pos += step[k]
			if at[k] < out[k] {
				break
			}
			pos -= step[k] * int(out[k])
			at[k] = 0
		}
	}
	return out
}
