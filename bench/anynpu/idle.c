/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Processor time that a process takes in a second without calls, after runs.
 *
 *     idle MODEL
 */
#include "model.h"

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: idle MODEL\n");
		return 2;
	}
	struct model m = {.compilation = open_compilation(argv[1])};
	make_executor(&m);
	for (int i = 0; i < 10; i++)
		run_model(&m);
	const struct timespec wait = {1, 0};
	for (int i = 1; i <= 3; i++) {
		double start = cpu_now();
		nanosleep(&wait, NULL);
		printf("second %d after the last run: %.3f ms of processor time\n", i, (cpu_now() - start) * 1e3);
	}
	drop_executor(&m);
	OH_NNCompilation_Destroy(&m.compilation);
	return 0;
}
