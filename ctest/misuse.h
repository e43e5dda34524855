/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bad arguments for the generated misuse tests (zmisuse_*.c). A test passes if nothing crashes, certain calls are
 * refused, no call leaves a handle behind, and all of them together nothing else (host_end.h).
 */
#ifndef MISUSE_H
#define MISUSE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <anynpu.h>

#include "host_end.h"

/* Kinds of bad handle. */
enum {
	MISUSE_NULL,
	MISUSE_FREED,
	MISUSE_STALE,   /* freed, and another object of the same kind made since */
	MISUSE_FOREIGN, /* a living handle of another kind */
	MISUSE_LATER,   /* the same slot, a generation that is yet to come */
	MISUSE_NEAR,    /* inside the range of handles, never given out */
	MISUSE_ODD,     /* inside the range, not aligned */
	MISUSE_RANDOM,
	MISUSE_SMALL,
	MISUSE_STACK,
	MISUSE_HANDLES
};

#define MISUSE_NUMBERS 9
#define MISUSE_LENGTHS 7
#define MISUSE_ELEMENTS 256
#define MISUSE_PARAMS 16

static unsigned long misuse_calls, misuse_wrong;
static char misuse_areas[MISUSE_PARAMS][1 << 16] __attribute__((aligned(64)));
static char *misuse_forbidden; /* a page that cannot be read */
static uint64_t misuse_state = 0x9e3779b97f4a7c15u;

static inline void *misuse_random_address(void)
{
	misuse_state ^= misuse_state << 13;
	misuse_state ^= misuse_state >> 7;
	misuse_state ^= misuse_state << 17;
	return (void *)(uintptr_t)misuse_state;
}

static inline uintptr_t misuse_handle(int v, uintptr_t freed)
{
	switch (v) {
	case MISUSE_LATER:
		return freed + ((uintptr_t)16 << 21);
	case MISUSE_NEAR:
		return freed + 16 * 77777;
	case MISUSE_ODD:
		return freed + 3;
	case MISUSE_RANDOM:
		return (uintptr_t)misuse_random_address();
	case MISUSE_SMALL:
		return 7;
	case MISUSE_STACK:
		return (uintptr_t)&misuse_areas[0];
	default:
		return 0;
	}
}

/*
 * Lengths, counts, indices and enumerators: 0, around the good value 1, around common limits, the largest of each
 * width.
 */
static inline uint64_t misuse_number(int v)
{
	static const uint64_t numbers[MISUSE_NUMBERS] = {0, 2, 3, 11, 201, INT32_MAX, (uint64_t)INT64_MAX, UINT64_MAX,
		(uint64_t)1 << 31};
	return numbers[v];
}

/* Lengths of arrays: as numbers, but none that the scratch memory could not have and a program could. */
static inline uint64_t misuse_length(int v)
{
	static const uint64_t lengths[MISUSE_LENGTHS] = {0, 2, 3, 11, 201, (uint64_t)INT64_MAX, UINT64_MAX};
	return lengths[v];
}

/* NULL only, unless the library probes pointers: ANYNPU_CHECK=pointers. */
static inline int misuse_pointers(void)
{
	const char *check = getenv("ANYNPU_CHECK");
	return check && strcmp(check, "pointers") == 0 ? 5 : 1;
}

static inline void *misuse_pointer(int v)
{
	switch (v) {
	case 0:
		return NULL;
	case 1:
		return misuse_forbidden;
	case 2:
		return (void *)8;
	case 3:
		return (void *)UINTPTR_MAX;
	default:
		return (char *)misuse_random_address();
	}
}

static inline void *misuse_scratch(int i)
{
	return memset(misuse_areas[i], 0, sizeof misuse_areas[i]);
}

static inline void misuse_callback(void) {}

static inline void misuse_accepted(const char *function, int bad, int v)
{
	misuse_wrong++;
	printf("%s: bad argument %d (way %d) was accepted\n", function, bad, v);
}

static inline void misuse_begin(void)
{
	host_begin();
	misuse_forbidden = (char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)misuse_callback;
	(void)misuse_handle;
	(void)misuse_number;
	(void)misuse_length;
}

static inline void misuse_each(const char *function, int (*test)(int bad, int v), int params)
{
	size_t before = anynpu_live_handles();
	misuse_calls += (unsigned long)test(-1, 0);
	for (int bad = 0; bad < params; bad++)
		for (int v = 0; test(bad, v); v++)
			misuse_calls++;
	if (anynpu_live_handles() != before) {
		misuse_wrong++;
		printf("%s: %zu handles left behind\n", function, anynpu_live_handles() - before);
	}
}

static inline int misuse_end(void)
{
	munmap(misuse_forbidden, 4096);
	if (misuse_wrong || host_end())
		return 1;
	printf("%lu calls refused or answered, none crashed\n", misuse_calls);
	return 0;
}

#endif
