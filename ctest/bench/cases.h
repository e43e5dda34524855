/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose cost is measured, beside a direct C call.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <time.h>

#include "host.h"

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

static inline double nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Runs every case calls times and keeps in best the nanoseconds of a call if they are fewer. */
static inline void measure(double best[CASES], int calls)
{
	for (size_t k = 0; k < CASES; k++) {
		double start = nanoseconds();
		for (int i = 0; i < calls; i++)
			cases[k].run();
		double t = (nanoseconds() - start) / calls;
		best[k] = t < best[k] ? t : best[k];
	}
}

#endif
