/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * RKNN without memory (starve.h).
 */
#include <rknn_api.h>
#include <rknn_matmul_api.h>
#include <rknn_custom_op.h>

#include "starve_onnx.h"

#define FLOATS ((int64_t)(WISH / 4))

static const struct starve_function starve_functions[] = {
#define FUNCTION(name, status) {#name, status},
#include "zfunctions_rknn.h"
};

static rknn_context context_of(struct rknn_message model)
{
	rknn_context context = 0;
	DEMAND(rknn_init(&context, model.bytes, (uint32_t)model.size, 0, NULL) == RKNN_SUCC);
	return context;
}

/* A context of y = Relu(x) with x of WISH bytes. */
static rknn_context long_context(void)
{
	const int64_t dims[] = {1, FLOATS};
	return context_of(rknn_relu(dims, 2));
}

static rknn_context small_context(void)
{
	const int64_t dims[] = {1, 4};
	return context_of(rknn_relu(dims, 2));
}

static int init(void)
{
	rknn_context context = 0;
	char *path = starve_text();
	starve();
	return rknn_init(&context, path, 0, 0, NULL);
}

static int init_heavy(void)
{
	rknn_context context = 0;
	size_t size = 0;
	void *model = (void *)starve_heavy(&size);
	starve();
	return rknn_init(&context, model, (uint32_t)size, 0, NULL);
}

static int set_input(rknn_context context, uint32_t index, void *data, size_t size)
{
	rknn_input in;
	memset(&in, 0, sizeof in);
	in.index = index;
	in.buf = data;
	in.size = (uint32_t)size;
	in.type = RKNN_TENSOR_FLOAT32;
	in.fmt = RKNN_TENSOR_UNDEFINED;
	return rknn_inputs_set(context, 1, &in);
}

static int inputs_set(void)
{
	rknn_context context = long_context();
	void *data = starve_bytes(0);
	starve();
	return set_input(context, 0, data, WISH);
}

static int run(void)
{
	static float data[SIDE];
	rknn_context context = context_of(starve_wide());
	DEMAND(set_input(context, 0, data, sizeof data) == 0 && set_input(context, 1, data, sizeof data) == 0);
	starve();
	return rknn_run(context, NULL);
}

static int outputs_get(void)
{
	rknn_context context = long_context();
	rknn_output out;
	memset(&out, 0, sizeof out);
	out.want_float = 1;
	DEMAND(set_input(context, 0, starve_bytes(0), WISH) == 0 && rknn_run(context, NULL) == 0);
	starve();
	return rknn_outputs_get(context, 1, &out, NULL);
}

static int create_mem(void)
{
	rknn_context context = small_context();
	starve();
	return starve_null(rknn_create_mem(context, WISH));
}

static int create_mem2(void)
{
	rknn_context context = small_context();
	starve();
	return starve_null(rknn_create_mem2(context, WISH, 0));
}

static int create_mem_from_fd(void)
{
	rknn_context context = small_context();
	int fd = memfd_create("wish", MFD_CLOEXEC);
	DEMAND(fd >= 0 && ftruncate(fd, WISH) == 0);
	starve();
	return starve_null(rknn_create_mem_from_fd(context, fd, NULL, WISH, 0));
}

static rknn_matmul_info product(int n, int16_t quant)
{
	rknn_matmul_info info;
	memset(&info, 0, sizeof info);
	info.M = 1;
	info.K = 32;
	info.N = n;
	info.type = RKNN_INT8_MM_INT8_TO_INT32;
	if (quant) {
		info.type = RKNN_INT8_MM_INT8_TO_FLOAT32;
		info.B_quant_type = quant;
	}
	return info;
}

static int matmul_set_quant_params(void)
{
	rknn_matmul_info info = product((int)FLOATS, RKNN_QUANT_TYPE_PER_CHANNEL_SYM);
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	rknn_quant_params params;
	memset(&params, 0, sizeof params);
	strcpy(params.name, "B");
	params.scale = starve_bytes(0x3f);
	params.scale_len = (int32_t)FLOATS;
	DEMAND(rknn_matmul_create(&ctx, &info, &attr) == RKNN_SUCC);
	starve();
	return rknn_matmul_set_quant_params(ctx, &params);
}

