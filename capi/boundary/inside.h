/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What surrounds Go code on a thread of the program's.
 *
 * A call from a signal handler is refused where Go cannot bear it: if the handler interrupted a call, whose state it
 * would enter a second time, or if it runs on the alternate signal stack, where the next signal would begin while the
 * call is on a stack of Go's.
 *
 * A child of a fork is known by a page that the kernel empties for it, whatever made the child.
 *
 * Go code computes with the processor's default floating-point control (round to nearest, denormals as they are,
 * nothing trapped), the program and its callbacks with their own, which threads that Go starts would inherit.
 */
#ifndef ANYNPU_INSIDE_H
#define ANYNPU_INSIDE_H

#include <stdatomic.h>
#include <stdint.h>

#include "boundary.h"

#if defined(__x86_64__)
#define ANYNPU_FP_DEFAULT UINT32_C(0x1f80)
#define ANYNPU_FP_FLAGS UINT32_C(0x3f) /* what operations leave there: no control */
static inline uint32_t anynpu_fp_get(void) { return __builtin_ia32_stmxcsr(); }
static inline void anynpu_fp_set(uint32_t control) { __builtin_ia32_ldmxcsr(control); }
#elif defined(__aarch64__)
#define ANYNPU_FP_DEFAULT UINT32_C(0)
#define ANYNPU_FP_FLAGS UINT32_C(0)
static inline uint32_t anynpu_fp_get(void)
{
	uint64_t control;
	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	return (uint32_t)control;
}
static inline void anynpu_fp_set(uint32_t control) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)control)); }
#endif

static inline int anynpu_fp_odd(uint32_t control) { return (control & ~ANYNPU_FP_FLAGS) != ANYNPU_FP_DEFAULT; }

/* The calling thread. Handlers run on it, so inside is set before anything else is changed and cleared after. */
struct anynpu_thread {
	uint32_t inside;  /* Go code runs on it for a call */
	uint32_t control; /* the program's floating-point control, while inside */
	uintptr_t stack, size; /* a part of its stack from where it has called, not of its alternate stack */
};
extern __thread struct anynpu_thread anynpu_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Add an address to the known part of the stack; 0 if it is on the alternate stack. */
ANYNPU_HIDDEN int anynpu_learn_stack(uintptr_t here);

#define ANYNPU_RARE(condition) __builtin_expect(!!(condition), 0)

/* Not 0, except in a child that was forked after the first call. */
extern const uint32_t *anynpu_parent ANYNPU_HIDDEN;

/* Begin a call; 0 if it must be refused, and nothing is changed then. */
static inline int anynpu_enter(void)
{
	if (ANYNPU_RARE(anynpu_thread.inside | !*anynpu_parent))
		return 0;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (ANYNPU_RARE(here - anynpu_thread.stack >= anynpu_thread.size) && !anynpu_learn_stack(here))
		return 0;
	uint32_t control = anynpu_fp_get();
	if (ANYNPU_RARE(anynpu_fp_odd(control)))
		anynpu_fp_set(ANYNPU_FP_DEFAULT);
	anynpu_thread.inside = 1;
	atomic_signal_fence(memory_order_seq_cst);
	anynpu_thread.control = control;
	return 1;
}

/* End it. */
static inline void anynpu_leave(void)
{
	uint32_t control = anynpu_thread.control;
	atomic_signal_fence(memory_order_seq_cst);
	anynpu_thread.inside = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (ANYNPU_RARE(anynpu_fp_odd(control)))
		anynpu_fp_set(control);
}

#endif
