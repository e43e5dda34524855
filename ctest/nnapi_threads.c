/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     nnapi_threads [SECONDS]
 *
 * 32 threads on one compilation, without any lock: each computes by every way, with memory of its own, of a file and of
 * the device, waits or frees what it has not waited for, and compiles a model of its own now and then. Every result is
 * right, and nothing is left behind.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nnapi_host.h"

enum { THREADS = 32, N = 257 };

static atomic_int stop;
static atomic_ulong rounds;
static ANeuralNetworksCompilation *shared, *open_size;
static ANeuralNetworksMemory *file;
static const float *file_bytes;

struct worker {
	uint32_t seed;
	float a[N], b[N], y[N];
};

static uint32_t next(struct worker *w)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return w->seed >> 8;
}

static void fill(struct worker *w)
{
	float x = (float)(next(w) % 1000);
	for (int i = 0; i < N; i++)
		w->a[i] = x + (float)i, w->b[i] = 2 * x, w->y[i] = -1;
}

static void right(const struct worker *w, const float *a, int n, const char *about)
{
	for (int i = 0; i < n; i++)
		CHECK(w->y[i] == a[i] + w->b[i], "%s: element %d: %g", about, i, (double)w->y[i]);
}

/* Begins after a fence that another thread of the kernel's, the pipe, signals. */
static void fenced(struct worker *w, ANeuralNetworksExecution *e)
{
	int ends[2];
	ANeuralNetworksEvent *fence = NULL, *ev = NULL;
	CHECK(pipe(ends) == 0, "no pipe");
	OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &fence));
	const ANeuralNetworksEvent *deps[] = {fence};
	OK(ANeuralNetworksExecution_startComputeWithDependencies(e, deps, 1, 0, &ev));
	if (next(w) % 2)
		ANeuralNetworksEvent_free(fence), fence = NULL;
	CHECK(write(ends[1], "x", 1) == 1, "no signal");
	OK(ANeuralNetworksEvent_wait(ev));
	ANeuralNetworksEvent_free(fence);
	ANeuralNetworksEvent_free(ev);
	close(ends[0]);
	close(ends[1]);
}

static void compute(struct worker *w, ANeuralNetworksCompilation *c, const uint32_t *n)
{
	const ANeuralNetworksOperandType t = nn_tensor(1, n);
	ANeuralNetworksExecution *e = nn_execution(c);
	ANeuralNetworksEvent *ev = NULL;
	ANeuralNetworksBurst *burst = NULL;
	const float *a = w->a;
	int again = next(w) % 3 == 0, reads_file = next(w) % 4 == 0;
	fill(w);
	OK(ANeuralNetworksExecution_setReusable(e, again));
	if (reads_file) {
		a = file_bytes;
		OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, &t, file, 0, *n * sizeof(float)));
	} else {
		OK(ANeuralNetworksExecution_setInput(e, 0, &t, a, *n * sizeof(float)));
	}
	OK(ANeuralNetworksExecution_setInput(e, 1, &t, w->b, *n * sizeof(float)));
	OK(ANeuralNetworksExecution_setOutput(e, 0, next(w) % 2 || c == shared ? &t : NULL, w->y, *n * sizeof(float)));
	for (int i = 0; i <= 2 * again; i++) {
		w->b[0] = (float)i;
		switch (next(w) % 4) {
		case 0:
			OK(ANeuralNetworksExecution_compute(e));
			break;
		case 1:
			OK(ANeuralNetworksExecution_startCompute(e, &ev));
			if (next(w) % 2)
				OK(ANeuralNetworksEvent_wait(ev));
			ANeuralNetworksEvent_free(ev);
			break;
		case 2:
			OK(ANeuralNetworksBurst_create(c, &burst));
			OK(ANeuralNetworksExecution_burstCompute(e, burst));
			ANeuralNetworksBurst_free(burst);
			break;
		default:
			if (c == shared)
				fenced(w, e);
			else
				OK(ANeuralNetworksExecution_compute(e));
			break;
		}
		right(w, a, (int)*n, "a shared compilation");
	}
	if (!again && next(w) % 8 == 0) { /* freed while it computes */
		ANeuralNetworksExecution_free(e);
		e = nn_execution(shared);
		nn_bind(e, w->a, w->b, w->y, N);
		OK(ANeuralNetworksExecution_startCompute(e, &ev));
		ANeuralNetworksExecution_free(e);
		ANeuralNetworksEvent_free(ev);
		right(w, w->a, N, "a freed execution");
		return;
	}
	ANeuralNetworksExecution_free(e);
}

static void *work(void *arg)
{
	struct worker *w = (struct worker *)calloc(1, sizeof *w);
	CHECK(w != NULL, "no memory");
	w->seed = (uint32_t)(uintptr_t)arg;
	const uint32_t full = N;
	while (!stop) {
		uint32_t n = 1 + next(w) % N;
		compute(w, shared, &full);
		compute(w, open_size, &n);
		if (next(w) % 16 == 0) {
			ANeuralNetworksCompilation *own = nn_compiled(nn_sum(n), 0);
			compute(w, own, &n);
			ANeuralNetworksCompilation_free(own);
		}
		rounds++;
	}
	free(w);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	struct timespec time = {argc > 1 ? atoi(argv[1]) : 2, 0};
	host_begin();
	shared = nn_compiled(nn_sum(N), 0);
	open_size = nn_compiled(nn_sum(0), 0);
	int fd = memfd_create("threads", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0, "no file");
	file_bytes = (const float *)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(file_bytes != MAP_FAILED, "mmap");
	OK(ANeuralNetworksMemory_createFromFd(4096, PROT_READ, fd, 0, &file));
	close(fd);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, work, (void *)(uintptr_t)i) == 0, "pthread_create");
	while (nanosleep(&time, &time) != 0)
		;
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ANeuralNetworksMemory_free(file);
	munmap((void *)(uintptr_t)file_bytes, 4096);
	ANeuralNetworksCompilation_free(shared);
	ANeuralNetworksCompilation_free(open_size);
	CHECK(rounds >= THREADS, "%lu rounds of %d threads", (unsigned long)rounds, THREADS);
	printf("%lu rounds\n", (unsigned long)rounds);
	return host_end();
}
