/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Signal handlers of the host that need much stack, while threads of the host are in the library: storms of SIGALRM,
 * SIGPROF and SIGUSR1, whose handlers may interrupt each other, with 1, 8 and 48 KiB of stack each, installed before or
 * after the first call, on the alternate stack or on the one that was interrupted, during short and long calls.
 *
 *     handlers SECONDS    for each of the three sizes
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ohnn_host.h"

static const int storms[] = {SIGALRM, SIGPROF, SIGUSR1};
#define STORMS 3

/* Whether handlers may run on the stack that they interrupt: on arm64 code of Go's keeps words below the stack
 * pointer, and handlers without SA_ONSTACK are safe only if the library finds them with its first call and gives
 * them that flag. */
#if defined(__x86_64__)
#define ANY_STACK 1
#else
#define ANY_STACK 0
#endif

static atomic_int stop;
static atomic_long handled[STORMS];
static size_t use; /* bytes of stack that a handler writes */

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __thread int depth; /* handlers that the thread is in */

/* Fills its stack, lets the other two storms and then the library's own signal interrupt it, and finds what it
 * wrote. */
static void handler(int sig)
{
	volatile unsigned char room[use];
	int which = sig == storms[0] ? 0 : sig == storms[1] ? 1 : 2;
	for (size_t i = 0; i < use; i += 64)
		room[i] = (unsigned char)(sig + i / 64);
	if (++depth < STORMS)
		raise(storms[(which + 1) % STORMS]);
	else
		raise(SIGURG);
	depth--;
	for (size_t i = 0; i < use; i += 64)
		if (room[i] != (unsigned char)(sig + i / 64))
			_exit(3);
	handled[which]++;
}

/* The handlers are made for a thread's own stack or, with onstack, for whatever alternate stack the thread has or
 * gets from the library. A thread's own alternate stack is too small for them, and they must not be moved there. */
static void install(int onstack, int restart)
{
	static char small[16 << 10];
	const stack_t stack = {small, 0, sizeof small};
	struct sigaction action = {0};
	action.sa_handler = handler;
	action.sa_flags = (onstack ? SA_ONSTACK : 0) | (restart ? SA_RESTART : 0);
	for (int k = 0; k < STORMS; k++)
		CHECK(sigaction(storms[k], &action, NULL) == 0, "sigaction");
	if (!onstack && ANY_STACK)
		CHECK(sigaltstack(&stack, NULL) == 0, "sigaltstack");
}

static void start_timers(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0 && setitimer(ITIMER_PROF, &often, NULL) == 0, "setitimer");
}

static void stop_timers(void)
{
	const struct itimerval never = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &never, NULL);
	setitimer(ITIMER_PROF, &never, NULL);
}

/* Sends SIGUSR1 to the process, and all three to every thread, those of the library included. */
static void *sender(void *unused)
{
	const struct timespec pause = {0, 500000};
	for (int round = 0; !stop; round++) {
		nanosleep(&pause, NULL);
		kill(getpid(), SIGUSR1);
		DIR *tasks = round % 8 ? NULL : opendir("/proc/self/task");
		for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;)
			if (e->d_name[0] != '.')
				for (int k = 0; k < STORMS; k++)
					syscall(SYS_tgkill, getpid(), atoi(e->d_name), storms[k]);
		if (tasks)
			closedir(tasks);
	}
	return unused;
}

static void *short_calls(void *unused)
{
	while (!stop)
		CHECK(host_answer() == 0, "wrong answer");
	return unused;
}

/* Builds models and ends them: deep calls, garbage. */
static void *builds(void *unused)
{
	while (!stop) {
		OH_NNExecutor *e = ohnn_executor(ohnn_sum(100));
		ohnn_adds(e, 100);
		OH_NNExecutor_Destroy(&e);
	}
	return unused;
}

#define SIDE 64

/* Runs of some milliseconds, whose steps the library's threads share. */
static void *long_calls(void *unused)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_powers(SIDE, 40));
	NN_Tensor *in[] = {ohnn_tensor(SIDE, SIDE, 0.5f), ohnn_tensor(SIDE, SIDE, 1.0f / SIDE)},
		*out[] = {ohnn_tensor(SIDE, SIDE, 0)};
	const float *y = (const float *)OH_NNTensor_GetDataBuffer(out[0]);
	while (!stop) {
		OK(OH_NNExecutor_RunSync(e, in, 2, out, 1));
		for (int i = 0; i < SIDE * SIDE; i++)
			CHECK(y[i] == 0.5f, "element %d is %g", i, (double)y[i]);
	}
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out[0]));
	OH_NNExecutor_Destroy(&e);
	return unused;
}

/* One life of a host; it ends by _exit. */
static void life(double length, int before, int onstack, int restart)
{
	static void *(*const threads[])(void *) = {sender, short_calls, builds, long_calls};
	pthread_t t[sizeof threads / sizeof *threads];
	host_begin();
	if (!before)
		CHECK(host_answer() == 0, "wrong answer");
	install(onstack, restart);
	start_timers();
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		CHECK(pthread_create(&t[i], NULL, threads[i], NULL) == 0, "pthread_create");
	for (double end = seconds() + length; seconds() < end;)
		CHECK(host_answer() == 0, "wrong answer");
	stop = 1;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		pthread_join(t[i], NULL);
	stop_timers();
	for (int k = 0; k < STORMS; k++)
		CHECK(handled[k] > 0, "signal %d was never handled", storms[k]);
	int left = host_end();
	fflush(stdout);
	_exit(left);
}

/* Whether the host lived to its end; one that hangs is killed. */
static int lives(double length, int before, int onstack, int restart)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0)
		life(length, before, onstack, restart);
	for (double end = seconds() + length + 60; waitpid(pid, &status, WNOHANG) == 0;) {
		if (seconds() > end)
			kill(pid, SIGKILL);
		usleep(10000);
	}
	if (status)
		printf("%zu bytes, installed %s the first call, %s: %s %d\n", use, before ? "before" : "after",
			onstack ? "alternate stack" : "interrupted stack", WIFSIGNALED(status) ? "signal" : "exit code",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return status == 0;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {1 << 10, 8 << 10, 48 << 10};
	double length = argc > 1 ? atof(argv[1]) : 1;
	int deaths = 0;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		use = sizes[s];
		for (int how = ANY_STACK ? 0 : 1; how < 4; how++)
			deaths += !lives(length / 4, how & 1, how >> 1, how == 0 || how == 3);
	}
	printf("handlers %zu x %g s, %d deaths\n", sizeof sizes / sizeof *sizes, length, deaths);
	return deaths != 0;
}
