/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     hbdnn_profiler FOLDER
 *
 * What HB_DNN_PROFILER_LOG_PATH and HB_DNN_DUMP_PATH have the library write, when, and for whom. The program runs
 * itself, with an environment and a way to end.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hbdnn_sample.h"

enum { RUNS = 3, NOT_SECURE = 77 };

static char text[1 << 16], errors[1 << 16], folder[2048];

/* What the child does: three runs of a model, and the end that is asked for. */
static int child(const char *how)
{
	int64_t size = 4;
	hbDNNHandle_t model;
	struct tensors t;
	if (!strcmp(how, "secure") && !getauxval(AT_SECURE))
		return NOT_SECURE;
	if (!strcmp(how, "small")) { /* like a disk that is full */
		struct rlimit none = {0, 0};
		CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0, "setrlimit");
	}
	host_begin();
	hbPackedDNNHandle_t pack = relu_pack(&size, 1, &model);
	tensors_make(&t, model);
	for (int i = 0; i < RUNS; i++) {
		hbDNNTaskHandle_t task = NULL;
		float *x = input_of(&t), *y = output_of(&t);
		x[0] = -1, x[1] = 2, x[2] = -3, x[3] = (float)i;
		OK(infer(&task, &t, model, 0, 0, 0));
		sample_finish(task);
		CHECK(y[0] == 0 && y[1] == 2 && y[2] == 0 && y[3] == (float)i, "run %d gives %g %g %g %g", i, y[0], y[1], y[2], y[3]);
	}
	tensors_free(&t);
	OK(hbDNNRelease(pack));
	CHECK(host_end() == 0, "something is left");
	fflush(stdout);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "fork")) { /* the forked child's end is not the program's */
		pid_t pid = fork();
		if (pid == 0)
			exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
		_exit(0);
	}
	return 0;
}

static const char *in(const char *name)
{
	static char path[2][4096];
	static int turn;
	snprintf(path[turn ^= 1], sizeof path[0], "%s/%s", folder, name);
	return path[turn];
}

/* The contents of a file, "" if there is none. */
static const char *contents(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

static int entries(const char *path)
{
	int n = -2; /* . and .. */
	DIR *d = opendir(path);
	CHECK(d, "%s: %s", path, strerror(errno));
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* An empty folder. */
static void fresh(const char *path)
{
	char command[4096];
	snprintf(command, sizeof command, "rm -rf '%s' && mkdir -m 700 '%s'", path, path);
	CHECK(system(command) == 0, "%s", command);
}

/* Runs a copy of this program, which root may have made set-user-id, and returns its exit code. errors gets its log. */
static int run(const char *how, const char *profiler, const char *dump)
{
	char *argv[] = {"hbdnn_profiler", (char *)how, NULL}, a[4200], b[4200], c[4200];
	snprintf(a, sizeof a, "HB_DNN_PROFILER_LOG_PATH=%s", profiler);
	snprintf(b, sizeof b, "HB_DNN_DUMP_PATH=%s", dump);
	snprintf(c, sizeof c, "LD_LIBRARY_PATH=%s", getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "");
	char *envp[] = {a, b, c, NULL};
	int secure = !strcmp(how, "secure"), status = 0, err[2]; /* a pipe: files may not have a byte */
	CHECK(pipe2(err, O_CLOEXEC) == 0, "pipe");
	fflush(stdout);
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		umask(0);
		if (dup2(err[1], 2) != 2 || (secure && (setgid(54321) != 0 || setuid(54321) != 0)))
			_exit(2);
		execve(secure ? in("copy") : "/proc/self/exe", argv, envp);
		_exit(errno == ENOENT || errno == EACCES ? NOT_SECURE : 2);
	}
	close(err[1]);
	size_t have = 0;
	for (ssize_t n; have < sizeof errors - 1 && (n = read(err[0], errors + have, sizeof errors - 1 - have)) > 0;)
		have += (size_t)n;
	errors[have] = 0;
	close(err[0]);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "%s: status %x: %s", how, status, errors);
	return WEXITSTATUS(status);
}

/* The log has these lines and no other. */
static void logged(const char *how, int lines, const char *words)
{
	int n = 0;
	for (const char *p = errors; (p = strchr(p, '\n')); p++)
		n++;
	CHECK(n == lines && (!lines || strstr(errors, words)), "%s: want %d lines with %s, got: %s", how, lines, words,
		errors);
}

static void whole_log(void)
{
	struct stat st;
	char name[4096];
	snprintf(name, sizeof name, "%s", in("profiler.log"));
	CHECK(lstat(name, &st) == 0 && st.st_mode == (S_IFREG | 0600), "profiler.log: mode %o", st.st_mode);
	contents(name);
	CHECK(text[0] == '{' && strstr(text, "\n}\n***\n{\n"), "%s", text);
	const char *const words[] = {"\"perf_result\"", "\"FPS\"", "\"average_latency\"", "\"core_id\": 0",
		"\"frame_count\": 3",
		"\"model_name\": \"m0\"", "\"run_time\"", "\"thread_num\": 1", "\"BPU_inference_time_cost\"",
			"\"CPU_inference_time_cost\"",
		"\"relu_", "\"TaskPendingTime\"", "\"TaskRunningTime\"", "\"avg_time\"", "\"max_time\"", "\"min_time\""};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		CHECK(strstr(text, words[i]), "no %s in %s", words[i], text);
}

