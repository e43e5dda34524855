/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a call costs in two builds of the library: two processes, one with each, measure by turns, and the least of many
 * short measurements counts.
 *
 *     against LIBDIR BASELINE [ROUNDS]
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "cases.h"

#define CALLS 500

/* A process that measures. */
struct side {
	pid_t pid;
	int go, done; /* a byte to it for each round; from it the best times so far */
	double best[CASES];
};

static void measure_on_request(void)
{
	double best[CASES];
	char c;
	for (size_t k = 0; k < CASES; k++)
		best[k] = 1e18;
	desc = OH_NNTensorDesc_Create();
	while (read(0, &c, 1) == 1) {
		measure(best, CALLS);
		if (write(1, best, sizeof best) != sizeof best)
			_exit(1);
	}
	OH_NNTensorDesc_Destroy(&desc);
}

static void start(struct side *s, const char *program, const char *lib)
{
	int go[2], done[2];
	CHECK(pipe2(go, O_CLOEXEC) == 0 && pipe2(done, O_CLOEXEC) == 0, "pipe");
	s->pid = fork();
	CHECK(s->pid >= 0, "fork");
	if (s->pid == 0) {
		dup2(go[0], 0);
		dup2(done[1], 1);
		setenv("LD_LIBRARY_PATH", lib, 1);
		setenv("ANYNPU_LOG", "off", 1);
		execl(program, program, "measure", (char *)NULL);
		_exit(127);
	}
	close(go[0]);
	close(done[1]);
	s->go = go[1];
	s->done = done[0];
}

static void turn(struct side *s)
{
	CHECK(write(s->go, "", 1) == 1 && read(s->done, s->best, sizeof s->best) == sizeof s->best, "the measuring process ended");
}

static void stop(struct side *s)
{
	int status;
	close(s->go);
	waitpid(s->pid, &status, 0);
	CHECK(status == 0, "the measuring process ended with %d", status);
}

int main(int argc, char **argv)
{
	struct side now, before;
	if (argc == 2 && strcmp(argv[1], "measure") == 0) {
		measure_on_request();
		return 0;
	}
	CHECK(argc >= 3, "usage: against LIBDIR BASELINE [ROUNDS]");
	start(&now, argv[0], argv[1]);
	start(&before, argv[0], argv[2]);
	for (int rounds = argc > 3 ? atoi(argv[3]) : 3000; rounds > 0; rounds--) {
		turn(&before);
		turn(&now);
	}
	stop(&now);
	stop(&before);
	printf("%-40s %9s %9s %12s %9s\n", "nanoseconds, best of rounds", "before", "now", "now - before", "ratio");
	for (size_t k = 0; k < CASES; k++)
		printf("%-40s %9.1f %9.1f %+12.1f %9.2f\n", cases[k].name, before.best[k], now.best[k], now.best[k] - before.best[k],
			now.best[k] / before.best[k]);
	return 0;
}
