package ref

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(_ *op.Assert, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		for i, c := range in[0].Data[:in[0].Count()] {
			if c == 0 {
				return nil, fault.New(fault.Data, "input 0: element %d of %v is false%s", i, in[0].Type(), shown(in[1:]))
			}
		}
		return sameOrder(in, out)
	})
}

// shown lists the first elements of tensors for an error.
func shown(ts []tensor.Tensor) string {
	s := ""
	for _, t := range ts {
		if t.Absent() || !(t.DType.IsInt() || t.DType.IsFloat() || t.DType == tensor.Bool) {
			continue
		}
		v := make([]float64, min(t.Count(), 4))
		for i := range v {
			v[i] = scalarAt(t, i).float()
		}
		s += fmt.Sprintf("; %v %v", t.Type(), v)
	}
	return s
}
