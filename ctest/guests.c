/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: guests table | soak SECONDS
 *
 * Programs of the four APIs in one process, on two compute threads (ANYNPU_THREADS=2 unless it is set).
 *
 * table: four threads of one API compute without a pause beside one of another, and those of the highest level beside
 * one of the lowest. Each row tells what the one gets beside what it gets alone, and its longest call: by the clock,
 * by the processor time of the process, and by the runs of all guests that ended meanwhile, its own among them. These
 * judge it: a virtual machine can be ten times slower for tens of milliseconds, which the two others count. A row is
 * wrong if the one has less than a third of its share, a fifth of the time, or if more than 20 runs end while one of
 * its waits (on a lower level, more than fit into the time that docs/process.md says).
 *
 * soak: four threads of each API for that long, with what each API got and how long its calls took. The process must
 * not grow.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <android/NeuralNetworks.h>
#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>
#include <rknn_api.h>

#include "growth.h"
#include "hbdnn_model.h"
#undef OK
#include "ohnn_host.h"
#undef OK
#include "nnapi_host.h"

#define SIDE 256
#define DEPTH 8
#define FLOATS (SIDE * SIDE)

enum level { DEFAULT, LOW, HIGH };

/* A program of an API: its model, and the memory of a run. */
struct guest {
	const struct api *api;
	enum level level;
	atomic_int *stop;
	rknn_context context;
	hbPackedDNNHandle_t pack;
	hbDNNHandle_t model;
	struct tensors tensors;
	OH_NNExecutor *executor;
	NN_Tensor *in[2], *out[1];
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksExecution *execution;
	float x[FLOATS], y[FLOATS];
	size_t calls, room;
	double *took, *spent; /* of each call, in ms: by the clock, and by what the process computed meanwhile on a thread */
	double *runs;         /* that all guests ended meanwhile, its own among them */
};

struct api {
	const char *name;
	void (*open)(struct guest *);
	void (*run)(struct guest *);
	void (*close)(struct guest *);
};

/* y = x x ... x. */
static struct rknn_message powers(void)
{
	const int64_t dims[] = {SIDE, SIDE};
	struct rknn_message graph = {0};
	char from[16] = "x", to[16];
	for (int i = 1; i <= DEPTH; i++) {
		snprintf(to, sizeof to, i == DEPTH ? "y" : "t%d", i);
		rknn_node(&graph, "MatMul", to, from, "x");
		memcpy(from, to, sizeof from);
	}
	rknn_port(&graph, 11, "x", dims, 2);
	rknn_port(&graph, 12, "y", dims, 2);
	return rknn_model(graph);
}

static void open_rknn(struct guest *g)
{
	static const uint32_t flags[] = {0, RKNN_FLAG_PRIOR_LOW, RKNN_FLAG_PRIOR_HIGH};
	struct rknn_message m = powers();
	CHECK(rknn_init(&g->context, m.bytes, (uint32_t)m.size, flags[g->level], NULL) == RKNN_SUCC, "rknn_init");
}

static void run_rknn(struct guest *g)
{
	rknn_input in = {0};
	rknn_output out = {0};
	in.buf = g->x;
	in.size = sizeof g->x;
	in.type = RKNN_TENSOR_FLOAT32;
	in.fmt = RKNN_TENSOR_UNDEFINED;
	CHECK(rknn_inputs_set(g->context, 1, &in) == RKNN_SUCC, "rknn_inputs_set");
	CHECK(rknn_run(g->context, NULL) == RKNN_SUCC, "rknn_run");
	out.want_float = 1;
	out.is_prealloc = 1;
	out.buf = g->y;
	out.size = sizeof g->y;
	CHECK(rknn_outputs_get(g->context, 1, &out, NULL) == RKNN_SUCC, "rknn_outputs_get");
	CHECK(rknn_outputs_release(g->context, 1, &out) == RKNN_SUCC, "rknn_outputs_release");
}

static void close_rknn(struct guest *g) { CHECK(rknn_destroy(g->context) == RKNN_SUCC, "rknn_destroy"); }

static void open_hbdnn(struct guest *g)
{
	struct rknn_message m = powers();
	const void *data = m.bytes;
	int32_t length = (int32_t)m.size, count;
	char const **names;
	CHECK(hbDNNInitializeFromDDR(&g->pack, &data, &length, 1) == 0, "hbDNNInitializeFromDDR");
	CHECK(hbDNNGetModelNameList(&names, &count, g->pack) == 0, "hbDNNGetModelNameList");
	CHECK(hbDNNGetModelHandle(&g->model, g->pack, names[0]) == 0, "hbDNNGetModelHandle");
	hbDNNTensor *in = &g->tensors.in, *out = &g->tensors.out;
	CHECK(hbDNNGetInputTensorProperties(&in->properties, g->model, 0) == 0, "input");
	CHECK(hbDNNGetOutputTensorProperties(&out->properties, g->model, 0) == 0, "output");
	CHECK(hbSysAllocCachedMem(&in->sysMem[0], (uint32_t)in->properties.alignedByteSize) == 0, "memory");
	CHECK(hbSysAllocCachedMem(&out->sysMem[0], (uint32_t)out->properties.alignedByteSize) == 0, "memory");
	memset(in->sysMem[0].virAddr, 0, (size_t)in->properties.alignedByteSize);
}

