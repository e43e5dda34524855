/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that has rights which its caller lacks takes no orders from its caller's environment: no log file, no
 * level, none of Go's variables. The same program without such rights takes them, writes into a file that only its
 * owner reads, and follows no link.
 *
 *     setid FOLDER    as root, in a folder on a file system that honours set-id bits
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host.h"

enum { CALLER = 54321, NOT_SECURE = 77 };

static char text[1 << 18];

static char copy[4096], log_file[4096], link_file[4096], victim[4096];

static void name(char *path, const char *folder, const char *file)
{
	snprintf(path, sizeof copy, "%s/%s", folder, file);
}

/* What the program does: a call that works, and one that is refused. */
static int calls(int secure)
{
	host_begin();
	if (secure && !getauxval(AT_SECURE))
		return NOT_SECURE;
	CHECK(host_answer() == 0, "wrong answer");
	CHECK(OH_NNTensorDesc_SetName(NULL, "x") == OH_NN_INVALID_PARAMETER, "SetName");
	return host_end();
}

/* Runs a copy of this program: if secure, as another user with the set-user-id bit of root's. text gets its errors. */
static int run(const char *log, int secure)
{
	char variable[4200];
	snprintf(variable, sizeof variable, "ANYNPU_LOG_FILE=%s", log);
	char *argv[] = {"setid", secure ? "secure" : "plain", NULL};
	char *envp[] = {variable, "ANYNPU_LOG=trace", "RKNN_LOG_LEVEL=5", "ANYNPU_CHECK=pointers", "ANYNPU_THREADS=7",
		"GODEBUG=inittrace=1", "GOTRACEBACK=crash", "GOMAXPROCS=3", NULL};
	unlink(copy);
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	CHECK(in >= 0 && out >= 0, "copy: %s", strerror(errno));
	for (ssize_t n; (n = read(in, text, sizeof text)) > 0;)
		CHECK(write(out, text, (size_t)n) == n, "copy: %s", strerror(errno));
	CHECK(fchown(out, 0, 0) == 0 && fchmod(out, secure ? 04755 : 0755) == 0, "set-id: %s", strerror(errno));
	close(in);
	close(out);
	int program = open(copy, O_PATH | O_CLOEXEC), err = memfd_create("stderr", MFD_CLOEXEC), status = 0;
	CHECK(program >= 0 && err >= 0 && unlink(copy) == 0, "copy: %s", strerror(errno));
	fflush(stdout);
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		if (dup2(err, 2) != 2 || (secure && (setgid(CALLER) != 0 || setuid(CALLER) != 0)))
			_exit(2);
		umask(0);
		fexecve(program, argv, envp);
		_exit(errno == ENOENT || errno == EACCES ? NOT_SECURE : 2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "status %x", status);
	ssize_t n = pread(err, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = 0;
	close(program);
	close(err);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct stat st;
	CHECK(argc == 2, "usage: setid FOLDER");
	if (strcmp(argv[1], "secure") == 0 || strcmp(argv[1], "plain") == 0)
		return calls(*argv[1] == 's');
	if (geteuid() != 0) {
		printf("skipped: only root can make set-id programs of another user\n");
		return 0;
	}
	host_begin();
	name(copy, argv[1], "setid_copy");
	name(log_file, argv[1], "setid_log");
	name(link_file, argv[1], "setid_link");
	name(victim, argv[1], "setid_victim");
	unlink(log_file);
	unlink(link_file);
	unlink(victim);
	int code = run(log_file, 1);
	if (code == NOT_SECURE) {
		printf("skipped: set-id bits mean nothing in %s\n", argv[1]);
		return host_end();
	}
	CHECK(code == 0, "exit code %d: %s", code, text);
	CHECK(stat(log_file, &st) != 0 && errno == ENOENT, "a log file was made with the rights of root");
	const char *one = strchr(text, '\n');
	CHECK(one && one[1] == 0 && strncmp(text, "ohnn: call failed function=OH_NNTensorDesc_SetName", 50) == 0,
		"standard error: %s", text);

	CHECK((code = run(log_file, 0)) == 0, "exit code %d: %s", code, text);
	CHECK(stat(log_file, &st) == 0 && st.st_size > 100, "no trace");
	CHECK(st.st_mode == (S_IFREG | 0600), "mode %o", st.st_mode);
	CHECK(strstr(text, "init runtime @") || strstr(text, "init internal/"), "GODEBUG does nothing: %s", text);
	CHECK(close(open(victim, O_WRONLY | O_CREAT | O_EXCL, 0600)) == 0, "%s", strerror(errno));
	CHECK(symlink(victim, link_file) == 0, "%s", strerror(errno));
	CHECK((code = run(link_file, 0)) == 0, "exit code %d: %s", code, text);
	CHECK(stat(victim, &st) == 0 && st.st_size == 0, "the log went through a link: %ld bytes", (long)st.st_size);
	CHECK(strstr(text, "boundary: log goes to stderr ANYNPU_LOG_FILE="), "%s", text);
	CHECK(strstr(text, "ohnn: OH_NNTensorDesc_Create() = "), "%s", text);
	unlink(log_file);
	unlink(link_file);
	unlink(victim);
	return host_end();
}
