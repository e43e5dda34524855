/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a run costs besides its arithmetic: OH_NNExecutor_RunSync on an ADD of one element, beside a direct C call that
 * adds.
 *
 *     runsync [ROUNDS]
 */
#include "addition.h"

#define RUNS 2000

__attribute__((noinline)) static void add(const float *a, const float *b, float *sum)
{
	*sum = *a + *b;
	__asm__ volatile("" : : "r"(sum) : "memory");
}

static void (*volatile direct)(const float *, const float *, float *) = add;

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	struct nn nn = nn_of(RTLD_DEFAULT);
	struct addition a = make_addition(&nn);
	double run = 1e18, plain = 1e18;
	for (int round = 0; round < rounds; round++) {
		run = fastest_run(&a, RUNS, (float)round, run);
		double start = nanoseconds();
		for (int i = 0; i < RUNS; i++)
			direct(a.at[0], a.at[1], a.at[2]);
		double t = (nanoseconds() - start) / RUNS;
		plain = t < plain ? t : plain;
	}
	printf("%-40s %9.1f ns\n", "direct C call that adds", plain);
	printf("%-40s %9.1f ns, x direct %.0f\n", "OH_NNExecutor_RunSync, ADD of 1 element", run, run / plain);
	end_addition(&a);
	CHECK(anynpu_live_handles() == 0, "%zu handles left", anynpu_live_handles());
	return 0;
}
