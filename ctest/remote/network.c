/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model of one input and one output through one API: API names a header of this folder.
 *
 *     network write MODEL FILE INPUTS
 *     network check MODEL FILE INPUTS
 *     network crowd MODEL FILE INPUTS THREADS RUNS
 *     network cycles MODEL FILE INPUTS CYCLES
 *
 * write computes so many inputs and writes the outputs to FILE. check computes them again: real numbers must be those
 * of FILE up to 1e-5 of the largest one, codes the same ones. crowd makes RUNS runs from THREADS threads, says
 * "quarter" when a quarter of them is done, and then how many were right, how long the longest took, and how many
 * ended with which code. A wrong output is fatal. cycles loads, runs and unloads the model so often. It says "settled"
 * after half of them and "ended" after the last, and goes on when it has read a line.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "host.h"

/* An output: real numbers, or codes. */
struct values {
	double *at;
	size_t count;
	bool codes;
};

enum element { F32, S8, U8 };

/* Real numbers from -1 to 1. */
static float element(size_t i, int input)
{
	uint32_t r = 2654435761U * (uint32_t)i + 12345U + 2246822519U * (uint32_t)input;
	return (float)((double)(r ^ r >> 15) / 2147483648.0 - 1);
}

/* Fills an input with them, or with their codes. */
static void fill(void *to, enum element e, size_t count, int input, float scale, int zero)
{
	for (size_t i = 0; i < count; i++) {
		float x = element(i, input);
		int low = e == S8 ? -128 : 0, q = (int)nearbyintf(x / scale) + zero;
		q = q < low ? low : q > low + 255 ? low + 255 : q;
		if (e == F32)
			((float *)to)[i] = x;
		else
			((uint8_t *)to)[i] = (uint8_t)q;
	}
}

static void take(struct values *v, const void *from, enum element e, size_t count)
{
	v->at = realloc(v->at, (count + 1) * sizeof *v->at);
	CHECK(v->at != NULL, "no memory");
	v->count = count;
	v->codes = e != F32;
	for (size_t i = 0; i < count; i++)
		v->at[i] = e == F32 ? ((const float *)from)[i]
			: e == S8 ? ((const int8_t *)from)[i] : ((const uint8_t *)from)[i];
}

/*
 * The header has:
 *     load(model)        once for the process
 *     struct runner      of one thread
 *     begin_runner(r)
 *     run(r, input, v)   the API's code of a run; 0 is success, and v then has the output
 *     end_runner(r)
 *     unload()
 */
#include API

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_values(FILE *f, const struct values *v)
{
	fprintf(f, "%zu %d\n", v->count, v->codes);
	for (size_t i = 0; i < v->count; i++)
		fprintf(f, "%.17g\n", v->at[i]);
}

static void read_values(FILE *f, struct values *v)
{
	int codes;
	CHECK(fscanf(f, "%zu %d", &v->count, &codes) == 2, "no count");
	v->codes = codes;
	v->at = malloc((v->count + 1) * sizeof *v->at);
	CHECK(v->at != NULL, "no memory");
	for (size_t i = 0; i < v->count; i++)
		CHECK(fscanf(f, "%lf", &v->at[i]) == 1, "%zu values, want %zu", i, v->count);
}

/* How far outputs are apart, as a part of the largest number; of codes by how much. */
static double difference(const struct values *a, const struct values *b)
{
	double most = 1e-30, worst = 0;
	CHECK(a->count == b->count && a->codes == b->codes, "%zu values, want %zu", a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		double d = fabs(a->at[i] - b->at[i]);
		most = fmax(most, fabs(b->at[i]));
		worst = d <= worst ? worst : d; /* NaN counts */
	}
	return a->codes ? worst : worst / most;
}

