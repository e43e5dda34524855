/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Routing: where the jump table's slots point. A slot changes only under its facade's lock; calls read it without.
 */
#define _GNU_SOURCE
#include "inside.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FACADES ANYNPU_MAX_FACADES

/* Asks Go for the state of an undecided facade. */
extern int nnc_boundary_decide(uint32_t facade);

/*
 * One lock for what all facades have in common, the start of Go and the drivers' files, and one per facade, so that a
 * driver that is slow to open stops the calls of its own API only. A facade's lock is taken first. Recursive: a
 * driver's constructor may call us while its facade is being decided.
 */
static pthread_mutex_t unlocked, common, lock[MAX_FACADES];
static _Atomic int states[MAX_FACADES];
static int deciding[MAX_FACADES];

/* How many facades this thread decides. */
static __thread int opening __attribute__((tls_model("initial-exec")));

static void unlock_all(void)
{
	common = unlocked;
	for (int k = 0; k < MAX_FACADES; k++)
		lock[k] = unlocked;
}

/* Before any other constructor of the library: not every libc has a constant for a recursive lock. */
__attribute__((constructor(101))) static void make_locks(void)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&unlocked, &attr);
	pthread_mutexattr_destroy(&attr);
	unlock_all();
}

uint64_t *anynpu_calls, *anynpu_refusals;
uintptr_t anynpu_window_base, anynpu_window_size;
int anynpu_ending;
int anynpu_probing;
static _Atomic int report_fd = -1;
static _Atomic int reported, reported_mix;

static int have_image(void) { return &anynpu_image != NULL; }

