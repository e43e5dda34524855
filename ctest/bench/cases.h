/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose cost is measured, beside a direct C call.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <time.h>

#include "nnapi_host.h"

__attribute__((noinline)) static OH_NN_ReturnCode plain(const NN_TensorDesc *desc, OH_NN_Format *format)
{
	__asm__ volatile("" : : "r"(desc), "r"(format) : "memory");
	return OH_NN_SUCCESS;
}

static OH_NN_ReturnCode (*volatile direct)(const NN_TensorDesc *, OH_NN_Format *) = plain;
static NN_TensorDesc *desc;
static NN_TensorDesc *null;
static OH_NN_Format format;

static void c_call(void) { direct(desc, &format); }
static void getter(void) { OH_NNTensorDesc_GetFormat(desc, &format); }
static void no_argument(void) { anynpu_live_handles(); }
static void refused(void) { OH_NNTensorDesc_GetFormat(null, &format); }

static void create_destroy(void)
{
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	OH_NNTensorDesc_Destroy(&d);
}

static ANeuralNetworksExecution *sum, *turned;
static float x[6] = {1, 2, 3, 4, 5, 6}, y[6];

static void compute_sum(void) { CHECK(ANeuralNetworksExecution_compute(sum) == 0, "%s", anynpu_last_error()); }
static void compute_turned(void) { CHECK(ANeuralNetworksExecution_compute(turned) == 0, "%s", anynpu_last_error()); }

static ANeuralNetworksExecution *execution_of(ANeuralNetworksModel *m)
{
	ANeuralNetworksExecution *e = nn_execution(nn_compiled(m, 1));
	CHECK(ANeuralNetworksExecution_setReusable(e, true) == 0, "%s", anynpu_last_error());
	return e;
}

/* SOFTMAX(TRANSPOSE(x)) of x [2,3]: the permutation is left out by the model, beta is a constant. */
static ANeuralNetworksModel *turned_model(void)
{
	ANeuralNetworksModel *m = NULL;
	const uint32_t dims[] = {2, 3}, back[] = {3, 2}, two[] = {2}, turn[] = {0, 1}, middle[] = {2}, soft[] = {2, 3}, out[] = {4};
	ANeuralNetworksOperandType t[] = {nn_tensor(2, dims), nn_tensor(1, two), nn_tensor(2, back), nn_tensor(0, NULL), nn_tensor(2, back)};
	const float beta = 1;
	t[1].type = ANEURALNETWORKS_TENSOR_INT32;
	t[3].type = ANEURALNETWORKS_FLOAT32;
	CHECK(ANeuralNetworksModel_create(&m) == 0, "%s", anynpu_last_error());
	for (int i = 0; i < 5; i++)
		CHECK(ANeuralNetworksModel_addOperand(m, &t[i]) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksModel_setOperandValue(m, 1, NULL, 0) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksModel_setOperandValue(m, 3, &beta, sizeof beta) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_TRANSPOSE, 2, turn, 1, middle) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_SOFTMAX, 2, soft, 1, out) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, turn, 1, out) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksModel_finish(m) == 0, "%s", anynpu_last_error());
	return m;
}

/* Makes what the cases compute. */
static inline void prepare(void)
{
	sum = execution_of(nn_sum(1));
	nn_bind(sum, x, x + 1, y, 1);
	turned = execution_of(turned_model());
	CHECK(ANeuralNetworksExecution_setInput(turned, 0, NULL, x, sizeof x) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_setOutput(turned, 0, NULL, y, sizeof y) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_compute(turned) == 0, "%s", anynpu_last_error());
	CHECK(y[0] < y[1] && y[0] + y[1] > 0.999f && y[0] + y[1] < 1.001f, "%g, %g", (double)y[0], (double)y[1]);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"direct C call", c_call},
	{"export without arguments", no_argument},
	{"export with a handle (GetFormat)", getter},
	{"refused call, log off (NULL handle)", refused},
	{"create and destroy a descriptor", create_destroy},
	{"NNAPI execution", compute_sum},
	{"NNAPI execution, an argument left out", compute_turned},
};

#define CASES (sizeof cases / sizeof *cases)

static inline double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Runs every case calls times and keeps in best the nanoseconds of a call if they are fewer. */
static inline void measure(double best[CASES], int calls)
{
	for (size_t k = 0; k < CASES; k++) {
		double start = nanoseconds();
		for (int i = 0; i < calls; i++)
			cases[k].run();
		double t = (nanoseconds() - start) / calls;
		best[k] = t < best[k] ? t : best[k];
	}
}

#endif
