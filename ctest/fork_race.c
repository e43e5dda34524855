/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Forks that fall into another thread's first call: the child works or gets an error, and never hangs.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

#define ROUNDS 60
#define FORKS 6

static void *first_call(void *unused)
{
	CHECK(host_answer() == 0, "wrong answer beside forks");
	return unused;
}

static void wait_for(pid_t pid, const char *who)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
	CHECK(!WIFSIGNALED(status), "%s ended by signal %d", who, WTERMSIG(status));
	CHECK(WEXITSTATUS(status) == 0, "%s failed", who);
}

static void fresh_process(unsigned delay)
{
	pthread_t t;
	pid_t child[FORKS];
	host_begin();
	CHECK(pthread_create(&t, NULL, first_call, NULL) == 0, "pthread_create");
	for (volatile unsigned i = 0; i < delay; i++)
		;
	for (int i = 0; i < FORKS; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			alarm(300); /* a hang ends as SIGALRM */
			host_begin(); /* what Go had opened half-way in its start is the same at the end */
			int rc = host_answer();
			_exit(rc == 0 || rc == OH_NN_MEMORY_ERROR || rc == OH_NN_UNAVAILABLE_DEVICE ? host_end() : 1);
		}
	}
	pthread_join(t, NULL);
	for (int i = 0; i < FORKS; i++)
		wait_for(child[i], "a child of a process in its first call");
	_exit(host_end());
}

int main(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		pid_t pid = fork();
		if (pid == 0) {
			alarm(300);
			fresh_process(round * 2000);
		}
		wait_for(pid, "a process");
	}
	return 0; /* the library was never called here: the processes have checked themselves */
}
