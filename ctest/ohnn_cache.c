/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: ohnn_cache [KILLS] What a model cache survives: processes killed while they write, full disks, missing
 * permissions, hostile files. Every case runs in a process of its own, so that nothing but the files connects writers
 * and readers.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ohnn_host.h"

#define INFO "cache_info.nncache"
#define N 256

static char dir[256];

static const char *path(const char *name)
{
	static char buffers[4][512];
	static int next;
	char *p = buffers[next++ % 4];
	snprintf(p, sizeof buffers[0], "%s/%s", dir, name);
	return p;
}

static void empty_directory(void)
{
	DIR *d = opendir(dir);
	CHECK(d != NULL, "%s", dir);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			CHECK(remove(path(e->d_name)) == 0, "%s: %s", e->d_name, strerror(errno));
	closedir(d);
}

/*
 * Builds with the cache of a version; the model is compiled whatever happens to the cache, unless the version is too
 * old.
 */
static OH_NN_ReturnCode build(uint32_t version)
{
	OH_NNModel *m = ohnn_sum(N);
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	OK(OH_NNCompilation_SetCache(c, dir, version));
	OH_NN_ReturnCode code = OH_NNCompilation_Build(c);
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK((e == NULL) == (code == OH_NN_OPERATION_FORBIDDEN), "executor %p after code %d", (void *)e, (int)code);
	if (e)
		ohnn_adds(e, N);
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
	return code;
}

/* Restores from the cache alone, and runs. */
static OH_NN_ReturnCode restore(uint32_t version)
{
	OH_NNCompilation *c = OH_NNCompilation_ConstructForCache();
	OK(OH_NNCompilation_SetCache(c, dir, version));
	OH_NN_ReturnCode code = OH_NNCompilation_Build(c);
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK((e != NULL) == (code == OH_NN_SUCCESS), "executor %p after code %d", (void *)e, (int)code);
	if (e)
		ohnn_adds(e, N);
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
	return code;
}

/* Runs a case in a child, which starts the library itself. */
static void in_child(const char *name, void (*f)(void))
{
	int status;
	pid_t child = fork();
	CHECK(child >= 0, "fork");
	if (child == 0) {
		host_begin();
		f();
		_Exit(host_end());
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "%s: status %d", name, status);
}

/* Killed at any time. */

static struct progress {
	atomic_uint begun, done; /* versions */
} *progress;

/* Ends by SIGKILL, when the system takes back what the process has; what it left on disk is what the test is about. */
static void write_for_ever(void)
{
	for (uint32_t v = progress->done + 1;; v++) {
		progress->begun = v;
		OK(build(v));
		progress->done = v;
	}
}

static void one_of_both(void)
{
	uint32_t done = progress->done, begun = progress->begun;
	OH_NN_ReturnCode older = restore(done);
	CHECK(older == OH_NN_SUCCESS || restore(begun) == OH_NN_SUCCESS, "neither version %u (code %d) nor %u is there", done,
		(int)older, begun);
	progress->done = progress->begun = begun + 1;
	OK(build(begun + 1)); /* and the next writer gets on */
	OK(restore(begun + 1));
}

static void pause_for(long microseconds)
{
	struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
	while (nanosleep(&t, &t) != 0)
		;
}

static void first_build(void)
{
	OK(build(1));
	progress->begun = progress->done = 1;
}

static void killed_while_writing(int kills)
{
	in_child("first build", first_build);
	unsigned x = 12345;
	for (int i = 0; i < kills; i++) {
		unsigned before = progress->begun;
		pid_t child = fork();
		CHECK(child >= 0, "fork");
		if (child == 0)
			write_for_ever();
		while (progress->begun == before)
			pause_for(100);
		x = x * 1664525u + 1013904223u;
		pause_for((long)((x >> 8) % 12000));
		CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child, "kill");
		in_child("after a kill", one_of_both);
	}
}

/* Places where nothing can be written. */

static void full_disk_fails(void)
{
	OH_NN_ReturnCode code = build(2);
	CHECK(code == OH_NN_SAVE_CACHE_EXCEPTION || code == OH_NN_INVALID_PARAMETER, "full disk: code %d", (int)code);
	OK(restore(1));
}

static void full_disk(void)
{
	if (mount("tmpfs", dir, "tmpfs", 0, "size=128k,mode=700") != 0) {
		printf("SKIP full disk: a small tmpfs cannot be mounted: %s\n", strerror(errno));
		return;
	}
	OK(build(1));
	int fd = open(path("filler"), O_WRONLY | O_CREAT, 0644);
	char block[4096] = {1};
	while (write(fd, block, sizeof block) > 0)
		;
	close(fd);
	full_disk_fails();
	CHECK(remove(path("filler")) == 0, "remove");
	OK(build(2));
	OK(restore(2));
}

