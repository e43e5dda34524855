package rknn

/*
#include <stdint.h>

#include "../boundary/boundary.h"

static int32_t op_call(uintptr_t f, uintptr_t op, uintptr_t in, uint32_t n_in, uintptr_t out, uint32_t n_out)
{
	int inside = anynpu_out();
	int32_t code = ((int (*)(void *, void *, uint32_t, void *, uint32_t))f)((void *)op, (void *)in, n_in, (void *)out,
		n_out);
	anynpu_back(inside);
	return code;
}

static int32_t op_end(uintptr_t f, uintptr_t op)
{
	int inside = anynpu_out();
	int32_t code = ((int (*)(void *))f)((void *)op);
	anynpu_back(inside);
	return code;
}
*/
import "C"

import (
	"github.com/anynpu/anynpu/capi/boundary"
)

// callOp calls a program's init, prepare or compute function.
func callOp(function, context uintptr, in, out *tensorArray) (code int32) {
	boundary.InProgram(func() {
		code = int32(C.op_call(C.uintptr_t(function), C.uintptr_t(context), C.uintptr_t(in.block.Addr()), C.uint32_t(in.n),
			C.uintptr_t(out.block.Addr()), C.uint32_t(out.n)))
	})
	return code
}

// callEnd calls a program's destroy function.
func callEnd(function, context uintptr) (code int32) {
	boundary.InProgram(func() { code = int32(C.op_end(C.uintptr_t(function), C.uintptr_t(context))) })
	return code
}

// tensorArray is an array of rknn_custom_op_tensor in C memory.
type tensorArray struct {
	block boundary.Block
	n     int
}
