/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for rknn, linked with the vendor's name, where a manifest names the driver that npu.h describes.
 *
 *     passing MODE DRIVER RKNN ONNX IMAGE...
 *
 * both     one context of each model: the same digits, and each says who computed
 * namespace   as both, with a driver that is opened in a namespace of its own
 * forks    children that are forked before the first call, with the driver alone, and beside an ONNX model
 * opened   the program has opened the driver's file itself, and its contexts come to the library too
 * lacks    the driver has no rknn_set_core_mask: what a call for its context gets
 * child    the driver is probed in a child that this program does not see
 * ignored  as child, in a program that ignores SIGCHLD
 * none     nothing is the driver's
 */
#include <anynpu.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <rknn_api.h>
#include <rknn_matmul_api.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "../../examples/digits/files.h"
#include "host_end.h"

#define NPU "fake-npu"

static const char *driver, *rknn, *onnx;
static char **images;

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, anynpu_last_error()); \
			exit(1); \
		} \
	} while (0)

static rknn_context load(const char *model)
{
	rknn_context context = 0;
	CHECK(rknn_init(&context, (void *)model, 0, 0, NULL) == 0);
	return context;
}

/* Who computes for a context: 1 the driver, 0 the library, -1 neither says so. */
static int by_driver(rknn_context context)
{
	rknn_sdk_version v;
	memset(&v, 0, sizeof v);
	if (rknn_query(context, RKNN_QUERY_SDK_VERSION, &v, sizeof v) != 0)
		return -1;
	return strcmp(v.drv_version, NPU) == 0;
}

