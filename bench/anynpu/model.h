/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the benchmark programs share: time, samples, and a model file that runs through the C API.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "ohnn_host.h"

static inline double seconds_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double now(void) { return seconds_of(CLOCK_MONOTONIC); }
static inline double cpu_now(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

/*
 * Largest resident size of this program so far in bytes. getrusage would count what the process that started it had
 * resident.
 */
static inline double peak_rss(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	double kib = -1;
	CHECK(f != NULL, "/proc/self/status");
	while (kib < 0 && fgets(line, sizeof line, f) != NULL)
		sscanf(line, "VmHWM: %lf kB", &kib);
	fclose(f);
	CHECK(kib >= 0, "/proc/self/status has no VmHWM");
	return kib * 1024;
}

/* Times in seconds. */
struct samples {
	double *at;
	size_t count, room;
};

static inline void add_sample(struct samples *s, double t)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->at = (double *)realloc(s->at, s->room * sizeof *s->at);
		CHECK(s->at != NULL, "no memory for %zu samples", s->room);
	}
	s->at[s->count++] = t;
}

static inline int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The q-quantile (0 to 1) by nearest rank; sorts the samples. */
static inline double quantile(struct samples *s, double q)
{
	CHECK(s->count > 0, "no samples");
	qsort(s->at, s->count, sizeof *s->at, by_size);
	size_t i = (size_t)(q * (double)s->count);
	return s->at[i < s->count ? i : s->count - 1];
}

#define MODEL_PORTS 64

/* A model with one executor and tensors for all its ports. */
struct model {
	OH_NNCompilation *compilation;
	OH_NNExecutor *executor;
	NN_Tensor *in[MODEL_PORTS], *out[MODEL_PORTS];
	size_t ins, outs;
};

/* Element i = ((2654435761 i + 12345) mod 2^32) / 2^31 - 1: as every engine fills its inputs. */
static inline void fill(NN_Tensor *t)
{
	OH_NN_DataType type;
	size_t n;
	NN_TensorDesc *d = OH_NNTensor_GetTensorDesc(t);
	OK(OH_NNTensorDesc_GetDataType(d, &type));
	OK(OH_NNTensorDesc_GetElementCount(d, &n));
	CHECK(type == OH_NN_FLOAT32, "input of type %d, want float32", (int)type);
	float *x = (float *)OH_NNTensor_GetDataBuffer(t);
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((double)(uint32_t)(2654435761U * (uint64_t)i + 12345U) / 2147483648.0 - 1);
}

static inline OH_NNCompilation *open_compilation(const char *path)
{
	OH_NNCompilation *c = OH_NNCompilation_ConstructWithOfflineModelFile(path);
	CHECK(c != NULL, "%s: %s", path, anynpu_last_error());
	CHECK(OH_NNCompilation_Build(c) == OH_NN_SUCCESS, "%s: %s", path, anynpu_last_error());
	return c;
}

/* Adds executor and tensors to m->compilation. */
static inline void make_executor(struct model *m)
{
	m->executor = OH_NNExecutor_Construct(m->compilation);
	CHECK(m->executor != NULL, "%s", anynpu_last_error());
	OK(OH_NNExecutor_GetInputCount(m->executor, &m->ins));
	OK(OH_NNExecutor_GetOutputCount(m->executor, &m->outs));
	CHECK(m->ins <= MODEL_PORTS && m->outs <= MODEL_PORTS, "%zu inputs, %zu outputs", m->ins, m->outs);
	for (size_t i = 0; i < m->ins + m->outs; i++) {
		int input = i < m->ins;
		size_t k = input ? i : i - m->ins;
		NN_TensorDesc *d = input ? OH_NNExecutor_CreateInputTensorDesc(m->executor, k)
		                         : OH_NNExecutor_CreateOutputTensorDesc(m->executor, k);
		NN_Tensor *t = OH_NNTensor_Create(0, d);
		CHECK(t != NULL, "port %zu: %s", i, anynpu_last_error());
		OK(OH_NNTensorDesc_Destroy(&d));
		if (input)
			fill(m->in[k] = t);
		else
			m->out[k] = t;
	}
}

static inline void run_model(struct model *m)
{
	CHECK(OH_NNExecutor_RunSync(m->executor, m->in, m->ins, m->out, m->outs) == OH_NN_SUCCESS, "%s", anynpu_last_error());
}

/* Frees the executor and the tensors, not the compilation. */
static inline void drop_executor(struct model *m)
{
	for (size_t i = 0; i < m->ins; i++)
		OK(OH_NNTensor_Destroy(&m->in[i]));
	for (size_t i = 0; i < m->outs; i++)
		OK(OH_NNTensor_Destroy(&m->out[i]));
	OH_NNExecutor_Destroy(&m->executor);
}

#endif
