/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C half of the boundary: what runs before Go runs, in a forked child, and instead of Go.
 */
#ifndef ANYNPU_BOUNDARY_H
#define ANYNPU_BOUNDARY_H

#include <stddef.h>
#include <stdint.h>

#define ANYNPU_HIDDEN __attribute__((visibility("hidden")))

typedef void (*anynpu_fn)(void);

/*
 * The exported functions as the generator lists them. Arrays are indexed by function; slot, target, live and driver
 * are writable.
 */
/* Two generations of an API, of which a process uses one. */
struct anynpu_pair {
	uint8_t older, newer;    /* facades; the same one ends the list */
	const char *variable, *value; /* the variable says with that value that the newer one is used, with another one that the older is */
	const char *library;     /* a file of this name is mapped where the newer one is used */
};

struct anynpu_image {
	uint32_t functions;
	uint32_t facades;
	const char *const *name;
	const uint8_t *facade;  /* index of the function's facade */
	const uint8_t *own;     /* enters Go even where calls are passed on to a driver */
	const anynpu_fn *mixed; /* chooses between Go and driver by the words of the call; NULL if nothing in it decides: then those that are
	                         * own are never the driver's, and the others always if there is one */
	/* enters Go with the parameters of a former version of the API; NULL where they are today's */
	const anynpu_fn *former;
	const anynpu_fn *dead;  /* returns the failure value and touches nothing */
	const anynpu_fn *starved; /* the same, where the library cannot start for want of memory */
	anynpu_fn *slot;        /* the jump table */
	const anynpu_fn *counted; /* what a slot holds while calls are counted: counts, then goes on to target */
	anynpu_fn *target;
	anynpu_fn *live;        /* enters Go, or dead in a forked child */
	/* calls the driver's function and counts a call that it refuses; NULL: what it returns is no failure */
	const anynpu_fn *judged;
	const anynpu_fn *judged_former; /* the same with the parameters of a former version of the API */
	anynpu_fn *driver;      /* the driver's function, NULL if there is none */
	const uint16_t *namesake; /* function of that name of the other generation, or the function itself */
	const struct anynpu_pair *pair;
	anynpu_fn *driven;      /* where a call for the driver goes: to its function, or by judged */
};

/* Weak, so that the Go packages can be tested without the library around them. */
extern const struct anynpu_image anynpu_image __attribute__((weak, visibility("hidden")));

/* The calls of each function, counted from the first routing on; NULL: not counted. Set before anything is routed. */
extern uint64_t *anynpu_calls ANYNPU_HIDDEN;
/* The calls of each function that were refused; there if anynpu_calls is. */
extern uint64_t *anynpu_refusals ANYNPU_HIDDEN;

/* States of a facade. Allowed: undecided to any other, cpu and pass-through to mixed. */
enum anynpu_state {
	ANYNPU_UNDECIDED = 0,
	ANYNPU_CPU = 1,
	ANYNPU_PASS_THROUGH = 2,
	ANYNPU_MIXED = 3,
	ANYNPU_DEVICE = 4, /* the driver computes for this library: the driver's own calls go to it, all others to Go */
};

/* getenv, but NULL for every variable where the program has rights that its caller lacks (set-id programs). */
ANYNPU_HIDDEN const char *anynpu_getenv(const char *name);
/* Start Go once; later calls do nothing. Returns 0, or with a text of what the system does not grant ANYNPU_STARVED
 * for want of memory, threads or descriptors, ANYNPU_FORBIDDEN for a system call: Go is not started then, and a
 * later call tries again. Called under the lock that all facades have in common. */
enum { ANYNPU_STARVED = 1, ANYNPU_FORBIDDEN = 2 };
ANYNPU_HIDDEN int anynpu_start(char *missing, size_t size);
/* Whether the system refuses what Go needs to start, as anynpu_start returns it; the text says what. Nothing is held
 * when it returns. */
