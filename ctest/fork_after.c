/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A host that forks after its first call, also by _Fork and by the system call, which run no fork handlers: in the
 * child every function returns its error at once, in the parent all goes on. A child that replaces itself by exec
 * works.
 *
 *     fork_after          the test
 *     fork_after again    what the exec'ed child runs
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void child(NN_TensorDesc *desc)
{
	alarm(300); /* a hang ends as SIGALRM */
	host_begin();
	double start = seconds();
	size_t bytes;
	NN_QuantParam *quant = OH_NNQuantParam_Create();
	CHECK(quant == NULL, "a handle was made in a forked child");
	CHECK(OH_NNTensorDesc_GetByteSize(desc, &bytes) == OH_NN_UNAVAILABLE_DEVICE, "status of a call in a forked child");
	CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_UNAVAILABLE_DEVICE, "status of a call in a forked child");
	CHECK(seconds() - start < 60, "the error took %.3f s", seconds() - start);
	_exit(host_end()); /* the handle is the parent's: here every counter is 0 as every function is dead */
}

/* _Fork, or NULL where libc is older. */
static pid_t (*quiet_fork)(void);

static pid_t fork_by(int way)
{
	switch (way) {
	case 0:
		return fork();
	case 1:
		return quiet_fork ? quiet_fork() : fork();
	default:
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	}
}

static void wait_for(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
	CHECK(!WIFSIGNALED(status), "child ended by signal %d", WTERMSIG(status));
	CHECK(WEXITSTATUS(status) == 0, "child failed");
}

int main(int argc, char **argv)
{
	host_begin();
	CHECK(host_answer() == 0, "wrong answer");
	if (argc > 1)
		return host_end();
	void *symbol = dlsym(RTLD_DEFAULT, "_Fork");
	memcpy(&quiet_fork, &symbol, sizeof symbol);
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork_by(i % 3);
		if (pid == 0)
			child(desc);
		wait_for(pid);
	}
	CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_SUCCESS, "the parent lost its handle");
	CHECK(host_answer() == 0, "wrong answer after forks");
	pid_t pid = fork();
	if (pid == 0) {
		char *args[] = {argv[0], (char *)"again", NULL};
		execv("/proc/self/exe", args);
		_exit(1);
	}
	wait_for(pid);
	return host_end();
}
