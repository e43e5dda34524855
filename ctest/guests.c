/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: guests table | crowd | soak SECONDS
 *
 * Programs of the four APIs in one process, on two compute threads (ANYNPU_THREADS=2 unless it is set).
 *
 * table: four threads of one API compute without a pause beside one of another, and those of the highest level beside
 * one of the lowest. Each row tells what the one gets beside what it gets alone, and its longest call: by the runs of
 * all guests that ended meanwhile, its own among them, by the processor time of the process, and by the clock. A row is
 * wrong if the one has less than a third of its share, a fifth of the time; if more than 20 runs end while one of its
 * calls waits; or if its longest call takes more processor time than 20 alone in most windows of the time: a virtual
 * machine can be ten times slower for tens of milliseconds, and that counts as processor time. On a lower level it is
 * the time alone that is judged, with the waiting that docs/process.md tells.
 *
 * crowd: 1, 2, 4, and 16 threads of each API and of all four, each with a model of its own. It prints runs per second,
 * how many processors computed meanwhile, runs per second of processors, and the median and p99 of calls.
 *
 * soak: four threads of each API for that long, with what each API got and how long its calls took. The process must
 * not grow.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "growth.h"
#include "guests.h"

/* PATIENCE: runs that may end while one waits. WINDOWS: of a row, an odd number. */
enum { GREEDY = 4, THREADS = 2, PATIENCE = 20, WINDOWS = 9 };

/* A thread that calls, and what it noted. */
struct guest {
	const struct api *api;
	struct program program;
	atomic_int *stop;
	size_t calls, room;
	double *took, *spent; /* of each call, in ms: by the clock, and by what the process computed meanwhile on a thread */
	double *runs;         /* that all guests ended meanwhile, its own among them */
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
	g->program.level = level;
	g->stop = stop;
	g->room = 1 << 18;
	g->took = room_for(g->room);
	g->spent = room_for(g->room);
	g->runs = room_for(g->room);
	api->open(&g->program);
	api->run(&g->program);
	return g;
}

static void guest_free(struct guest *g)
{
	g->api->close(&g->program);
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
		g->api->run(&g->program);
		g->took[i] = now() - begin;
		g->spent[i] = (read_clock(CLOCK_PROCESS_CPUTIME_ID) - used) / THREADS;
		g->runs[i] = (double)(atomic_fetch_add(&ended, 1) + 1 - before);
	}
	return NULL;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

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

/* What a guest gets beside others, over windows of the time. The longest calls: in runs, and in ms. */
struct turns {
	double calls, others, runs, clock, spent[WINDOWS];
};

/* Lets the first guest call beside the others, in windows of a length in ms. */
static struct turns take_turns(struct guest **guests, int n, double length)
{
	struct turns t = {0};
	for (int w = 0; w < WINDOWS; w++) {
		together(guests, n, length);
		t.calls += (double)guests[0]->calls;
		for (int i = 1; i < n; i++)
			t.others += (double)guests[i]->calls;
		t.spent[w] = quantile(guests[0], guests[0]->spent, 1);
		t.runs = fmax(t.runs, quantile(guests[0], guests[0]->runs, 1));
		t.clock = fmax(t.clock, quantile(guests[0], guests[0]->took, 1));
	}
	qsort(t.spent, WINDOWS, sizeof *t.spent, ascending);
	return t;
}

/*
 * One row; whether it is as it must be. A run of a lower level waits before it computes, and again for each ms that a
 * thread computes for it: aged and again, in ms.
 */
