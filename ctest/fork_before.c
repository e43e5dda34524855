/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A host that forks before its first call, as daemon() and prefork servers do, works in the child, in the parent, and
 * again in a child of the child.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

static void in_child(int depth)
{
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		alarm(300); /* a hang ends as SIGALRM */
		host_begin();
		if (depth > 0)
			in_child(depth - 1);
		CHECK(host_answer() == 0, "wrong answer in the child");
		_exit(host_end());
	}
	int status;
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
	CHECK(!WIFSIGNALED(status), "child ended by signal %d", WTERMSIG(status));
	CHECK(WEXITSTATUS(status) == 0, "child failed");
}

/* A daemon: its own process ends at once, and the parent reads how it fared, and then the end of the pipe, its exit. */
static void as_daemon(void)
{
	int ends[2];
	CHECK(pipe(ends) == 0, "pipe");
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		CHECK(daemon(1, 1) == 0, "daemon");
		alarm(300);
		host_begin();
		CHECK(host_answer() == 0, "wrong answer in the daemon");
		char code = (char)host_end();
		CHECK(write(ends[1], &code, 1) == 1, "write");
		_exit(code);
	}
	close(ends[1]);
	char code = 1;
	CHECK(read(ends[0], &code, 1) == 1, "the daemon ended without an answer");
	CHECK(code == 0, "the daemon failed");
	CHECK(read(ends[0], &code, 1) == 0, "the daemon still runs");
	CHECK(waitpid(pid, NULL, 0) == pid, "waitpid");
}

int main(void)
{
	in_child(1);
	as_daemon();
	host_begin();
	CHECK(host_answer() == 0, "wrong answer in the parent");
	return host_end();
}