static anynpu_fn load(anynpu_fn *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static void store(anynpu_fn *p, anynpu_fn f) { __atomic_store_n(p, f, __ATOMIC_RELEASE); }

/* Lead the calls of function i to f. */
static void lead(uint32_t i, anynpu_fn f)
{
	if (anynpu_calls) {
		store(&anynpu_image.target[i], f);
		f = anynpu_image.counted[i];
	}
	store(&anynpu_image.slot[i], f);
	if (anynpu_image.namesake[i] != i) /* which is exported, or is not, and then nobody looks at its slot */
		store(&anynpu_image.slot[anynpu_image.namesake[i]], f);
}

/* Where the calls of function i, which are served as those of its namesake served may be, lead, counted or not. */
static anynpu_fn led(uint32_t i, uint32_t served)
{
	anynpu_fn f = load(&anynpu_image.slot[i]);
	return f == anynpu_image.counted[served] ? load(&anynpu_image.target[served]) : f;
}

/* Where a call of function i that is the driver's goes. */
static anynpu_fn driven(uint32_t i)
{
	anynpu_fn driver = anynpu_image.driver[i], former = anynpu_image.former[i];
	if (!driver || !anynpu_calls)
		return driver;
	int older = former && load(&anynpu_image.live[i]) == former;
	anynpu_fn judged = older ? anynpu_image.judged_former[i] : anynpu_image.judged[i];
	return judged ? judged : driver;
}

static anynpu_fn target(uint32_t i, int state)
{
	anynpu_fn driver = anynpu_image.driven[i];
	if (!driver || state == ANYNPU_CPU)
		return anynpu_image.live[i];
	if (state == ANYNPU_DEVICE)
		return load(&anynpu_image.slot[i]); /* as before the first call: every one comes by anynpu_resolve */
	if (state == ANYNPU_PASS_THROUGH && !anynpu_image.own[i])
		return driver;
	if (anynpu_image.mixed[i])
		return anynpu_image.mixed[i]; /* also a creating function: the driver's handles and its own calls stay with it */
	return anynpu_image.own[i] ? anynpu_image.live[i] : driver;
}

static int allowed(int from, int to)
{
	switch (to) {
	case ANYNPU_CPU:
	case ANYNPU_PASS_THROUGH:
	case ANYNPU_DEVICE:
		return from == ANYNPU_UNDECIDED;
	case ANYNPU_MIXED:
		return from != ANYNPU_MIXED;
	default:
		return 0;
	}
}

int anynpu_route(uint32_t facade, int state)
{
	int rc = -1;
	if (!have_image() || facade >= anynpu_image.facades)
		return rc;
	pthread_mutex_lock(&lock[facade]);
	if (allowed(states[facade], state)) {
		for (uint32_t i = 0; i < anynpu_image.functions; i++)
			if (anynpu_image.facade[i] == facade) {
				store(&anynpu_image.driven[i], driven(i));
				lead(i, target(i, state));
			}
		states[facade] = state;
		rc = 0;
	}
	pthread_mutex_unlock(&lock[facade]);
	return rc;
}

int anynpu_set_driver(uint32_t i, void *fn)
{
	if (!have_image() || i >= anynpu_image.functions)
		return -1;
	uint32_t facade = anynpu_image.facade[i];
	pthread_mutex_lock(&lock[facade]);
	pthread_mutex_lock(&common);
	int rc = anynpu_driver_file(facade, fn);
	pthread_mutex_unlock(&common);
	anynpu_fn function;
	memcpy(&function, &fn, sizeof fn);
	if (rc == 0)
		store(&anynpu_image.driver[i], function);
	pthread_mutex_unlock(&lock[facade]);
	return rc;
}

/* Without the facade's lock: who holds that may wait for the driver that is being opened. */
void anynpu_know_driver(uint32_t i, void *fn)
{
	anynpu_fn function;
	memcpy(&function, &fn, sizeof fn);
	if (!have_image() || i >= anynpu_image.functions)
		return;
	pthread_mutex_lock(&common);
	if (anynpu_driver_file(anynpu_image.facade[i], fn) == 0)
		store(&anynpu_image.driver[i], function);
	pthread_mutex_unlock(&common);
}

void anynpu_serve_former(uint32_t facade)
{
	for (uint32_t i = 0; have_image() && i < anynpu_image.functions; i++)
		if (anynpu_image.facade[i] == facade && anynpu_image.former[i])
			store(&anynpu_image.live[i], anynpu_image.former[i]);
}

anynpu_fn *anynpu_drivers(uint32_t *functions)
{
	*functions = have_image() ? anynpu_image.functions : 0;
	return have_image() ? anynpu_image.driver : NULL;
}

const int *anynpu_route_states(void) { return (const int *)states; }

anynpu_fn anynpu_resolve(uint32_t i, const void *caller)
{
	i = anynpu_served(i, caller);
	if (anynpu_other_generation(i))
		return anynpu_image.dead[i];
	uint32_t facade = anynpu_image.facade[i];
	anynpu_fn driver = load(&anynpu_image.driver[i]);
	int by_driver = driver && anynpu_by_driver(i, caller);
	if (states[facade] == ANYNPU_DEVICE)
		return by_driver ? driver : load(&anynpu_image.live[i]);
	if (states[facade] == ANYNPU_UNDECIDED && by_driver)
		return driver; /* a device of another API's programs: the program's first call decides, not its own */
	if (!anynpu_enter())
		return anynpu_forked() ? anynpu_image.dead[i] : load(&anynpu_image.live[i]); /* which refuses the call */
	pthread_mutex_lock(&common);
	char missing[96];
	int refused = anynpu_start(missing, sizeof missing);
	if (!refused)
		anynpu_watch_forks();
	pthread_mutex_unlock(&common);
	if (refused) {
		anynpu_leave();
		anynpu_report_missing(i, missing);
		return refused == ANYNPU_STARVED ? anynpu_image.starved[i] : anynpu_image.dead[i];
	}
	anynpu_fn fn = anynpu_image.live[i];
	/* A call by a driver that is being opened is not the program's, and must not wait for a driver that waits for this
	 * one. */
	if (!opening)
		pthread_mutex_lock(&lock[facade]);
	else if (pthread_mutex_trylock(&lock[facade])) {
		anynpu_leave();
		return fn;
	}
	if (!deciding[facade]) {
		if (states[facade] == ANYNPU_UNDECIDED) {
			deciding[facade] = 1;
			opening++;
			int state = nnc_boundary_decide(facade);
			opening--;
			deciding[facade] = 0;
			if (states[facade] == ANYNPU_UNDECIDED)
				anynpu_route(facade, state);
		}
		fn = load(&anynpu_image.slot[i]);
	}
	pthread_mutex_unlock(&lock[facade]);
	anynpu_leave();
	return fn;
}

void anynpu_route_child(void)
{
	unlock_all(); /* an owner may be a thread that the child does not have */
	if (!have_image() || !anynpu_started())
		return;
	for (uint32_t i = 0; i < anynpu_image.functions; i++) {
		uint32_t served = anynpu_served(i, NULL);
		anynpu_fn now = led(i, served);
		store(&anynpu_image.live[i], anynpu_image.dead[i]);
		int drivers = now == anynpu_image.driver[served] || now == anynpu_image.driven[served] ||
			now == anynpu_image.mixed[served];
		if (!drivers)
			store(&anynpu_image.slot[i], anynpu_image.dead[served]);
	}
}

void anynpu_set_window(uintptr_t base, uintptr_t size)
{
	anynpu_window_base = base;
	anynpu_window_size = size;
}

/* Reads a copy through the kernel, which refuses where a load would fault. */
int anynpu_readable(const void *p, size_t size)
{
	char copy[16];
	int saved = errno;
	if (size > sizeof copy)
		return 0;
	struct iovec to = {copy, size}, from = {(void *)(uintptr_t)p, size};
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	int readable = n == (ssize_t)size || (n < 0 && errno != EFAULT); /* or a sandbox forbids to look */
	errno = saved;
	return readable;
}

void anynpu_set_report(int fd) { report_fd = fd; }

static void report(int fd, const char *format, uint32_t i, const char *what)
{
	char line[256];
	int n = snprintf(line, sizeof line, format, anynpu_image.name[i], what);
	if (n > 0 && write(fd, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1) < 0)
		return;
}

static int early_fd(void)
{
	const char *log = anynpu_getenv("ANYNPU_LOG");
	return log && strcmp(log, "off") == 0 ? -1 : 2;
}

/* One line per process: a program that mixes two generations of an API calls many functions of the wrong one. */
static void report_mix(uint32_t i)
{
	int fd = anynpu_started() ? report_fd : early_fd();
	if (fd >= 0 && !atomic_exchange(&reported_mix, 1))
		report(fd, "boundary: call refused, it is of the %2$s generation of its API, and the process uses the other one, as its "
			"libraries or ANYNPU_HBDNN_ABI say function=%1$s\n", i,
			anynpu_image.facade[i] == anynpu_image.pair[0].newer ? "newer" : "older");
}

void anynpu_report_dead(uint32_t i)
{
	if (anynpu_other_generation(i)) {
		report_mix(i);
		return;
	}
	int fd = report_fd;
	if (fd >= 0 && !atomic_exchange(&reported, 1))
		report(fd, "boundary: call refused in a forked child, fork before the first call or exec after the fork function=%s\n", i, "");
}

void anynpu_report_handler(uint32_t i)
{
	int fd = anynpu_started() ? report_fd : early_fd(), saved = errno;
	if (fd >= 0)
		report(fd, "boundary: call from a signal handler refused, %2$s function=%1$s\n", i,
			anynpu_inside() ? "which interrupted a call" : "which is on the alternate stack");
	errno = saved;
}

void anynpu_report_missing(uint32_t i, const char *what)
{
	int fd = early_fd();
	if (fd >= 0)
		report(fd, "boundary: call refused, the system does not grant what the library needs to start function=%s "
			"needs=\"%s\"\n", i, what);
}
