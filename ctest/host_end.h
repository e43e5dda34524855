/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every test host ends with the check that the library left nothing behind: host_begin() first in main,
 * `return host_end();` last. A child of fork does the same. What is compared: handles and buffers of the library (none
 * at either end), open descriptors and what they refer to, and mappings of files, shared memory included, with their
 * rights and offsets.
 *
 * Anonymous mappings are not compared: Go's heap, thread stacks and malloc's arenas come and go as they like. What the
 * library itself maps anonymously, tensors and weights, is what anynpu_live_buffers counts; and the window of handles,
 * which stays by design.
 */
#ifndef HOST_END_H
#define HOST_END_H

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Lines of text, sorted. */
struct host_lines {
	char **line;
	size_t count;
};

static struct host_lines host_fds_before, host_files_before;

static const char *host_keeps; /* a file that the library opens and keeps mapped: a driver */

static inline void host_add_line(struct host_lines *l, const char *text)
{
	l->line = (char **)realloc(l->line, (l->count + 1) * sizeof *l->line);
	if (!l->line || !(l->line[l->count++] = strdup(text)))
		abort();
}

static inline void host_free_lines(struct host_lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->line[i]);
	free(l->line);
	l->line = NULL;
	l->count = 0;
}

static inline int host_compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a,
	*(char *const *)b); }

static inline void host_sort_lines(struct host_lines *l)
{
	if (l->count)
		qsort(l->line, l->count, sizeof *l->line, host_compare_lines);
}

/* Open descriptors as "NUMBER TARGET". */
static inline struct host_lines host_list_fds(void)
{
	struct host_lines all = {NULL, 0};
	DIR *dir = opendir("/proc/self/fd");
	if (!dir)
		abort();
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		char target[1024], text[1024 + 300];
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof target - 1);
		if (n < 0 || atoi(e->d_name) == dirfd(dir))
			continue; /* . and .., and the directory itself */
		target[n] = 0;
		snprintf(text, sizeof text, "%s %s", e->d_name, target);
		host_add_line(&all, text);
	}
	closedir(dir);
	host_sort_lines(&all);
	return all;
}

/* Threads of the process. */
static inline int host_threads(void)
{
	int n = 0;
	DIR *dir = opendir("/proc/self/task");
	if (!dir)
		abort();
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Mappings of files as "RIGHTS OFFSET DEVICE INODE PATH". */
static inline struct host_lines host_list_files(void)
{
	struct host_lines all = {NULL, 0};
	char text[4096 + 300];
	const char *record = getenv("ANYNPU_REPORT");
	FILE *maps = fopen("/proc/self/maps", "r");
	if (!maps)
		abort();
	while (fgets(text, sizeof text, maps)) {
		char *rest = strchr(text, ' ');
		text[strcspn(text, "\n")] = 0;
#ifdef __SANITIZE_THREAD__
		if (rest && strncmp(rest, " r--p", 5) == 0)
			continue; /* ThreadSanitizer maps files to read their symbols */
#endif
		if (record && rest && strstr(rest, record))
			continue; /* the counters of the report, for the life of the process */
		if (rest && strchr(rest, '/') && !(host_keeps && strstr(rest, host_keeps)))
			host_add_line(&all, rest + 1);
	}
	fclose(maps);
	host_sort_lines(&all);
	return all;
}

/*
 * The descriptors that Go's runtime and the log open with the library's first need of them and keep for the life of the
 * process: event poll and its event, up to two files of the CPU's quota, the log file. budget counts what is still
 * allowed of each.
 */
static inline int host_is_runtimes(const char *fd, int budget[4])
{
	const char *target = strchr(fd, ' ') + 1, *log = getenv("ANYNPU_LOG_FILE");
	char path[PATH_MAX];
	if (strcmp(target, "anon_inode:[eventpoll]") == 0)
		return budget[0]-- > 0;
	if (strcmp(target, "anon_inode:[eventfd]") == 0)
		return budget[1]-- > 0;
	if (strncmp(target, "/sys/fs/cgroup/", 15) == 0)
		return budget[2]-- > 0;
	if (log && realpath(log, path) && strcmp(target, path) == 0)
		return budget[3]-- > 0;
	return 0;
}

/* Counts, and with report prints, what is only in one of two lists. */
static inline int host_differences(const char *what, const struct host_lines *before, const struct host_lines *now,
	int own, int report)
{
	int budget[4] = {1, 1, 2, 1}, n = 0;
	for (size_t i = 0, k = 0; i < before->count || k < now->count;) {
		int order = i == before->count ? 1 : k == now->count ? -1 : strcmp(before->line[i], now->line[k]);
		if (order == 0) {
			i++;
			k++;
			continue;
		}
		const char *line = order < 0 ? before->line[i++] : now->line[k++];
		if (order > 0 && own && host_is_runtimes(line, budget))
			continue;
		n++;
		if (report)
			printf("%s %s: %s\n", what, order < 0 ? "gone" : "left behind", line);
	}
	return n;
}

/* A counter of the library's, found in whatever way the library came into the process. */
static inline size_t host_count(const char *name)
{
	size_t (*count)(void) = NULL;
	void *lib = dlopen("libanynpu.so.0", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = lib ? dlsym(lib, name) : NULL;
	if (!symbol) {
		printf("%s is not in the process\n", name);
		return SIZE_MAX;
	}
	memcpy(&count, &symbol, sizeof count);
	size_t n = count();
	dlclose(lib);
	return n;
}

/* Notes what is open and mapped. It calls nothing of the library, so that the first call is part of what is checked. */
static inline void host_begin(void)
{
	host_free_lines(&host_fds_before);
	host_free_lines(&host_files_before);
	host_fds_before = host_list_fds();
	host_files_before = host_list_files();
}

/*
 * Counts what was not there at host_begin, or is there no more, and the library's buffers; with report also prints it.
 */
static inline int host_left(int report)
{
	struct host_lines fds = host_list_fds(), files = host_list_files();
	size_t buffers = host_count("anynpu_live_buffers");
	int n = (buffers != 0) + host_differences("descriptor", &host_fds_before, &fds, 1, report) +
		host_differences("mapping", &host_files_before, &files, 0, report);
	if (report && buffers)
		printf("%zu buffers left behind\n", buffers);
	host_free_lines(&fds);
	host_free_lines(&files);
	return n;
}

static inline time_t host_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * Returns the exit code of a host: 0 if nothing was left behind, else 1, and prints what. Memory of an asynchronous run
 * is given back by another thread shortly after its callback, so buffers, descriptors and mappings have a minute to go,
 * and a thousand turns where the clock jumps; handles have none.
 */
static inline int host_end(void)
{
	const struct timespec pause = {0, 1000000};
	size_t handles = host_count("anynpu_live_handles");
	int left = host_left(0), turns = 0;
	for (time_t end = host_seconds() + 60; left && (turns < 1000 || host_seconds() < end); turns++) {
		nanosleep(&pause, NULL);
		left = host_left(0);
	}
	if (handles)
		printf("%zu handles left behind\n", handles);
	if (left)
		left = host_left(1);
	host_free_lines(&host_fds_before);
	host_free_lines(&host_files_before);
	fflush(stdout);
	return left || handles;
}

#endif
