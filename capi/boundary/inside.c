/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inside.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

__thread struct anynpu_thread anynpu_thread __attribute__((tls_model("initial-exec")));

static const uint32_t yes = 1;
const uint32_t *anynpu_parent = &yes;

void anynpu_watch_forks(void)
{
	if (anynpu_parent != &yes)
		return;
	uint32_t *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return; /* fork handlers remain */
	*page = 1;
	if (madvise(page, sizeof *page, MADV_WIPEONFORK) == 0)
		anynpu_parent = page;
	else
		munmap(page, sizeof *page);
}

int anynpu_forked(void)
{
	if (*anynpu_parent)
		return 0;
	anynpu_route_child();
	return 1;
}

int anynpu_inside(void) { return (int)anynpu_thread.inside; }

/* Stacks of coroutines lie further apart than a thread's calls on one stack. */
#define ONE_STACK ((uintptr_t)1 << 20)

int anynpu_learn_stack(uintptr_t here)
{
	stack_t now;
	int saved = errno, known = sigaltstack(NULL, &now) == 0;
	errno = saved;
	if (known && now.ss_flags & SS_ONSTACK)
		return 0;
	/* From the lowest to the highest address that was found good: an alternate stack may be an array in a function
	 * of the program's that has not called from above it. */
	uintptr_t begin = anynpu_thread.stack, end = begin + anynpu_thread.size;
	if (here < begin && begin - here < ONE_STACK)
		begin = here;
	else if (here >= end && here - end < ONE_STACK)
		end = here + 1;
	else
		begin = here, end = here + 1;
	anynpu_thread.size = 0; /* a handler may read in between */
	atomic_signal_fence(memory_order_seq_cst);
	anynpu_thread.stack = begin;
	atomic_signal_fence(memory_order_seq_cst);
	anynpu_thread.size = end - begin;
	return 1;
}

int anynpu_out(void)
{
	if (!anynpu_thread.inside)
		return 0; /* a thread of Go's own */
	anynpu_leave();
	return 1;
}

void anynpu_back(int inside)
{
	if (inside)
		anynpu_enter(); /* with the control that the program has left now */
	else if (anynpu_fp_odd(anynpu_fp_get()))
		anynpu_fp_set(ANYNPU_FP_DEFAULT);
}
