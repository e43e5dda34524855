/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a run of a model costs that is built by calls of NNAPI, beside the same model loaded from its ONNX file. Three
 * processes take turns of some milliseconds: one builds, two load, whose ratio to each other says how much chance there
 * is in the first ratio.
 *
 *     calls LIBDIR MODEL.onnx MODEL.nnapi SECONDS
 *
 * The model has one input and one output of float32. How far the results of both are apart is printed: codes may be
 * rounded otherwise. The number of threads is ANYNPU_THREADS.
 */
#include "calls.h"
#include "model.h"
#include "sides.h"

#define TURN 4e-3
#define KEPT 64 /* results that are compared */

enum { BUILT, LOADED, AGAIN, SIDES };

/* Times are by the clock, and of the processors, which other programs disturb less. */
enum { WALL, CPU, CLOCKS };

struct turn {
	double seconds[CLOCKS];
	float result[KEPT];
};

static struct model model;
static void run_loaded(void) { run_model(&model); }

static ANeuralNetworksExecution *execution;
static void run_built(void) { NN_OK(ANeuralNetworksExecution_compute(execution)); }

static void time_runs(void (*f)(void), int runs, double seconds[CLOCKS])
{
	double wall = now(), cpu = cpu_now();
	for (int i = 0; i < runs; i++)
		f();
	seconds[WALL] = (now() - wall) / runs;
	seconds[CPU] = (cpu_now() - cpu) / runs;
}

/* The model is loaded in any case: it says how large its tensors are. */
static void measure(const char *onnx, const char *built)
{
	struct turn t = {0};
	size_t in, out;
	void (*f)(void) = run_loaded;
	model.compilation = open_compilation(onnx);
	make_executor(&model);
	CHECK(model.ins == 1 && model.outs == 1, "%zu inputs and %zu outputs", model.ins, model.outs);
	OK(OH_NNTensorDesc_GetByteSize(OH_NNTensor_GetTensorDesc(model.in[0]), &in));
	OK(OH_NNTensorDesc_GetByteSize(OH_NNTensor_GetTensorDesc(model.out[0]), &out));
	float *result = OH_NNTensor_GetDataBuffer(model.out[0]);
	if (built) {
		ANeuralNetworksModel *m;
		ANeuralNetworksCompilation *c = compile_calls(built, &m);
		NN_OK(ANeuralNetworksExecution_create(c, &execution));
		NN_OK(ANeuralNetworksExecution_setReusable(execution, true));
		NN_OK(ANeuralNetworksExecution_setInput(execution, 0, NULL, OH_NNTensor_GetDataBuffer(model.in[0]), in));
		NN_OK(ANeuralNetworksExecution_setOutput(execution, 0, NULL, result, out));
		f = run_built;
	}
	for (int i = 0; i < 2; i++) /* the first runs make what later ones reuse */
		time_runs(f, 2, t.seconds);
	int runs = t.seconds[CPU] < TURN ? (int)(TURN / t.seconds[CPU]) + 1 : 1;
	while (turn_asked()) {
		time_runs(f, runs, t.seconds);
		memcpy(t.result, result, out < sizeof t.result ? out : sizeof t.result);
		turn_done(&t, sizeof t);
	}
}

/* How much results differ, as a part of the largest one. */
static double difference(const struct turn *a, const struct turn *b)
{
	double most = 0, worst = 0;
	for (int i = 0; i < KEPT; i++) {
		double x = (double)a->result[i], y = (double)b->result[i], d = x > y ? x - y : y - x, size = y < 0 ? -y : y;
		most = size > most ? size : most;
		worst = d > worst ? d : worst;
	}
	CHECK(most > 0, "all results are 0");
	return worst / most;
}

static void print_ratio(const char *name, const struct samples *a, const struct samples *b)
{
	struct samples ratio = {NULL, 0, 0};
	for (size_t i = 0; i < a->count; i++)
		add_sample(&ratio, a->at[i] / b->at[i]);
	double low = quantile(&ratio, 0.25), high = quantile(&ratio, 0.75);
	printf("%s %.3f (%.3f to %.3f)", name, quantile(&ratio, 0.5), low, high);
	free(ratio.at);
}

int main(int argc, char **argv)
{
	struct side sides[SIDES];
	struct turn t[SIDES];
	struct samples times[CLOCKS][SIDES] = {{{NULL, 0, 0}}};
	if ((argc == 3 || argc == 4) && strcmp(argv[1], "measure") == 0) {
		measure(argv[2], argv[3]);
		return 0;
	}
	CHECK(argc == 5, "usage: calls LIBDIR MODEL.onnx MODEL.nnapi SECONDS");
	for (int s = 0; s < SIDES; s++) {
		char *const measuring[] = {argv[0], "measure", argv[2], s == BUILT ? argv[3] : NULL, NULL};
		start_side(&sides[s], argv[1], measuring);
	}
	double limit = strtod(argv[4], NULL), begin = 0, apart = 0;
	for (int round = 0; begin == 0 || now() - begin < limit; round++) {
		for (int i = 0; i < SIDES; i++) {
			int s = (round + i) % SIDES; /* each is as often first */
			turn_of(&sides[s], &t[s], sizeof t[s]);
			for (int c = 0; round > 0 && c < CLOCKS; c++) /* until then sides still load */
				add_sample(&times[c][s], t[s].seconds[c]);
		}
		apart = difference(&t[BUILT], &t[LOADED]);
		if (begin == 0)
			begin = now();
	}
	for (int s = 0; s < SIDES; s++)
		stop_side(&sides[s]);
	for (int c = 0; c < CLOCKS; c++) {
		print_ratio(c == WALL ? "by the clock built/loaded" : ", of the processors built/loaded", &times[c][BUILT],
			&times[c][LOADED]);
		print_ratio(", loaded/loaded", &times[c][AGAIN], &times[c][LOADED]);
		printf(", loaded %.3f ms", 1e3 * quantile(&times[c][LOADED], 0.5));
	}
	printf(", %zu turns, results %.5f apart\n", times[WALL][LOADED].count, apart);
	for (int i = 0; i < CLOCKS * SIDES; i++)
		free(times[i / SIDES][i % SIDES].at);
	return 0;
}
