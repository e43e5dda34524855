package main

/*
#include <string.h>
#include <rknn_custom_op.h>

extern int goRelu(rknn_custom_op_context *, rknn_custom_op_tensor *, uint32_t, rknn_custom_op_tensor *, uint32_t);

static int register_relu(rknn_context ctx)
{
	rknn_custom_op op;
	memset(&op, 0, sizeof op);
	op.version = 1;
	op.target = RKNN_TARGET_TYPE_CPU;
	strcpy(op.op_type, "Relu");
	op.compute = goRelu;
	return rknn_register_custom_ops(ctx, &op, 1);
}
*/
import "C"

// register has goRelu compute every Relu of the model.
func register(ctx C.rknn_context) error {
	return check("rknn_register_custom_ops", C.register_relu(ctx))
}
