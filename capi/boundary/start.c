/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lazy start. The linker script lazy.ld takes Go's initializer out of .init_array, so loading the library runs no Go
 * code. The first call runs it here, with the arguments that the dynamic loader would have passed.
 */
#define _GNU_SOURCE
#include "inside.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

typedef void (*initializer)(int, char **, char **);

/* Bounds of the section made by lazy.ld. Absent, both NULL, where Go is linked the ordinary way (go build, go test). */
extern initializer anynpu_go_init_start[] __attribute__((weak, visibility("hidden")));
extern initializer anynpu_go_init_end[] __attribute__((weak, visibility("hidden")));

/* Returns when Go's runtime is initialized: any Go export does, as each waits for that first. */
extern void nnc_boundary_started(void);
/* Writes the end of the record. */
extern void nnc_boundary_ended(void);

static _Atomic int started;

const char *anynpu_getenv(const char *name) { return secure_getenv(name); }

int anynpu_started(void) { return atomic_load(&started); }

static const unsigned long auxv_types[] = {
	AT_SYSINFO_EHDR, AT_HWCAP, AT_HWCAP2, AT_PAGESZ, AT_CLKTCK, AT_PHDR, AT_PHENT, AT_PHNUM, AT_BASE, AT_ENTRY,
	AT_UID, AT_EUID, AT_GID, AT_EGID, AT_SECURE, AT_RANDOM, AT_PLATFORM, AT_EXECFN,
};

/*
 * The block that the kernel leaves on the initial stack for a program without arguments: {NULL, environment, NULL,
 * auxv}. Go keeps pointers into it, so it is never freed. A program that has rights which its caller lacks gives Go no
 * environment.
 */
static char **argument_block(void)
{
	size_t types = sizeof auxv_types / sizeof *auxv_types;
	size_t n = 0;
	while (!getauxval(AT_SECURE) && environ && environ[n])
		n++;
	char **block = calloc(1 + n + 1 + 2 * (types + 1), sizeof *block);
	if (!block)
		return NULL;
	if (n > 0)
		memcpy(block + 1, environ, n * sizeof *block);
	unsigned long *auxv = (unsigned long *)(block + 1 + n + 1);
	for (size_t i = 0; i < types; i++) {
		errno = 0;
		unsigned long value = getauxval(auxv_types[i]);
		if (value == 0 && errno == ENOENT)
			continue;
		*auxv++ = auxv_types[i];
		*auxv++ = value;
	}
	return block; /* calloc wrote the closing AT_NULL */
}

/*
 * Go's threads inherit the mask of this one. A signal that the program handles must not be delivered to them, so
 * everything is blocked except what Go needs itself: faults, and SIGURG (preemption stops working without it).
 */
static void block_signals(sigset_t *old)
{
	static const int needed[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGURG};
	sigset_t mask;
	sigfillset(&mask);
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		sigdelset(&mask, needed[i]);
	pthread_sigmask(SIG_SETMASK, &mask, old);
}

static void start(void)
{
	atomic_store(&started, 1);
	if (anynpu_go_init_start != NULL) {
		static char *empty[4];
		char **block = argument_block();
		if (!block)
			block = empty;
		sigset_t old;
		block_signals(&old);
		for (initializer *f = anynpu_go_init_start; f < anynpu_go_init_end; f++)
			(*f)(0, block, block + 1);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	nnc_boundary_started();
}

int anynpu_start(char *missing, size_t size)
{
	if (atomic_load(&started))
		return 0;
	int saved = errno;
	/*
	 * Go's library raises the limit of descriptors when it starts, which is not for a guest to do: it finds it raised, and
	 * then it is put back.
	 */
	struct rlimit files = {0, 0}, most = {0, 0}, now;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		most.rlim_cur = most.rlim_max = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &most);
	}
	int refused = anynpu_missing(missing, size);
	if (!refused)
		start();
	if (most.rlim_max > 0 && getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == most.rlim_cur &&
		now.rlim_max == most.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files);
	errno = saved;
	return refused;
}

/*
 * When the program ends, after its own destructors: the record that a report is made of is closed, and what AtExit was
 * given is called. Not in a forked child, and not when a signal handler that interrupted a call ends the program.
 */
__attribute__((destructor)) static void end(void)
{
	if ((anynpu_calls || anynpu_ending) && anynpu_enter()) {
		nnc_boundary_ended();
		anynpu_leave();
	}
}

/*
 * Registered when the library is loaded: that starts no thread, and a fork can never fall between the start and the
 * registration.
 */
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, anynpu_route_child); }
