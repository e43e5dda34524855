/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the time to finish and compile a model grows with it: chains of 1,000 and of 2,000 operations by NNAPI. Twice as
 * many should take twice as long.
 *
 *     chain [ROUNDS]
 */
#include <time.h>

#include "nnapi_host.h"

enum { LENGTHS = 2, ELEMENTS = 64 };

static const int lengths[LENGTHS] = {1000, 2000};

/* Time of the processors, which other programs disturb less than that of the clock. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* x, then x + x, then that + x and so on: operand 0 is x, 1 no activation, the others the sums. */
static ANeuralNetworksModel *chain(int length)
{
	static const uint32_t elements = ELEMENTS;
	const ANeuralNetworksOperandType t = nn_tensor(1, &elements);
	ANeuralNetworksModel *m = NULL;
	const uint32_t x = 0;
	OK(ANeuralNetworksModel_create(&m));
	OK(ANeuralNetworksModel_addOperand(m, &t));
	nn_int(m, 1, ANEURALNETWORKS_FUSED_NONE);
	uint32_t last = x;
	for (uint32_t sum = 2; sum < (uint32_t)length + 2; sum++) {
		const uint32_t in[] = {last, x, 1};
		OK(ANeuralNetworksModel_addOperand(m, &t));
		OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, &sum));
		last = sum;
	}
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &x, 1, &last));
	return m;
}

/* Seconds of the processors to finish a chain, and to compile it. The sum of x is length + 1 times x, which a run
 * shows. */
static void measure(int length, double *finish, double *compile)
{
	ANeuralNetworksModel *m = chain(length);
	double start = now();
	OK(ANeuralNetworksModel_finish(m));
	double finished = now();
	ANeuralNetworksCompilation *c = nn_compiled(m, 0);
	double end = now();
	float x[ELEMENTS], y[ELEMENTS];
	for (int i = 0; i < ELEMENTS; i++)
		x[i] = (float)i;
	ANeuralNetworksExecution *e = nn_execution(c);
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, sizeof x));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, sizeof y));
	OK(ANeuralNetworksExecution_compute(e));
	CHECK(y[3] == 3 * (float)(length + 1), "chain of %d: got %g", length, y[3]);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	*finish = finished - start < *finish ? finished - start : *finish;
	*compile = end - finished < *compile ? end - finished : *compile;
}

int main(int argc, char **argv)
{
	double finish[LENGTHS] = {1e18, 1e18}, compile[LENGTHS] = {1e18, 1e18};
	for (int rounds = argc > 1 ? atoi(argv[1]) : 10; rounds > 0; rounds--)
		for (int k = 0; k < LENGTHS; k++)
			measure(lengths[k], &finish[k], &compile[k]);
	for (int k = 0; k < LENGTHS; k++)
		printf("chain of %d: finish %.2f ms, compile %.2f ms\n", lengths[k], 1e3 * finish[k], 1e3 * compile[k]);
	printf("2000 by 1000: finish %.2f, compile %.2f, both %.2f\n", finish[1] / finish[0], compile[1] / compile[0],
	       (finish[1] + compile[1]) / (finish[0] + compile[0]));
	return 0;
}
