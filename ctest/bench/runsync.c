/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a run costs besides its arithmetic: OH_NNExecutor_RunSync on an ADD of one element, beside a direct C call that
 * adds.
 *
 *     runsync [ROUNDS]
 */
#include <time.h>

#include "host.h"

#define RUNS 2000

__attribute__((noinline)) static void add(const float *a, const float *b, float *sum)
{
	*sum = *a + *b;
	__asm__ volatile("" : : "r"(sum) : "memory");
}

static void (*volatile direct)(const float *, const float *, float *) = add;

static double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static NN_TensorDesc *one_element(void)
{
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	const int32_t shape[] = {1};
	CHECK(OH_NNTensorDesc_SetShape(desc, shape, 1) == OH_NN_SUCCESS, "SetShape");
	CHECK(OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32) == OH_NN_SUCCESS, "SetDataType");
	return desc;
}

static OH_NNExecutor *make_executor(NN_TensorDesc *desc)
{
	uint32_t in_index[] = {0, 1}, out_index[] = {2};
	OH_NN_UInt32Array in = {in_index, 2}, out = {out_index, 1}, none = {NULL, 0};
	OH_NNModel *model = OH_NNModel_Construct();
	for (int i = 0; i < 3; i++)
		CHECK(OH_NNModel_AddTensorToModel(model, desc) == OH_NN_SUCCESS, "tensor %d", i);
	CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &none, &in, &out) == OH_NN_SUCCESS, "AddOperation");
	CHECK(OH_NNModel_SpecifyInputsAndOutputs(model, &in, &out) == OH_NN_SUCCESS, "SpecifyInputsAndOutputs");
	CHECK(OH_NNModel_Finish(model) == OH_NN_SUCCESS, "Finish");
	OH_NNCompilation *compilation = OH_NNCompilation_Construct(model);
	CHECK(OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS, "Build: %s", anynpu_last_error());
	OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
	CHECK(executor != NULL, "%s", anynpu_last_error());
	OH_NNCompilation_Destroy(&compilation);
	OH_NNModel_Destroy(&model);
	return executor;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	NN_TensorDesc *desc = one_element();
	OH_NNExecutor *executor = make_executor(desc);
	NN_Tensor *in[] = {OH_NNTensor_Create(0, desc), OH_NNTensor_Create(0, desc)}, *out[] = {OH_NNTensor_Create(0, desc)};
	float *a = (float *)OH_NNTensor_GetDataBuffer(in[0]), *b = (float *)OH_NNTensor_GetDataBuffer(in[1]);
	float *sum = (float *)OH_NNTensor_GetDataBuffer(out[0]);
	double run = 1e18, plain = 1e18;
	for (int round = 0; round < rounds; round++) {
		*a = (float)round;
		*b = 2;
		double start = nanoseconds();
		for (int i = 0; i < RUNS; i++)
			CHECK(OH_NNExecutor_RunSync(executor, in, 2, out, 1) == OH_NN_SUCCESS, "%s", anynpu_last_error());
		double t = (nanoseconds() - start) / RUNS;
		run = t < run ? t : run;
		CHECK(*sum == (float)round + 2, "%g + 2 gave %g", (double)round, (double)*sum);
		start = nanoseconds();
		for (int i = 0; i < RUNS; i++)
			direct(a, b, sum);
		t = (nanoseconds() - start) / RUNS;
		plain = t < plain ? t : plain;
	}
	printf("%-40s %9.1f ns\n", "direct C call that adds", plain);
	printf("%-40s %9.1f ns, x direct %.0f\n", "OH_NNExecutor_RunSync, ADD of 1 element", run, run / plain);
	for (int i = 0; i < 2; i++)
		OH_NNTensor_Destroy(&in[i]);
	OH_NNTensor_Destroy(&out[0]);
	OH_NNExecutor_Destroy(&executor);
	OH_NNTensorDesc_Destroy(&desc);
	CHECK(anynpu_live_handles() == 0, "%zu handles left", anynpu_live_handles());
	return 0;
}
