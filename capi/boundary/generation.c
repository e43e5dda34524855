/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which of two generations of an API the process uses. It is decided once, at the program's first call of either; the
 * names that both have lead there, and calls of the other are refused.
 */
#define _GNU_SOURCE
#include "boundary.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { UNDECIDED, OLDER, NEWER };

#define MAX_PAIRS 4
static _Atomic int decided[MAX_PAIRS];

/* Executable parts of files that drivers brought into the process, by their beginnings. Open files stay open. */
#define MAX_BROUGHT 64
static _Atomic uintptr_t brought[MAX_BROUGHT];

static int is_brought(uintptr_t begin)
{
	for (int k = 0; k < MAX_BROUGHT && brought[k]; k++)
		if (brought[k] == begin)
			return 1;
	return 0;
}

void anynpu_driver_brought(uintptr_t begin)
{
	for (int k = 0; k < MAX_BROUGHT; k++) {
		uintptr_t none = 0;
		if (atomic_compare_exchange_strong(&brought[k], &none, begin) || none == begin)
			return;
	}
}

/* Whether the file at a path is called name, also with a version behind it. */
static int called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(name);
	base = base ? base + 1 : path;
	return strncmp(base, name, n) == 0 && (base[n] == 0 || base[n] == '.');
}

/* Where libraries of a name have executable parts: the first max of those that pass, all in number. */
struct parts {
	const char *name;
	uintptr_t *begin;
	int max, number;
};

static void take(struct parts *p, uintptr_t begin)
{
	if (p->number < p->max)
		p->begin[p->number] = begin;
	p->number++;
}

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!info->dlpi_name || !called(info->dlpi_name, ((struct parts *)data)->name))
		return 0;
	for (int k = 0; k < info->dlpi_phnum; k++)
		if (info->dlpi_phdr[k].p_type == PT_LOAD && info->dlpi_phdr[k].p_flags & PF_X)
			take(data, info->dlpi_addr + info->dlpi_phdr[k].p_vaddr);
	return 0;
}

/* A line of /proc/self/maps as it comes: BEGIN-END RIGHTS OFFSET DEVICE INODE /FOLDER/NAME. */
struct line {
	uintptr_t begin;
	int ended;      /* BEGIN */
	int blanks;     /* so far */
	int executable; /* RIGHTS have an x */
	size_t matched; /* characters of a slash and the name */
	int found;
};

static void read_character(struct line *l, char c, const char *name)
{
	size_t want = strlen(name) + 1; /* with the slash before it, which it has once */
	if (c == ' ')
		l->blanks++;
	else if (c == '-' && l->blanks == 0)
		l->ended = 1;
	else if (!l->ended)
		l->begin = l->begin << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	else if (l->blanks == 1 && c == 'x')
		l->executable = 1;
	if (l->matched == want && (c == '\n' || c == '.' || c == ' '))
		l->found = 1;
	l->matched = c == '/' ? 1 : l->matched > 0 && l->matched < want && c == name[l->matched - 1] ? l->matched + 1 : 0;
}

/*
 * The kernel is asked, because the dynamic loader does not answer while another thread opens a library; the loader
 * where the kernel does not tell.
 */
static void list(struct parts *p)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		dl_iterate_phdr(find, p);
		return;
	}
	char buffer[4096];
	struct line l = {0};
	for (;;) {
		ssize_t n = read(fd, buffer, sizeof buffer);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++) {
			read_character(&l, buffer[i], p->name);
			if (buffer[i] != '\n')
				continue;
			if (l.found && l.executable)
				take(p, l.begin);
			memset(&l, 0, sizeof l);
		}
	}
	close(fd);
}

int anynpu_signs(uintptr_t *begin, int max)
{
	int saved = errno, number = 0;
	for (int k = 0; k < MAX_PAIRS && anynpu_image.pair[k].older != anynpu_image.pair[k].newer; k++) {
		struct parts p = {anynpu_image.pair[k].library, begin + number, max - number, 0};
		list(&p);
		number += p.number < p.max ? p.number : p.max;
	}
	errno = saved;
	return number;
}

/* Whether the program, and not a driver, has brought a library of that name. */
static int loaded(const char *name)
{
	uintptr_t begin[MAX_BROUGHT + 1];
	struct parts p = {name, begin, MAX_BROUGHT + 1, 0};
	list(&p);
	for (int k = 0; k < p.number && k < p.max; k++)
		if (!is_brought(begin[k]))
			return 1;
	return 0;
}

static int decide(const struct anynpu_pair *pair, uint32_t i)
{
	const char *value = anynpu_getenv(pair->variable);
	if (value && *value)
		return strcmp(value, pair->value) == 0 ? NEWER : OLDER;
	if (loaded(pair->library))
		return NEWER;
	return anynpu_image.facade[i] == pair->newer && anynpu_image.namesake[i] == i ? NEWER : OLDER;
}

/* The state of the pair that function i belongs to, and the pair; NULL for none. */
static const struct anynpu_pair *pair_of(uint32_t i, _Atomic int **state)
{
	uint8_t facade = anynpu_image.facade[i];
	for (int k = 0; k < MAX_PAIRS && anynpu_image.pair[k].older != anynpu_image.pair[k].newer; k++)
		if (anynpu_image.pair[k].older == facade || anynpu_image.pair[k].newer == facade) {
			*state = &decided[k];
			return &anynpu_image.pair[k];
		}
	return NULL;
}

/* Whether calls of function i are refused, as those of the other generation. */
int anynpu_other_generation(uint32_t i)
{
	_Atomic int *state;
	const struct anynpu_pair *pair = pair_of(i, &state);
	if (!pair || *state == UNDECIDED)
		return 0;
	return anynpu_image.facade[i] != (*state == NEWER ? pair->newer : pair->older);
}

uint32_t anynpu_served(uint32_t i, const void *caller)
{
	_Atomic int *state;
	const struct anynpu_pair *pair = pair_of(i, &state);
	if (!pair)
		return i;
	if (*state == UNDECIDED) {
		uint32_t newer = anynpu_image.facade[i] == pair->newer ? i : anynpu_image.namesake[i];
		if (anynpu_by_driver(newer, caller))
			return newer; /* a driver's own call, which says nothing of the program */
		int saved = errno, none = UNDECIDED, now = decide(pair, i);
		atomic_compare_exchange_strong(state, &none, now);
		errno = saved;
	}
	return anynpu_other_generation(i) ? anynpu_image.namesake[i] : i;
}
