/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A handle destroyed while a call works on it: a status, and the object stays; also with many threads at once.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "host.h"

#define LENGTH (32 << 20) /* copying a name of this length takes a while */

static NN_TensorDesc *desc;
static char *name;
static atomic_int stop, calling;

static void *worker(void *unused)
{
	calling = 1;
	while (!stop)
		OH_NNTensorDesc_SetName(desc, name);
	return unused;
}

/* Whether a destroy met a running call; otherwise it came between two, and the worker's next call is refused. */
static int meets_call(void)
{
	NN_TensorDesc *copy = desc;
	OH_NN_ReturnCode rc = OH_NNTensorDesc_Destroy(&copy);
	CHECK(rc == OH_NN_SUCCESS || rc == OH_NN_OPERATION_FORBIDDEN, "status %d", (int)rc);
	CHECK((copy == NULL) == (rc == OH_NN_SUCCESS), "only a destroy that happened clears the pointer");
	return rc == OH_NN_OPERATION_FORBIDDEN;
}

static void refused_while_running(void)
{
	int met = 0;
	for (int i = 0; i < 200 && !met; i++) {
		pthread_t t;
		desc = OH_NNTensorDesc_Create();
		stop = calling = 0;
		CHECK(pthread_create(&t, NULL, worker, NULL) == 0, "pthread_create");
		while (!calling)
			sched_yield();
		for (volatile int pause = 0; pause < 1000 * i; pause++) /* a little later in each attempt, well inside the call */
			;
		met = meets_call();
		stop = 1;
		pthread_join(t, NULL);
		if (met)
			CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_SUCCESS, "destroy after the call");
	}
	CHECK(met, "no destroy met a running call in 200 attempts");
}

static NN_TensorDesc *shared[64];

static void *stress(void *seed)
{
	unsigned x = (unsigned)(uintptr_t)seed * 2654435761u + 1;
	for (int i = 0; i < 20000; i++) {
		x = x * 1664525u + 1013904223u;
		NN_TensorDesc **at = &shared[(x >> 8) % 64], *d = __atomic_load_n(at, __ATOMIC_RELAXED);
		size_t n;
		switch ((x >> 20) % 4) {
		case 0:
			if (d && OH_NNTensorDesc_Destroy(&d) == OH_NN_SUCCESS)
				__atomic_store_n(at, NULL, __ATOMIC_RELAXED);
			break;
		case 1:
			if (!d) {
				NN_TensorDesc *made = OH_NNTensorDesc_Create(), *empty = NULL;
				if (!__atomic_compare_exchange_n(at, &empty, made, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
					OH_NNTensorDesc_Destroy(&made);
			}
			break;
		default:
			OH_NNTensorDesc_GetByteSize(d, &n);
		}
	}
	return NULL;
}

int main(void)
{
	host_begin();
	name = (char *)malloc(LENGTH + 1);
	memset(name, 'n', LENGTH);
	name[LENGTH] = 0;
	refused_while_running();
	free(name);

	pthread_t t[8];
	for (uintptr_t i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, stress, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 64; i++)
		if (shared[i])
			CHECK(OH_NNTensorDesc_Destroy(&shared[i]) == OH_NN_SUCCESS, "a living handle");
	return host_end();
}