static void no_permission(void)
{
	OK(build(1));
	OK(restore(1));
}

static void become_nobody(void)
{
	CHECK(setuid(65534) == 0 || geteuid() != 0, "setuid: %s", strerror(errno));
	CHECK(prctl(PR_SET_DUMPABLE, 1) == 0, "prctl"); /* for host_end: /proc/self would be root's */
}

static void as_nobody(void)
{
	become_nobody();
	OK(restore(1));
	CHECK(build(2) == OH_NN_INVALID_PARAMETER, "a directory that cannot be written");
	OK(restore(1));
}

static void as_nobody_unreadable(void)
{
	become_nobody();
	CHECK(restore(1) == OH_NN_INVALID_PARAMETER, "files that cannot be read");
	CHECK(build(1) == OH_NN_INVALID_PARAMETER, "files that can neither be read nor replaced");
}

static void permissions(void)
{
	in_child("build", no_permission);
	in_child("files of another user's", as_nobody_unreadable);
	DIR *all = opendir(dir);
	CHECK(all != NULL, "opendir");
	for (struct dirent *e; (e = readdir(all)) != NULL;)
		CHECK(*e->d_name == '.' || chmod(path(e->d_name), 0644) == 0, "chmod");
	closedir(all);
	CHECK(chmod(dir, 0555) == 0, "chmod");
	in_child("a directory that cannot be written", as_nobody);
	CHECK(chmod(path("0.nncache"), 0) == 0, "chmod");
	in_child("files that cannot be read", as_nobody_unreadable);
	CHECK(chmod(dir, 0755) == 0, "chmod");
}

/*
 * Whoever may read the directory can lock it: models are compiled all the same, and a warning says once that they are
 * not kept.
 */

static void locked(void)
{
	int lines = memfd_create("lines", MFD_CLOEXEC);
	setenv("ANYNPU_LOG", "warn", 1);
	unsetenv("ANYNPU_LOG_FILE");
	CHECK(lines >= 0 && dup2(lines, 2) == 2, "memfd");
	host_begin();
	for (uint32_t version = 1; version <= 3; version++)
		OK(build(version));
	CHECK(restore(3) != OH_NN_SUCCESS, "a cache although the directory is locked");
	char text[4096] = "";
	CHECK(pread(lines, text, sizeof text - 1, 0) > 0, "no warning");
	const char *line = strstr(text, "ohnn: model compiled and not cached directory=");
	CHECK(line && strstr(line, "locked by another process"), "%s", text);
	CHECK(!strstr(strchr(line, '\n'), "model compiled and not cached"), "%s", text);
}

static void lock_by_others(void)
{
	int other = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(other >= 0 && flock(other, LOCK_EX) == 0, "flock: %s", strerror(errno));
	in_child("locked", locked);
	close(other);
	in_child("unlocked", no_permission);
}

/* Hostile files. */

static size_t load(const char *name, char **data)
{
	FILE *f = fopen(path(name), "rb");
	CHECK(f != NULL, "%s", name);
	CHECK(fseek(f, 0, SEEK_END) == 0, "fseek");
	size_t n = (size_t)ftell(f);
	rewind(f);
	*data = (char *)malloc(n + 1);
	CHECK(fread(*data, 1, n, f) == n, "fread");
	(*data)[n] = 0;
	fclose(f);
	return n;
}

static void store(const char *name, const char *data, size_t n)
{
	FILE *f = fopen(path(name), "wb");
	CHECK(f != NULL && fwrite(data, 1, n, f) == n && fclose(f) == 0, "%s", name);
}

static uint32_t version = 1;

/* The cache is damaged now: it is not restored, and the next build replaces it. */
static void replaced(const char *how, const char *name)
{
	OH_NN_ReturnCode code = restore(version);
	CHECK(code == OH_NN_INVALID_PARAMETER, "%s %s: code %d from the cache alone", name, how, (int)code);
	code = build(version);
	CHECK(code == OH_NN_SUCCESS, "%s %s: code %d from a build", name, how, (int)code);
	code = restore(version);
	CHECK(code == OH_NN_SUCCESS, "%s %s: code %d after the build", name, how, (int)code);
}

static const char *const files[] = {INFO, "0.nncache", "1.nncache", "2.nncache"};

