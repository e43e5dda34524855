package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real|Judging, rotaryEmbedding) }

func rotaryEmbedding(o *op.RotaryEmbedding, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	if empty(out[0]) {
		return zeros(out), nil
	}
	x, cos, sin := reals(in[0]), reals(in[1]), reals(in[2])
	heads := newHeads(in[0].Dims, o.Heads)
	var ids []int64
	if len(in) > 3 && !in[3].Absent() {
		v, err := intsOf(in[3])
		if err != nil {
			return nil, err
		}
		ids = v
	}
	half := int(in[1].Dims[len(in[1].Dims)-1])
	y, put := realStore(out[0])
	for b := range heads.batch {
		for t := range heads.length {
			row := b*heads.length + t
			if ids != nil {
				if ids[row] < 0 || ids[row] >= in[1].Dims[0] {
					return nil, fault.New(fault.Data, "input 3: position %d is outside %d", ids[row], in[1].Dims[0])
				}
				row = int(ids[row])
			}
			for h := range heads.heads {
				at := heads.at(b, h, t)
				for i := 2 * half; i < heads.features; i++ {
					tick()
					put(at+i, x[at+i])
				}
				for i := range half {
					tick()
					c, s := cos[row*half+i], sin[row*half+i]
					first, second := at+i, at+half+i
					if o.Interleaved {
						first, second = at+2*i, at+2*i+1
					}
					put(first, c*x[first]-s*x[second])
					put(second, s*x[first]+c*x[second])
				}
			}
		}
	}
	return []tensor.Tensor{y}, nil
}

// heads are the sizes of a tensor [batch, heads, length, features], or packed [batch, length, heads*features].
type heads struct {
	batch, heads, length, features int
	packed                         bool
}

func newHeads(dims []int64, n int64) heads {
	if len(dims) == 3 {
		return heads{int(dims[0]), int(n), int(dims[1]), int(dims[2] / n), true}
	}
	return heads{int(dims[0]), int(dims[1]), int(dims[2]), int(dims[3]), false}
}

// at is the position of the first feature of head h at time t of batch b.
func (z heads) at(b, h, t int) int {
	if z.packed {
		return ((b*z.length+t)*z.heads + h) * z.features
	}
	return ((b*z.heads+h)*z.length + t) * z.features
}
