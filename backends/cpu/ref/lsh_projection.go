package ref

import (
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.LSHProjection, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		y, v := newLike[int32](out[0])
		functions, bits := int(in[0].Dims[0]), int(in[0].Dims[1])
		rows, size := int(in[1].Dims[0]), 0
		if rows > 0 {
			size = in[1].Count() * in[1].DType.Bits() / 8 / rows
		}
		key := alloc[byte](4 + size)
		bit := func(seed float32) uint32 {
			binary.LittleEndian.PutUint32(key, math.Float32bits(seed))
			score := 0.0
			for i := range rows {
				tick()
				copy(key[4:], in[1].Data[i*size:(i+1)*size])
				f := float64(int64(fingerprint64(key)))
				if len(in) > 2 && !in[2].Absent() {
					f *= scalarAt(in[2], i).f
				}
				score += f
			}
			if score > 0 {
				return 1
			}
			return 0
		}
		for h := range functions {
			var packed uint32
			for b := range bits {
				tick()
				one := bit(float32(scalarAt(in[0], h*bits+b).f))
				packed = packed<<1 | one
				if o.Form == op.LSHDense {
					v[h*bits+b] = int32(one)
				}
			}
			switch o.Form {
			case op.LSHSparse:
				v[h] = int32(packed + uint32(h)<<bits)
			case op.LSHPlain:
				v[h] = int32(packed)
			}
		}
		return []tensor.Tensor{y}, nil
	})
}
