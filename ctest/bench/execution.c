/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What NNAPI's ways to compute cost besides the arithmetic: an ADD of one element, by turns with OH_NN's RunSync on the
 * same graph; and a getter beside one of OH_NN's.
 *
 *     execution [ROUNDS]
 */
#include <time.h>

#include "nnapi_host.h"
#undef OK
#include "ohnn_host.h"

#define RUNS 2000

static ANeuralNetworksCompilation *compilation;
static ANeuralNetworksExecution *reusable;
static ANeuralNetworksBurst *burst;
static OH_NNExecutor *executor;
static NN_Tensor *tensors[3];
static NN_TensorDesc *desc;
static const ANeuralNetworksDevice *device;
static float a = 1, b = 2, sum;

static void run_sync(void)
{
	CHECK(OH_NNExecutor_RunSync(executor, tensors, 2, tensors + 2, 1) == OH_NN_SUCCESS, "%s", anynpu_last_error());
}

static void compute_again(void) { CHECK(ANeuralNetworksExecution_compute(reusable) == 0, "%s", anynpu_last_error()); }

static void burst_again(void)
{
	CHECK(ANeuralNetworksExecution_burstCompute(reusable, burst) == 0, "%s", anynpu_last_error());
}

static ANeuralNetworksExecution *bound(void)
{
	ANeuralNetworksExecution *e = NULL;
	CHECK(ANeuralNetworksExecution_create(compilation, &e) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_setInput(e, 0, NULL, &a, sizeof a) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_setInput(e, 1, NULL, &b, sizeof b) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &sum, sizeof sum) == 0, "%s", anynpu_last_error());
	return e;
}

static void compute_once(void)
{
	ANeuralNetworksExecution *e = bound();
	CHECK(ANeuralNetworksExecution_compute(e) == 0, "%s", anynpu_last_error());
	ANeuralNetworksExecution_free(e);
}

static void start_and_wait(void)
{
	ANeuralNetworksEvent *ev = NULL;
	CHECK(ANeuralNetworksExecution_startCompute(reusable, &ev) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksEvent_wait(ev) == 0, "%s", anynpu_last_error());
	ANeuralNetworksEvent_free(ev);
}

static void ohnn_getter(void)
{
	OH_NN_Format format;
	OH_NNTensorDesc_GetFormat(desc, &format);
}

static void nnapi_getter(void)
{
	uint32_t rank;
	ANeuralNetworksExecution_getOutputOperandRank(reusable, 0, &rank);
}

static void device_getter(void)
{
	int32_t type;
	ANeuralNetworksDevice_getType(device, &type);
}

static const struct {
	const char *name;
	void (*call)(void);
} cases[] = {
	{"OH_NNExecutor_RunSync", run_sync},
	{"compute, reusable", compute_again},
	{"burstCompute, reusable", burst_again},
	{"create, bind, compute, free", compute_once},
	{"startCompute, wait, free, reusable", start_and_wait},
	{"OH_NNTensorDesc_GetFormat", ohnn_getter},
	{"getOutputOperandRank", nnapi_getter},
	{"Device_getType", device_getter},
};

enum { CASES = sizeof cases / sizeof cases[0], GETTERS = 5 };

static double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	double best[CASES];
	device = nn_processor();
	compilation = nn_compiled(nn_sum(1), 0);
	CHECK(ANeuralNetworksBurst_create(compilation, &burst) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_create(compilation, &reusable) == 0, "%s", anynpu_last_error());
	CHECK(ANeuralNetworksExecution_setReusable(reusable, true) == 0, "%s", anynpu_last_error());
	nn_bind(reusable, &a, &b, &sum, 1);
	executor = ohnn_executor(ohnn_sum(1));
	desc = ohnn_desc(1, 1);
	for (int i = 0; i < 3; i++)
		CHECK((tensors[i] = OH_NNTensor_Create(0, desc)) != NULL, "%s", anynpu_last_error());
	for (int k = 0; k < CASES; k++)
		best[k] = 1e18;
	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < CASES; k++) {
			a = (float)round;
			double start = nanoseconds();
			for (int i = 0; i < RUNS; i++)
				cases[k].call();
			double t = (nanoseconds() - start) / RUNS;
			best[k] = t < best[k] ? t : best[k];
			CHECK(k < 1 || sum == a + b, "%g + %g gave %g", (double)a, (double)b, (double)sum);
		}
	}
	for (int k = 0; k < CASES; k++)
		printf("%-44s %9.1f ns, x %s %.2f\n", cases[k].name, best[k], k < GETTERS ? "RunSync" : "GetFormat",
			best[k] / best[k < GETTERS ? 0 : GETTERS]);
	for (int i = 0; i < 3; i++)
		OH_NNTensor_Destroy(&tensors[i]);
	OH_NNTensorDesc_Destroy(&desc);
	OH_NNExecutor_Destroy(&executor);
	ANeuralNetworksExecution_free(reusable);
	ANeuralNetworksBurst_free(burst);
	ANeuralNetworksCompilation_free(compilation);
	CHECK(anynpu_live_handles() == 0, "%zu handles left", anynpu_live_handles());
	return 0;
}
