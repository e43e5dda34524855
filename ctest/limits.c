/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hosts that are short of what the library needs: the calls fail with the API's codes, and nothing ends the program.
 *
 * limits descriptors    none are left before the first call; the first call that finds some works, and none of the
 * host's limit changes
 *     limits space          no address space to start in
 *     limits threads        no threads to start with
 *     limits sizes FOLDER   files have at most 4 KiB: descriptors of larger tensors and caches fail
 *     limits sandbox        memfd_create is refused: tensors have memory with a descriptor all the same
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

#include "ohnn_host.h"

enum { SOFT = 64, HARD = 80 };

static int taken[HARD], count;

/* Opens files until no descriptor is left. */
static void take_all(void)
{
	for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
		taken[count++] = fd;
}

static void give_back(void) { CHECK(count > 0 && close(taken[--count]) == 0, "close"); }

static void descriptors(void)
{
	struct rlimit limit = {SOFT, HARD}, now = {HARD, HARD};
	CHECK(setrlimit(RLIMIT_NOFILE, &now) == 0, "setrlimit");
	take_all();
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	for (int n = 0; n < 8; n++, give_back())
		CHECK(OH_NNTensorDesc_Create() == NULL, "a call works with %d descriptors", n);
	OH_NNCompilation *c = ohnn_compile(ohnn_sum(16)), *offline;
	take_all();
	NN_Tensor *t = ohnn_tensor(1, 16, 3);
	int fd = -1;
	CHECK(OH_NNTensor_GetFd(t, &fd) == OH_NN_MEMORY_ERROR && fd == -1, "a tensor's descriptor without a descriptor");
	CHECK((offline = OH_NNCompilation_ConstructWithOfflineModelFile("/proc/self/exe")) != NULL, "no compilation");
	CHECK(OH_NNCompilation_Build(offline) == OH_NN_FAILED, "a file without a descriptor");
	OH_NNCompilation_Destroy(&offline);
	while (count > 0)
		give_back();
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK(e != NULL, "no executor");
	ohnn_adds(e, 16);
	OK(OH_NNTensor_GetFd(t, &fd));
	CHECK(((float *)OH_NNTensor_GetDataBuffer(t))[15] == 3, "the data was lost");
	OK(OH_NNTensor_Destroy(&t));
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
	CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == SOFT && now.rlim_max == HARD, "the limit became %ld, %ld",
		(long)now.rlim_cur, (long)now.rlim_max);
}

static void space(void)
{
	struct rlimit old, limit = {256 << 20, 0};
	CHECK(getrlimit(RLIMIT_AS, &old) == 0, "getrlimit");
	limit.rlim_max = old.rlim_max;
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
	CHECK(OH_NNTensorDesc_Create() == NULL, "a call works without address space");
	OH_NN_ReturnCode got = OH_NNTensorDesc_SetName(NULL, "x");
	CHECK(got == OH_NN_MEMORY_ERROR, "without address space: code %d", (int)got);
	CHECK(setrlimit(RLIMIT_AS, &old) == 0, "setrlimit");
	CHECK(host_answer() == 0, "wrong answer");
}

static void sizes(const char *folder)
{
	struct rlimit old, limit = {4096, 0};
	CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0, "getrlimit");
	limit.rlim_max = old.rlim_max;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
	NN_Tensor *small = ohnn_tensor(1, 1024, 1), *large = ohnn_tensor(1, 1025, 1);
	int fd = -1;
	CHECK(OH_NNTensor_GetFd(large, &fd) == OH_NN_MEMORY_ERROR && fd == -1, "a file of 4100 bytes");
	OK(OH_NNTensor_GetFd(small, &fd));
	OK(OH_NNTensor_Destroy(&small));
	OK(OH_NNTensor_Destroy(&large));
	OH_NNModel *m = ohnn_powers(8, 200);
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	OK(OH_NNCompilation_SetCache(c, folder, 1));
	OH_NN_ReturnCode got = OH_NNCompilation_Build(c);
	CHECK(got == OH_NN_SAVE_CACHE_EXCEPTION, "code %d", (int)got);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
	CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit");
}

/* Makes two system calls fail from here on; 0 where that cannot be had. */
static int refuse(int first, int second, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)first, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)second, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return 1;
	printf("skipped: no system call filters here\n");
	return 0;
}

static void threads(void)
{
	if (!refuse(SYS_clone, SYS_clone3, EAGAIN))
		return;
	CHECK(OH_NNTensorDesc_Create() == NULL, "a call works without threads");
	CHECK(OH_NNTensorDesc_SetName(NULL, "x") != OH_NN_SUCCESS, "a call works without threads");
}

static void sandbox(void)
{
	if (!refuse(SYS_memfd_create, SYS_memfd_create, ENOSYS))
		return;
	CHECK(memfd_create("x", 0) < 0 && errno == ENOSYS, "memfd_create works");
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(5000));
	ohnn_adds(e, 5000);
	OH_NNExecutor_Destroy(&e);
	NN_Tensor *t = ohnn_tensor(1, 5000, 7);
	int fd = -1;
	OK(OH_NNTensor_GetFd(t, &fd));
	float *shared = mmap(NULL, 5000 * sizeof(float), PROT_READ, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED && shared[4999] == 7, "the descriptor is not the tensor's memory");
	munmap(shared, 5000 * sizeof(float));
	OK(OH_NNTensor_Destroy(&t));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	host_begin();
	if (strcmp(mode, "descriptors") == 0)
		descriptors();
	else if (strcmp(mode, "space") == 0)
		space();
	else if (strcmp(mode, "sizes") == 0 && argc == 3)
		sizes(argv[2]);
	else if (strcmp(mode, "threads") == 0)
		threads();
	else if (strcmp(mode, "sandbox") == 0)
		sandbox();
	else
		CHECK(0, "usage: limits descriptors|space|threads|sizes FOLDER|sandbox");
	return host_end();
}
