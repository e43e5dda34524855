/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * First calls in children that lack something: each computes rightly, or is refused with the API's code and a line that
 * says what is missing; no child dies. One that was refused under a limit works when the limit is lifted.
 *
 *     starved space STEP       address space of 512 to 2816 MiB, in steps of STEP KiB
 *     starved data STEP        writable memory of 16 to 400 MiB, in steps of STEP KiB
 *     starved threads          1 to 40 threads of a user without privileges
 *     starved descriptors      3 to 40 descriptors
 *     starved calls some|all   system calls that fail with EPERM and ENOSYS: those that a start makes, or all
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ohnn_host.h"

/* How a child ends that neither died nor failed. */
enum { WORKED = 10, REFUSED, SKIPPED };

/* What the limited first call led to. */
static int worked, refused;

/* The child's standard error. */
static int lines = -1;

static void catch_lines(void)
{
	lines = memfd_create("lines", MFD_CLOEXEC);
	CHECK(lines >= 0 && dup2(lines, 2) == 2, "memfd");
}

/* Whether a line says what is missing. */
static int said(void)
{
	char text[512] = "";
	return pread(lines, text, sizeof text - 1, 0) > 0 && strstr(text, "needs=\"") != NULL;
}

static void compute(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(5000));
	ohnn_adds(e, 5000);
	OH_NNExecutor_Destroy(&e);
}

static void child_limit(int resource, rlim_t value)
{
	struct rlimit old, limit = {value, value};
	catch_lines();
	host_begin();
	CHECK(getrlimit(resource, &old) == 0, "getrlimit");
	/* The start looks for descriptors up to the hard limit. */
	limit.rlim_max = resource == RLIMIT_NOFILE ? value : old.rlim_max;
	if (resource == RLIMIT_NPROC && geteuid() == 0)
		CHECK(setgid(54321) == 0 && setuid(54321) == 0, "setuid");
	CHECK(setrlimit(resource, &limit) == 0, "setrlimit %ld", (long)value);
	int status = host_answer();
	if (status == 0)
		compute();
	else
		CHECK(status == OH_NN_MEMORY_ERROR && said(), "status %d", status);
	if (resource == RLIMIT_NOFILE)
		_exit(status == 0 ? WORKED : REFUSED);
	CHECK(setrlimit(resource, &old) == 0, "setrlimit");
	CHECK(host_answer() == 0, "the limit is gone, and the call is refused");
	compute();
	_exit(host_end() == 0 ? status == 0 ? WORKED : REFUSED : 1);
}

static void child_call(int number, int error)
{
	/* kill(-1, ...) is refused as well: a process that raises a signal and may not ask for its own id means all. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x80000000u, 2, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	catch_lines();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(SKIPPED);
	int status = host_answer();
	if (status == 0)
		compute(); /* may end the child with 1: a tensor whose memory the filter refuses */
	else if (number != SYS_write && number != SYS_pread64)
		CHECK(status == OH_NN_MEMORY_ERROR && said(), "status %d", status);
	_exit(status == 0 ? WORKED : REFUSED);
}

/* Runs a child to its end; mayfail allows that a check of it fails after the start. 0 if there are no filters here. */
static int child(void (*run)(int, int), void (*limit)(int, rlim_t), int what, long value, int mayfail)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		alarm(300);
		if (mayfail && !freopen("/dev/null", "w", stdout))
			_exit(2);
		run ? run(what, (int)value) : limit(what, (rlim_t)value);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
	CHECK(WIFEXITED(status), "%d: value %ld: signal %d", what, value, WTERMSIG(status));
	status = WEXITSTATUS(status);
	CHECK(status == WORKED || status == REFUSED || status == SKIPPED || (status == 1 && mayfail),
		"%d: value %ld: exit code %d", what, value, status);
	worked += status == WORKED;
	refused += status == REFUSED;
	return status != SKIPPED;
}

static void limits(int resource, long from, long to, long step)
{
	for (long value = from; value <= to; value += step)
		child(NULL, child_limit, resource, value, 0);
	CHECK(worked > 0 && refused > 0, "%d worked, %d refused: the limits decide nothing", worked, refused);
}

static void calls(int all)
{
	/* What a start makes, or may make; the C library's calls for its threads among them. */
	static const int some[] = {
		SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_mincore, SYS_brk, SYS_clone, SYS_clone3,
		SYS_set_robust_list, SYS_rseq, SYS_futex, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_tgkill,
		SYS_gettid, SYS_getpid, SYS_sched_yield, SYS_sched_getaffinity, SYS_nanosleep, SYS_clock_gettime,
		SYS_clock_nanosleep, SYS_prctl, SYS_prlimit64, SYS_sysinfo, SYS_getrandom, SYS_openat, SYS_read, SYS_pread64,
		SYS_close, SYS_fcntl, SYS_fstat, SYS_newfstatat, SYS_readlinkat, SYS_pipe2, SYS_epoll_create1, SYS_epoll_ctl,
		SYS_epoll_pwait, SYS_eventfd2, SYS_memfd_create, SYS_ftruncate, SYS_timer_create,
	};
	static const int errors[] = {EPERM, ENOSYS};
	int count = all ? 470 : (int)(sizeof some / sizeof *some);
	for (int i = 0; i < count; i++) {
		int number = all ? i : some[i];
		/* A child could not end; no process could return from the handler of a signal, and Go's threads send some. */
		if (number == SYS_exit || number == SYS_exit_group || number == SYS_rt_sigreturn)
			continue;
		for (int k = 0; k < 2; k++)
			if (!child(child_call, NULL, number, errors[k], 1)) {
				printf("skipped: no system call filters here\n");
				return;
			}
	}
	CHECK(worked > 0 && refused >= 16, "%d worked, %d refused", worked, refused);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
	const long step = strtol(how, NULL, 10) << 10, MiB = 1 << 20;
	host_begin();
	if (strcmp(mode, "space") == 0 && step > 0)
		limits(RLIMIT_AS, 512 * MiB, 2816 * MiB, step);
	else if (strcmp(mode, "data") == 0 && step > 0)
		limits(RLIMIT_DATA, 16 * MiB, 400 * MiB, step);
	else if (strcmp(mode, "threads") == 0)
		limits(RLIMIT_NPROC, 1, 40, 1);
	else if (strcmp(mode, "descriptors") == 0)
		limits(RLIMIT_NOFILE, 3, 40, 1);
	else if (strcmp(mode, "calls") == 0)
		calls(strcmp(how, "all") == 0);
	else
		CHECK(0, "usage: starved space|data STEP | threads | descriptors | calls some|all");
	printf("%d worked, %d refused, 0 died\n", worked, refused);
	return host_end();
}