static int matmul_run(void)
{
	/* C lies in A's memory, so that A has to be copied. */
	rknn_matmul_info info = product(32, 0);
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	info.M = (int32_t)(WISH / 32);
	DEMAND(rknn_matmul_create(&ctx, &info, &attr) == RKNN_SUCC);
	rknn_tensor_mem *c = rknn_create_mem(ctx, attr.C.size), *b = rknn_create_mem(ctx, attr.B.size);
	DEMAND(c && b);
	DEMAND(rknn_matmul_set_io_mem(ctx, c, &attr.A) == 0 && rknn_matmul_set_io_mem(ctx, b, &attr.B) == 0 &&
		rknn_matmul_set_io_mem(ctx, c, &attr.C) == 0);
	starve();
	return rknn_matmul_run(ctx);
}

static int native_layout(void)
{
	rknn_matmul_info info = product((int)(WISH / 32), 0);
	void *b = starve_bytes(1);
	starve();
	return rknn_B_normal_layout_to_native_layout(b, b, info.K, info.N, &info);
}

#define LATER "notes what is asked for: the run takes the memory"
#define SMALL "what it makes is as large as the structs of the call"
#define ENDS "ends an object"
#define PROGRAMS "the memory is the program's"

static const struct starve_case starve_cases[] = {
	{"rknn_init", init, NULL},
	{"rknn_init", init_heavy, NULL},
	{"rknn_dup_context", NULL, "shares model and weights: runs take the memory"},
	{"rknn_destroy", NULL, ENDS},
	{"rknn_query", NULL, SMALL},
	{"rknn_set_core_mask", NULL, SMALL},
	{"rknn_set_batch_core_num", NULL, SMALL},
	{"rknn_inputs_set", inputs_set, NULL},
	{"rknn_run", run, NULL},
	{"rknn_wait", NULL, "the run before it has ended"},
	{"rknn_outputs_get", outputs_get, NULL},
	{"rknn_outputs_release", NULL, ENDS},
	{"rknn_create_mem", create_mem, NULL},
	{"rknn_create_mem2", create_mem2, NULL},
	{"rknn_create_mem_from_fd", create_mem_from_fd, NULL},
	{"rknn_create_mem_from_phys", NULL, PROGRAMS},
	{"rknn_create_mem_from_mb_blk", NULL, "always refused"},
	{"rknn_destory_mem", NULL, ENDS},
	{"rknn_destroy_mem", NULL, ENDS},
	{"rknn_set_weight_mem", NULL, PROGRAMS},
	{"rknn_set_internal_mem", NULL, PROGRAMS},
	{"rknn_set_io_mem", NULL, PROGRAMS},
	{"rknn_mem_sync", NULL, PROGRAMS},
	{"rknn_set_input_shape", NULL, LATER},
	{"rknn_set_input_shapes", NULL, LATER},
	{"rknn_register_custom_ops", NULL, "a type that comes twice ends the list"},
	{"rknn_custom_op_get_op_attr", NULL, "returns nothing, copies an attribute of the model"},
	{"rknn_matmul_create", NULL, LATER},
	{"rknn_matmul_create_dynamic_shape", NULL, SMALL},
	{"rknn_matmul_create_dyn_shape", NULL, SMALL},
	{"rknn_matmul_set_io_mem", NULL, PROGRAMS},
	{"rknn_matmul_set_core_mask", NULL, SMALL},
	{"rknn_matmul_set_quant_params", matmul_set_quant_params, NULL},
	{"rknn_matmul_get_quant_params", NULL, PROGRAMS},
	{"rknn_matmul_set_dynamic_shape", NULL, LATER},
	{"rknn_matmul_run", matmul_run, NULL},
	{"rknn_matmul_destroy", NULL, ENDS},
	{"rknn_B_normal_layout_to_native_layout", native_layout, NULL},
};

STARVE_MAIN("rknn", RKNN_ERR_MALLOC_FAIL)
