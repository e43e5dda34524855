/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A count that the model contradicts is refused before the array is read: every array here has as many elements as the
 * model wants, the last at the end of a page behind which nothing can be touched, and the count says more. Beyond that
 * page the process would die.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <neural_network_runtime/neural_network_runtime_inner.h>

#include "ohnn_host.h"

#include "misuse_rknn.h"

static char *room_end; /* the first byte that cannot be touched */

/* Puts size bytes right before the page that cannot be touched. */
static void *at_the_end(const void *data, size_t size) { return memcpy(room_end - size, data, size); }

static void refused(const char *what, int got, int want)
{
	CHECK(got == want, "%s: code %d, want %d: %s", what, got, want, anynpu_last_error());
}

static void on_run_done(void *user, OH_NN_ReturnCode code, void *outputs[], int32_t n)
{
	(void)user, (void)code, (void)outputs, (void)n;
}

static void ohnn_runs(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(4));
	NN_Tensor *in[] = {ohnn_tensor(1, 4, 1), ohnn_tensor(1, 4, 2)}, *out = ohnn_tensor(1, 4, 0);
	OK(OH_NNExecutor_SetOnRunDone(e, on_run_done));
	for (size_t n = 3; n <= 200; n += 197) {
		NN_Tensor **two = (NN_Tensor **)at_the_end(in, sizeof in);
		refused("RunSync, inputs", OH_NNExecutor_RunSync(e, two, n, &out, 1), OH_NN_INVALID_PARAMETER);
		CHECK(strstr(anynpu_last_error(), "inputCount") && strstr(anynpu_last_error(), "2 inputs"), "%s",
			anynpu_last_error());
		refused("RunAsync, inputs", OH_NNExecutor_RunAsync(e, two, n, &out, 1, 0, e), OH_NN_INVALID_PARAMETER);
		refused("RunSyncWithAipp, inputs", OH_NNExecutor_RunSyncWithAipp(e, two, n, &out, 1, "x"), OH_NN_INVALID_PARAMETER);
		NN_Tensor **one = (NN_Tensor **)at_the_end(&out, sizeof out);
		refused("RunSync, outputs", OH_NNExecutor_RunSync(e, in, 2, one, n), OH_NN_INVALID_PARAMETER);
		CHECK(strstr(anynpu_last_error(), "outputCount") && strstr(anynpu_last_error(), "1 output"), "%s",
			anynpu_last_error());
		refused("RunAsync, outputs", OH_NNExecutor_RunAsync(e, in, 2, one, n, 0, e), OH_NN_INVALID_PARAMETER);
		refused("RunSyncWithAipp, outputs", OH_NNExecutor_RunSyncWithAipp(e, in, 2, one, n, "x"), OH_NN_INVALID_PARAMETER);
	}
	OK(OH_NNExecutor_RunSync(e, (NN_Tensor **)at_the_end(in, sizeof in), 2, &out, 1));
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out));
	OH_NNExecutor_Destroy(&e);
}

/* The operator knows its numbers of tensors and parameters, a tensor its bytes, an executor's input its bytes. */
static void ohnn_models(void)
{
	const uint32_t in[] = {0, 1}, out[] = {2};
	const float four[4] = {1, 2, 3, 4};
	OH_NNModel *m = OH_NNModel_Construct();
	for (int i = 0; i < 3; i++)
		ohnn_add_tensor(m, 1, 4);
	OH_NN_UInt32Array inputs = {(uint32_t *)in, 2}, outputs = {(uint32_t *)out, 1}, none = {NULL, 0}, far;
	for (uint32_t n = 3; n <= 200; n += 197) {
		far = ohnn_list((uint32_t *)at_the_end(in, sizeof in), n);
		refused("AddOperation, inputs", OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &none, &far, &outputs),
			OH_NN_INVALID_PARAMETER);
		far = ohnn_list((uint32_t *)at_the_end(out, sizeof out), n);
		refused("AddOperation, outputs", OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &none, &inputs, &far),
			OH_NN_INVALID_PARAMETER);
		refused("AddOperation, parameters", OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &far, &inputs, &outputs),
			OH_NN_INVALID_PARAMETER);
	}
	refused("SetTensorData", OH_NNModel_SetTensorData(m, 0, at_the_end(four, sizeof four), 17), OH_NN_INVALID_PARAMETER);
	OH_NNModel_Destroy(&m);

	OH_NNExecutor *e = ohnn_executor(ohnn_sum(4));
	const int32_t shape[] = {1, 4};
	OH_NN_Tensor info = {OH_NN_FLOAT32, 2, shape, NULL, OH_NN_TENSOR};
	/* more may be promised than is read */
	OK(OH_NNExecutor_SetInput(e, 0, &info, at_the_end(four, sizeof four), 1 << 20));
	OK(OH_NNExecutor_SetInput(e, 1, &info, four, sizeof four));
	float *y = (float *)at_the_end(four, sizeof four);
	OK(OH_NNExecutor_SetOutput(e, 0, y, 1 << 20));
	OK(OH_NNExecutor_Run(e));
	for (int i = 0; i < 4; i++)
		CHECK(y[i] == 2 * four[i], "element %d is %g", i, (double)y[i]);
	OH_NNExecutor_Destroy(&e);
}

