/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: ohnn_threads [SECONDS] Threads that create, compile, run and destroy, alone and together on one compilation
 * and one executor, without any lock; then models, compilations and executors in pairs. Nothing is left behind.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "ohnn_host.h"

#define THREADS 32

static atomic_int stop;
static atomic_ulong rounds;
static OH_NNCompilation *shared_compilation;
static OH_NNExecutor *shared_executor;

/* Tensors of a descriptor of an executor, in both ways of making them. */
static void describe(OH_NNExecutor *e, int n)
{
	size_t bytes = 0;
	NN_TensorDesc *d = OH_NNExecutor_CreateInputTensorDesc(e, 0);
	CHECK(d != NULL, "no descriptor");
	OK(OH_NNTensorDesc_GetByteSize(d, &bytes));
	CHECK(bytes == (size_t)n * sizeof(float), "%zu bytes", bytes);
	NN_Tensor *t = OH_NNTensor_CreateWithSize(0, d, 2 * bytes);
	CHECK(t != NULL, "no tensor");
	OK(OH_NNTensor_Destroy(&t));
	OK(OH_NNTensorDesc_Destroy(&d));
}

static void legacy(OH_NNExecutor *e, int n)
{
	const int32_t shape[] = {1, n};
	OH_NN_Tensor info = {OH_NN_FLOAT32, 2, shape, NULL, OH_NN_TENSOR};
	OH_NN_Memory *a = OH_NNExecutor_AllocateInputMemory(e, 0, (size_t)n * sizeof(float));
	OH_NN_Memory *y = OH_NNExecutor_AllocateOutputMemory(e, 0, (size_t)n * sizeof(float));
	float *b = (float *)malloc((size_t)n * sizeof(float));
	CHECK(a != NULL && y != NULL && b != NULL, "no memory");
	for (int i = 0; i < n; i++) {
		((float *)a->data)[i] = 1;
		b[i] = 2;
	}
	OK(OH_NNExecutor_SetInputWithMemory(e, 0, &info, a));
	OK(OH_NNExecutor_SetInput(e, 1, &info, b, (size_t)n * sizeof(float)));
	OK(OH_NNExecutor_SetOutputWithMemory(e, 0, y));
	OK(OH_NNExecutor_Run(e));
	CHECK(((float *)y->data)[n - 1] == 3, "wrong result");
	OH_NNExecutor_DestroyInputMemory(e, 0, &a);
	OH_NNExecutor_DestroyOutputMemory(e, 0, &y);
	CHECK(a == NULL && y == NULL, "memory was not freed");
	free(b);
}

static void *work(void *arg)
{
	int n = 1 + (int)(uintptr_t)arg * 7;
	while (!stop) {
		OH_NNExecutor *e = ohnn_executor(ohnn_sum(n));
		ohnn_adds(e, n);
		describe(e, n);
		legacy(e, n);
		OH_NNExecutor_Destroy(&e);
		ohnn_adds(shared_executor, 64);
		e = OH_NNExecutor_Construct(shared_compilation);
		CHECK(e != NULL, "no executor of the shared compilation");
		ohnn_adds(e, 64);
		OH_NNExecutor_Destroy(&e);
		rounds++;
	}
	return NULL;
}

static void together(void *(*f)(void *), int threads, unsigned seconds)
{
	pthread_t t[THREADS];
	stop = 0;
	for (int i = 0; i < threads; i++)
		CHECK(pthread_create(&t[i], NULL, f, (void *)(uintptr_t)i) == 0, "pthread_create");
	struct timespec time = {(time_t)seconds, 0};
	while (seconds && nanosleep(&time, &time) != 0)
		;
	stop = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

static pthread_barrier_t barrier;
static OH_NNModel *models[2];
static OH_NNCompilation *compilations[2];
static OH_NNExecutor *executors[2];

static void *pairs(void *arg)
{
	uintptr_t i = (uintptr_t)arg;
	for (int round = 0; round < 100; round++) {
		pthread_barrier_wait(&barrier);
		models[i] = ohnn_sum(16);
		pthread_barrier_wait(&barrier);
		compilations[i] = OH_NNCompilation_Construct(models[0]); /* both of one model */
		OK(OH_NNCompilation_Build(compilations[i]));
		pthread_barrier_wait(&barrier);
		executors[i] = OH_NNExecutor_Construct(compilations[1]); /* both of one compilation */
		ohnn_adds(executors[i], 16);
		pthread_barrier_wait(&barrier);
		OH_NNModel_Destroy(&models[i]);
		OH_NNCompilation_Destroy(&compilations[1 - i]);
		ohnn_adds(executors[1 - i], 16);
		pthread_barrier_wait(&barrier);
		OH_NNExecutor_Destroy(&executors[i]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	host_begin();
	shared_compilation = ohnn_compile(ohnn_sum(64));
	shared_executor = OH_NNExecutor_Construct(shared_compilation);
	ohnn_adds(shared_executor, 64);
	describe(shared_executor, 64);
	legacy(shared_executor, 64);

	together(work, THREADS, seconds);
	pthread_barrier_init(&barrier, NULL, 2);
	together(pairs, 2, 0);
	CHECK(rounds >= THREADS, "%lu rounds of %d threads", (unsigned long)rounds, THREADS);
	OH_NNExecutor_Destroy(&shared_executor);
	OH_NNCompilation_Destroy(&shared_compilation);
	printf("%lu rounds\n", (unsigned long)rounds);
	return host_end();
}
