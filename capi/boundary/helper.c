/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A helper program whose end the host does not see: neither SIGCHLD nor waitpid(-1) tell it of a child. exec gives
 * every process the exit signal SIGCHLD, so the helper is the child of a copy of this process that itself has no exit
 * signal: such a child is found by those alone that ask for it (__WCLONE, __WALL).
 */
#define _GNU_SOURCE
#include "boundary.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { NOT_STARTED = 253, TIMED_OUT = 254 }; /* what the copy ends with where the helper's own end does not say it */

/* A process without clone's flags and libc's handlers of fork, which are the host's. */
static pid_t copy_process(int exit_signal)
{
#if defined(__aarch64__) || defined(__x86_64__)
	return (pid_t)syscall(SYS_clone, (long)exit_signal, 0L, 0L, 0L, 0L);
#endif
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* In a new process: the helper program, with out as its descriptor 3. Only what may be called after a fork of a process
 * with threads. Signals are blocked. */
static void become_helper(char *const argv[], char *const env[], int out, const sigset_t *mask)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	setpgid(0, 0);
	int null = open("/dev/null", O_RDWR);
	if (out == 3) /* dup2 would leave it to be closed by exec */
		fcntl(3, F_SETFD, 0);
	else
		dup2(out, 3);
	for (int k = 0; k < 3; k++)
		dup2(null, k);
	long last = sysconf(_SC_OPEN_MAX);
	if (syscall(436 /* close_range */, 4U, ~0U, 0U) != 0)
		for (int k = 4; k < last && k < 4096; k++)
			close(k);
	static const int usual[] = {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
	for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
		sigaction(usual[k], &plain, NULL); /* exec keeps what is ignored */
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(argv[0], argv, env);
	_exit(NOT_STARTED);
}

/* The copy that waits for the helper. Only what may be called after a fork of a process with threads. */
static void run_helper(char *const argv[], char *const env[], int out, const sigset_t *mask, int limit)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &plain, NULL); /* ignored, it would take the helper's status */
	int64_t end = now_ms() + limit;
	pid_t helper = copy_process(SIGCHLD);
	if (helper == 0)
		become_helper(argv, env, out, mask);
	if (helper < 0)
		_exit(NOT_STARTED);
	int status = 0, timed_out = 0;
	for (int pause = 1;; pause = pause < 20 ? pause + 1 : pause) {
		pid_t ended = waitpid(helper, &status, WNOHANG);
		if (ended == helper || (ended < 0 && errno != EINTR))
			break;
		if (now_ms() >= end) {
			timed_out = 1;
			kill(-helper, SIGKILL);
			kill(helper, SIGKILL);
			waitpid(helper, &status, 0);
			break;
		}
		struct timespec t = {0, pause * 1000000L};
		nanosleep(&t, NULL);
	}
	kill(-helper, SIGKILL); /* what the driver has left behind */
	if (timed_out)
		_exit(TIMED_OUT);
	if (WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
	_exit(WEXITSTATUS(status) < 128 || WEXITSTATUS(status) == NOT_STARTED ? WEXITSTATUS(status) : 127);
}

/* The environment without what is preloaded, and with more in front, NULL at the end; the caller frees it. */
static char **environment_with(char *const more[])
{
	size_t n = 0, count = 1;
	while (environ && environ[n])
		n++;
	for (size_t k = 0; more[k]; k++)
		count++;
	char **out = malloc((n + count) * sizeof *out);
	if (!out)
		return NULL;
	count = 0;
	for (size_t k = 0; more[k]; k++)
		out[count++] = more[k];
	for (size_t k = 0; k < n; k++) {
		size_t same = 0;
		for (size_t j = 0; more[j] && !same; j++) {
			size_t name = strcspn(more[j], "=") + 1;
			same = strncmp(environ[k], more[j], name) == 0;
		}
		if (!same && strncmp(environ[k], "LD_PRELOAD=", 11) != 0)
			out[count++] = environ[k];
	}
	out[count] = NULL;
	return out;
}

int anynpu_run_helper(char *const argv[], char *const more[], int limit, char *text, size_t size,
	struct anynpu_helper *end)
{
	int pipes[2];
	*end = (struct anynpu_helper){.exit = -1};
	char **env = environment_with(more);
	if (!env)
		return ENOMEM;
	if (pipe2(pipes, O_CLOEXEC) != 0) {
		free(env);
		return errno;
	}
	__attribute__((used)) static const void *volatile lists[3]; /* valgrind looks here, in the copy */
	lists[0] = argv;
	lists[1] = more;
	lists[2] = env;
	sigset_t all, mask;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid_t child = copy_process(0);
	int error = errno;
	if (child == 0)
		run_helper(argv, env, pipes[1], &mask, limit);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	close(pipes[1]);
	free(env);
	if (child < 0) {
		close(pipes[0]);
		return error;
	}
	/* The copy holds the pipe too, so that the pipe ends with it at the latest. */
	size_t got = 0;
	for (;;) {
		char rest[512];
		ssize_t n = got < size ? read(pipes[0], text + got, size - got) : read(pipes[0], rest, sizeof rest);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (got < size)
			got += (size_t)n;
	}
	close(pipes[0]);
	end->output = got;
	int status = 0;
	pid_t ended;
	while ((ended = waitpid(child, &status, __WCLONE)) < 0 && errno == EINTR)
		;
	if (ended != child || !WIFEXITED(status))
		return ECHILD; /* the host has waited for all children there are, or ended this one */
	int code = WEXITSTATUS(status);
	if (code == NOT_STARTED)
		return ENOEXEC;
	if (code == TIMED_OUT)
		end->timed_out = 1;
	else if (code > 128)
		end->signal = code - 128;
	else
		end->exit = code;
	return 0;
}

int anynpu_start_helper(char *const argv[], char *const more[], int fd)
{
	char **env = environment_with(more);
	if (!env)
		return ENOMEM;
	sigset_t all, mask;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid_t child = copy_process(0);
	int error = errno;
	if (child == 0) { /* the helper is an orphan at once: no copy of the host stays to wait for it */
		pid_t helper = copy_process(SIGCHLD);
		if (helper == 0)
			become_helper(argv, env, fd, &mask);
		_exit(helper < 0 ? NOT_STARTED : 0);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	free(env);
	if (child < 0)
		return error;
	int status = 0;
	pid_t ended;
	while ((ended = waitpid(child, &status, __WCLONE)) < 0 && errno == EINTR)
		;
	if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)
		return EAGAIN;
	return 0;
}

const char *anynpu_own_file(void)
{
	Dl_info at;
	return dladdr((void *)&anynpu_run_helper, &at) && at.dli_fname ? at.dli_fname : "";
}