ANYNPU_HIDDEN int anynpu_missing(char *text, size_t size);
/* Whether a resource of RLIMIT_* has a limit. */
ANYNPU_HIDDEN int anynpu_limited(int resource);
/* Hold room for threads that Go starts later, give it back (1: there was some), let refused threads have it (spare.c). */
ANYNPU_HIDDEN void anynpu_hold_spares(void);
ANYNPU_HIDDEN int anynpu_drop_spares(void);
ANYNPU_HIDDEN void anynpu_offer_spares(void);
/* How many threads may compute at once, as the system granted at the start; 0 if the start did not ask. */
ANYNPU_HIDDEN int anynpu_compute_threads(void);
/* Whether Go was started, or is being started, in this process or in the one it was forked from. */
ANYNPU_HIDDEN int anynpu_started(void);

/* Whether the calling thread runs Go code for a call (inside.h). */
ANYNPU_HIDDEN int anynpu_inside(void);
/*
 * Whether this is a child that was forked after the first call; its functions are dead then, also if no fork handler
 * ran.
 */
ANYNPU_HIDDEN int anynpu_forked(void);
/* Make anynpu_forked notice. Called under the lock that all facades have in common. */
ANYNPU_HIDDEN void anynpu_watch_forks(void);
/* Surround a C call of a function that is not this library's: anynpu_back(anynpu_out()) with the call between them.
 * The function may call this library, and has the floating-point control of the program. */
ANYNPU_HIDDEN int anynpu_out(void);
ANYNPU_HIDDEN void anynpu_back(int inside);

/*
 * The target of a call of function i that returns to caller: of the first one, which starts Go, decides the facade's
 * state and fills its slots, and of every one in the state ANYNPU_DEVICE.
 */
ANYNPU_HIDDEN anynpu_fn anynpu_resolve(uint32_t i, const void *caller);
/* The function that serves calls of function i: i, or its namesake of the other generation, if the process uses that. The
 * first call decides which one it uses, unless a driver makes it, whose code it returns to at caller. A function of the
 * other generation without a namesake serves itself: it is dead. */
ANYNPU_HIDDEN uint32_t anynpu_served(uint32_t i, const void *caller);
/* Where libraries whose names are signs of a newer generation have executable parts: at most max; the number. */
ANYNPU_HIDDEN int anynpu_signs(uintptr_t *begin, int max);
/* That one was brought into the process because a driver needs it, and is no sign. */
ANYNPU_HIDDEN void anynpu_driver_brought(uintptr_t begin);
ANYNPU_HIDDEN int anynpu_other_generation(uint32_t i);
/* Move a facade to a state; 0, or -1 if the transition is not allowed. When it returns, every slot is stored. */
ANYNPU_HIDDEN int anynpu_route(uint32_t facade, int state);
/* Take the calls of an undecided facade as programs of a former version of its API pass them. Called while it is
 * decided. */
ANYNPU_HIDDEN void anynpu_serve_former(uint32_t facade);
/* The states by facade, of which there are at most ANYNPU_MAX_FACADES; to be read atomically. */
#define ANYNPU_MAX_FACADES 16
ANYNPU_HIDDEN const int *anynpu_route_states(void);
/* Set the driver's function for function i; takes effect with the next anynpu_route. -1 if fn lies in a file of this
 * library's: the core, or a stub library, whose functions would lead back here. */
ANYNPU_HIDDEN int anynpu_set_driver(uint32_t i, void *fn);
/* The drivers' functions by function, and how many there are; to be read atomically. */
ANYNPU_HIDDEN anynpu_fn *anynpu_drivers(uint32_t *functions);
/*
 * Take note of the file that holds a driver's function; -1 if it is one of this library's. Called under the lock that
 * all facades have in common.
 */
ANYNPU_HIDDEN int anynpu_driver_file(uint32_t facade, void *function);
/* Have the calls that a driver makes itself go to its function for function i, also before its facade is decided. */
ANYNPU_HIDDEN void anynpu_know_driver(uint32_t i, void *fn);
/*
 * Whether a call of function i that returns to caller is the driver's own: made in the driver's file, or while this
 * thread is in the driver.
 */
ANYNPU_HIDDEN int anynpu_by_driver(uint32_t i, const void *caller);
/* Mark this thread as being in the driver of a facade; clear the marks for a callback into the program. Both return
 * what anynpu_guard_restore takes. */
