/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Processes that measure by turns, each with the libraries of another folder. The program that compares starts itself
 * once for each; a byte asks a side to measure, what it measured comes back.
 */
#ifndef SIDES_H
#define SIDES_H

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

struct side {
	pid_t pid;
	int go, done;
};

/* Starts argv, whose argv[0] is this program's file, with the libraries in lib. */
static inline void start_side(struct side *s, const char *lib, char *const argv[])
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
		execv(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	close(done[1]);
	s->go = go[1];
	s->done = done[0];
}

/* Lets s measure; its result has size bytes. */
static inline void turn_of(struct side *s, void *result, size_t size)
{
	CHECK(write(s->go, "", 1) == 1 && read(s->done, result, size) == (ssize_t)size, "the measuring process ended");
}

static inline void stop_side(struct side *s)
{
	int status;
	close(s->go);
	waitpid(s->pid, &status, 0);
	CHECK(status == 0, "the measuring process ended with %d", status);
}

/* In a side: whether to measure once more. */
static inline int turn_asked(void)
{
	char c;
	return read(0, &c, 1) == 1;
}

/* In a side: what it measured. */
static inline void turn_done(const void *result, size_t size)
{
	if (write(1, result, size) != (ssize_t)size)
		_exit(1);
}

#endif
