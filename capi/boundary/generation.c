/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which of two generations of an API the process uses. It is decided once, at the first call of either; the names that
 * both have lead there, and calls of the other are refused.
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

/* Whether the file at a path is called name, also with a version behind it. */
static int called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(name);
	base = base ? base + 1 : path;
	return strncmp(base, name, n) == 0 && (base[n] == 0 || base[n] == '.');
}

static int find(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	return info->dlpi_name && called(info->dlpi_name, name);
}

/*
 * Whether a library of that name is loaded. The kernel is asked, because the dynamic loader does not answer while another
 * thread opens a library; the loader where the kernel does not tell.
 */
static int loaded(const char *name)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return dl_iterate_phdr(find, (void *)(uintptr_t)name);
	char buffer[4096];
	size_t matched = 0, want = strlen(name) + 1; /* with the slash before it, which it has once */
	int found = 0;
	for (;;) {
		ssize_t n = read(fd, buffer, sizeof buffer);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n && !found; i++) {
			char c = buffer[i];
			if (matched == want && (c == '\n' || c == '.' || c == ' '))
				found = 1;
			matched = c == '/' ? 1 : matched > 0 && matched < want && c == name[matched - 1] ? matched + 1 : 0;
		}
	}
	close(fd);
	return found;
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

uint32_t anynpu_served(uint32_t i)
{
	_Atomic int *state;
	const struct anynpu_pair *pair = pair_of(i, &state);
	if (!pair)
		return i;
	if (*state == UNDECIDED) {
		int saved = errno, none = UNDECIDED, now = decide(pair, i);
		atomic_compare_exchange_strong(state, &none, now);
		errno = saved;
	}
	return anynpu_other_generation(i) ? anynpu_image.namesake[i] : i;
}