static void truncated_and_flipped(void)
{
	OK(build(version));
	for (int i = 0; i < 4; i++) {
		char *data;
		size_t n = load(files[i], &data);
		for (int cut = 0; cut < 6; cut++) {
			store(files[i], data, n * (size_t)cut / 6);
			replaced("cut short", files[i]);
		}
		for (int flip = 0; flip < 12; flip++) {
			n = load(files[i], &data);
			size_t at = (n - 2) * (size_t)flip / 11; /* the newline at the end of the info file says nothing */
			data[at] ^= (char)(1 << flip % 8);
			store(files[i], data, n);
			replaced("with a flipped bit", files[i]);
			free(data);
		}
	}
}

static void lengths(void)
{
	OK(build(version));
	for (int i = 0; i < 4; i++) {
		CHECK(truncate(path(files[i]), (off_t)5 << 30) == 0, "truncate"); /* a file of 5 GiB that takes no space */
		replaced("of 5 GiB", files[i]);
	}
	char *data;
	size_t n = load("0.nncache", &data);
	for (size_t at = 0; at + 8 <= n && at < 512; at += 8) { /* every number near the beginning becomes 4 GiB, or huge */
		char *copy = (char *)malloc(n);
		for (int k = 0; k < 2; k++) {
			memcpy(copy, data, n);
			uint64_t v = k ? UINT64_MAX - 7 : (uint64_t)4 << 30;
			memcpy(copy + at, &v, sizeof v);
			store("0.nncache", copy, n);
			OH_NN_ReturnCode code = restore(version);
			CHECK(code == OH_NN_INVALID_PARAMETER, "number at %zu: code %d", at, (int)code);
		}
		free(copy);
	}
	replaced("with huge numbers", "0.nncache");
	free(data);
}

static void strange_files(void)
{
	OK(build(version));
	for (int i = 0; i < 4; i++) {
		CHECK(rename(path(files[i]), path("elsewhere")) == 0 && symlink("elsewhere", path(files[i])) == 0, "symlink");
		replaced("as a link", files[i]);
		CHECK(remove(path("elsewhere")) == 0 && remove(path(files[i])) == 0, "remove");
		CHECK(symlink(files[i], path(files[i])) == 0, "symlink");
		replaced("as a link to itself", files[i]);
		CHECK(remove(path(files[i])) == 0 && mkfifo(path(files[i]), 0600) == 0, "mkfifo");
		replaced("as a FIFO", files[i]);
		CHECK(remove(path(files[i])) == 0, "remove");
		replaced("missing", files[i]);
		CHECK(remove(path(files[i])) == 0 && mkdir(path(files[i]), 0755) == 0, "mkdir");
		OH_NN_ReturnCode code = restore(version), want = i == 0 ? OH_NN_INVALID_FILE : OH_NN_INVALID_PARAMETER;
		CHECK(code == OH_NN_INVALID_PARAMETER, "%s as a directory: code %d", files[i], (int)code);
		code = build(version);
		CHECK(code == want, "%s as a directory: code %d from a build", files[i], (int)code);
		CHECK(remove(path(files[i])) == 0, "remove");
		replaced("missing again", files[i]);
	}
}

static void versions_and_directories(void)
{
	OK(build(5));
	CHECK(build(4) == OH_NN_OPERATION_FORBIDDEN && restore(4) == OH_NN_OPERATION_FORBIDDEN, "an older version");
	OK(restore(5));
	OK(build(6));
	CHECK(restore(5) == OH_NN_OPERATION_FORBIDDEN, "the older version after a newer one");
	empty_directory();
	CHECK(rmdir(dir) == 0, "rmdir");
	CHECK(build(6) == OH_NN_INVALID_PARAMETER, "a directory that was removed");
	CHECK(restore(6) == OH_NN_INVALID_PARAMETER, "a directory that was removed");
	CHECK(mkdir(dir, 0755) == 0, "mkdir");
	OK(build(6));
	OK(restore(6));
}

int main(int argc, char **argv)
{
	host_begin();
	snprintf(dir, sizeof dir, "%s/ohnn_cache.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	CHECK(mkdtemp(dir) != NULL && chmod(dir, 0755) == 0, "%s", dir);
	progress = (struct progress *)mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(progress != MAP_FAILED, "mmap");
	killed_while_writing(argc > 1 ? atoi(argv[1]) : 25);
	empty_directory();
	in_child("truncated and flipped", truncated_and_flipped);
	empty_directory();
	in_child("lengths", lengths);
	empty_directory();
	in_child("strange files", strange_files);
	empty_directory();
	in_child("versions and directories", versions_and_directories);
	empty_directory();
	permissions();
	empty_directory();
	lock_by_others();
	empty_directory();
	in_child("full disk", full_disk);
	umount2(dir, MNT_DETACH);
	empty_directory();
	CHECK(rmdir(dir) == 0, "rmdir");
	munmap(progress, sizeof *progress);
	return host_end();
}
