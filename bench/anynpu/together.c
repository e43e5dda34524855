/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Four executions of one compiled model: run on four threads at once, and one after another on one thread, by turns.
 *
 *     together MODEL [ROUNDS]      prints the lowest time of both over the rounds, and their ratio
 */
#include <pthread.h>

#include "model.h"

#define EXECUTIONS 4

static struct model models[EXECUTIONS];
static int runs = 1;
static pthread_barrier_t gate;

static void *runner(void *model)
{
	pthread_barrier_wait(&gate);
	for (int i = 0; i < runs; i++)
		run_model((struct model *)model);
	return NULL;
}

static double together(void)
{
	pthread_t t[EXECUTIONS];
	for (int i = 0; i < EXECUTIONS; i++)
		CHECK(pthread_create(&t[i], NULL, runner, &models[i]) == 0, "pthread_create");
	pthread_barrier_wait(&gate);
	double start = now();
	for (int i = 0; i < EXECUTIONS; i++)
		pthread_join(t[i], NULL);
	return now() - start;
}

static double one_by_one(void)
{
	double start = now();
	for (int i = 0; i < EXECUTIONS; i++)
		for (int k = 0; k < runs; k++)
			run_model(&models[i]);
	return now() - start;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: together MODEL [ROUNDS]\n");
		return 2;
	}
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	OH_NNCompilation *c = open_compilation(argv[1]);
	CHECK(pthread_barrier_init(&gate, NULL, EXECUTIONS + 1) == 0, "pthread_barrier_init");
	for (int i = 0; i < EXECUTIONS; i++) {
		models[i].compilation = c;
		make_executor(&models[i]);
		run_model(&models[i]);
	}
	/* Enough runs that starting threads does not count: a tenth of a second. */
	double once = one_by_one();
	runs = once < 0.1 ? (int)(0.1 / once) + 1 : 1;
	double a = 1e18, b = 1e18;
	for (int i = 0; i < rounds; i++) {
		double t = together(), u = one_by_one();
		a = t < a ? t : a;
		b = u < b ? u : b;
	}
	double per = 1e3 / (EXECUTIONS * runs);
	printf("four executions, ms per run: together %.3f, one after another %.3f, ratio %.3f (lowest of %d)\n", a * per,
		b * per, a / b, rounds);
	for (int i = 0; i < EXECUTIONS; i++)
		drop_executor(&models[i]);
	OH_NNCompilation_Destroy(&c);
	pthread_barrier_destroy(&gate);
	return 0;
}
