/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every function of an API without memory. Each call is made in a child of its own: one that wants more than there is
 * has to return the API's code for want of memory, or NULL with a message that says so, and to end nothing. A function
 * that takes no memory by the program's wish says why.
 *
 * A host includes its headers, this one, and defines
 *
 *     static const struct starve_case starve_cases[] = {{"NAME", call} or {"NAME", NULL, "reason"}, ...};
 *
 * and ends with STARVE_MAIN(CODE). A call prepares, then calls starve(), then asks, and returns the status; a function
 * that returns a pointer returns starve_null(pointer).
 */
#ifndef STARVE_H
#define STARVE_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <anynpu.h>

#define WISH ((size_t)320 << 20) /* more than is left, and more than one measurement of the library grants */
#define LEFT ((size_t)256 << 20) /* enough for threads and what Go takes by itself */

struct starve_case {
	const char *name;
	int (*call)(void);
	const char *why;
};

struct starve_function {
	const char *name;
	int status; /* of a start that lacks memory, 0: the function returns none */
};

#define DEMAND(cond) ((cond) ? (void)0 : starve_fail(__FILE__, __LINE__, #cond))

static inline void starve_fail(const char *file, int line, const char *cond)
{
	printf("%s:%d: %s: %s\n", file, line, cond, anynpu_last_error());
	fflush(stdout);
	_exit(1);
}

static inline void starve_limit(size_t bytes)
{
	struct rlimit limit = {bytes, RLIM_INFINITY};
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		_exit(2);
}

/* From here on the process can map LEFT bytes more. */
static inline void starve(void)
{
	unsigned long pages = 0;
	anynpu_last_error(); /* starts the library */
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%lu", &pages) != 1)
		_exit(2);
	fclose(f);
	starve_limit(pages * (size_t)sysconf(_SC_PAGESIZE) + LEFT);
}

/* WISH bytes and a page of one value, which take the memory of a MiB. */
static inline void *starve_bytes(int value)
{
	const size_t piece = (size_t)1 << 20;
	int fd = memfd_create("starve", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)piece) != 0)
		_exit(2);
	char *whole = (char *)mmap(NULL, WISH + piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t at = 0; at < WISH + piece; at += piece)
		if (mmap(whole + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			_exit(2);
	close(fd);
	memset(whole, value, piece);
	return whole;
}

/* A string of WISH characters. */
static inline char *starve_text(void)
{
	char *text = (char *)starve_bytes('x');
	/* The page behind the last character. */
	if (mmap(text + WISH, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(2);
	return text;
}

static int starve_code;

/* The code for want of memory, if p is NULL and the message of the call says so. */
static inline int starve_null(const void *p)
{
	const char *said = anynpu_last_error();
	return !p && (strstr(said, "out of memory") || strstr(said, "cannot allocate memory")) ? starve_code : p ? 0 : -1;
}

/* Runs a call in a child and returns how it ended. */
static inline int starve_child(int (*run)(const void *), const void *what)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(120);
		_exit(run(what));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int starve_case_runs(const void *what)
{
	const struct starve_case *c = (const struct starve_case *)what;
	/* A limit that forbids nothing: where there is one, the library keeps room for its threads from the start. */
	starve_limit((size_t)1 << 40);
	int got = c->call();
	if (got == starve_code)
		return 0;
	printf("%s: %d: want %d: %s\n", c->name, got, starve_code, anynpu_last_error());
	fflush(stdout);
	return 1;
}

/* A first call without memory: dead functions take no argument. */
static inline int starve_start_runs(const void *what)
{
	const struct starve_function *f = (const struct starve_function *)what;
	int (*call)(void);
	void *address = dlsym(RTLD_DEFAULT, f->name);
	if (!address)
		return 2;
	memcpy(&call, &address, sizeof call);
	starve_limit((size_t)256 << 20);
	int got = call();
	if (!f->status || got == f->status)
		return 0;
	printf("%s: %d without memory for the start: want %d\n", f->name, got, f->status);
	fflush(stdout);
	return 1;
}

/* Judges all functions; returns how many are wrong. */
static inline int starve_all(const char *api, int code, const struct starve_function *functions, size_t count,
	const struct starve_case *cases, size_t n)
{
	int wrong = 0, starved = 0, none = 0;
	size_t good = 0;
	starve_code = code;
	for (size_t i = 0; i < count; i++) {
		int before = wrong, known = 0;
		wrong += starve_child(starve_start_runs, &functions[i]) != 0;
		for (size_t k = 0; k < n; k++) {
			if (strcmp(cases[k].name, functions[i].name) != 0)
				continue;
			known++;
			if (!cases[k].call)
				continue;
			int end = starve_child(starve_case_runs, &cases[k]);
			if (end != 0 && end != 1)
				printf("%s: the process ended with %d\n", cases[k].name, end);
			wrong += end != 0;
		}
		if (known == 0)
			printf("%s: neither starved nor excused\n", functions[i].name);
		wrong += known == 0;
		good += wrong == before;
	}
	for (size_t k = 0; k < n; k++) {
		starved += cases[k].call != NULL;
		none += cases[k].call == NULL;
		if ((cases[k].call != NULL) == (cases[k].why != NULL) || !dlsym(RTLD_DEFAULT, cases[k].name)) {
			printf("%s: no function, or not exactly one of call and reason\n", cases[k].name);
			wrong++;
		}
	}
	printf("%s: %d calls starved, %d functions take no memory by a wish\nstarve: code %zu of %zu\n", api, starved, none,
		good, count);
	return wrong;
}

#define STARVE_MAIN(API, CODE) \
	int main(void) \
	{ \
		return starve_all(API, CODE, starve_functions, sizeof starve_functions / sizeof *starve_functions, starve_cases, \
			       sizeof starve_cases / sizeof *starve_cases) != 0; \
	}

#endif
