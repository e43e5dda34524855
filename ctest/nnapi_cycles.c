/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     nnapi_cycles COUNT
 *
 * Executions in a burst, executions after fences, and whole lives of models, COUNT times each: memory, descriptors and
 * mappings of the process do not grow. Then COUNT executions wait for fences at once: they take no thread each.
 */

#include "growth.h"
#include "nnapi_host.h"

enum { N = 64 };

static ANeuralNetworksCompilation *compilation;
static ANeuralNetworksBurst *burst;
static const float a[N], b[N];
static float y[N];

static void in_burst(const char *path, int i)
{
	ANeuralNetworksExecution *e = nn_execution(compilation);
	(void)path, (void)i;
	nn_bind(e, a, b, y, N);
	OK(ANeuralNetworksExecution_burstCompute(e, burst));
	ANeuralNetworksExecution_free(e);
}

static void after_fence(const char *path, int i)
{
	int ends[2], own = -1;
	ANeuralNetworksEvent *fence = NULL, *ev = NULL;
	ANeuralNetworksExecution *e = nn_execution(compilation);
	(void)path;
	CHECK(pipe(ends) == 0, "no pipe");
	OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &fence));
	OK(ANeuralNetworksEvent_getSyncFenceFd(fence, &own));
	close(own);
	nn_bind(e, a, b, y, N);
	const ANeuralNetworksEvent *deps[] = {fence};
	if (i % 2)
		CHECK(write(ends[1], "x", 1) == 1, "no signal");
	OK(ANeuralNetworksExecution_startComputeWithDependencies(e, deps, 1, 0, &ev));
	if (i % 2 == 0)
		CHECK(write(ends[1], "x", 1) == 1, "no signal");
	OK(ANeuralNetworksEvent_wait(ev));
	ANeuralNetworksEvent_free(ev);
	ANeuralNetworksEvent_free(fence);
	ANeuralNetworksExecution_free(e);
	close(ends[0]);
	close(ends[1]);
}

/* A model with a compilation, an execution and memory of the device. */
static void life(const char *path, int i)
{
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(N), i % 2);
	ANeuralNetworksMemoryDesc *d = NULL;
	ANeuralNetworksMemory *m = NULL;
	ANeuralNetworksExecution *e = nn_execution(c);
	(void)path;
	OK(ANeuralNetworksMemoryDesc_create(&d));
	OK(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 0, 1));
	OK(ANeuralNetworksMemoryDesc_finish(d));
	OK(ANeuralNetworksMemory_createFromDesc(d, &m));
	ANeuralNetworksMemoryDesc_free(d);
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
	OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 0, 0));
	OK(ANeuralNetworksExecution_compute(e));
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(m);
}

/* Many executions wait for as many fences, which all come. */
static void waiting(int count)
{
	ANeuralNetworksEvent **fences = (ANeuralNetworksEvent **)calloc((size_t)count, sizeof *fences), **evs =
		(ANeuralNetworksEvent **)calloc((size_t)count, sizeof *evs);
	CHECK(fences && evs, "no memory");
	int ends[2];
	CHECK(pipe(ends) == 0, "no pipe");
	long before = host_threads();
	for (int i = 0; i < count; i++) {
		ANeuralNetworksExecution *e = nn_execution(compilation);
		OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &fences[i]));
		nn_bind(e, a, b, y, N);
		const ANeuralNetworksEvent *deps[] = {fences[i]};
		OK(ANeuralNetworksExecution_startComputeWithDependencies(e, deps, 1, 0, &evs[i]));
		ANeuralNetworksExecution_free(e);
	}
	long more = host_threads() - before;
	CHECK(more < 50, "%d executions that wait take %ld threads", count, more);
	CHECK(write(ends[1], "x", 1) == 1, "no signal");
	for (int i = 0; i < count; i++) {
		OK(ANeuralNetworksEvent_wait(evs[i]));
		ANeuralNetworksEvent_free(evs[i]);
		ANeuralNetworksEvent_free(fences[i]);
	}
	close(ends[0]);
	close(ends[1]);
	free(fences);
	free(evs);
	printf("%d executions waited, %+ld threads\n", count, more);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 500;
	host_begin();
	compilation = nn_compiled(nn_sum(N), 0);
	OK(ANeuralNetworksBurst_create(compilation, &burst));
	growth_check("bursts", count, in_burst, NULL);
	growth_check("fences", count, after_fence, NULL);
	growth_check("lives", count / 5, life, NULL);
	waiting(count < 500 ? count : 500);
	ANeuralNetworksBurst_free(burst);
	ANeuralNetworksCompilation_free(compilation);
	return host_end();
}
