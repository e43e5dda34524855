/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     nnapi_many COUNT
 *
 * COUNT executions of one compilation are alive at once, and all are started: their memory is bounded, they take no
 * descriptor each, and every one gives its own sum. A third of them end while they wait or run, the compilation ends
 * before all others, and what is left ends in an order that is not that of its making.
 */
#include "growth.h"
#include "nnapi_host.h"

enum { STEP = 7919, /* a prime that divides no count here: i * STEP % count is each of them once */ MOST_BYTES = 16 << 10 };

static float sum(int i) { return (float)(i % 1000) + 0.25f; }

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 2000;
	CHECK(count > 0 && count % STEP != 0, "usage: nnapi_many COUNT");
	host_begin();
	ANeuralNetworksCompilation *compilation = nn_compiled(nn_sum(1), 0);
	ANeuralNetworksExecution **e = (ANeuralNetworksExecution **)calloc((size_t)count, sizeof *e);
	ANeuralNetworksEvent **event = (ANeuralNetworksEvent **)calloc((size_t)count, sizeof *event);
	float *a = (float *)calloc((size_t)count, sizeof *a), *y = (float *)calloc((size_t)count, sizeof *y);
	CHECK(e != NULL && event != NULL && a != NULL && y != NULL, "no memory");
	static const float quarter = 0.25f;
	const size_t descriptors = growth_descriptors();
	const long pages = growth_resident();
	for (int i = 0; i < count; i++) {
		a[i] = (float)(i % 1000);
		e[i] = nn_execution(compilation);
		nn_bind(e[i], &a[i], &quarter, &y[i], 1);
	}
	const long each = (growth_resident() - pages) * getpagesize() / count;
	CHECK(growth_descriptors() == descriptors, "%d executions take %zu descriptors", count,
		growth_descriptors() - descriptors);
	CHECK(each < MOST_BYTES, "an execution takes %ld bytes", each);
	for (int i = 0; i < count; i++) {
		OK(ANeuralNetworksExecution_startCompute(e[i], &event[i]));
		if (i % 3 == 0) {
			ANeuralNetworksExecution_free(e[i]);
			e[i] = NULL;
		}
	}
	ANeuralNetworksCompilation_free(compilation);
	for (long i = 0; i < count; i++) {
		const long k = i * STEP % count;
		OK(ANeuralNetworksEvent_wait(event[k]));
		CHECK(y[k] == sum((int)k), "execution %ld: got %g, want %g", k, y[k], sum((int)k));
		if (i % 2)
			ANeuralNetworksExecution_free(e[k]);
		ANeuralNetworksEvent_free(event[k]);
		if (i % 2 == 0)
			ANeuralNetworksExecution_free(e[k]);
	}
	printf("%d executions alive: 0 descriptors, %ld bytes each\n", count, each);
	free(e);
	free(event);
	free(a);
	free(y);
	return host_end();
}
