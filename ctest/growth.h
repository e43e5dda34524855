/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether memory, descriptors and mappings of the process grow with the number of times that something is done.
 */
#ifndef GROWTH_H
#define GROWTH_H

#include "host.h"

/* Resident pages. */
static inline long growth_resident(void)
{
	long total, pages;
	FILE *f = fopen("/proc/self/statm", "r");
	CHECK(f != NULL && fscanf(f, "%ld %ld", &total, &pages) == 2, "/proc/self/statm");
	fclose(f);
	return pages;
}

static inline size_t growth_descriptors(void)
{
	struct host_lines l = host_list_fds();
	size_t n = l.count;
	host_free_lines(&l);
	return n;
}

static inline long growth_mappings(void)
{
	long n = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	CHECK(f != NULL, "/proc/self/maps");
	for (int c; (c = fgetc(f)) != EOF;)
		n += c == '\n';
	fclose(f);
	return n;
}

/*
 * Calls cycle count times, after calls that make what is made once, and fails if the process grows. A leak grows in
 * every round; threads that Go starts later, with their stacks and arenas, do not.
 */
static inline void growth_check(const char *name, int count, void (*cycle)(const char *path, int i), const char *path)
{
	int first = count / 10 < 50 ? 50 : count / 10;
	long more = 0, more_maps = 0;
	for (int i = 0; i < first; i++)
		cycle(path, i);
	for (int round = 0; round < 4; round++) {
		long pages = growth_resident(), maps = growth_mappings();
		size_t fds = growth_descriptors();
		for (int i = 0; i < count; i++)
			cycle(path, i);
		more = growth_resident() - pages, more_maps = growth_mappings() - maps;
		printf("%s: %d cycles, resident %+ld KiB, mappings %+ld, descriptors %+ld\n", name, count,
			more * (getpagesize() / 1024), more_maps,
		       (long)growth_descriptors() - (long)fds);
		CHECK(growth_descriptors() == fds, "descriptors grow");
		if (more < 16 << 8 && more_maps < 16)
			break;
	}
	CHECK(more < 16 << 8, "memory grows");
	CHECK(more_maps < 16, "mappings grow");
}

#endif