static struct values *want;
static int inputs, threads, runs;
static atomic_int next, done, right;
static double longest;
static struct { int code, count; } failures[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void judge(const struct values *got, int input)
{
	double d = difference(got, &want[input]);
	CHECK(got->codes ? d == 0 : d <= 1e-5, "input %d: the output is %g apart from FILE's", input, d);
}

/* Counts a run that ended with a code, 0 for success, after so long. */
static void count(int code, double took)
{
	pthread_mutex_lock(&lock);
	longest = fmax(longest, took);
	for (int i = 0; code != 0 && i < 16; i++)
		if (failures[i].code == code || failures[i].count == 0) {
			failures[i].code = code;
			failures[i].count++;
			break;
		}
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	struct runner r = {0};
	struct values v = {0};
	(void)unused;
	begin_runner(&r);
	for (int k; (k = atomic_fetch_add(&next, 1)) < runs;) {
		double from = seconds();
		int code = run(&r, k % inputs, &v);
		count(code, seconds() - from);
		if (code == 0) {
			judge(&v, k % inputs);
			atomic_fetch_add(&right, 1);
		}
		if (atomic_fetch_add(&done, 1) + 1 == runs / 4) {
			puts("quarter");
			fflush(stdout);
		}
	}
	end_runner(&r);
	free(v.at);
	return NULL;
}

static void crowd(void)
{
	pthread_t list[64];
	CHECK(threads > 0 && threads <= 64, "%d threads", threads);
	for (int i = 0; i < threads; i++)
		CHECK(pthread_create(&list[i], NULL, work, NULL) == 0, "pthread_create");
	for (int i = 0; i < threads; i++)
		CHECK(pthread_join(list[i], NULL) == 0, "pthread_join");
	printf("%d of %d right, the longest run took %.0f ms", right, runs, longest * 1e3);
	for (int i = 0; i < 16 && failures[i].count; i++)
		printf(", code %d %d times", failures[i].code, failures[i].count);
	printf("\n");
}

static void say(const char *text)
{
	char line[16];
	puts(text);
	fflush(stdout);
	CHECK(fgets(line, sizeof line, stdin) != NULL, "no line");
}

static void cycles(const char *model, int all)
{
	for (int i = 0; i < all; i++) {
		struct runner r = {0};
		struct values v = {0};
		load(model);
		begin_runner(&r);
		int code = run(&r, i % inputs, &v);
		CHECK(code == 0, "cycle %d: code %d: %s", i, code, anynpu_last_error());
		judge(&v, i % inputs);
		end_runner(&r);
		unload();
		free(v.at);
		if (i == all / 2)
			say("settled");
	}
	say("ended");
}

int main(int argc, char **argv)
{
	CHECK(argc >= 5 && argc <= 7, "usage: network write|check|crowd|cycles MODEL FILE INPUTS [THREADS RUNS|CYCLES]");
	bool writes = !strcmp(argv[1], "write");
	FILE *f = fopen(argv[3], writes ? "w" : "r");
	CHECK(f != NULL && (inputs = atoi(argv[4])) > 0, "%s, %s inputs", argv[3], argv[4]);
	want = calloc((size_t)inputs, sizeof *want);
	CHECK(want != NULL, "no memory");
	for (int i = 0; i < inputs && !writes; i++)
		read_values(f, &want[i]);
	load(argv[2]); /* what speaks with servers starts with the first model, and stays */
	unload();
	host_begin();
	if (argc == 6) {
		cycles(argv[2], atoi(argv[5]));
		load(argv[2]);
	} else if (load(argv[2]), argc == 7) {
		threads = atoi(argv[5]);
		runs = atoi(argv[6]);
		crowd();
	} else {
		struct runner r = {0};
		double worst = 0;
		begin_runner(&r);
		for (int i = 0; i < inputs; i++) {
			struct values v = {0};
			int code = run(&r, i, &v);
			CHECK(code == 0, "input %d: code %d: %s", i, code, anynpu_last_error());
			if (writes)
				write_values(f, &v);
			else
				judge(&v, i), worst = fmax(worst, difference(&v, &want[i]));
			if (i == inputs - 1)
				printf("%d inputs, %zu %s each, apart by %.2g\n", inputs, v.count, v.codes ? "codes" : "numbers", worst);
			free(v.at);
		}
		end_runner(&r);
	}
	unload();
	int left = host_end();
	CHECK(fclose(f) == 0, "%s", argv[3]);
	for (int i = 0; i < inputs; i++)
		free(want[i].at);
	free(want);
	return left;
}
