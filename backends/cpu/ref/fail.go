package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native|Judging, func(o *op.Fail, _ []tensor.Tensor, _ []tensor.Type) ([]tensor.Tensor, error) {
		return nil, o.Err()
	})
}
