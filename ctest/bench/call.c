/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a call costs: an exported function beside a direct C call, in one run, by turns. Times of one machine at one moment; the
 * ratios are what to look at.
 *
 *     call [ROUNDS]
 */
#include <pthread.h>
#include <time.h>

#include "host.h"

#define CALLS 200000

__attribute__((noinline)) static OH_NN_ReturnCode plain(const NN_TensorDesc *desc, OH_NN_Format *format)
{
	__asm__ volatile("" : : "r"(desc), "r"(format) : "memory");
	return OH_NN_SUCCESS;
}

static OH_NN_ReturnCode (*volatile direct)(const NN_TensorDesc *, OH_NN_Format *) = plain;
static NN_TensorDesc *desc;
static NN_TensorDesc *null;
static OH_NN_Format format;

static void c_call(void) { direct(desc, &format); }
static void getter(void) { OH_NNTensorDesc_GetFormat(desc, &format); }
static void no_argument(void) { anynpu_live_handles(); }
static void refused(void) { OH_NNTensorDesc_GetFormat(null, &format); }

static void create_destroy(void)
{
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	OH_NNTensorDesc_Destroy(&d);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"direct C call", c_call},
	{"export without arguments", no_argument},
	{"export with a handle (GetFormat)", getter},
	{"refused call, log off (NULL handle)", refused},
	{"create and destroy a descriptor", create_destroy},
};

#define CASES (sizeof cases / sizeof *cases)

static double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *caller(void *unused)
{
	for (int i = 0; i < CALLS; i++)
		getter();
	return unused;
}

/* Nanoseconds per call when n threads call at once, over all calls. */
static double threads(int n)
{
	pthread_t t[16];
	double start = nanoseconds();
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&t[i], NULL, caller, NULL) == 0, "pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return (nanoseconds() - start) / (double)(n * CALLS);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	double best[CASES];
	setenv("ANYNPU_LOG", "off", 1);
	double start = nanoseconds();
	desc = OH_NNTensorDesc_Create();
	double first = nanoseconds() - start;
	for (size_t k = 0; k < CASES; k++)
		best[k] = 1e18;
	for (int round = 0; round < rounds; round++)
		for (size_t k = 0; k < CASES; k++) {
			start = nanoseconds();
			for (int i = 0; i < CALLS; i++)
				cases[k].run();
			double t = (nanoseconds() - start) / CALLS;
			best[k] = t < best[k] ? t : best[k];
		}
	printf("%-40s %9s %9s\n", "best of rounds", "ns", "x direct");
	for (size_t k = 0; k < CASES; k++)
		printf("%-40s %9.1f %9.1f\n", cases[k].name, best[k], best[k] / best[0]);
	for (int n = 1; n <= 8; n *= 2) {
		double t = 1e18;
		for (int round = 0; round < 3; round++) {
			double now = threads(n);
			t = now < t ? now : t;
		}
		printf("GetFormat, %d threads, per call over all %9.1f %9.1f\n", n, t, t / best[0]);
	}
	printf("first call, which starts Go: %.2f ms\n", first / 1e6);
	OH_NNTensorDesc_Destroy(&desc);
	return 0;
}
