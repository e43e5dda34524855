/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A host that blocks SIGTERM, SIGHUP, SIGUSR1, SIGPROF, SIGRTMIN and SIGCHLD and reads them itself loses none, before
 * the first call and after it.
 *
 *     signals signalfd|main|thread before|after    how the signals are read, and whether a call was made
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

#define ROUNDS 50

/* main puts SIGRTMIN there, which is no constant */
static int kinds[] = {SIGTERM, SIGHUP, SIGUSR1, SIGPROF, 0, SIGCHLD};
static sigset_t set;
static int go[2], seen[2]; /* pipes: one byte to send a signal, one byte for a signal seen */
static atomic_int stop;

/*
 * Sends one signal per byte from a process of its own; SIGCHLD by a child of the host's that ends. Neither process
 * calls the library.
 */
static void send_one(int sig)
{
	if (sig != SIGCHLD) {
		char c = (char)sig;
		CHECK(write(go[1], &c, 1) == 1, "write");
		return;
	}
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0)
		_exit(0);
}

static pid_t start_sender(void)
{
	pid_t host = getpid(), pid;
	CHECK(pipe(go) == 0, "pipe");
	pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		char c;
		close(go[1]);
		while (read(go[0], &c, 1) == 1)
			kill(host, c);
		_exit(0);
	}
	close(go[0]);
	return pid;
}

/* A signal of the library's can end a poll: see docs/process.md. */
static int readable(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	int n;
	do
		n = poll(&p, 1, 5000);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static int by_signalfd(int fd)
{
	struct signalfd_siginfo info;
	if (!readable(fd))
		return 0;
	return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

static int by_sigwait(void)
{
	struct timespec limit = {5, 0};
	int sig;
	do
		sig = sigtimedwait(&set, NULL, &limit);
	while (sig < 0 && errno == EINTR);
	return sig > 0 ? sig : 0;
}

static void *waiter(void *unused)
{
	for (;;) {
		int sig = 0;
		sigwait(&set, &sig);
		char c = (char)sig;
		if (stop || write(seen[1], &c, 1) != 1)
			return unused;
	}
}

static int by_thread(void)
{
	char c;
	if (!readable(seen[0]))
		return 0;
	return read(seen[0], &c, 1) == 1 ? c : 0;
}

int main(int argc, char **argv)
{
	CHECK(argc == 3, "usage: signals signalfd|main|thread before|after");
	host_begin();
	kinds[4] = SIGRTMIN;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		sigaddset(&set, kinds[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pid_t sender = start_sender();
	if (strcmp(argv[2], "after") == 0)
		CHECK(host_answer() == 0, "wrong answer");
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	CHECK(fd >= 0, "signalfd");
	pthread_t t;
	int threaded = strcmp(argv[1], "thread") == 0;
	if (threaded) {
		CHECK(pipe(seen) == 0, "pipe");
		CHECK(pthread_create(&t, NULL, waiter, NULL) == 0, "pthread_create");
	}
	int lost = 0;
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
			send_one(kinds[i]);
			int got = strcmp(argv[1], "signalfd") == 0 ? by_signalfd(fd) : strcmp(argv[1],
				"main") == 0 ? by_sigwait() : by_thread();
			if (got != kinds[i] && lost++ == 0)
				printf("round %d: want signal %d, got %d\n", round, kinds[i], got);
			if (kinds[i] == SIGCHLD)
				while (waitpid(-1, NULL, WNOHANG) > 0)
					;
		}
		if (strcmp(argv[2], "after") == 0)
			CHECK(host_answer() == 0, "wrong answer");
		if (lost)
			break;
	}
	close(go[1]);
	waitpid(sender, NULL, 0);
	CHECK(lost == 0, "signals were lost");
	if (threaded) {
		stop = 1;
		kill(getpid(), SIGUSR1); /* the waiter's last */
		pthread_join(t, NULL);
		close(seen[0]);
		close(seen[1]);
	}
	close(fd);
	return host_end();
}
