/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_custom_pool [ROUNDS]
 *
 * Threads with duplicates of one context whose operators the program computes.
 */
#include <math.h>
#include <pthread.h>

#include "rknn_customs.h"

/* Threads, each with a duplicate that it makes and ends again and again, while all use the source as well. */
enum { THREADS = 8 };

static rknn_context pool_source;
static int rounds = 20, pool_lives, pool_calls;

static int pool_init(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)in, (void)n_in, (void)out, (void)n_out;
	op->priv_data = malloc(sizeof(pthread_t));
	__atomic_add_fetch(&pool_lives, 1, __ATOMIC_RELAXED);
	return 0;
}

static int pool_prepare(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in,
	rknn_custom_op_tensor *out, uint32_t n_out)
{
	(void)in, (void)n_in, (void)out, (void)n_out;
	*(pthread_t *)op->priv_data = pthread_self();
	return 0;
}

static int pool_affine(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)n_in, (void)n_out;
	CHECK(pthread_equal(*(pthread_t *)op->priv_data, pthread_self()), "one run in two threads");
	for (int i = 0; i < N; i++)
		data_of(out)[i] = data_of(in)[i] / 2;
	__atomic_add_fetch(&pool_calls, 1, __ATOMIC_RELAXED);
	return 0;
}

static int pool_dual(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)op, (void)n_in, (void)n_out;
	for (int i = 0; i < N; i++)
		data_of(out)[i] = data_of(&in[0])[i] + 2 * data_of(&in[1])[i];
	return 0;
}

static int pool_destroy(rknn_custom_op_context *op)
{
	free(op->priv_data);
	__atomic_sub_fetch(&pool_lives, 1, __ATOMIC_RELAXED);
	return 0;
}

static void pool_run(rknn_context ctx)
{
	float y[N], sum = 0;
	rknn_output out = {.want_float = 1, .is_prealloc = 1, .buf = y, .size = sizeof y};
	set(ctx);
	OK(rknn_run(ctx, NULL));
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	for (int c = 0; c < C; c++)
		sum += y[c * W];
	CHECK(fabs(sum - 1) < 1e-5 && y[2 * W] > y[W] && y[W] > y[0], "a result in a thread");
}

static void *pool_thread(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		rknn_context source = pool_source, dup = 0;
		OK(rknn_dup_context(&source, &dup));
		pool_run(dup);
		pool_run(pool_source);
		OK(rknn_destroy(dup));
	}
	return arg;
}

static void pool(void)
{
	pthread_t threads[THREADS];
	rknn_custom_op op[2] = {operation("cstAffine", pool_affine), operation("cstDual", pool_dual)};
	op[0].init = pool_init;
	op[0].prepare = pool_prepare;
	op[0].destroy = pool_destroy;
	pool_source = load_foreign();
	OK(rknn_register_custom_ops(pool_source, op, 2));
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, pool_thread, NULL) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join");
	OK(rknn_destroy(pool_source));
	CHECK(pool_lives == 0 && pool_calls == 2 * THREADS * rounds, "%d lives, %d calls", pool_lives, pool_calls);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	host_begin();
	pool();
	puts("rknn_custom_pool: ok");
	return host_end();
}