static void run_hbdnn(struct guest *g)
{
	static const int32_t priorities[] = {HB_DNN_PRIORITY_LOWEST, HB_DNN_PRIORITY_LOWEST, HB_DNN_PRIORITY_HIGHEST};
	hbDNNTaskHandle_t task = NULL;
	CHECK(infer(&task, &g->tensors, g->model, priorities[g->level], 0, 0) == 0, "hbDNNInfer");
	CHECK(hbDNNWaitTaskDone(task, 0) == 0, "hbDNNWaitTaskDone");
	CHECK(hbDNNReleaseTask(task) == 0, "hbDNNReleaseTask");
}

static void close_hbdnn(struct guest *g)
{
	CHECK(hbSysFreeMem(&g->tensors.in.sysMem[0]) == 0 && hbSysFreeMem(&g->tensors.out.sysMem[0]) == 0, "hbSysFreeMem");
	CHECK(hbDNNRelease(g->pack) == 0, "hbDNNRelease");
}

static void open_ohnn(struct guest *g)
{
	static const OH_NN_Priority priorities[] = {OH_NN_PRIORITY_MEDIUM, OH_NN_PRIORITY_LOW, OH_NN_PRIORITY_HIGH};
	OH_NNModel *m = ohnn_powers(SIDE, DEPTH);
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	CHECK(c != NULL, "OH_NNCompilation_Construct");
	if (g->level != DEFAULT)
		CHECK(OH_NNCompilation_SetPriority(c, priorities[g->level]) == OH_NN_SUCCESS, "OH_NNCompilation_SetPriority");
	CHECK(OH_NNCompilation_Build(c) == OH_NN_SUCCESS, "OH_NNCompilation_Build");
	CHECK((g->executor = OH_NNExecutor_Construct(c)) != NULL, "OH_NNExecutor_Construct");
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
	g->in[0] = ohnn_tensor(SIDE, SIDE, 0);
	g->in[1] = ohnn_tensor(SIDE, SIDE, 0);
	g->out[0] = ohnn_tensor(SIDE, SIDE, 0);
}

static void run_ohnn(struct guest *g) { CHECK(OH_NNExecutor_RunSync(g->executor, g->in, 2, g->out, 1) == OH_NN_SUCCESS, "OH_NNExecutor_RunSync"); }

static void close_ohnn(struct guest *g)
{
	for (int i = 0; i < 2; i++)
		OH_NNTensor_Destroy(&g->in[i]);
	OH_NNTensor_Destroy(&g->out[0]);
	OH_NNExecutor_Destroy(&g->executor);
}

static void open_nnapi(struct guest *g)
{
	static const int32_t priorities[] = {ANEURALNETWORKS_PRIORITY_DEFAULT, ANEURALNETWORKS_PRIORITY_LOW, ANEURALNETWORKS_PRIORITY_HIGH};
	static const float zeros[FLOATS];
	const uint32_t dims[] = {SIDE, SIDE}, row[] = {SIDE};
	const ANeuralNetworksOperandType square = nn_tensor(2, dims), line = nn_tensor(1, row);
	ANeuralNetworksModel *m = NULL;
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i <= DEPTH; i++)
		OK(ANeuralNetworksModel_addOperand(m, &square));
	OK(ANeuralNetworksModel_addOperand(m, &square)); /* the weights, the bias, no activation */
	OK(ANeuralNetworksModel_setOperandValue(m, DEPTH + 1, zeros, sizeof zeros));
	OK(ANeuralNetworksModel_addOperand(m, &line));
	OK(ANeuralNetworksModel_setOperandValue(m, DEPTH + 2, zeros, SIDE * sizeof *zeros));
	nn_int(m, DEPTH + 3, ANEURALNETWORKS_FUSED_NONE);
	for (uint32_t i = 0; i < DEPTH; i++) {
		const uint32_t in[] = {i, DEPTH + 1, DEPTH + 2, DEPTH + 3}, out[] = {i + 1};
		OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_FULLY_CONNECTED, 4, in, 1, out));
	}
	const uint32_t first[] = {0}, last[] = {DEPTH};
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, first, 1, last));
	OK(ANeuralNetworksModel_finish(m));
	OK(ANeuralNetworksCompilation_create(m, &g->compilation));
	OK(ANeuralNetworksCompilation_setPriority(g->compilation, priorities[g->level]));
	OK(ANeuralNetworksCompilation_finish(g->compilation));
	ANeuralNetworksModel_free(m);
	OK(ANeuralNetworksExecution_create(g->compilation, &g->execution));
	OK(ANeuralNetworksExecution_setReusable(g->execution, true));
	OK(ANeuralNetworksExecution_setInput(g->execution, 0, NULL, g->x, sizeof g->x));
	OK(ANeuralNetworksExecution_setOutput(g->execution, 0, NULL, g->y, sizeof g->y));
}