static void recognize(rknn_context context, const char *image, float out[10])
{
	float pixels[DIGITS_PIXELS];
	uint8_t ink[DIGITS_PIXELS];
	CHECK(digits_read_image(image, pixels));
	for (int i = 0; i < DIGITS_PIXELS; i++)
		ink[i] = (uint8_t)(pixels[i] * 16 + 0.5f);
	rknn_input in = {.buf = ink, .size = sizeof ink, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
	CHECK(rknn_inputs_set(context, 1, &in) == 0);
	CHECK(rknn_run(context, NULL) == 0);
	rknn_output got = {.want_float = 1};
	CHECK(rknn_outputs_get(context, 1, &got, NULL) == 0);
	memcpy(out, got.buf, 10 * sizeof(float));
	CHECK(rknn_outputs_release(context, 1, &got) == 0);
}

static void both(void)
{
	rknn_context npu = load(rknn), copy = 0;
	CHECK(by_driver(npu) == 1);
	rknn_tensor_mem *early = rknn_create_mem(npu, 100);
	CHECK(early && !early->priv_data);
	rknn_context ours = load(onnx);
	CHECK(by_driver(ours) == 0 && by_driver(npu) == 1);
	CHECK(rknn_dup_context(&npu, &copy) == 0 && by_driver(copy) == 1 && rknn_destroy(copy) == 0);
	CHECK(rknn_dup_context(&ours, &copy) == 0 && by_driver(copy) == 0 && rknn_destroy(copy) == 0);
	int right = 0, count = 0;
	double most = 0;
	for (; images[count]; count++) {
		float a[10], b[10];
		recognize(npu, images[count], a);
		recognize(ours, images[count], b);
		for (int i = 0; i < 10; i++)
			most = fmax(most, fabs((double)a[i] - b[i]));
		right += digits_best(a) == digits_label(images[count]) && digits_best(b) == digits_label(images[count]);
	}
	rknn_tensor_mem *theirs = rknn_create_mem(npu, 100), *mine = rknn_create_mem(ours, 100);
	CHECK(theirs && mine && !theirs->priv_data && mine->priv_data);
	CHECK(rknn_destroy_mem(npu, theirs) == 0 && rknn_destroy_mem(ours, mine) == 0 && rknn_destory_mem(npu, early) == 0);
	/* A model that the driver refuses: its word is the last. */
	rknn_context none = 0;
	CHECK(rknn_init(&none, (void *)"RKNN no model of anybody's", 26, 0, NULL) == RKNN_ERR_MODEL_INVALID);
	CHECK(none == 0 && strstr(anynpu_last_error(), "rknn_init: this is the answer of the driver "));
	CHECK(rknn_destroy(npu) == 0 && rknn_destroy(ours) == 0);
	CHECK(most < 1e-5);
	printf("passing: driver and library recognize %d of %d, at most %.0e apart\n", right, count, most);
}

/* Contexts that the program has from the driver's own functions are the driver's for the library as well. */
static void opened(void)
{
	void *file = dlopen(driver, RTLD_NOW | RTLD_LOCAL), *symbol = file ? dlsym(file, "rknn_init") : NULL;
	int (*init)(rknn_context *, void *, uint32_t, uint32_t, rknn_init_extend *);
	CHECK(symbol);
	memcpy(&init, &symbol, sizeof init);
	rknn_context ours = load(onnx), theirs = 0;
	CHECK(init(&theirs, (void *)rknn, 0, 0, NULL) == 0);
	CHECK(by_driver(theirs) == 1 && by_driver(ours) == 0);
	CHECK(rknn_destroy(theirs) == 0 && rknn_destroy(ours) == 0);
}

static void lacks(void)
{
	rknn_context npu = load(rknn);
	for (int mixed = 0; mixed < 2; mixed++) {
		rknn_context ours = mixed ? load(onnx) : 0;
		CHECK(rknn_set_core_mask(npu, RKNN_NPU_CORE_0) == RKNN_ERR_FAIL);
		CHECK(strstr(anynpu_last_error(), driver) && strstr(anynpu_last_error(), "has no function rknn_set_core_mask"));
		CHECK(by_driver(npu) == 1);
		if (mixed)
			CHECK(rknn_set_core_mask(ours, RKNN_NPU_CORE_0) == 0 && rknn_destroy(ours) == 0);
	}
	CHECK(rknn_destroy(npu) == 0);
	/* The driver has no products of matrices either, so that the library makes them. */
	rknn_matmul_info info = {.M = 4, .K = 32, .N = 16, .type = RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32};
	rknn_matmul_io_attr io;
	rknn_matmul_ctx product = 0;
	CHECK(rknn_matmul_create(&product, &info, &io) == 0 && io.C.size == 4 * 16 * sizeof(float));
	CHECK(rknn_matmul_destroy(product) == 0);
}

/* A child that was forked after the first call has the driver's functions, and no others. */
static void in_child(rknn_context npu, rknn_context ours)
{
	int status;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		rknn_context more = 0;
		alarm(60);
		int good = by_driver(npu) == 1 && rknn_run(npu, NULL) == 0;
		good &= rknn_init(&more, (void *)onnx, 0, 0, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE;
		good &= !ours || rknn_run(ours, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE;
		_exit(good ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void forks(void)
{
	int status;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) { /* before the first call: as a program of its own */
		both();
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	rknn_context npu = load(rknn), ours;
	in_child(npu, 0);
	ours = load(onnx);
	in_child(npu, ours);
	CHECK(by_driver(npu) == 1 && by_driver(ours) == 0);
	CHECK(rknn_destroy(npu) == 0 && rknn_destroy(ours) == 0);
}

static atomic_int children;
static void on_child(int signal) { (void)signal, atomic_fetch_add(&children, 1); }

static void *wait_for_any(void *stop)
{
	while (!atomic_load((atomic_int *)stop))
		if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
			atomic_fetch_add(&children, 1);
	return NULL;
}

static void child(int ignored)
{
	atomic_int stop = 0;
	pthread_t waiter;
	signal(SIGCHLD, ignored ? SIG_IGN : on_child);
	CHECK(pthread_create(&waiter, NULL, wait_for_any, &stop) == 0);
	rknn_context npu = load(rknn);
	atomic_store(&stop, 1);
	CHECK(pthread_join(waiter, NULL) == 0);
	CHECK(by_driver(npu) == 1 && rknn_destroy(npu) == 0);
	CHECK(atomic_load(&children) == 0);
}

static void none(void)
{
	rknn_context context = 0;
	CHECK(rknn_init(&context, (void *)rknn, 0, 0, NULL) == RKNN_ERR_MODEL_INVALID);
	context = load(onnx);
	CHECK(by_driver(context) == 0 && rknn_destroy(context) == 0);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return puts("usage: passing MODE DRIVER RKNN ONNX IMAGE..."), 2;
	/* A driver in a namespace of its own has a C library of its own. */
	host_keeps = strcmp(argv[1], "namespace") == 0 ? ".so" : argv[2];
	driver = argv[2], rknn = argv[3], onnx = argv[4], images = argv + 5;
	host_begin();
	const char *mode = argv[1];
	if (strcmp(mode, "both") == 0 || strcmp(mode, "namespace") == 0)
		both();
	else if (strcmp(mode, "opened") == 0)
		opened();
	else if (strcmp(mode, "forks") == 0)
		forks();
	else if (strcmp(mode, "lacks") == 0)
		lacks();
	else if (strcmp(mode, "child") == 0 || strcmp(mode, "ignored") == 0)
		child(*mode == 'i');
	else
		none();
	return host_end();
}
