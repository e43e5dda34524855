package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(_ *op.HashtableLookup, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		lookups, err := intsOf(in[0])
		if err != nil {
			return nil, err
		}
		keys, err := intsOf(in[1])
		if err != nil {
			return nil, err
		}
		admit(int64(len(keys)) * 48)
		rows := make(map[int64]int, len(keys))
		for row, key := range keys {
			tick()
			if _, taken := rows[key]; !taken {
				rows[key] = row
			}
		}
		y, hits := like(out[0]), like(out[1])
		size := 1
		for _, d := range in[2].Dims[1:] {
			size *= int(d)
		}
		for k, key := range lookups {
			tick()
			if row, found := rows[key]; found {
				move(y, k*size, in[2], row*size, size)
				hits.Data[k] = 1
			}
		}
		return []tensor.Tensor{y, hits}, nil
	})
}