ANYNPU_HIDDEN uint32_t anynpu_guard_enter(uint32_t facade);
ANYNPU_HIDDEN uint32_t anynpu_guard_clear(void);
ANYNPU_HIDDEN void anynpu_guard_restore(uint32_t before);
/* Call a driver's function with 8 arguments, of which it takes the first ones, as anynpu_guard_enter and anynpu_out
 * surround it. For code that cannot call C itself (backends/driver). */
ANYNPU_HIDDEN uintptr_t anynpu_call_driver(uintptr_t facade, void *function, const uintptr_t *a);
/* How a helper program ended. */
struct anynpu_helper {
	int exit;      /* its exit code, -1: it has none */
	int signal;    /* that ended it, 0: none */
	int timed_out; /* it was ended when its time was over */
	size_t output; /* bytes that it wrote to descriptor 3, as far as there was room */
};
/* Run argv[0], an absolute path, with the variables more added to the environment, for at most limit ms. 0, or an errno
 * if it was not started. The host sees no child: neither SIGCHLD nor waitpid(-1) without __WALL or __WCLONE. */
ANYNPU_HIDDEN int anynpu_run_helper(char *const argv[], char *const more[], int limit, char *text, size_t size,
	struct anynpu_helper *end);
/* Start argv[0] in the same way, with fd as its descriptor 3, and wait for nothing: it ends when that does. 0, or an
 * errno. The host sees no child, unless it is a subreaper, which inherits the program when it ends. */
ANYNPU_HIDDEN int anynpu_start_helper(char *const argv[], char *const more[], int fd);
/* The file that holds this library's code, as the loader names it. */
ANYNPU_HIDDEN const char *anynpu_own_file(void);
/* In a new child: forget the locks' owners and replace every way into Go by dead functions. */
ANYNPU_HIDDEN void anynpu_route_child(void);

/* The range of handle values; anynpu_ours is one comparison. */
ANYNPU_HIDDEN void anynpu_set_window(uintptr_t base, uintptr_t size);
extern uintptr_t anynpu_window_base ANYNPU_HIDDEN, anynpu_window_size ANYNPU_HIDDEN;
static inline int anynpu_ours(uintptr_t handle) { return handle - anynpu_window_base < anynpu_window_size; }

/*
 * What a word of a call says of its owner. Several are joined by "|": the call is the driver's if that gives
 * ANYNPU_THEIRS. What cannot be read says ANYNPU_OURS: the call then comes to this library, which refuses it.
 */
enum { ANYNPU_NOBODYS = 0, ANYNPU_THEIRS = 1, ANYNPU_OURS = 3 };
extern int anynpu_ending ANYNPU_HIDDEN;  /* Go is called when the program ends */
extern int anynpu_probing ANYNPU_HIDDEN; /* pointers are probed before they are read */
ANYNPU_HIDDEN int anynpu_readable(const void *p, size_t size);
static inline int anynpu_owner(uintptr_t handle) { return anynpu_ours(handle) ? ANYNPU_OURS : handle != 0; }
static inline int anynpu_owner_at(const void *p)
{
	if (!p)
		return ANYNPU_NOBODYS;
	if (__builtin_expect(anynpu_probing, 0) && !anynpu_readable(p, sizeof(uintptr_t)))
		return ANYNPU_OURS;
	return anynpu_owner(*(const uintptr_t *)p);
}
static inline int anynpu_owner_in(const void *p, size_t offset)
{
	return p ? anynpu_owner_at((const char *)p + offset) | ANYNPU_THEIRS : ANYNPU_NOBODYS;
}

/* Where dead functions report, fd < 0 for nowhere; the report is one line per process. */
ANYNPU_HIDDEN void anynpu_set_report(int fd);
ANYNPU_HIDDEN void anynpu_report_dead(uint32_t i);
/* Report that function i was refused because a signal handler called it where it must not (inside.h). */
ANYNPU_HIDDEN void anynpu_report_handler(uint32_t i);
/* Report to standard error, unless ANYNPU_LOG is "off", that function i was refused because Go cannot start. */
ANYNPU_HIDDEN void anynpu_report_missing(uint32_t i, const char *what);

#endif
