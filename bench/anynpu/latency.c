/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How long a small call takes while two executions of a model run without pause on other threads, beside the same calls
 * when nothing runs.
 *
 *     latency MODEL [SECONDS]
 */
#include <pthread.h>
#include <stdatomic.h>

#include "model.h"

static atomic_int stop, runs;

static void *runner(void *model)
{
	while (!atomic_load(&stop)) {
		run_model((struct model *)model);
		atomic_fetch_add(&runs, 1);
	}
	return NULL;
}

/* Calls every 200 microseconds for some seconds. */
static void measure(const char *when, double limit)
{
	const struct timespec pause = {0, 200000};
	struct samples s = {NULL, 0, 0};
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	OH_NN_Format format;
	for (double begin = now(); now() - begin < limit;) {
		nanosleep(&pause, NULL);
		double t = now();
		OK(OH_NNTensorDesc_GetFormat(d, &format));
		add_sample(&s, now() - t);
	}
	printf("OH_NNTensorDesc_GetFormat, %s: p50 %.1f us, p99 %.1f us, p99.9 %.1f us, longest %.1f us, %zu calls\n", when,
		1e6 * quantile(&s, 0.5),
	       1e6 * quantile(&s, 0.99), 1e6 * quantile(&s, 0.999), 1e6 * quantile(&s, 1), s.count);
	OK(OH_NNTensorDesc_Destroy(&d));
	free(s.at);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: latency MODEL [SECONDS]\n");
		return 2;
	}
	double limit = argc > 2 ? strtod(argv[2], NULL) : 3;
	OH_NNCompilation *c = open_compilation(argv[1]);
	struct model m[2] = {{.compilation = c}, {.compilation = c}};
	pthread_t t[2];
	for (int i = 0; i < 2; i++) {
		make_executor(&m[i]);
		run_model(&m[i]);
	}
	measure("nothing runs", limit / 2);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&t[i], NULL, runner, &m[i]) == 0, "pthread_create");
	measure("two executions run", limit);
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("runs meanwhile: %d\n", atomic_load(&runs));
	CHECK(atomic_load(&runs) > 0, "nothing ran");
	for (int i = 0; i < 2; i++)
		drop_executor(&m[i]);
	OH_NNCompilation_Destroy(&c);
	return 0;
}
