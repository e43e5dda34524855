/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What hbDNN's tasks cost besides a run: submitting, waiting and releasing for the same model as OH_NN's RunSync. Then
 * the tasks that 16 threads get through, beside one, and what the library does when there are none.
 *
 *     task [ROUNDS]
 */
#include <pthread.h>
#include <time.h>

#include "hbdnn_model.h"

#define RUNS 500
#define THREADS 16

static double clock_of(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double microseconds(void) { return clock_of(CLOCK_MONOTONIC); }

/* Computes RUNS tasks of a model with tensors of its own. */
static void *submit(void *model)
{
	struct tensors t;
	tensors_make(&t, model);
	for (int i = 0; i < RUNS; i++) {
		hbDNNTaskHandle_t task = NULL;
		OK(infer(&task, &t, model, 0, 0, 0));
		OK(hbDNNWaitTaskDone(task, 0));
		OK(hbDNNReleaseTask(task));
	}
	tensors_free(&t);
	return NULL;
}

/* Tasks per second of n threads that submit side by side. */
static double per_second(hbDNNHandle_t model, int n)
{
	pthread_t threads[THREADS];
	double start = microseconds();
	for (int i = 0; i < n; i++)
		CHECK(!pthread_create(&threads[i], NULL, submit, model), "no thread");
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return n * RUNS / (microseconds() - start) * 1e6;
}

static void throughput(hbDNNHandle_t model, const char *what, int rounds)
{
	double one = 0, all = 0;
	for (int i = 0; i < rounds; i++) {
		double now = per_second(model, 1);
		one = now > one ? now : one;
		now = per_second(model, THREADS);
		all = now > all ? now : all;
	}
	printf("%-52s %9.0f tasks a second, 1 thread: %.0f, %.2f times\n", what, all, one, all / one);
}

static double smaller(double a, double b) { return a < b ? a : b; }

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	const int64_t size = 1, dims[2] = {1, 1};
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = relu_pack(&size, 1, &model);
	struct tensors t;
	tensors_make(&t, model);
	struct rknn_message bytes = rknn_relu(dims, 2);
	OH_NNCompilation *compilation = OH_NNCompilation_ConstructWithOfflineModelBuffer(bytes.bytes, bytes.size);
	CHECK(compilation != NULL && OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS, "Build: %s", anynpu_last_error());
	OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
	CHECK(executor != NULL, "%s", anynpu_last_error());
	NN_TensorDesc *desc = OH_NNExecutor_CreateInputTensorDesc(executor, 0);
	NN_Tensor *in = OH_NNTensor_Create(0, desc), *out = OH_NNTensor_Create(0, desc);
	double sync = 1e18, task = 1e18, whole = 1e18;
	for (int round = 0; round < rounds; round++) {
		double start = microseconds();
		for (int i = 0; i < RUNS; i++)
			CHECK(OH_NNExecutor_RunSync(executor, &in, 1, &out, 1) == OH_NN_SUCCESS, "%s", anynpu_last_error());
		sync = smaller(sync, (microseconds() - start) / RUNS);
		for (int timeout = 0; timeout <= 1000; timeout += 1000) {
			start = microseconds();
			for (int i = 0; i < RUNS; i++) {
				hbDNNTaskHandle_t handle = NULL;
				OK(infer(&handle, &t, model, 0, 0, 0));
				OK(hbDNNWaitTaskDone(handle, timeout));
				OK(hbDNNReleaseTask(handle));
			}
			double *best = timeout ? &task : &whole;
			*best = smaller(*best, (microseconds() - start) / RUNS);
		}
	}
	printf("%-52s %9.2f us\n", "OH_NNExecutor_RunSync, RELU of 1 element", sync);
	printf("%-52s %9.2f us, %.2f us more (aim 15)\n", "hbDNN: submit, wait for ever, release", whole, whole - sync);
	printf("%-52s %9.2f us, %.2f us more (aim 15)\n", "hbDNN: submit, wait at most a second, release", task, task - sync);
	OH_NNTensor_Destroy(&in);
	OH_NNTensor_Destroy(&out);
	OH_NNTensorDesc_Destroy(&desc);
	OH_NNExecutor_Destroy(&executor);
	OH_NNCompilation_Destroy(&compilation);
	tensors_free(&t);
	OK(hbDNNRelease(pack));

	const int64_t sizes[2] = {1, 100000};
	hbDNNHandle_t models[2];
	pack = relu_pack(sizes, 2, models);
	throughput(models[0], "hbDNN: 16 threads, RELU of 1 element", rounds);
	throughput(models[1], "hbDNN: 16 threads, RELU of 100,000 elements", (rounds + 3) / 4);
	struct timespec second = {1, 0};
	nanosleep(&second, NULL); /* Go puts away what the tasks left */
	double busy = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	nanosleep(&second, NULL);
	printf("%-52s %9.2f us of processors in a second\n", "hbDNN: nothing to do",
		clock_of(CLOCK_PROCESS_CPUTIME_ID) - busy);
	OK(hbDNNRelease(pack));
	return 0;
}
