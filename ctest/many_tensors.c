/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     many_tensors COUNT
 *
 * A process that may have 256 descriptors, and as many mappings as the system allows, makes COUNT tensors: of its own
 * size each, as parts of one file, and memory of RKNN. A tensor takes a descriptor when the program asks for one;
 * another process then sees what was written before, by the address of before, and answers there.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ohnn_host.h"
#include "share_fd.h"

#include "misuse_rknn.h"

enum { LIMIT = 256, AT_ONCE = 64, ANSWER = 1 << 24 };

/* Descriptors that are open. */
static int open_descriptors(void)
{
	struct host_lines all = host_list_fds();
	int n = (int)all.count;
	host_free_lines(&all);
	return n;
}

static long mappings(void)
{
	long n = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL, "/proc/self/maps");
	for (int c; (c = fgetc(maps)) != EOF;)
		n += c == '\n';
	fclose(maps);
	return n;
}

static long kilobytes(const char *what)
{
	char text[200];
	long n = -1;
	FILE *f = fopen("/proc/self/status", "r");
	CHECK(f != NULL, "/proc/self/status");
	while (fgets(text, sizeof text, f))
		if (strncmp(text, what, strlen(what)) == 0)
			n = atol(text + strlen(what));
	fclose(f);
	return n;
}

/*
 * The other process knows nothing of the library: it maps descriptors from 0 on and checks and changes the number that
 * it finds.
 */
