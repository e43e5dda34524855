/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files that another process cuts while the library uses them: memory by descriptors before it is imported, between
 * import and run, and during runs that use all threads, and model files while they are loaded. Calls return an error,
 * with a message, and nothing ends the process.
 *
 *     cut ohnn | nnapi | rknn | models FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dnn/hb_dnn.h>
#include <rknn_api.h>

#include "nnapi_host.h"
#include "rknn_model.h"

#define COUNT (1 << 23) /* floats, of which every thread gets some */
#define BYTES ((size_t)COUNT * 4)
#define TRIES 10

static int file(void)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, (off_t)BYTES) == 0, "memfd");
	return fd;
}

/* A process that cuts the file after some microseconds. */
static pid_t cutter(int fd, unsigned wait)
{
	pid_t pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		usleep(wait);
		_exit(ftruncate(fd, 0) != 0);
	}
	return pid;
}

static void joined(pid_t pid)
{
	int status = 1;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the file was not cut");
}

/* One way to use a file: prepare imports it and returns 0, or what refuses; run computes with it. */
struct way {
	int (*prepare)(int fd);
	int (*run)(void);
	void (*end)(void);
	void (*destroy)(void); /* what prepare makes once for all */
};

static void use(const struct way *way)
{
	int fd = file(), code = 0;
	CHECK(ftruncate(fd, 4096) == 0, "ftruncate");
	if ((code = way->prepare(fd)) == 0)
		code = way->run();
	CHECK(code != 0 && *anynpu_last_error(), "a file that is too short: code %d", code);
	way->end();
	close(fd);

	fd = file();
	CHECK((code = way->prepare(fd)) == 0 && (code = way->run()) == 0, "code %d: %s", code, anynpu_last_error());
	CHECK(ftruncate(fd, 0) == 0 && (code = way->run()) != 0 && *anynpu_last_error(), "a cut file: code %d", code);
	way->end();
	close(fd);

	for (unsigned i = 0; i < TRIES; i++) {
		fd = file();
		CHECK((code = way->prepare(fd)) == 0, "code %d: %s", code, anynpu_last_error());
		pid_t pid = cutter(fd, 500 + 1700 * i);
		for (code = 0; code == 0;)
			code = way->run();
		joined(pid);
		CHECK(*anynpu_last_error(), "no message");
		way->end();
		close(fd);
	}
	way->destroy();
}

static NN_Tensor *cut_tensor, *whole_tensor, *out_tensor;
static OH_NNExecutor *executor;

static NN_TensorDesc *ohnn_shape(void)
{
	const int32_t shape[] = {1, COUNT};
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	OH_NNTensorDesc_SetDataType(d, OH_NN_FLOAT32);
	OH_NNTensorDesc_SetShape(d, shape, 2);
	return d;
}

static int ohnn_prepare(int fd)
{
	NN_TensorDesc *d = ohnn_shape();
	if (!executor) {
		OH_NNModel *m = OH_NNModel_Construct();
		for (int i = 0; i < 3; i++)
			OH_NNModel_AddTensorToModel(m, d);
		uint32_t in[] = {0, 1}, out[] = {2};
		const OH_NN_UInt32Array none = {NULL, 0}, inputs = {in, 2}, outputs = {out, 1};
		OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &none, &inputs, &outputs);
		OH_NNModel_SpecifyInputsAndOutputs(m, &inputs, &outputs);
		OH_NNModel_Finish(m);
		OH_NNCompilation *c = OH_NNCompilation_Construct(m);
		CHECK(OH_NNCompilation_Build(c) == OH_NN_SUCCESS, "%s", anynpu_last_error());
		executor = OH_NNExecutor_Construct(c);
		OH_NNCompilation_Destroy(&c);
		OH_NNModel_Destroy(&m);
		whole_tensor = OH_NNTensor_Create(0, d);
		out_tensor = OH_NNTensor_Create(0, d);
	}
	cut_tensor = OH_NNTensor_CreateWithFd(0, d, fd, BYTES, 0);
	OH_NNTensorDesc_Destroy(&d);
	return cut_tensor ? 0 : -1;
}

static int ohnn_run(void)
{
	NN_Tensor *in[] = {cut_tensor, whole_tensor}, *out[] = {out_tensor};
	return (int)OH_NNExecutor_RunSync(executor, in, 2, out, 1);
}

static void ohnn_end(void)
{
	if (cut_tensor)
		OH_NNTensor_Destroy(&cut_tensor);
}

static void ohnn_destroy(void)
{
	OH_NNExecutor_Destroy(&executor);
	OH_NNTensor_Destroy(&whole_tensor);
	OH_NNTensor_Destroy(&out_tensor);
}

static ANeuralNetworksMemory *memory;
static ANeuralNetworksCompilation *compilation;
static float *whole, *result;

