/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whose call it is. A driver's calls of its own exports may arrive here, because the program's copy of a name comes
 * first. Those that create objects have no handle that could decide; they are known by the address they return to, and
 * by a mark on the thread while this library calls the driver.
 */
#define _GNU_SOURCE
#include "boundary.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#define MAX_RANGES 64

/* Executable parts of the drivers' files. Entries are added under the lock of all facades and never change. */
static struct range {
	uintptr_t begin, end;
	uint32_t facade;
} ranges[MAX_RANGES];
static _Atomic int range_count;

/* One bit per facade whose driver this thread is in. The model needs nothing of the dynamic loader at run time. */
static __thread uint32_t inside __attribute__((tls_model("initial-exec")));

uint32_t anynpu_guard_enter(uint32_t facade)
{
	uint32_t before = inside;
	inside |= UINT32_C(1) << facade;
	return before;
}

uint32_t anynpu_guard_clear(void)
{
	uint32_t before = inside;
	inside = 0;
	return before;
}

void anynpu_guard_restore(uint32_t before) { inside = before; }

uintptr_t anynpu_call_driver(uintptr_t facade, void *function, const uintptr_t *a)
{
	typedef uintptr_t (*any)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
	any f;
	memcpy(&f, &function, sizeof f);
	uint32_t before = anynpu_guard_enter((uint32_t)facade);
	int thread = anynpu_out();
	uintptr_t r = f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
	anynpu_back(thread);
	anynpu_guard_restore(before);
	return r;
}

int anynpu_by_driver(uint32_t i, const void *caller)
{
	uint32_t facade = anynpu_image.facade[i];
	if (inside >> facade & 1)
		return 1;
	uintptr_t at = (uintptr_t)caller;
	int n = atomic_load_explicit(&range_count, memory_order_acquire);
	for (int k = 0; k < n; k++)
		if (ranges[k].facade == facade && at - ranges[k].begin < ranges[k].end - ranges[k].begin)
			return 1;
	return 0;
}

struct search {
	uintptr_t function;
	uint32_t facade;
	int found, ours;
};

static int contains(const struct dl_phdr_info *info, uintptr_t at)
{
	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[k];
		if (p->p_type == PT_LOAD && at - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return 1;
	}
	return 0;
}

/* Whether a file has the note of the core and the stub libraries (capi/abi/gen/entry.go). */
static int marked(const struct dl_phdr_info *info)
{
	static const char name[] = "AnyNPU";
	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[k];
		if (p->p_type != PT_NOTE)
			continue;
		const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
		const size_t align = p->p_align == 8 ? 8 : 4;
		while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			size_t size = sizeof *note + ((note->n_namesz + align - 1) & -align) + ((note->n_descsz + align - 1) & -align);
			if (size > (size_t)(end - at))
				break;
			if (note->n_type == 1 && note->n_namesz == sizeof name && memcmp(note + 1, name, sizeof name) == 0)
				return 1;
			at += size;
		}
	}
	return 0;
}

static void add_range(uint32_t facade, uintptr_t begin, uintptr_t end)
{
	int n = range_count;
	for (int k = 0; k < n; k++)
		if (ranges[k].facade == facade && ranges[k].begin == begin)
			return;
	if (n == MAX_RANGES)
		return;
	ranges[n] = (struct range){begin, end, facade};
	atomic_store_explicit(&range_count, n + 1, memory_order_release);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	struct search *s = data;
	if (!contains(info, s->function))
		return 0;
	s->found = 1;
	s->ours = contains(info, (uintptr_t)&visit) || marked(info);
	if (!s->ours)
		for (int k = 0; k < info->dlpi_phnum; k++) {
			const ElfW(Phdr) *p = &info->dlpi_phdr[k];
			if (p->p_type == PT_LOAD && p->p_flags & PF_X)
				add_range(s->facade, info->dlpi_addr + p->p_vaddr, info->dlpi_addr + p->p_vaddr + p->p_memsz);
		}
	return 1;
}

/*
 * dl_iterate_phdr sees only the files of the caller's own namespace, dladdr those of every one (dlmopen). There the
 * program headers are found by the file's first page.
 */
static void visit_elsewhere(struct search *s)
{
	Dl_info found;
	if (!dladdr((void *)s->function, &found) || !found.dli_fbase)
		return;
	const ElfW(Ehdr) *head = found.dli_fbase;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > 4096)
		return;
	struct dl_phdr_info info = {.dlpi_phdr = (const ElfW(Phdr) *)((uintptr_t)head + head->e_phoff),
		.dlpi_phnum = head->e_phnum};
	for (int k = 0; k < info.dlpi_phnum; k++)
		if (info.dlpi_phdr[k].p_type == PT_LOAD) { /* the first one begins with the file */
			info.dlpi_addr = (uintptr_t)head - (info.dlpi_phdr[k].p_vaddr - info.dlpi_phdr[k].p_offset);
			visit(&info, sizeof info, s);
			return;
		}
}

int anynpu_driver_file(uint32_t facade, void *function)
{
	struct search s = {(uintptr_t)function, facade, 0, 0};
	dl_iterate_phdr(visit, &s);
	if (!s.found)
		visit_elsewhere(&s);
	return s.found && !s.ours ? 0 : -1;
}
