package rknn

import (
	"errors"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// aliveContext refuses a handle that is no living context, of a model or of a matrix product.
func aliveContext(name string, h uintptr) error {
	if h == 0 {
		return fault.Wrap(handle.ErrNull, "%s", name)
	}
	_, err := handle.Hold[Context](h)
	if errors.Is(err, handle.ErrKind) {
		_, err = handle.Hold[Matmul](h)
	}
	if err != nil {
		return fault.Wrap(err, "%s: %#x", name, h)
	}
	handle.Unhold(h)
	return nil
}
