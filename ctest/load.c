/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loading the library, linked or by dlopen, adds no thread and changes no signal disposition, mask or alternate stack;
 * the first call does start Go.
 *
 *     load            linked against the library
 *     load FILE...    opens each file
 */
#include <dlfcn.h>
#include <signal.h>

#include "host.h"

struct state {
	int threads;
	struct sigaction action[65];
	sigset_t mask;
	stack_t stack;
};

static void take(struct state *s)
{
	memset(s, 0, sizeof *s);
	s->threads = host_threads();
	for (int sig = 1; sig <= 64; sig++)
		sigaction(sig, NULL, &s->action[sig]);
	sigprocmask(SIG_SETMASK, NULL, &s->mask);
	sigaltstack(NULL, &s->stack);
}

#ifdef OPENED
static void same(const struct state *a, const struct state *b, const char *when)
{
	CHECK(a->threads == b->threads, "%s: %d threads, then %d", when, a->threads, b->threads);
	for (int sig = 1; sig <= 64; sig++)
		CHECK(a->action[sig].sa_handler == b->action[sig].sa_handler && a->action[sig].sa_flags == b->action[sig].sa_flags,
			"%s: disposition of signal %d changed", when, sig);
	CHECK(memcmp(&a->mask, &b->mask, sizeof a->mask) == 0, "%s: the signal mask changed", when);
	CHECK(a->stack.ss_sp == b->stack.ss_sp, "%s: the alternate signal stack changed", when);
}
#endif

int main(int argc, char **argv)
{
	struct state before, after;
	take(&before);
#ifdef OPENED
	size_t (*live)(void) = NULL;
	for (int i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		CHECK(lib != NULL, "%s", dlerror());
		take(&after);
		same(&before, &after, argv[i]);
		void *symbol = dlsym(lib, "anynpu_live_handles");
		if (symbol)
			memcpy(&live, &symbol, sizeof live);
	}
	host_begin(); /* from here on: opened files stay */
	CHECK(live != NULL, "no file has anynpu_live_handles");
	CHECK(live() == 0, "a handle lives before any was made");
#else
	host_begin();
	(void)argc;
	(void)argv;
	CHECK(before.threads == 1, "%d threads at the start of main", before.threads);
	for (int sig = 1; sig <= 31; sig++)
		CHECK(before.action[sig].sa_handler == SIG_DFL || before.action[sig].sa_handler == SIG_IGN,
			"signal %d has a handler at the start of main", sig);
	CHECK(host_answer() == 0, "wrong answer");
#endif
	take(&after);
	CHECK(after.threads > before.threads, "the first call started no thread: is this the library?");
	CHECK(memcmp(&before.mask, &after.mask, sizeof after.mask) == 0, "the first call changed the caller's signal mask");
	return host_end();
}
