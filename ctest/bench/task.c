/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What hbDNN's tasks cost besides a run: submitting, waiting and releasing for the same model as OH_NN's RunSync.
 *
 *     task [ROUNDS]
 */
#include <time.h>

#include "hbdnn_model.h"

#define RUNS 500

static double microseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double smaller(double a, double b) { return a < b ? a : b; }

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	const int64_t size = 1, dims[2] = {1, 1};
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = relu_pack(&size, 1, &model);
	struct tensors t;
	tensors_make(&t, model);
	struct rknn_message bytes = rknn_relu(dims, 2);
	OH_NNCompilation *compilation = OH_NNCompilation_ConstructWithOfflineModelBuffer(bytes.bytes, bytes.size);
	CHECK(compilation != NULL && OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS, "Build: %s", anynpu_last_error());
	OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
	CHECK(executor != NULL, "%s", anynpu_last_error());
	NN_TensorDesc *desc = OH_NNExecutor_CreateInputTensorDesc(executor, 0);
	NN_Tensor *in = OH_NNTensor_Create(0, desc), *out = OH_NNTensor_Create(0, desc);
	double sync = 1e18, task = 1e18, whole = 1e18;
	for (int round = 0; round < rounds; round++) {
		double start = microseconds();
		for (int i = 0; i < RUNS; i++)
			CHECK(OH_NNExecutor_RunSync(executor, &in, 1, &out, 1) == OH_NN_SUCCESS, "%s", anynpu_last_error());
		sync = smaller(sync, (microseconds() - start) / RUNS);
		for (int timeout = 0; timeout <= 1000; timeout += 1000) {
			start = microseconds();
			for (int i = 0; i < RUNS; i++) {
				hbDNNTaskHandle_t handle = NULL;
				OK(infer(&handle, &t, model, 0, 0, 0));
				OK(hbDNNWaitTaskDone(handle, timeout));
				OK(hbDNNReleaseTask(handle));
			}
			double *best = timeout ? &task : &whole;
			*best = smaller(*best, (microseconds() - start) / RUNS);
		}
	}
	printf("%-52s %9.2f us\n", "OH_NNExecutor_RunSync, RELU of 1 element", sync);
	printf("%-52s %9.2f us, %.2f us more (aim 15)\n", "hbDNN: submit, wait for ever, release", whole, whole - sync);
	printf("%-52s %9.2f us, %.2f us more (aim 15)\n", "hbDNN: submit, wait at most a second, release", task, task - sync);
	OH_NNTensor_Destroy(&in);
	OH_NNTensor_Destroy(&out);
	OH_NNTensorDesc_Destroy(&desc);
	OH_NNExecutor_Destroy(&executor);
	OH_NNCompilation_Destroy(&compilation);
	tensors_free(&t);
	OK(hbDNNRelease(pack));
	return 0;
}
