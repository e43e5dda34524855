/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What Go ends the process for if the system does not grant it, when it starts or soon after: tried here first, all
 * of it held at once, and given back just before the start.
 */
#define _GNU_SOURCE
#include "boundary.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/futex.h, which a libc other than glibc need not bring. */
#define WAKE_PRIVATE (1 | 128)

/* Descriptors that are open at once while Go starts: files of the CPU's quota, of /proc and of packages, and the
 * poller's two, which start.go makes it open at once. */
#define DESCRIPTORS 8

/* Threads of Go beside those that compute: what runs its code while those compute, the monitor, and the
 * initializer's. Eight of them are SpareProcs of start.go. */
#define OTHER_THREADS 9
#define MAX_COMPUTE 1024

#define MIB ((size_t)1 << 20)
/* Address space: tables for a heap of any size (1097 MiB), memory that Go manages itself (55), two parts of the
 * heap (128), and an arena of malloc's (64). */
#define SPACE (1344 * MIB)
/* Of that, memory that can be written from the start: counted by RLIMIT_DATA and by a system that does not
 * overcommit. */
#define DATA (96 * MIB)
/* Threads that computing may use; 0 before a start. */
static int compute_threads;

int anynpu_compute_threads(void) { return compute_threads; }

/* The threads that computing will want: ANYNPU_THREADS, or the CPUs. A control group's quota may make them fewer. */
static int wanted_threads(void)
{
	const char *setting = anynpu_getenv("ANYNPU_THREADS");
	char *end;
	long n = setting ? strtol(setting, &end, 10) : 0;
	if (setting && *setting && !*end && n >= 1 && n <= MAX_COMPUTE)
		return (int)n;
	cpu_set_t cpus;
	n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > MAX_COMPUTE ? MAX_COMPUTE : (int)n;
}

static void *wait_for(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/* System calls that Go and the threads of libc cannot do without. Where one is refused, as by a sandbox's filter,
 * its name is returned. */
static const char *refused_call(void)
{
	stack_t stack;
	sigset_t mask;
	struct sigaction action;
	int word = 0;
	if (pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0)
		return "rt_sigprocmask";
	if (sigaction(SIGURG, NULL, &action) != 0)
		return "rt_sigaction";
	if (sigaltstack(NULL, &stack) != 0)
		return "sigaltstack";
	/* Of nothing, which the kernel calls invalid. glibc ends the process if the stack of a thread cannot be given
	 * back. */
	if (munmap(NULL, 0) != 0 && errno != EINVAL)
		return "munmap";
	if (syscall(SYS_futex, &word, WAKE_PRIVATE, 1, NULL, NULL, 0) != 0)
		return "futex";
#ifdef SYS_rseq
	/* A glibc that has registered this thread ends the process if it cannot register another. The kernel calls a
	 * second, other registration invalid. */
	const unsigned *registered = dlsym(RTLD_DEFAULT, "__rseq_size");
	if (registered && *registered > 0 && syscall(SYS_rseq, NULL, 0, 0, 0) != 0 && errno != EINVAL)
		return "rseq";
#endif
	return NULL;
}

/* Opens what the start opens, the poller and its event among them. Returns what is missing; fd gets the
 * descriptors, -1 for none. */
static const char *open_all(int fd[DESCRIPTORS])
{
	struct epoll_event event = {.events = EPOLLIN};
	const char *what = NULL;
	for (int i = 0; i < DESCRIPTORS; i++) {
		fd[i] = i == 0 ? epoll_create1(EPOLL_CLOEXEC) : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd[i] < 0 && !what)
			what = errno == EMFILE || errno == ENFILE ? "descriptors" : i == 0 ? "epoll_create1" : "eventfd2";
	}
	if (!what && epoll_ctl(fd[0], EPOLL_CTL_ADD, fd[1], &event) != 0)
		what = "epoll_ctl";
	if (!what && epoll_pwait(fd[0], &event, 1, 0, NULL) < 0 && errno != EINTR)
		what = "epoll_pwait";
	return what;
}

/* Starts n threads with stacks of the default size, which is what Go's have, and calls held while all of them live. */
static const char *with_threads(int n, const char *(*held)(void))
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_t *thread = calloc((size_t)n, sizeof *thread);
	sigset_t all, old;
	int made = 0;
	if (!thread)
		return "memory";
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&lock);
	while (made < n && pthread_create(&thread[made], NULL, wait_for, &lock) == 0)
		made++;
	const char *what = made < n ? "threads" : held();
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < made; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return what;
}

/* malloc gives threads arenas of 64 MiB of address space, Go's too, as those free the block with their arguments. Where
 * there is a limit they share the ones that exist, or threads would take what the heap needs. */
static void share_arenas(void)
{
#ifdef M_ARENA_MAX
	if (anynpu_limited(RLIMIT_AS))
		mallopt(M_ARENA_MAX, 1);
#endif
}

/* The memory that the start takes beside the stacks of its threads. Where it can be written it is mapped anew: the
 * kernel does not hold a mapping that replaces another against RLIMIT_DATA, but counts it from then on. */
static const char *hold_memory(void)
{
	size_t size = SPACE - DATA;
	const char *what = NULL;
	void *space = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *none = mmap(NULL, DATA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (none != MAP_FAILED)
		munmap(none, DATA);
	void *data = mmap(NULL, DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (space == MAP_FAILED || none == MAP_FAILED)
		what = "address space";
	else if (data == MAP_FAILED)
		what = "memory";
	if (space != MAP_FAILED)
		munmap(space, size);
	if (data != MAP_FAILED)
		munmap(data, DATA);
	return what;
}

/* Writes the least that the start takes, of which what cannot be had, or the name of a system call; returns which. */
static int describe(char *text, size_t size, const char *what)
{
	const int threads = 1 + OTHER_THREADS;
	size_t stack = 0;
	pthread_attr_t attr;
	if (pthread_attr_init(&attr) == 0) {
		pthread_attr_getstacksize(&attr, &stack);
		pthread_attr_destroy(&attr);
	}
	if (strcmp(what, "threads") == 0)
		snprintf(text, size, "%d threads, with stacks of %zu KiB", threads, stack >> 10);
	else if (strcmp(what, "address space") == 0)
		snprintf(text, size, "%zu MiB of address space", (SPACE + (size_t)threads * stack) / MIB);
	else if (strcmp(what, "memory") == 0)
		snprintf(text, size, "%zu MiB of memory", (DATA + (size_t)threads * stack) / MIB);
	else if (strcmp(what, "descriptors") == 0)
		snprintf(text, size, "%d file descriptors", DESCRIPTORS);
	else {
		snprintf(text, size, "%s", what);
		return ANYNPU_FORBIDDEN;
	}
	return ANYNPU_STARVED;
}

int anynpu_missing(char *text, size_t size)
{
	int fd[DESCRIPTORS], n = wanted_threads();
	const char *call = refused_call();
	const char *what = call ? call : open_all(fd);
	int refused = 0;
	if (!what) {
		share_arenas();
		anynpu_hold_spares();
		/* Fewer threads compute where there is not enough for all, and at last there is no room for later ones. */
		while ((what = with_threads(n + OTHER_THREADS, hold_memory)) && (n > 1 || anynpu_drop_spares()))
			n = n > 1 ? n / 2 : 1;
		if (!what) {
			compute_threads = n;
			anynpu_offer_spares();
		}
	}
	if (what)
		refused = describe(text, size, what);
	if (!call)
		for (int i = 0; i < DESCRIPTORS; i++)
			if (fd[i] >= 0)
				close(fd[i]);
	return refused;
}