/* The files of run i of the dump. */
static void whole_dump(int i)
{
	char name[64];
	const char *const files[] = {"input0_x.bin", "node0000_output0_y.bin"};
	for (int k = 0; k < 2; k++) {
		float v[5] = {0}, want[4] = {k ? 0 : -1, 2, k ? 0 : -3, (float)i};
		struct stat st;
		snprintf(name, sizeof name, "m0_%d/%s", i, files[k]);
		FILE *f = fopen(in(name), "rb");
		CHECK(f && fread(v, 4, 5, f) == 4 && !memcmp(v, want, sizeof want), "%s: %g %g %g %g", name, v[0], v[1], v[2], v[3]);
		CHECK(fstat(fileno(f), &st) == 0 && st.st_mode == (S_IFREG | 0600), "mode %o", st.st_mode);
		fclose(f);
	}
	snprintf(name, sizeof name, "m0_%d/nodes.json", i);
	CHECK(strstr(contents(in(name)), "\"operator\": \"relu\""), "%s: %s", name, text);
}

/* A copy of this program that gives whoever runs it the rights of root. */
static void make_copy(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(in("copy"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	CHECK(from >= 0 && to >= 0, "copy: %s", strerror(errno));
	for (ssize_t n; (n = read(from, text, sizeof text)) > 0;)
		CHECK(write(to, text, (size_t)n) == n, "copy: %s", strerror(errno));
	CHECK(fchmod(to, 04755) == 0 && chmod(folder, 0777) == 0, "%s", strerror(errno));
	close(from);
	close(to);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: hbdnn_profiler FOLDER");
	if (argv[1][0] != '/')
		return child(argv[1]);
	snprintf(folder, sizeof folder, "%s/hbdnn_profiler.dir", argv[1]);

	fresh(folder);
	CHECK(run("exit", "", "") == 0, "%s", errors);
	CHECK(entries(folder) == 0, "files that nobody asked for");
	CHECK(run("exit", folder, "") == 0, "%s", errors);
	logged("exit", 0, "");
	whole_log();
	CHECK(entries(folder) == 1, "more than profiler.log");
	CHECK(run("exit", "", folder) == 0, "%s", errors);
	CHECK(run("exit", "", folder) == 0, "%s", errors);
	logged("dump", 0, "");
	for (int i = 0; i < RUNS; i++)
		whole_dump(i);
	CHECK(entries(folder) == 1 + 2 * RUNS, "%d entries", entries(folder)); /* the second process wrote beside the first */

	fresh(folder);
	CHECK(run("_exit", folder, "") == 0 && entries(folder) == 0, "a log after _exit");
	CHECK(run("fork", folder, "") == 0 && entries(folder) == 0, "a log of a forked child");

	CHECK(symlink(in("nowhere"), in("profiler.log")) == 0, "symlink");
	CHECK(run("exit", folder, "") == 0, "%s", errors);
	logged("link", 0, "");
	whole_log(); /* in the link's place */

	fresh(folder);
	CHECK(run("exit", in("nowhere"), "") == 0, "%s", errors);
	logged("no folder", 1, "hbdnn: not written HB_DNN_PROFILER_LOG_PATH=");
	CHECK(run("exit", "", "/dev/null") == 0, "%s", errors);
	logged("no folder", 1, "hbdnn: not written HB_DNN_DUMP_PATH=/dev/null error=\"not a directory\"");
	CHECK(mkdir(in("profiler.log"), 0700) == 0, "mkdir");
	CHECK(run("exit", folder, "") == 0, "%s", errors);
	logged("a folder of that name", 1, "hbdnn: not written HB_DNN_PROFILER_LOG_PATH=");

	fresh(folder);
	CHECK(run("small", folder, "") == 0, "%s", errors);
	logged("small", 1, "hbdnn: not written HB_DNN_PROFILER_LOG_PATH=");
	CHECK(entries(folder) == 0, "a part of a log");
	CHECK(run("small", "", folder) == 0, "%s", errors);
	logged("small", 1, "hbdnn: not written HB_DNN_DUMP_PATH=");
	CHECK(entries(folder) == 1 && entries(in("m0_0")) == 0, "a part of a dump, or a second one");

	if (geteuid() == 0) {
		fresh(folder);
		make_copy();
		int code = run("secure", folder, folder);
		CHECK(code == 0 || code == NOT_SECURE, "%d: %s", code, errors);
		CHECK(entries(folder) == 1, "a set-id program obeyed its caller");
		if (code == NOT_SECURE)
			printf("not tried: set-id bits mean nothing in %s\n", folder);
	}
	fresh(folder);
	return rmdir(folder);
}
