/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * 16 threads call the driver's contexts of rknn while another loads the first ONNX model: no call is misrouted. The
 * driver is that of npu.h, which a manifest names.
 *
 *     hammer DRIVER RKNN ONNX [opened] [callbacks] [forks] [before] [namespace]
 *
 * opened     the program opens the driver's file itself before the library does, so that the driver's calls of its own
 *            exports come by the library; every other context is made by the driver's own function
 * callbacks  the program registers an operator for each context: the driver calls it back in runs, also on threads of
 *            its own, and while it makes a duplicate; there the program calls the API for contexts of both, and makes
 *            some
 * forks      children are forked all the while: they have the driver's functions, and no others
 * before     a preloaded library stands before the API (before.c). With opened, what the driver then makes on a thread
 * of its own, or in a call that does not come by AnyNPU, cannot be known as its own and comes to AnyNPU: that
 *            is checked, and there are no such contexts and runs
 * namespace  the driver is in a namespace of its own
 */
#include <anynpu.h>
#include <dlfcn.h>
#include <pthread.h>
#include <rknn_api.h>
#include <rknn_custom_op.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "host_end.h"

#define NPU "fake-npu"
#define THREADS 16

static int rounds = 62500;
static const char *rknn, *onnx;
static int opened, callbacks, forks, before;
static int (*driver_init)(rknn_context *, void *, uint32_t, uint32_t, rknn_init_extend *);
static rknn_context ours;
static _Atomic int loaded, ended;
static _Atomic long misrouted, calls, called_back, children;

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

static void count(int good)
{
	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
	if (!good)
		atomic_fetch_add(&misrouted, 1);
}

/* The operator's compute. */
static int call_back(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t ins, rknn_custom_op_tensor *out,
	uint32_t outs)
{
	(void)in, (void)ins, (void)out, (void)outs;
	long n = atomic_fetch_add(&called_back, 1);
	count(by_driver((rknn_context)op->internal_ctx) == 1);
	if (!atomic_load(&loaded))
		return 0;
	count(by_driver(ours) == 0);
	rknn_tensor_mem *m = rknn_create_mem(ours, 64);
	count(m && m->priv_data && rknn_destroy_mem(ours, m) == 0);
	if (n % 100 == 0) {
		rknn_context more = 0, copy = 0;
		count(rknn_init(&more, (void *)onnx, 0, 0, NULL) == 0 && by_driver(more) == 0);
		count(rknn_dup_context(&more, &copy) == 0 && by_driver(copy) == 0 && rknn_destroy(copy) == 0);
		count(rknn_destroy(more) == 0);
	}
	return 0;
}

/* The operator's init, while the driver makes a duplicate. */
static int call_back_early(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t ins,
	rknn_custom_op_tensor *out, uint32_t outs)
{
	(void)in, (void)ins, (void)out, (void)outs;
	count(by_driver((rknn_context)op->internal_ctx) == 1);
	if (atomic_fetch_add(&called_back, 1) % 10 == 0 && atomic_load(&loaded)) {
		rknn_context more = 0;
		count(rknn_init(&more, (void *)onnx, 0, 0, NULL) == 0 && by_driver(more) == 0 && rknn_destroy(more) == 0);
	}
	return 0;
}

static void give_operator(rknn_context npu)
{
	rknn_custom_op op = {.version = 1, .target = RKNN_TARGET_TYPE_CPU, .op_type = "Called",
		.init = call_back_early, .compute = call_back};
	CHECK(rknn_register_custom_ops(npu, &op, 1) == 0);
}

static void *hammer(void *arg)
{
	rknn_context npu = (rknn_context)(uintptr_t)arg;
	for (int i = 0; i < rounds; i += 5) {
		if (i == rounds / 10 * 5) /* no thread is done before the model is there */
			while (!atomic_load(&loaded))
				if (by_driver(npu) != 1)
					atomic_fetch_add(&misrouted, 1);
		count(by_driver(npu) == 1);
		count(rknn_set_core_mask(npu, RKNN_NPU_CORE_0) == 0);
		rknn_tensor_mem *m = rknn_create_mem(npu, 64);
		count(m && !m->priv_data);
		count(m && rknn_destroy_mem(npu, m) == 0);
		if (i % 5000 == 0) {
			rknn_context copy = 0;
			count(rknn_dup_context(&npu, &copy) == 0 && by_driver(copy) == 1);
			count((opened && before) || rknn_run(copy, NULL) == 0);
			rknn_destroy(copy);
		} else if (callbacks && i % 250 == 0)
			count(rknn_run(npu, NULL) == 0);
		else
			count(rknn_query(npu, RKNN_QUERY_IN_OUT_NUM, &(rknn_input_output_num){0}, sizeof(rknn_input_output_num)) == 0);
	}
	atomic_fetch_add(&ended, 1);
	return NULL;
}

