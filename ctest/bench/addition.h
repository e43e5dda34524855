/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * ADD of one element by the OH_NN functions of any library that has them.
 */
#ifndef BENCH_ADDITION_H
#define BENCH_ADDITION_H

#include <dlfcn.h>
#include <time.h>

#include "host.h"

#define NN_FUNCTIONS(F) \
	F(Device_GetAllDevicesID) F(TensorDesc_Create) F(TensorDesc_SetShape) F(TensorDesc_SetDataType) F(TensorDesc_Destroy) \
	F(Model_Construct) F(Model_AddTensorToModel) F(Model_SetTensorType) F(Model_AddOperation) \
	F(Model_SpecifyInputsAndOutputs) F(Model_Finish) F(Model_Destroy) F(Compilation_Construct) F(Compilation_SetDevice) \
	F(Compilation_Build) F(Compilation_Destroy) F(Executor_Construct) F(Executor_RunSync) F(Executor_Destroy) \
	F(Tensor_Create) F(Tensor_GetDataBuffer) F(Tensor_Destroy)

/* A library's functions by their names without OH_NN. */
struct nn {
#define F(name) __typeof__(OH_NN##name) *name;
	NN_FUNCTIONS(F)
#undef F
};

/* A sum of two numbers that is ready to run. */
struct addition {
	const struct nn *nn;
	NN_TensorDesc *desc;
	OH_NNExecutor *executor;
	NN_Tensor *tensors[3]; /* inputs, then the output */
	float *at[3];
};

/* The functions of a library, which is RTLD_DEFAULT or what dlopen gave. */
static inline struct nn nn_of(void *library)
{
	struct nn nn;
	void *symbol;
#define F(name) \
	CHECK((symbol = dlsym(library, "OH_NN" #name)), "%s", dlerror()); \
	memcpy(&nn.name, &symbol, sizeof symbol);
	NN_FUNCTIONS(F)
#undef F
	return nn;
}

/* A sum that the first device of the library's list computes. */
static inline struct addition make_addition(const struct nn *nn)
{
	const size_t *devices = NULL;
	uint32_t count = 0;
	const int32_t shape[] = {1};
	uint32_t in_index[] = {0, 1}, out_index[] = {2};
	OH_NN_UInt32Array in = {in_index, 2}, out = {out_index, 1}, none = {NULL, 0};
	struct addition a = {.nn = nn, .desc = nn->TensorDesc_Create()};
	CHECK(nn->Device_GetAllDevicesID(&devices, &count) == OH_NN_SUCCESS && count > 0, "GetAllDevicesID");
	CHECK(nn->TensorDesc_SetShape(a.desc, shape, 1) == OH_NN_SUCCESS, "SetShape");
	CHECK(nn->TensorDesc_SetDataType(a.desc, OH_NN_FLOAT32) == OH_NN_SUCCESS, "SetDataType");
	OH_NNModel *model = nn->Model_Construct();
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(nn->Model_AddTensorToModel(model, a.desc) == OH_NN_SUCCESS, "tensor %u", i);
		CHECK(nn->Model_SetTensorType(model, i, OH_NN_TENSOR) == OH_NN_SUCCESS, "type of tensor %u", i);
	}
	CHECK(nn->Model_AddOperation(model, OH_NN_OPS_ADD, &none, &in, &out) == OH_NN_SUCCESS, "AddOperation");
	CHECK(nn->Model_SpecifyInputsAndOutputs(model, &in, &out) == OH_NN_SUCCESS, "SpecifyInputsAndOutputs");
	CHECK(nn->Model_Finish(model) == OH_NN_SUCCESS, "Finish");
	OH_NNCompilation *compilation = nn->Compilation_Construct(model);
	CHECK(nn->Compilation_SetDevice(compilation, devices[0]) == OH_NN_SUCCESS, "SetDevice");
	CHECK(nn->Compilation_Build(compilation) == OH_NN_SUCCESS, "Build: %s", anynpu_last_error());
	CHECK((a.executor = nn->Executor_Construct(compilation)), "%s", anynpu_last_error());
	nn->Compilation_Destroy(&compilation);
	nn->Model_Destroy(&model);
	for (int i = 0; i < 3; i++) {
		a.tensors[i] = nn->Tensor_Create(devices[0], a.desc);
		CHECK(a.tensors[i] && (a.at[i] = nn->Tensor_GetDataBuffer(a.tensors[i])), "tensor %d", i);
	}
	return a;
}

static inline void end_addition(struct addition *a)
{
	for (int i = 0; i < 3; i++)
		a->nn->Tensor_Destroy(&a->tensors[i]);
	a->nn->Executor_Destroy(&a->executor);
	a->nn->TensorDesc_Destroy(&a->desc);
}

static inline double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The nanoseconds of a run, if they are fewer than best; the sum is checked. */
static inline double fastest_run(struct addition *a, int runs, float x, double best)
{
	*a->at[0] = x;
	*a->at[1] = 2;
	double start = nanoseconds();
	for (int i = 0; i < runs; i++)
		CHECK(a->nn->Executor_RunSync(a->executor, a->tensors, 2, a->tensors + 2, 1) == OH_NN_SUCCESS, "%s",
			anynpu_last_error());
	double t = (nanoseconds() - start) / runs;
	CHECK(*a->at[2] == x + 2, "%g + 2 gave %g", (double)x, (double)*a->at[2]);
	return t < best ? t : best;
}

#endif
