/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stranger's library of an API, which misbehaves as KIND says: everything else is handed on to the library REAL. The
 * functions are those of functions.h: F(name, pointer) for each, pointer being 1 if it returns one; handed_on.h has
 * those that this file does not define. EVENT is the function in which something happens, CODE the code of one that
 * fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRINTS, HANGS_AT_LOAD, HANGS_IN_A_CALL, HANGS_AT_EXIT, WRONG, FAILS, CRASHES, CRASHES_AT_EXIT, CLOSES, WRITES,
	FORKS, EXITS, STRAYS, CONVERTED };

#define HIDDEN __attribute__((visibility("hidden")))

#define F(name, pointer) HIDDEN void *real_##name;
#include "functions.h"
#undef F

/* A function that is handed on as it is: whatever its arguments are, they stay where they are. */
#if defined(__x86_64__)
#define JUMP(name) "jmp *real_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "adrp x16, real_" #name "\nldr x16, [x16, :lo12:real_" #name "]\nbr x16\n"
#endif
#define F(name, pointer) __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" JUMP(name));
#include "handed_on.h"
#undef F

static void forever(void)
{
	for (;;)
		pause();
}

static void close_all(void)
{
	for (int fd = 3; fd < 256; fd++)
		close(fd);
}

static void write_all(void)
{
	static const char text[] = "{\"no\": \"answer\"}\n\n\001\377";
	for (int fd = 1; fd < 1024; fd++) /* but for standard error */
		if (fd != 2 && write(fd, text, sizeof text) < 0)
			continue;
}

/* What happens when the program calls EVENT. */
static void happen(void)
{
	switch (KIND) {
	case PRINTS:
		printf("I (%d) is called\n", getpid());
		fflush(stdout);
		break;
	case HANGS_IN_A_CALL:
		forever();
		break;
	case CRASHES:
		fprintf(stderr, "I am about to die\n");
		*(volatile int *)8 = 1;
		break;
	case CLOSES:
		close_all();
		break;
	case WRITES:
		write_all();
		break;
	case FORKS:
		if (fork() == 0)
			forever(); /* with every descriptor of the program */
		break;
	case EXITS:
		_exit(0);
	case STRAYS: {
		sigset_t all;
		static char line[4096];
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		memset(line, 'x', sizeof line);
		for (int i = 0; i < 16 << 10; i++) /* 64 MiB */
			if (write(2, line, sizeof line) < 0)
				break;
		if (chdir("/") != 0)
			abort();
		break;
	}
	default:
		break;
	}
}

static void *library;

HIDDEN void *real(const char *name)
{
	void *symbol = dlsym(library, name);
	if (!symbol) {
		fprintf(stderr, "%s has no %s\n", REAL, name);
		abort();
	}
	return symbol;
}

static long failed(void) { return CODE; }

static void *no_pointer(void) { return NULL; }

__attribute__((constructor)) static void load(void)
{
	if (KIND == PRINTS) {
		printf("I am a library\n");
		fflush(stdout);
	}
	if (KIND == HANGS_AT_LOAD)
		forever();
	if (KIND == WRITES)
		write_all();
	if (KIND != FAILS) {
		library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			abort();
		}
	}
#define F(name, pointer) real_##name = KIND == FAILS ? (pointer ? (void *)(uintptr_t)no_pointer : (void *)(uintptr_t)failed) : real(#name);
#include "functions.h"
#undef F
}

__attribute__((destructor)) static void unload(void)
{
	if (KIND == HANGS_AT_EXIT)
		forever();
	if (KIND == CRASHES_AT_EXIT)
		*(volatile int *)8 = 1;
}

#ifdef SPOILS
#include SPOILS
#endif

#ifdef EVENT
#define PASTE(a, b) a##b
#define REAL_OF(name) PASTE(real_, name)
long EVENT(long a, long b, long c, long d, long e, long f)
{
	long (*next)(long, long, long, long, long, long) = (long (*)(long, long, long, long, long,
		long))(uintptr_t)REAL_OF(EVENT);
	happen();
	return next(a, b, c, d, e, f);
}
#endif