static void *first_model(void *arg)
{
	(void)arg;
	while (atomic_load(&calls) < THREADS * (long)rounds / 4)
		usleep(100);
	ours = load(onnx);
	atomic_store(&loaded, 1);
	while (atomic_load(&ended) < THREADS)
		if (by_driver(ours) != 0)
			atomic_fetch_add(&misrouted, 1);
	return NULL;
}

static void *forking(void *arg)
{
	rknn_context npu = (rknn_context)(uintptr_t)arg;
	while (atomic_load(&ended) < THREADS) {
		int status, had = atomic_load(&loaded);
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			rknn_context more = 0;
			alarm(60);
			int good = by_driver(npu) == 1 && rknn_set_core_mask(npu, RKNN_NPU_CORE_0) == 0;
			good &= rknn_init(&more, (void *)onnx, 0, 0, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE && more == 0;
			good &= !had || rknn_run(ours, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE;
			_exit(good ? 0 : 1);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		count(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		atomic_fetch_add(&children, 1);
		usleep(1000);
	}
	return NULL;
}

/* What a driver makes for itself where another library than AnyNPU's has its names first. */
static void check_limit(rknn_context npu)
{
	rknn_context context = 0;
	CHECK(driver_init(&context, (void *)rknn, 0, 0, NULL) == RKNN_ERR_MODEL_INVALID && context == 0);
	CHECK(rknn_run(npu, NULL) == RKNN_ERR_MODEL_INVALID);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS + 2];
	rknn_context npu[THREADS];
	int alone = 0;
	if (argc < 4)
		return puts("usage: hammer DRIVER RKNN ONNX [opened] [callbacks] [forks] [before] [namespace]"), 2;
	host_keeps = argv[1];
	rknn = argv[2], onnx = argv[3];
	for (int i = 4; i < argc; i++) {
		opened |= strcmp(argv[i], "opened") == 0;
		callbacks |= strcmp(argv[i], "callbacks") == 0;
		forks |= strcmp(argv[i], "forks") == 0;
		before |= strcmp(argv[i], "before") == 0;
		alone |= strcmp(argv[i], "namespace") == 0;
	}
	if (alone) /* a C library of its own stays too */
		host_keeps = ".so";
	if (getenv("ROUNDS"))
		rounds = atoi(getenv("ROUNDS"));
	host_begin();
	if (opened) {
		void *file = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *symbol = file ? dlsym(file, "rknn_init") : NULL;
		CHECK(symbol);
		memcpy(&driver_init, &symbol, sizeof symbol);
	}
	for (int i = 0; i < THREADS; i++) {
		if (opened && !before && i % 2)
			CHECK(driver_init(&npu[i], (void *)rknn, 0, 0, NULL) == 0);
		else
			npu[i] = load(rknn);
		if (callbacks)
			give_operator(npu[i]);
	}
	if (opened && before)
		check_limit(npu[0]);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, hammer, (void *)(uintptr_t)npu[i]) == 0);
	CHECK(pthread_create(&threads[THREADS], NULL, first_model, NULL) == 0);
	if (forks)
		CHECK(pthread_create(&threads[THREADS + 1], NULL, forking, (void *)(uintptr_t)npu[0]) == 0);
	for (int i = 0; i < THREADS + 1 + forks; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(rknn_destroy(npu[i]) == 0);
	CHECK(rknn_destroy(ours) == 0);
	printf("passing: misrouted %ld of %ld, %ld callbacks, %ld children", misrouted, calls, called_back, children);
	for (int i = 4; i < argc; i++)
		printf(" %s", argv[i]);
	puts("");
	CHECK(misrouted == 0 && calls >= THREADS * (long)rounds && (called_back > 0) == callbacks && (children > 0) == forks);
	return host_end();
}
