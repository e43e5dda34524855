/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a run costs when a driver of OH_NN is a device of AnyNPU: OH_NNExecutor_RunSync on an ADD of one element that
 * the driver computes for AnyNPU, by turns with the driver's own OH_NNExecutor_RunSync, called in its file directly.
 *
 *     device DRIVER [ROUNDS]
 */
#include "addition.h"

#define RUNS 2000

int main(int argc, char **argv)
{
	CHECK(argc >= 2, "usage: device DRIVER [ROUNDS]");
	int rounds = argc > 2 ? atoi(argv[2]) : 20;
	setenv("ANYNPU_DRIVER_OHNN", argv[1], 1);
	setenv("ANYNPU_OHNN", "device", 1);
	setenv("ANYNPU_FALLBACK", "off", 1);
	struct nn nn = nn_of(RTLD_DEFAULT);
	struct addition ours = make_addition(&nn);
	void *file = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
	CHECK(file, "the driver was not opened");
	struct nn its = nn_of(file);
	struct addition own = make_addition(&its);
	CHECK(nn.Executor_RunSync(own.executor, own.tensors, 2, own.tensors + 2, 1) == OH_NN_INVALID_PARAMETER,
		"an executor of the driver's is one of AnyNPU's");
	double direct = 1e18, through = 1e18;
	for (int round = 0; round < rounds; round++) {
		direct = fastest_run(&own, RUNS, (float)round, direct);
		through = fastest_run(&ours, RUNS, (float)round, through);
	}
	printf("%-40s %9s %9s %9s\n", "OH_NNExecutor_RunSync, ADD of 1 element", "ns", "x direct", "more");
	printf("%-40s %9.1f %9.1f %+9.1f\n", "of the driver, directly", direct, 1.0, 0.0);
	printf("%-40s %9.1f %9.1f %+9.1f\n", "  through AnyNPU, with it as a device", through, through / direct,
		through - direct);
	end_addition(&ours);
	end_addition(&own);
	CHECK(anynpu_live_handles() == 0, "%zu handles left", anynpu_live_handles());
	return 0;
}