static void rknn_runs(void)
{
	const float x[4] = {-1, 2, -3, 4};
	float y[4];
	rknn_context ctx = make_rknn_context();
	rknn_input in = {.size = sizeof x, .type = RKNN_TENSOR_FLOAT32, .buf = (void *)x},
		*far_in = (rknn_input *)at_the_end(&in, sizeof in);
	rknn_output out = {.want_float = 1, .is_prealloc = 1, .buf = y, .size = sizeof y}, *far_out;
	refused("inputs_set", rknn_inputs_set(ctx, 2, far_in), RKNN_ERR_PARAM_INVALID);
	refused("inputs_set, many", rknn_inputs_set(ctx, UINT32_MAX, far_in), RKNN_ERR_PARAM_INVALID);
	in.buf = at_the_end(x, sizeof x);
	in.size = 1 << 20; /* more may be promised than is read */
	refused("inputs_set, long", rknn_inputs_set(ctx, 1, &in), RKNN_SUCC);
	refused("run", rknn_run(ctx, NULL), RKNN_SUCC);
	far_out = (rknn_output *)at_the_end(&out, sizeof out);
	refused("outputs_get", rknn_outputs_get(ctx, 2, far_out, NULL), RKNN_ERR_PARAM_INVALID);
	refused("outputs_release", rknn_outputs_release(ctx, 2, far_out), RKNN_ERR_PARAM_INVALID);
	out.buf = at_the_end(y, sizeof y);
	out.size = 1 << 20;
	refused("outputs_get, long", rknn_outputs_get(ctx, 1, &out, NULL), RKNN_SUCC);
	for (int i = 0; i < 4; i++)
		CHECK(((float *)out.buf)[i] == (x[i] > 0 ? x[i] : 0), "element %d is %g", i, (double)((float *)out.buf)[i]);

	rknn_input_output_num num = {0, 0}, *far_num = (rknn_input_output_num *)at_the_end(&num, sizeof num);
	refused("query, long", rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, far_num, 1 << 20), RKNN_SUCC);
	rknn_tensor_attr attr = {.index = 0};
	refused("query", rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr), RKNN_SUCC);
	/* The shapes of this model are fixed, which is told first. */
	refused("set_input_shapes", rknn_set_input_shapes(ctx, 2, (rknn_tensor_attr *)at_the_end(&attr, sizeof attr)),
		RKNN_ERR_MODEL_INVALID);
	refused("query, short", rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, at_the_end(&attr, 4), 4), RKNN_ERR_PARAM_INVALID);
	drop_rknn_context(ctx);
}

static void rknn_products(void)
{
	const float scale = 1;
	const int32_t zero = 0;
	rknn_matmul_ctx ctx = make_rknn_matmul_ctx();
	rknn_quant_params q = {.name = "B", .zp = (int32_t *)&zero, .zp_len = 1};
	q.scale = (float *)at_the_end(&scale, sizeof scale);
	q.scale_len = 33; /* of 32 columns */
	refused("set_quant_params, scales", rknn_matmul_set_quant_params(ctx, &q), RKNN_ERR_PARAM_INVALID);
	q.scale = (float *)&scale;
	q.scale_len = 1;
	q.zp = (int32_t *)at_the_end(&zero, sizeof zero);
	q.zp_len = 33;
	refused("set_quant_params, zero points", rknn_matmul_set_quant_params(ctx, &q), RKNN_ERR_PARAM_INVALID);
	drop_rknn_matmul_ctx(ctx);
}

int main(void)
{
	host_begin();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = (char *)mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED && mprotect(pages + 2 * page, page, PROT_NONE) == 0, "pages");
	room_end = pages + 2 * page;
	ohnn_runs();
	ohnn_models();
	rknn_runs();
	rknn_products();
	munmap(pages, 3 * page);
	return host_end();
}
