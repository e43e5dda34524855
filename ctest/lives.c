/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model is built, compiled, run in both styles of the API and destroyed, many times: right answers, and afterwards
 * nothing is left behind, and memory does not grow with the number of lives.
 *
 *     lives COUNT
 */
#include "host.h"
#include "misuse_ohnn.h"

/* Resident pages. */
static long resident(void)
{
	long total, pages;
	FILE *f = fopen("/proc/self/statm", "r");
	CHECK(f != NULL && fscanf(f, "%ld %ld", &total, &pages) == 2, "/proc/self/statm");
	fclose(f);
	return pages;
}

static void check_sum(const float *sum, float bias)
{
	for (int i = 0; i < 6; i++)
		CHECK(sum[i] == (float)(11 * i) + bias, "element %d: want %g, got %g", i, (double)((float)(11 * i) + bias),
			(double)sum[i]);
}

static void run_tensors(OH_NNExecutor *executor, float bias)
{
	NN_Tensor *in[2] = {make_NN_Tensor(), make_NN_Tensor()}, *out[1] = {make_NN_Tensor()};
	float *a = (float *)OH_NNTensor_GetDataBuffer(in[0]), *b = (float *)OH_NNTensor_GetDataBuffer(in[1]);
	for (int i = 0; i < 6; i++) {
		a[i] = (float)i + bias;
		b[i] = (float)(10 * i);
	}
	CHECK(OH_NNExecutor_RunSync(executor, in, 2, out, 1) == OH_NN_SUCCESS, "%s", anynpu_last_error());
	check_sum((const float *)OH_NNTensor_GetDataBuffer(out[0]), bias);
	drop_NN_Tensor(in[0]);
	drop_NN_Tensor(in[1]);
	drop_NN_Tensor(out[0]);
}

static void run_buffers(OH_NNExecutor *executor, float bias)
{
	const int32_t dims[] = {2, 3};
	const OH_NN_Tensor type = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
	float a[6], sum[6];
	for (int i = 0; i < 6; i++)
		a[i] = (float)i + bias;
	OH_NN_Memory *b = OH_NNExecutor_AllocateInputMemory(executor, 1, sizeof a);
	CHECK(b != NULL, "%s", anynpu_last_error());
	for (int i = 0; i < 6; i++)
		((float *)b->data)[i] = (float)(10 * i);
	CHECK(OH_NNExecutor_SetInput(executor, 0, &type, a, sizeof a) == OH_NN_SUCCESS, "%s", anynpu_last_error());
	CHECK(OH_NNExecutor_SetInputWithMemory(executor, 1, &type, b) == OH_NN_SUCCESS, "%s", anynpu_last_error());
	CHECK(OH_NNExecutor_SetOutput(executor, 0, sum, sizeof sum) == OH_NN_SUCCESS, "%s", anynpu_last_error());
	CHECK(OH_NNExecutor_Run(executor) == OH_NN_SUCCESS, "%s", anynpu_last_error());
	check_sum(sum, bias);
	OH_NNExecutor_DestroyInputMemory(executor, 1, &b);
	CHECK(b == NULL, "the memory was not freed");
}

static void life(int n)
{
	OH_NNExecutor *executor = make_OH_NNExecutor();
	CHECK(executor != NULL, "%s", anynpu_last_error());
	run_tensors(executor, (float)n);
	run_buffers(executor, (float)n);
	drop_OH_NNExecutor(executor);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: lives COUNT");
	host_begin();
	int count = atoi(argv[1]);
	for (int i = 0; i < 5; i++)
		life(i); /* what is made once is made now */
	long pages = resident();
	for (int i = 0; i < count; i++)
		life(i);
	CHECK(resident() - pages < 64 << 8, "%ld MiB more after %d lives", (resident() - pages) >> 8, count);
	return host_end();
}
