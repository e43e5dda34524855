/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Room for the threads that Go starts later. Go ends the process when the system refuses it a thread, and how many it
 * wants depends on how long system calls take. Where a resource limit bounds memory, some is held from the start on and
 * given back, one stack at a time, when a thread is refused.
 */
#define _GNU_SOURCE
#include "boundary.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SPARES 8

static _Atomic(void *) spare[SPARES];
static size_t stack;       /* bytes of each */
static atomic_int offered; /* to threads that are refused */

int anynpu_limited(int resource)
{
	struct rlimit limit;
	return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void anynpu_hold_spares(void)
{
	pthread_attr_t attr;
	if ((!anynpu_limited(RLIMIT_AS) && !anynpu_limited(RLIMIT_DATA)) || pthread_attr_init(&attr) != 0)
		return;
	if (pthread_attr_getstacksize(&attr, &stack) == 0) {
		stack = (stack + (1 << 16)) & ~(size_t)4095; /* and what lies around it */
		for (int i = 0; i < SPARES; i++) {
			void *p = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			atomic_store(&spare[i], p == MAP_FAILED ? NULL : p);
		}
	}
	pthread_attr_destroy(&attr);
}

static int give_spare(void)
{
	for (int i = 0; i < SPARES; i++) {
		void *p = atomic_exchange(&spare[i], NULL);
		if (p) {
			munmap(p, stack);
			return 1;
		}
	}
	return 0;
}

int anynpu_drop_spares(void)
{
	int any = 0;
	while (give_spare())
		any = 1;
	return any;
}

void anynpu_offer_spares(void) { atomic_store(&offered, 1); }

/*
 * The library is linked with --wrap=pthread_create, so that Go's calls come here. A test binary, linked without it, has
 * no __real_pthread_create and does not call this.
 */
extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));

ANYNPU_HIDDEN int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int code;
	do
		code = __real_pthread_create(thread, attr, run, arg);
	while (code == EAGAIN && atomic_load(&offered) && give_spare());
	return code;
}