static void run_nnapi(struct guest *g) { OK(ANeuralNetworksExecution_compute(g->execution)); }

static void close_nnapi(struct guest *g)
{
	ANeuralNetworksExecution_free(g->execution);
	ANeuralNetworksCompilation_free(g->compilation);
}

enum { APIS = 4, GREEDY = 4, THREADS = 2, PATIENCE = 20 }; /* PATIENCE: runs that may end while one waits */

static const struct api apis[APIS] = {
	{"ohnn", open_ohnn, run_ohnn, close_ohnn},
	{"rknn", open_rknn, run_rknn, close_rknn},
	{"hbdnn", open_hbdnn, run_hbdnn, close_hbdnn},
	{"nnapi", open_nnapi, run_nnapi, close_nnapi},
};

static double read_clock(clockid_t id) /* in ms */
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }

static double *room_for(size_t n)
{
	double *p = (double *)malloc(n * sizeof *p);
	CHECK(p != NULL, "no memory");
	return (double *)memset(p, 0, n * sizeof *p); /* it is resident before anything is measured */
}

static struct guest *guest_new(const struct api *api, enum level level, atomic_int *stop)
{
	struct guest *g = (struct guest *)calloc(1, sizeof *g);
	CHECK(g != NULL, "no memory");
	g->api = api;
	g->level = level;
	g->stop = stop;
	g->room = 1 << 18;
	g->took = room_for(g->room);
	g->spent = room_for(g->room);
	g->runs = room_for(g->room);
	api->open(g);
	api->run(g);
	return g;
}

static void guest_free(struct guest *g)
{
	g->api->close(g);
	free(g->took);
	free(g->spent);
	free(g->runs);
	free(g);
}

