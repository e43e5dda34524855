/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What programs of the reference implementation do beside calling it: they read the objects that handles point to, and
 * they have a device whose ranges differ from dimension to dimension (ANYNPU_OHNN_DIM_RANGE).
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ohnn_host.h"

/* zeros checks that the first bytes behind a handle can be read. */
static void zeros(const char *what, const void *handle)
{
	volatile const unsigned char *bytes = handle;
	CHECK(handle != NULL, "no %s", what);
	for (int i = 0; i < 4096; i++)
		CHECK(bytes[i] == 0, "%s: byte %d is %d", what, i, bytes[i]);
}

/* A model of y = x + x, x of four open dimensions. */
static OH_NNModel *open_sum(void)
{
	const int32_t open[] = {-1, -1, -1, -1};
	OH_NNModel *m = OH_NNModel_Construct();
	NN_TensorDesc *d = ohnn_desc(1, 1);
	OK(OH_NNTensorDesc_SetShape(d, open, 4));
	for (int i = 0; i < 3; i++)
		OK(OH_NNModel_AddTensorToModel(m, d));
	OK(OH_NNTensorDesc_Destroy(&d));
	ohnn_add_op(m, OH_NN_OPS_ADD, 0, 1, 2);
	ohnn_finish(m, 0, 1, 2);
	return m;
}

static NN_Tensor *sized(int32_t a, int32_t b, int32_t c, int32_t d)
{
	const int32_t shape[] = {a, b, c, d};
	NN_TensorDesc *desc = ohnn_desc(1, 1);
	OK(OH_NNTensorDesc_SetShape(desc, shape, 4));
	NN_Tensor *t = OH_NNTensor_Create(0, desc);
	CHECK(t != NULL, "%s", anynpu_last_error());
	OK(OH_NNTensorDesc_Destroy(&desc));
	return t;
}

static OH_NN_ReturnCode runs(OH_NNExecutor *e, int32_t a, int32_t b, int32_t c, int32_t d)
{
	NN_Tensor *in[] = {sized(a, b, c, d), sized(a, b, c, d)}, *out = sized(a, b, c, d);
	OH_NN_ReturnCode got = OH_NNExecutor_RunSync(e, in, 2, &out, 1);
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out));
	return got;
}

/* Without the reference mode reading through a handle ends the process. */
static void faults(void)
{
	pid_t child = fork();
	CHECK(child >= 0, "no child");
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		NN_TensorDesc *d = OH_NNTensorDesc_Create();
		_exit(*(volatile unsigned char *)d);
	}
	int status = 0;
	CHECK(waitpid(child, &status, 0) == child, "no end");
	CHECK(WIFSIGNALED(status), "reading a handle went on: %#x", status);
}

int main(void)
{
	faults();
	setenv("ANYNPU_OHNN_COMPAT", "reference", 1);
	setenv("ANYNPU_OHNN_DIM_RANGE", "1:100,2:100,3:3", 1);
	host_begin();
	OH_NNModel *m = open_sum();
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	OK(OH_NNCompilation_Build(c));
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	NN_TensorDesc *d = ohnn_desc(2, 2);
	NN_Tensor *t = OH_NNTensor_Create(0, d);
	NN_QuantParam *q = OH_NNQuantParam_Create();
	zeros("model", m);
	zeros("compilation", c);
	zeros("executor", e);
	zeros("descriptor", d);
	zeros("tensor", t);
	zeros("quantization", q);

	const size_t lo[] = {1, 2, 3, 3}, hi[] = {100, 100, 3, 3};
	size_t *min = NULL, *max = NULL, n = 0;
	OK(OH_NNExecutor_GetInputDimRange(e, 1, &min, &max, &n));
	CHECK(n == 4, "%zu dimensions", n);
	for (int i = 0; i < 4; i++)
		CHECK(min[i] == lo[i] && max[i] == hi[i], "dimension %d: %zu to %zu", i, min[i], max[i]);
	OK(runs(e, 1, 2, 3, 3));
	OK(runs(e, 100, 2, 3, 3));
	CHECK(runs(e, 101, 2, 3, 3) == OH_NN_INVALID_PARAMETER, "101");
	CHECK(runs(e, 1, 1, 3, 3) == OH_NN_INVALID_PARAMETER, "1 of 2 to 100");
	CHECK(strstr(anynpu_last_error(), "dimension 1 is 1: want 2 to 100") != NULL, "%s", anynpu_last_error());
	CHECK(runs(e, 1, 2, 2, 3) == OH_NN_INVALID_PARAMETER, "2 of 3 to 3");
	CHECK(runs(e, 1, 2, 3, 4) == OH_NN_INVALID_PARAMETER, "the last range counts for what follows");

	OK(OH_NNQuantParam_Destroy(&q));
	OK(OH_NNTensor_Destroy(&t));
	OK(OH_NNTensorDesc_Destroy(&d));
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
	return host_end();
}
