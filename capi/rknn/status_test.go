package rknn

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// TestStatus_null: NULL for a context is no context, NULL for another pointer a bad parameter, in the same words.
func TestStatus_null(t *testing.T) {
	context, pointer := fault.Wrap(handle.ErrNull, "context"), fault.Wrap(boundary.ErrNullPointer, "attr")
	assert.Equal(t, spec.ErrContext, status(context))
	assert.Equal(t, spec.ErrParam, status(pointer))
	assert.Equal(t, "context: NULL", context.Error())
	assert.Equal(t, "attr: NULL", pointer.Error())
}