static int nnapi_prepare(int fd)
{
	if (!compilation) {
		ANeuralNetworksModel *m = nn_sum(COUNT);
		OK(ANeuralNetworksCompilation_create(m, &compilation));
		OK(ANeuralNetworksCompilation_finish(compilation));
		ANeuralNetworksModel_free(m);
		whole = calloc(COUNT, sizeof *whole);
		result = calloc(COUNT, sizeof *result);
	}
	return ANeuralNetworksMemory_createFromFd(BYTES, PROT_READ | PROT_WRITE, fd, 0, &memory);
}

static int nnapi_run(void)
{
	ANeuralNetworksExecution *e = NULL;
	OK(ANeuralNetworksExecution_create(compilation, &e));
	int code = ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, BYTES);
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, whole, BYTES));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, result, BYTES));
	if (code == 0)
		code = ANeuralNetworksExecution_compute(e);
	ANeuralNetworksExecution_free(e);
	return code;
}

static void nnapi_end(void)
{
	ANeuralNetworksMemory_free(memory);
	memory = NULL;
}

static void nnapi_destroy(void)
{
	ANeuralNetworksCompilation_free(compilation);
	free(whole);
	free(result);
}

static rknn_context context;
static rknn_tensor_mem *input, *output;
static rknn_tensor_attr attrs[2];

static int rknn_prepare(int fd)
{
	if (!context) {
		const int64_t dims[] = {1, COUNT};
		struct rknn_message model = rknn_relu(dims, 2);
		CHECK(rknn_init(&context, model.bytes, (uint32_t)model.size, 0, NULL) == 0, "%s", anynpu_last_error());
		CHECK(rknn_query(context, RKNN_QUERY_INPUT_ATTR, &attrs[0], sizeof attrs[0]) == 0 &&
			rknn_query(context, RKNN_QUERY_OUTPUT_ATTR, &attrs[1], sizeof attrs[1]) == 0, "rknn_query");
		output = rknn_create_mem(context, attrs[1].size_with_stride);
		CHECK(output && rknn_set_io_mem(context, output, &attrs[1]) == 0, "%s", anynpu_last_error());
	}
	input = rknn_create_mem_from_fd(context, fd, NULL, attrs[0].size_with_stride, 0);
	return input ? rknn_set_io_mem(context, input, &attrs[0]) : -1;
}

static int rknn_runs(void) { return rknn_run(context, NULL); }

static void rknn_end(void)
{
	if (input)
		rknn_destroy_mem(context, input);
	input = NULL;
}

static void rknn_end_all(void)
{
	rknn_destroy_mem(context, output);
	rknn_destroy(context);
}

/* Loads a file again and again while another process cuts it and writes it anew. */
static void models(const char *from)
{
	const char *path = "cut.onnx";
	char *bytes = malloc(1 << 20);
	int source = open(from, O_RDONLY | O_CLOEXEC), fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t size = read(source, bytes, 1 << 20);
	CHECK(source >= 0 && fd >= 0 && size > 0 && write(fd, bytes, (size_t)size) == size, "%s", from);
	int ends[2], good = 0, bad = 0;
	CHECK(pipe(ends) == 0, "pipe");
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		char c;
		for (off_t n = 1; read(ends[0], &c, 1) < 0 && errno == EAGAIN; n = (n * 7 + 13) % size) {
			if (ftruncate(fd, n) != 0 || usleep(1000) != 0 || pwrite(fd, bytes, (size_t)size, 0) != size)
				_exit(1);
			usleep(1000);
		}
		_exit(0);
	}
	close(ends[0]);
	for (int i = 0; i < 200 || ((!good || !bad) && i < 20000); i++) {
		rknn_context c = 0;
		hbPackedDNNHandle_t pack = NULL;
		int code = rknn_init(&c, (void *)path, 0, 0, NULL), other = hbDNNInitializeFromFiles(&pack, &path, 1);
		CHECK((code == 0) == (c != 0) && (other == 0) == (pack != NULL), "codes %d and %d", code, other);
		good += (code == 0) + (other == 0);
		bad += (code != 0) + (other != 0);
		if (c)
			rknn_destroy(c);
		if (pack)
			hbDNNRelease(pack);
	}
	close(ends[1]);
	joined(pid);
	unlink(path);
	close(source);
	close(fd);
	free(bytes);
	CHECK(good > 0 && bad > 0, "%d loaded, %d refused", good, bad);
	printf("%d loaded, %d refused\n", good, bad);
}

int main(int argc, char **argv)
{
	static const struct way ohnn = {ohnn_prepare, ohnn_run, ohnn_end, ohnn_destroy},
		nnapi = {nnapi_prepare, nnapi_run, nnapi_end, nnapi_destroy},
		rknn = {rknn_prepare, rknn_runs, rknn_end, rknn_end_all};
	const char *mode = argc > 1 ? argv[1] : "";
	alarm(300);
	host_begin();
	if (strcmp(mode, "ohnn") == 0)
		use(&ohnn);
	else if (strcmp(mode, "nnapi") == 0)
		use(&nnapi);
	else if (strcmp(mode, "rknn") == 0)
		use(&rknn);
	else if (strcmp(mode, "models") == 0 && argc > 2)
		models(argv[2]);
	else
		CHECK(0, "usage: cut ohnn | nnapi | rknn | models FILE");
	return host_end();
}
