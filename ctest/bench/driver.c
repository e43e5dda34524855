/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What AnyNPU between a program and a vendor's driver costs: rknn_run and rknn_init of a driver that does nothing
 * (driver/nothing.c), called in its file directly, passed through, and by its handle while the program has an ONNX
 * model too.
 *
 *     driver DRIVER ONNX [ROUNDS]
 */
#include <dlfcn.h>
#include <rknn_api.h>
#include <time.h>

#include "host.h"

#define CALLS 200000

typedef int (*run_function)(rknn_context, rknn_run_extend *);
typedef int (*init_function)(rknn_context *, void *, uint32_t, uint32_t, rknn_init_extend *);

static rknn_context context;
static char model[] = "RKNN";

static double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double runs(run_function volatile run, int rounds)
{
	double best = 1e18;
	for (; rounds > 0; rounds--) {
		double start = nanoseconds();
		for (int i = 0; i < CALLS; i++)
			run(context, NULL);
		double t = (nanoseconds() - start) / CALLS;
		best = t < best ? t : best;
	}
	return best;
}

static double inits(init_function volatile init, int rounds)
{
	double best = 1e18;
	for (; rounds > 0; rounds--) {
		double start = nanoseconds();
		for (int i = 0; i < CALLS / 50; i++)
			init(&context, model, sizeof model, 0, NULL);
		double t = (nanoseconds() - start) / (CALLS / 50);
		best = t < best ? t : best;
	}
	return best;
}

/* aim is how much more it should take at most, 0 for what it is compared with. */
static void line(const char *what, double t, double direct, double aim)
{
	printf("%-40s %9.1f %9.1f %+9.1f", what, t, t / direct, t - direct);
	if (aim > 0)
		printf(" %9.1f", aim);
	printf("\n");
}

int main(int argc, char **argv)
{
	CHECK(argc >= 3, "usage: driver DRIVER ONNX [ROUNDS]");
	int rounds = argc > 3 ? atoi(argv[3]) : 20;
	setenv("ANYNPU_DRIVER_RKNN", argv[1], 1);
	void *file = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	CHECK(file, "%s", dlerror());
	void *at[] = {dlsym(file, "rknn_run"), dlsym(file, "rknn_init")};
	CHECK(at[0] && at[1], "%s has no such functions", argv[1]);
	run_function run;
	init_function init;
	memcpy(&run, &at[0], sizeof run);
	memcpy(&init, &at[1], sizeof init);
	double direct = runs(run, rounds), made = inits(init, rounds);
	CHECK(rknn_init(&context, model, sizeof model, 0, NULL) == 0 && context == 0x10000, "the driver was not used");
	double passed = runs(rknn_run, rounds), made_by = inits(rknn_init, rounds);
	rknn_context ours;
	CHECK(rknn_init(&ours, argv[2], 0, 0, NULL) == 0, "%s", argv[2]);
	double mixed = runs(rknn_run, rounds);
	printf("%-40s %9s %9s %9s %9s\n", "a driver's functions, best of rounds", "ns", "x direct", "more", "aim");
	line("rknn_run of the driver, directly", direct, direct, 0);
	line("  passed through", passed, direct, 10);
	line("  beside an ONNX model, by its handle", mixed, direct, 20);
	line("rknn_init of the driver, directly", made, made, 0);
	line("  through Go, by its model's content", made_by, made, 400);
	rknn_destroy(ours);
	return 0;
}