static int row(const struct api *greedy, enum level theirs, const struct api *victim, enum level own, double aged,
               double again)
{
	static atomic_int stop;
	static const char *const levels[] = {"", " low", " high"};
	struct guest *one = guest_new(victim, own, &stop), *all[1 + GREEDY] = {one};
	for (int i = 0; i < GREEDY; i++)
		all[1 + i] = guest_new(greedy, theirs, &stop);
	together(all, 1, 500);
	double alone = (double)one->calls * 2, call = quantile(one, one->spent, 0.5);
	double own_longest = quantile(one, one->took, 1);
	double wait = aged + again * THREADS * call, window = 200 + 2 * wait, seconds = WINDOWS * window / 1e3;
	struct turns t = take_turns(all, 1 + GREEDY, window);
	double share = t.calls / seconds / (alone / (1 + GREEDY)), usual = t.spent[WINDOWS / 2];
	double most = PATIENCE * call + wait;
	int good = t.calls > 0 && usual <= most && (wait > 0 || (t.runs <= PATIENCE && share >= 1. / 3));
	printf("4 x %5s%-5s beside %5s%-4s  %6.0f calls/s, alone %6.0f: %5.2f of its share; ", greedy->name, levels[theirs],
	       victim->name, levels[own], t.calls / seconds, alone, share);
	printf("longest call: %3.0f runs ended; %6.2f ms of processors = %5.1f x alone, at most %5.1f, ", t.runs, usual,
	       usual / call, most / call);
	printf("of all windows %5.1f; by the clock %6.2f ms, alone %5.2f; the others %5.0f calls/s%s\n",
	       t.spent[WINDOWS - 1] / call, t.clock, own_longest, t.others / seconds, good ? "" : "  WRONG");
	fflush(stdout);
	for (int i = 0; i <= GREEDY; i++)
		guest_free(all[i]);
	return good;
}

static int table(void)
{
	const double ageing = 20, second = 1000; /* of docs/process.md, in ms */
	int wrong = 0;
	for (int a = 0; a < APIS; a++)
		for (int b = 0; b < APIS; b++)
			wrong += a != b && !row(&apis[a], DEFAULT, &apis[b], DEFAULT, 0, 0);
	for (int a = 0; a < APIS; a++) {
		int once = apis[a].open == open_hbdnn; /* what has waited for a second goes first */
		wrong += !row(&apis[a], HIGH, &apis[a], LOW, once ? second : 2 * ageing, once ? 0 : 2 * ageing);
	}
	printf("guests: %d of %d rows are wrong\n", wrong, APIS * APIS);
	return wrong != 0;
}

/* So many threads of an API, of each in turn if it is NULL. */
static void crowd(const struct api *api, int n)
{
	static atomic_int stop;
	const double length = 1500;
	struct guest *all[APIS * GREEDY];
	double calls = 0, median = 0, p99 = 0;
	for (int i = 0; i < n; i++)
		all[i] = guest_new(api != NULL ? api : &apis[i % APIS], DEFAULT, &stop);
	together(all, n, length / 5);
	double begin = now(), spent = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	together(all, n, length);
	double seconds = (now() - begin) / 1e3;
	spent = (read_clock(CLOCK_PROCESS_CPUTIME_ID) - spent) / 1e3;
	for (int i = 0; i < n; i++) {
		calls += (double)all[i]->calls;
		median += quantile(all[i], all[i]->took, 0.5) / n;
		p99 += quantile(all[i], all[i]->took, 0.99) / n;
		guest_free(all[i]);
	}
	printf("%2d x %5s  %5.0f runs/s on %4.2f processors, %4.0f runs/s of one; median %6.2f ms, p99 %6.2f ms\n", n,
	       api != NULL ? api->name : "all", calls / seconds, spent / seconds, calls / spent, median, p99);
	fflush(stdout);
}

static int crowds(void)
{
	for (int n = 1; n <= APIS * GREEDY; n *= n == 4 ? 4 : 2)
		for (int a = 0; a < APIS + (n > 1); a++)
			crowd(a < APIS ? &apis[a] : NULL, n);
	return 0;
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
		printf("%5s: %8zu calls, %4.1f %% of all, median %.2f ms, p99 %.2f ms, longest %.2f ms\n", apis[a].name,
		       calls[a], 100 * part, p50, p99, most);
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
	else if (argc == 2 && strcmp(argv[1], "crowd") == 0)
		code = crowds();
	else if (argc == 3 && strcmp(argv[1], "soak") == 0)
		code = soak(atof(argv[2]));
	else
		fprintf(stderr, "usage: guests table | crowd | soak SECONDS\n");
	return code ? code : host_end();
}
