/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_threads [ROUNDS]
 *
 * Threads that share a context, each with a duplicate that it makes and ends again and again, in any order; then many
 * short lives, after which nothing is left behind.
 */
#include <pthread.h>

#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { THREADS = 16, N = 64 };

static rknn_context shared;
static int rounds = 20;

static rknn_context open_model(void)
{
	static const int64_t dims[] = {1, N};
	struct rknn_message model = rknn_relu(dims, 2);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

static void set(rknn_context ctx, float first)
{
	float x[N];
	for (int i = 0; i < N; i++)
		x[i] = first + (float)i;
	rknn_input in = {.buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32};
	OK(rknn_inputs_set(ctx, 1, &in));
}

static void get(rknn_context ctx, float y[N])
{
	rknn_output out = {.want_float = 1};
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	memcpy(y, out.buf, N * sizeof *y);
	OK(rknn_outputs_release(ctx, 1, &out));
}

static void *worker(void *arg)
{
	float first = (float)(uintptr_t)arg * 1000, y[N];
	for (int r = 0; r < rounds; r++) {
		rknn_context own = 0;
		OK(rknn_dup_context(&shared, &own));
		set(own, first);
		set(shared, first);
		OK(rknn_run(shared, NULL));
		get(shared, y); /* of whichever thread set it last, but whole */
		for (int i = 1; i < N; i++)
			CHECK(y[i] == y[0] + (float)i, "results of two threads are mixed");
		OK(rknn_run(own, NULL));
		get(own, y);
		CHECK(y[0] == first && y[N - 1] == first + N - 1, "a duplicate has another's data");
		rknn_tensor_mem *m = rknn_create_mem(shared, 100);
		CHECK(m != NULL, "no memory");
		OK(rknn_destroy_mem(own, m));
		OK(rknn_destroy(own));
	}
	return NULL;
}

static void one_life(void)
{
	rknn_context ctx = open_model();
	set(ctx, 1);
	OK(rknn_run(ctx, NULL));
	rknn_output out = {.want_float = 1}; /* never released */
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	OK(rknn_destroy(ctx));
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	if (argc > 1)
		rounds = atoi(argv[1]);
	host_begin();
	shared = open_model();
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, worker, (void *)i) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join");
	OK(rknn_destroy(shared));
	for (int i = 0; i < rounds * 10; i++)
		one_life();
	puts("rknn_threads: ok");
	return host_end();
}
