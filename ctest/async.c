/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous runs from C: callbacks on another thread in the order of the calls, tensors that cannot be destroyed
 * before, an executor destroyed in its own callback, and the placement report of the compilation.
 */
#include <pthread.h>

#include "host.h"

enum { RUNS = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t home;
static int order[RUNS], ended, foreign;
static OH_NNExecutor *suicide; /* destroyed by the callback of its first run */

static void done(void *user, OH_NN_ReturnCode code, void *outputs[], int32_t n)
{
	int *place = user;
	CHECK(code == OH_NN_SUCCESS, "code %d", (int)code);
	CHECK(outputs != NULL && n == 1, "%d outputs", (int)n);
	if (suicide)
		OH_NNExecutor_Destroy(&suicide);
	pthread_mutex_lock(&lock);
	order[ended++] = *place;
	foreign += !pthread_equal(pthread_self(), home);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void await(int n)
{
	pthread_mutex_lock(&lock);
	while (ended < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* y = x + x of four floats. */
static OH_NNCompilation *compile(NN_TensorDesc *desc)
{
	uint32_t in[] = {0, 1}, out[] = {2};
	OH_NN_UInt32Array inputs = {in, 2}, outputs = {out, 1}, params = {NULL, 0};
	OH_NNModel *model = OH_NNModel_Construct();
	for (int i = 0; i < 3; i++)
		CHECK(OH_NNModel_AddTensorToModel(model, desc) == OH_NN_SUCCESS, "tensor %d", i);
	CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &params, &inputs, &outputs) == OH_NN_SUCCESS, "operation");
	CHECK(OH_NNModel_SpecifyInputsAndOutputs(model, &inputs, &outputs) == OH_NN_SUCCESS, "inputs and outputs");
	CHECK(OH_NNModel_Finish(model) == OH_NN_SUCCESS, "finish");
	OH_NNCompilation *c = OH_NNCompilation_Construct(model);
	OH_NNModel_Destroy(&model);
	size_t needed = 0;
	CHECK(anynpu_placement_report(c, NULL, 0, &needed) == ANYNPU_PLACEMENT_BAD_HANDLE, "a report before the build");
	CHECK(OH_NNCompilation_Build(c) == OH_NN_SUCCESS, "build");
	return c;
}

static void report(OH_NNCompilation *c)
{
	size_t needed = 0;
	CHECK(anynpu_placement_report(c, NULL, 0, &needed) == ANYNPU_PLACEMENT_TRUNCATED && needed > 1, "%zu bytes", needed);
	char *text = malloc(needed);
	CHECK(anynpu_placement_report(c, text, needed, NULL) == ANYNPU_PLACEMENT_OK, "the whole report");
	CHECK(strlen(text) + 1 == needed && strstr(text, "\"op\":\"add\""), "%s", text);
	CHECK(strstr(text, "\"edges\":[{") && strstr(text, "\"from\":-1,\"to\":0,") && strstr(text, "\"to\":-1,"), "%s", text);
	CHECK(anynpu_placement_report(c, text, 5, NULL) == ANYNPU_PLACEMENT_TRUNCATED && strlen(text) == 4, "%s", text);
	CHECK(anynpu_placement_report(&needed, text, 5, NULL) == ANYNPU_PLACEMENT_BAD_HANDLE, "a pointer of ours");
	free(text);
}

int main(void)
{
	host_begin();
	home = pthread_self();
	const int32_t shape[] = {4};
	const float data[] = {1, 2, 3, 4};
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	CHECK(OH_NNTensorDesc_SetShape(desc, shape, 1) == OH_NN_SUCCESS, "shape");
	CHECK(OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32) == OH_NN_SUCCESS, "type");
	OH_NNCompilation *c = compile(desc);
	report(c);
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	NN_Tensor *x = OH_NNTensor_Create(0, desc), *in[] = {x, x}, *out[RUNS];
	memcpy(OH_NNTensor_GetDataBuffer(x), data, sizeof data);
	int place[RUNS];
	CHECK(OH_NNExecutor_RunAsync(e, in, 2, &x, 1, 1000, place) == OH_NN_OPERATION_FORBIDDEN, "no callback is set");
	CHECK(OH_NNExecutor_SetOnRunDone(e, done) == OH_NN_SUCCESS, "callback");
	for (int i = 0; i < RUNS; i++) {
		place[i] = i;
		out[i] = OH_NNTensor_Create(0, desc);
		CHECK(OH_NNExecutor_RunAsync(e, in, 2, &out[i], 1, 60000, &place[i]) == OH_NN_SUCCESS, "run %d", i);
	}
	await(RUNS);
	CHECK(foreign == RUNS, "%d of %d callbacks on another thread", foreign, RUNS);
	for (int i = 0; i < RUNS; i++) {
		float *y = OH_NNTensor_GetDataBuffer(out[i]);
		CHECK(order[i] == i, "callback %d was for run %d", i, order[i]);
		CHECK(y[0] == 2 && y[3] == 8, "run %d: %g, %g", i, y[0], y[3]);
		CHECK(OH_NNTensor_Destroy(&out[i]) == OH_NN_SUCCESS && !out[i], "output %d", i);
	}
	OH_NNExecutor_Destroy(&e);

	ended = 0;
	suicide = e = OH_NNExecutor_Construct(c);
	CHECK(OH_NNExecutor_SetOnRunDone(e, done) == OH_NN_SUCCESS, "callback");
	NN_Tensor *y = OH_NNTensor_Create(0, desc);
	CHECK(OH_NNExecutor_RunAsync(e, in, 2, &y, 1, 0, &place[0]) == OH_NN_SUCCESS, "run");
	await(1);
	CHECK(suicide == NULL, "the callback's destroy");
	size_t n;
	CHECK(OH_NNExecutor_GetInputCount(e, &n) == OH_NN_INVALID_PARAMETER, "the executor has ended");

	CHECK(OH_NNTensor_Destroy(&x) == OH_NN_SUCCESS && OH_NNTensor_Destroy(&y) == OH_NN_SUCCESS, "tensors");
	OH_NNCompilation_Destroy(&c);
	CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_SUCCESS, "descriptor");
	return host_end();
}
