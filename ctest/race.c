/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * 32 threads make the first call at once; then 32 threads with small stacks come and go, making one call each.
 */
#include <limits.h>
#include <pthread.h>

#include "host.h"

#define THREADS 32

static pthread_barrier_t barrier;

static void *first(void *unused)
{
	pthread_barrier_wait(&barrier);
	CHECK(host_answer() == 0, "wrong answer");
	return unused;
}

static void *later(void *unused)
{
	CHECK(host_answer() == 0, "wrong answer");
	return unused;
}

static void run(void *(*body)(void *), size_t stack)
{
	pthread_t t[THREADS];
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	if (stack)
		CHECK(pthread_attr_setstacksize(&attr, stack) == 0, "stack of %zu bytes", stack);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], &attr, body, NULL) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_attr_destroy(&attr);
}

int main(void)
{
	host_begin();
	pthread_barrier_init(&barrier, NULL, THREADS);
	run(first, 0);
	for (int i = 0; i < 20; i++)
		run(later, PTHREAD_STACK_MIN > 32 * 1024 ? PTHREAD_STACK_MIN : 32 * 1024);
	return host_end();
}
