/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a call costs in two builds of the library: two processes, one with each, measure by turns, and the least of many
 * short measurements counts.
 *
 *     against LIBDIR BASELINE [ROUNDS]
 */
#include "cases.h"
#include "sides.h"

#define CALLS 500

static void measure_on_request(void)
{
	double best[CASES];
	for (size_t k = 0; k < CASES; k++)
		best[k] = 1e18;
	desc = OH_NNTensorDesc_Create();
	prepare();
	while (turn_asked()) {
		measure(best, CALLS);
		turn_done(best, sizeof best);
	}
	OH_NNTensorDesc_Destroy(&desc);
}

int main(int argc, char **argv)
{
	struct side now, before;
	double now_best[CASES], before_best[CASES]; /* so far */
	if (argc == 2 && strcmp(argv[1], "measure") == 0) {
		measure_on_request();
		return 0;
	}
	CHECK(argc >= 3, "usage: against LIBDIR BASELINE [ROUNDS]");
	char *const measuring[] = {argv[0], "measure", NULL};
	start_side(&now, argv[1], measuring);
	start_side(&before, argv[2], measuring);
	for (int rounds = argc > 3 ? atoi(argv[3]) : 3000; rounds > 0; rounds--) {
		turn_of(&before, before_best, sizeof before_best);
		turn_of(&now, now_best, sizeof now_best);
	}
	stop_side(&now);
	stop_side(&before);
	printf("%-40s %9s %9s %12s %9s\n", "nanoseconds, best of rounds", "before", "now", "now - before", "ratio");
	for (size_t k = 0; k < CASES; k++)
		printf("%-40s %9.1f %9.1f %+12.1f %9.2f\n", cases[k].name, before_best[k], now_best[k], now_best[k] - before_best[k],
			now_best[k] / before_best[k]);
	return 0;
}
