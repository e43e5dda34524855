package rknn

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// targetCPU is RKNN_TARGET_TYPE_CPU, skipCompute RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE, which a program's init function
// may return.
const (
	targetCPU   uint32 = 1
	skipCompute int32  = -14
)

// CustomOp is rknn_custom_op: what a program registers. The functions are addresses, 0 where there is none.
type CustomOp struct {
	_          uint32 // version
	target     uint32
	opType     [spec.MaxNameLen]byte
	_          [spec.MaxNameLen]byte // cl_kernel_name
	_          uintptr               // cl_kernel_source
	_          uint64                // cl_source_size
	_          [spec.MaxNameLen]byte // cl_build_options
	initialize uintptr
	prepare    uintptr
	compute    uintptr
	_          uintptr // compute_native
	destroy    uintptr
}

// CustomOpContext is rknn_custom_op_context. id is internal_ctx, by which the operator is found.
type CustomOpContext struct {
	target uint32
	id     uint64
	_      [3]uintptr // gpu_ctx
	_      uintptr    // priv_data, the program's
}

// CustomOpTensor is rknn_custom_op_tensor.
type CustomOpTensor struct {
	attr spec.TensorAttr
	mem  spec.TensorMem
}

// CustomOpAttr is rknn_custom_op_attr.
type CustomOpAttr struct {
	name  [spec.MaxNameLen]byte
	kind  spec.Type
	elems uint32
	data  uintptr
}

// opState is one node of a context that a program's functions compute: the rknn_custom_op_context that they get
// (section 8).
type opState struct {
	handle.Ref
	registered CustomOp
	node       *op.Custom
	label      string // for messages
	id         uint64
	block      boundary.Block // the CustomOpContext
	attrs      map[string]*opAttr
	invoke     func(function, context uintptr, in, out *tensorArray) int32 // calls a function of the program
}

// opAttr is an attribute in C memory.
type opAttr struct {
	kind  spec.Type
	elems uint32
	data  boundary.Block
}