static int other(int socket, int count)
{
	for (int i = 0; i < count;) {
		int n = count - i < AT_ONCE ? count - i : AT_ONCE;
		for (int k = 0; k < n; k++, i++) {
			int fd = receive_fd(socket);
			int *v = (int *)mmap(NULL, sizeof *v, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			CHECK(v != MAP_FAILED, "tensor %d cannot be mapped", i);
			CHECK(v[0] == i, "tensor %d holds %d", i, v[0]);
			v[0] += ANSWER;
			CHECK(lseek(fd, 0, SEEK_END) == 4, "the file of tensor %d has %ld bytes", i, (long)lseek(fd, 0, SEEK_END));
			munmap(v, sizeof *v);
			close(fd);
		}
		tell(socket);
	}
	return 0;
}

static void own_tensors(int socket, int count)
{
	NN_Tensor **tensor = (NN_Tensor **)malloc((size_t)count * sizeof *tensor);
	int **data = (int **)malloc((size_t)count * sizeof *data);
	NN_TensorDesc *d = ohnn_desc(1, 1);
	const int before = open_descriptors();
	const long maps = mappings(), rss = kilobytes("VmRSS:");
	for (int i = 0; i < count; i++) {
		tensor[i] = OH_NNTensor_Create(0, d);
		CHECK(tensor[i] != NULL, "tensor %d: %s", i, anynpu_last_error());
		data[i] = (int *)OH_NNTensor_GetDataBuffer(tensor[i]);
		*data[i] = i;
	}
	CHECK(open_descriptors() == before, "%d tensors take %d descriptors", count, open_descriptors() - before);
	printf("%d tensors: 0 descriptors, %ld mappings, %ld bytes each\n", count, mappings() - maps,
		(kilobytes("VmRSS:") - rss) * 1024 / count);

	for (int i = 0; i < count;) {
		const int first = i;
		for (int k = 0; k < AT_ONCE && i < count; k++, i++) {
			int fd = -1, again = -2;
			OK(OH_NNTensor_GetFd(tensor[i], &fd));
			OK(OH_NNTensor_GetFd(tensor[i], &again));
			CHECK(fd == again && OH_NNTensor_GetDataBuffer(tensor[i]) == data[i],
				"tensor %d: descriptors %d, %d, or it has moved", i, fd, again);
			send_fd(socket, fd);
		}
		wait_told(socket);
		for (int k = first; k < i; k++) {
			CHECK(*data[k] == k + ANSWER, "tensor %d holds %d", k, *data[k]);
			OK(OH_NNTensor_Destroy(&tensor[k]));
		}
	}
	OK(OH_NNTensorDesc_Destroy(&d));
	CHECK(open_descriptors() == before, "descriptors are left");
	printf("%d descriptors were asked for, shared with another process and closed\n", count);
	free(tensor);
	free(data);
}

/* A refused descriptor leaves the tensor as it is, and the next call may get one. */
static void without_descriptors(void)
{
	int taken[LIMIT], n = 0, fd = -1;
	NN_Tensor *t = ohnn_tensor(1, 1, 5);
	while ((taken[n] = dup(0)) >= 0)
		n++;
	CHECK(OH_NNTensor_GetFd(t, &fd) == OH_NN_MEMORY_ERROR && fd == -1, "a descriptor where none is left");
	CHECK(*(float *)OH_NNTensor_GetDataBuffer(t) == 5, "the data is lost");
	while (n > 0)
		close(taken[--n]);
	OK(OH_NNTensor_GetFd(t, &fd));
	CHECK(*(float *)OH_NNTensor_GetDataBuffer(t) == 5, "the data is lost");
	OK(OH_NNTensor_Destroy(&t));
	CHECK(lseek(fd, 0, SEEK_CUR) < 0, "the descriptor outlives the tensor");
}

/* Parts of one file take one descriptor together. */
static void parts_of_a_file(int count)
{
	NN_Tensor **tensor = (NN_Tensor **)malloc((size_t)count * sizeof *tensor);
	NN_TensorDesc *d = ohnn_desc(1, 1);
	int file = memfd_create("parts", MFD_CLOEXEC);
	CHECK(file >= 0 && ftruncate(file, 8L * count) == 0, "memfd");
	const int before = open_descriptors();
	for (int i = 0; i < count; i++) {
		tensor[i] = OH_NNTensor_CreateWithFd(0, d, file, 8 * (size_t)i + 8, 8 * (size_t)i);
		CHECK(tensor[i] != NULL, "part %d: %s", i, anynpu_last_error());
		*(int *)OH_NNTensor_GetDataBuffer(tensor[i]) = i;
	}
	CHECK(open_descriptors() <= before + 1, "%d parts take %d descriptors", count, open_descriptors() - before);
	for (int i = 0, v = -1; i < count; i++) {
		CHECK(pread(file, &v, sizeof v, 8L * i) == sizeof v && v == i, "part %d holds %d", i, v);
		OK(OH_NNTensor_Destroy(&tensor[i]));
	}
	OK(OH_NNTensorDesc_Destroy(&d));
	CHECK(open_descriptors() == before, "descriptors are left");
	close(file);
	free(tensor);
}

/* Programs read the descriptor of RKNN memory without a call: it is there until few are left, then it is -1. */
static void rknn_memory(int count)
{
	rknn_context ctx = make_rknn_context();
	rknn_tensor_mem **memory = (rknn_tensor_mem **)malloc((size_t)count * sizeof *memory);
	const int before = open_descriptors();
	int with = 0;
	for (int i = 0; i < count; i++) {
		memory[i] = rknn_create_mem(ctx, 64);
		CHECK(memory[i] != NULL && memory[i]->virt_addr != NULL, "memory %d: %s", i, anynpu_last_error());
		*(int *)memory[i]->virt_addr = i;
		with += memory[i]->fd >= 0;
		CHECK(memory[i]->fd < LIMIT * 3 / 4 && memory[i]->fd >= -1, "memory %d has descriptor %d", i, memory[i]->fd);
	}
	CHECK(with >= LIMIT / 2 && open_descriptors() == before + with, "%d with a descriptor", with);
	for (int i = 0, v = -1; i < count; i++) {
		CHECK(*(int *)memory[i]->virt_addr == i, "memory %d holds %d", i, *(int *)memory[i]->virt_addr);
		CHECK(memory[i]->fd < 0 || (pread(memory[i]->fd, &v, sizeof v, 0) == sizeof v && v == i),
			"the file of memory %d holds %d", i, v);
		CHECK(rknn_destroy_mem(ctx, memory[i]) == RKNN_SUCC, "memory %d", i);
	}
	CHECK(open_descriptors() == before, "descriptors are left");
	drop_rknn_context(ctx);
	free(memory);
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1000;
	int pair[2], status;
	const struct rlimit few = {LIMIT, LIMIT};
	host_begin();
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0, "setrlimit");
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	pid_t child = fork();
	CHECK(child >= 0, "fork");
	if (child == 0)
		_exit(other(pair[1], count));
	CHECK(host_answer() == 0, "%s", anynpu_last_error());
	own_tensors(pair[0], count);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the other process ended with status %d", status);
	without_descriptors();
	parts_of_a_file(count);
	rknn_memory(count);
	close(pair[0]);
	close(pair[1]);
	return host_end();
}