/* Calls until it is told to stop. Of more calls than there is room for, the last ones are kept. */
static void *guest_calls(void *arg)
{
	static atomic_ulong ended;
	struct guest *g = (struct guest *)arg;
	while (!*g->stop) {
		size_t i = g->calls++ % g->room;
		double begin = now(), used = read_clock(CLOCK_PROCESS_CPUTIME_ID);
		unsigned long before = ended;
		g->api->run(g);
		g->took[i] = now() - begin;
		g->spent[i] = (read_clock(CLOCK_PROCESS_CPUTIME_ID) - used) / THREADS;
		g->runs[i] = (double)(atomic_fetch_add(&ended, 1) + 1 - before);
	}
	return NULL;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* What a part of the calls' times does not exceed. */
static double quantile(const struct guest *g, double *times, double part)
{
	size_t n = g->calls < g->room ? g->calls : g->room;
	if (n == 0)
		return 0;
	qsort(times, n, sizeof *times, ascending);
	return times[(size_t)((double)(n - 1) * part)];
}

/* Lets guests call for a while, in ms, and forgets what they did before. */
static void together(struct guest **guests, int n, double length)
{
	pthread_t threads[16];
	*guests[0]->stop = 0;
	for (int i = 0; i < n; i++) {
		guests[i]->calls = 0;
		CHECK(pthread_create(&threads[i], NULL, guest_calls, guests[i]) == 0, "no thread");
	}
	for (double end = now() + length; now() < end;)
		usleep(1000);
	*guests[0]->stop = 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* One row; whether it is as it must be. aged: how long a run of a lower level waits for 1 ms of computing, in ms. */
static int row(const struct api *greedy, enum level theirs, const struct api *victim, enum level own, double aged,
               int *late)
{
	static atomic_int stop;
	static const char *const levels[] = {"", " low", " high"};
	const double length = 1500;
	struct guest *one = guest_new(victim, own, &stop), *all[1 + GREEDY] = {one};
	for (int i = 0; i < GREEDY; i++)
		all[1 + i] = guest_new(greedy, theirs, &stop);
	together(all, 1, length / 3);
	double alone = (double)one->calls * 3, call = quantile(one, one->spent, 0.5);
	double own_longest = quantile(one, one->took, 1);
	together(all, 1 + GREEDY, length);
	double others = 0;
	for (int i = 0; i < GREEDY; i++)
		others += (double)all[1 + i]->calls;
	double got = (double)one->calls, share = got / (alone / (1 + GREEDY)), spent = quantile(one, one->spent, 1);
	double runs = quantile(one, one->runs, 1), bound = PATIENCE + aged * (THREADS + 1 / call);
	int good = got > 0 && runs <= bound && (aged > 0 || share >= 1. / 3);
	*late += aged == 0 && spent > PATIENCE * call;
	printf("4 x %5s%-5s beside %5s%-4s  %6.0f calls/s, alone %6.0f: %5.2f of its share; ", greedy->name, levels[theirs],
	       victim->name, levels[own], got * 1e3 / length, alone * 1e3 / length, share);
	printf("the longest while %3.0f runs ended, at most %4.0f; in processor time %6.2f ms = %5.1f x alone; ", runs, bound,
	       spent, spent / call);
	printf("by the clock %6.2f ms, alone %5.2f; the others %5.0f calls/s%s\n", quantile(one, one->took, 1), own_longest,
	       others * 1e3 / length, good ? "" : "  WRONG");
	fflush(stdout);
	for (int i = 0; i <= GREEDY; i++)
		guest_free(all[i]);
	return good;
}

static int table(void)
{
	const double ageing = 20, second = 1000; /* of docs/process.md, in ms */
	int wrong = 0, late = 0;
	for (int a = 0; a < APIS; a++)
		for (int b = 0; b < APIS; b++)
			wrong += a != b && !row(&apis[a], DEFAULT, &apis[b], DEFAULT, 0, &late);
	for (int a = 0; a < APIS; a++)
		wrong += !row(&apis[a], HIGH, &apis[a], LOW, strcmp(apis[a].name, "hbdnn") == 0 ? second : 2 * ageing, &late);
	printf("guests: %d of %d rows are wrong, %d with a call of more processor time than 20 alone\n", wrong,
	       APIS * APIS, late);
	return wrong != 0;
}

static int soak(double seconds)
{
	static atomic_int stop;
	struct guest *all[APIS * GREEDY];
	for (int i = 0; i < APIS * GREEDY; i++)
		all[i] = guest_new(&apis[i % APIS], DEFAULT, &stop);
	together(all, APIS * GREEDY, 1e3 * seconds / 10); /* Go starts threads as they are needed */
	long pages = growth_resident(), maps = growth_mappings();
	size_t fds = growth_descriptors(), calls[APIS] = {0};
	int threads = host_threads();
	together(all, APIS * GREEDY, seconds * 1e3);
	long more = growth_resident() - pages, more_maps = growth_mappings() - maps;
	double total = 0, least = 1;
	for (int i = 0; i < APIS * GREEDY; i++) {
		calls[i % APIS] += all[i]->calls;
		total += (double)all[i]->calls;
	}
	for (int a = 0; a < APIS; a++) {
		double p50 = 0, p99 = 0, most = 0;
		for (int i = a; i < APIS * GREEDY; i += APIS) {
			double *took = all[i]->took;
			p50 += quantile(all[i], took, 0.5) / GREEDY;
			p99 = quantile(all[i], took, 0.99) > p99 ? quantile(all[i], took, 0.99) : p99;
			most = quantile(all[i], took, 1) > most ? quantile(all[i], took, 1) : most;
		}
		double part = (double)calls[a] / total;
		least = part < least ? part : least;
		printf("%5s: %8zu calls, %4.1f %% of all, median %.2f ms, p99 %.2f ms, longest %.2f ms\n", apis[a].name, calls[a], 100 * part, p50, p99, most);
	}
	int more_threads = host_threads() - threads;
	long more_fds = (long)growth_descriptors() - (long)fds;
	printf("resident %+ld KiB, mappings %+ld, descriptors %+ld, threads %+d\n", more * (getpagesize() / 1024), more_maps,
		more_fds, more_threads);
	CHECK(more_fds == 0, "descriptors grow");
	CHECK(seconds < 60 || more_threads < 4, "threads grow");
	CHECK(more < 16 << 8 && more_maps < 16, "memory grows");
	CHECK(seconds < 60 || least >= 0.125, "an API has less than half of its quarter");
	for (int i = 0; i < APIS * GREEDY; i++)
		guest_free(all[i]);
	return 0;
}

int main(int argc, char **argv)
{
	int code = 2;
	host_begin();
	setenv("ANYNPU_THREADS", "2", 0); /* THREADS */
	if (argc == 2 && strcmp(argv[1], "table") == 0)
		code = table();
	else if (argc == 3 && strcmp(argv[1], "soak") == 0)
		code = soak(atof(argv[2]));
	else
		fprintf(stderr, "usage: guests table | soak SECONDS\n");
	return code ? code : host_end();
}
