/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a call costs: an exported function beside a direct C call, in one run, by turns. Times of one machine at one
 * moment; the ratios are what to look at.
 *
 *     call [ROUNDS]
 */
#include <pthread.h>

#include "cases.h"

#define CALLS 200000

static void *caller(void *unused)
{
	for (int i = 0; i < CALLS; i++)
		getter();
	return unused;
}

/* Nanoseconds per call when n threads call at once, over all calls. */
static double threads(int n)
{
	pthread_t t[16];
	double start = nanoseconds();
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&t[i], NULL, caller, NULL) == 0, "pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return (nanoseconds() - start) / (double)(n * CALLS);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	double best[CASES];
	setenv("ANYNPU_LOG", "off", 1);
	double start = nanoseconds();
	desc = OH_NNTensorDesc_Create();
	double first = nanoseconds() - start;
	prepare();
	for (size_t k = 0; k < CASES; k++)
		best[k] = 1e18;
	for (int round = 0; round < rounds; round++)
		measure(best, CALLS);
	printf("%-40s %9s %9s\n", "best of rounds", "ns", "x direct");
	for (size_t k = 0; k < CASES; k++)
		printf("%-40s %9.1f %9.1f\n", cases[k].name, best[k], best[k] / best[0]);
	for (int n = 1; n <= 8; n *= 2) {
		double t = 1e18;
		for (int round = 0; round < 3; round++) {
			double now = threads(n);
			t = now < t ? now : t;
		}
		printf("GetFormat, %d threads, per call over all %9.1f %9.1f\n", n, t, t / best[0]);
	}
	printf("first call, which starts Go: %.2f ms\n", first / 1e6);
	OH_NNTensorDesc_Destroy(&desc);
	return 0;
}
