/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a run of a model costs in two builds of the library. Three processes take turns of some milliseconds: one with
 * the library of another commit, two with this one, whose ratio to each other says how much chance there is in the
 * first ratio.
 *
 *     turns LIBDIR BASELINE MODEL SECONDS ohnn|image
 *
 * ohnn runs the model as it stands by OH_NNExecutor_RunSync; image gives it bytes in NHWC by rknn_inputs_set and runs
 * it by rknn_run. The number of threads is ANYNPU_THREADS.
 */
#include "frames.h"
#include "sides.h"

#define TURN 4e-3

enum { BEFORE, NOW, AGAIN, SIDES };

static struct model model;
static void run_plain(void) { run_model(&model); }

static void run_frame(void)
{
	set_inputs();
	run();
}

static double seconds_per_run(void (*f)(void), int runs)
{
	double start = now();
	for (int i = 0; i < runs; i++)
		f();
	return (now() - start) / runs;
}

static void measure(char *path, const char *way)
{
	void (*f)(void) = run_frame;
	if (strcmp(way, "ohnn") == 0) {
		model.compilation = open_compilation(path);
		make_executor(&model);
		f = run_plain;
	} else {
		RKNN_OK(rknn_init(&ctx, path, 0, 0, NULL));
		make_ports();
	}
	seconds_per_run(f, 2); /* the first runs make what later ones reuse */
	double once = seconds_per_run(f, 2);
	int runs = once < TURN ? (int)(TURN / once) + 1 : 1;
	while (turn_asked()) {
		double t = seconds_per_run(f, runs);
		turn_done(&t, sizeof t);
	}
}

/* Of the ratios a by b of each turn the median and the quartiles, and the ratio of the lowest times. */
static void print_ratio(const char *name, const struct samples *a, const struct samples *b)
{
	struct samples ratio = {NULL, 0, 0};
	double lowest[2] = {1e18, 1e18};
	for (size_t i = 0; i < a->count; i++) {
		add_sample(&ratio, a->at[i] / b->at[i]);
		lowest[0] = a->at[i] < lowest[0] ? a->at[i] : lowest[0];
		lowest[1] = b->at[i] < lowest[1] ? b->at[i] : lowest[1];
	}
	printf("%s %.3f (%.3f to %.3f; of the lowest %.3f)", name, quantile(&ratio, 0.5), quantile(&ratio, 0.25),
		quantile(&ratio, 0.75),
	       lowest[0] / lowest[1]);
	free(ratio.at);
}

int main(int argc, char **argv)
{
	struct side sides[SIDES];
	struct samples times[SIDES] = {{NULL, 0, 0}};
	if (argc == 4 && strcmp(argv[1], "measure") == 0) {
		measure(argv[2], argv[3]);
		return 0;
	}
	CHECK(argc == 6 && (strcmp(argv[5], "ohnn") == 0 || strcmp(argv[5], "image") == 0),
	      "usage: turns LIBDIR BASELINE MODEL SECONDS ohnn|image");
	char *const measuring[] = {argv[0], "measure", argv[3], argv[5], NULL};
	for (int s = 0; s < SIDES; s++)
		start_side(&sides[s], s == BEFORE ? argv[2] : argv[1], measuring);
	double limit = strtod(argv[4], NULL), t, begin = 0;
	for (int round = 0; begin == 0 || now() - begin < limit; round++) {
		for (int i = 0; i < SIDES; i++) {
			int s = (round + i) % SIDES; /* each is as often first */
			turn_of(&sides[s], &t, sizeof t);
			if (round > 0) /* until then sides still load */
				add_sample(&times[s], t);
		}
		if (begin == 0)
			begin = now();
	}
	for (int s = 0; s < SIDES; s++)
		stop_side(&sides[s]);
	print_ratio("before/now", &times[BEFORE], &times[NOW]);
	print_ratio(", now/now", &times[NOW], &times[AGAIN]);
	printf(", now %.3f ms, %zu turns\n", 1e3 * quantile(&times[NOW], 0.5), times[NOW].count);
	for (int s = 0; s < SIDES; s++)
		free(times[s].at);
	return 0;
}
