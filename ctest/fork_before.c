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

int main(void)
{
	in_child(1);
	CHECK(daemon(1, 1) == 0, "daemon");
	host_begin();
	CHECK(host_answer() == 0, "wrong answer in the daemon");
	return host_end();
}
