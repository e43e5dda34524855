/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Handle values where no window of address space can be had: under ulimit -v, under valgrind, under sanitizers.
 *
 *     window BYTES    limits the address space, then works
 *     window 0        no limit
 */
#include <sys/resource.h>

#include "host.h"

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: window BYTES");
	rlim_t bytes = strtoull(argv[1], NULL, 10);
	if (bytes) {
		struct rlimit limit = {bytes, bytes};
		CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
	}
	NN_TensorDesc *all[1000];
	host_begin();
	for (int i = 0; i < 1000; i++) {
		all[i] = OH_NNTensorDesc_Create();
		CHECK(all[i] != NULL, "handle %d", i);
		CHECK((uintptr_t)all[i] > 4096 && (uintptr_t)all[i] % 16 == 0, "value %p", (void *)all[i]);
		for (int k = 0; k < i; k++)
			CHECK(all[k] != all[i], "handles %d and %d are equal", k, i);
	}
	CHECK(anynpu_live_handles() == 1000, "%zu live", anynpu_live_handles());
	for (int i = 0; i < 1000; i++) {
		NN_TensorDesc *stale = all[i];
		CHECK(OH_NNTensorDesc_Destroy(&all[i]) == OH_NN_SUCCESS, "handle %d", i);
		CHECK(OH_NNTensorDesc_Destroy(&stale) == OH_NN_INVALID_PARAMETER, "stale handle %d", i);
	}
	CHECK(host_answer() == 0, "wrong answer");
	return host_end();
}
