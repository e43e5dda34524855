/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two processes share tensors by their file descriptors, with offsets and with sizes larger and smaller than needed.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "ohnn_host.h"
#include "share_fd.h"

#define N 1000
#define BYTES (N * sizeof(float))
#define PAGE 4096u

static NN_Tensor *with_fd(int fd, size_t size, size_t offset)
{
	NN_TensorDesc *d = ohnn_desc(1, N);
	NN_Tensor *t = OH_NNTensor_CreateWithFd(0, d, fd, size, offset);
	OK(OH_NNTensorDesc_Destroy(&d));
	return t;
}

/* The other process adds what it finds in a and b and puts the sum into y. */
static int other(int socket)
{
	host_begin();
	int fd_tensor = receive_fd(socket), fd_file = receive_fd(socket);
	NN_Tensor *in[] = {with_fd(fd_tensor, BYTES, 0), with_fd(fd_file, 8 * PAGE, PAGE)}; /* more than needed */
	NN_Tensor *out[] = {with_fd(fd_file, 4 * PAGE + BYTES, 4 * PAGE)};			  /* just enough */
	CHECK(in[0] != NULL && in[1] != NULL && out[0] != NULL, "a shared tensor could not be made");
	CHECK(with_fd(fd_file, 4 * PAGE + BYTES - 1, 4 * PAGE) == NULL, "memory smaller than needed was taken");
	CHECK(with_fd(fd_file, PAGE, 4 * PAGE) == NULL, "a size below the offset was taken");
	CHECK(with_fd(fd_tensor, BYTES - 1, 0) == NULL, "a size below the descriptor's was taken");
	size_t size = 0, offset = 0;
	OK(OH_NNTensor_GetSize(in[1], &size));
	OK(OH_NNTensor_GetOffset(in[1], &offset));
	CHECK(size == 8 * PAGE && offset == PAGE, "size %zu, offset %zu", size, offset);

	OH_NNExecutor *e = ohnn_executor(ohnn_sum(N));
	for (int round = 0; round < 3; round++) {
		wait_told(socket);
		OK(OH_NNExecutor_RunSync(e, in, 2, out, 1));
		tell(socket);
	}
	OH_NNExecutor_Destroy(&e);
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out[0]));
	CHECK(write(fd_file, "", 0) == 0, "the descriptor was closed with the tensor");
	wait_told(socket); /* the first process checks that the memory has outlived these tensors */
	close(fd_tensor);
	close(fd_file);
	return host_end();
}

int main(void)
{
	int pair[2], status;
	host_begin();
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	pid_t child = fork(); /* before the first call: each process starts the library itself */
	CHECK(child >= 0, "fork");
	if (child == 0)
		return other(pair[1]);

	NN_Tensor *a = ohnn_tensor(1, N, 0);
	int fd = -1, file = memfd_create("shared", MFD_CLOEXEC);
	CHECK(file >= 0 && ftruncate(file, 8 * PAGE) == 0, "memfd");
	char *map = (char *)mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(map != MAP_FAILED, "mmap");
	memset(map, 0x55, 8 * PAGE);
	OK(OH_NNTensor_GetFd(a, &fd));
	send_fd(pair[0], fd);
	send_fd(pair[0], file);
	float *x = (float *)OH_NNTensor_GetDataBuffer(a), *b = (float *)(map + PAGE), *y = (float *)(map + 4 * PAGE);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			x[i] = (float)(round * 1000 + i);
			b[i] = 0.5f;
		}
		tell(pair[0]);
		wait_told(pair[0]);
		for (int i = 0; i < N; i++)
			CHECK(y[i] == x[i] + 0.5f, "round %d: element %d is %g, want %g", round, i, (double)y[i], (double)x[i] + 0.5);
	}
	CHECK(map[4 * PAGE + BYTES] == 0x55 && map[PAGE + BYTES] == 0x55 && map[PAGE - 1] == 0x55,
		"bytes around the tensors were written");
	tell(pair[0]);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the other process ended with status %d", status);
	CHECK(x[N - 1] == 2000 + N - 1, "the memory did not outlive the other process");
	OK(OH_NNTensor_Destroy(&a));
	munmap(map, 8 * PAGE);
	close(file);
	close(pair[0]);
	close(pair[1]);
	return host_end();
}
