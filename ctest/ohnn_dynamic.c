/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One compilation with open dimensions, eight executors in eight threads, every thread with sizes of its own that
 * change from run to run. y = x w for x [?, 3] and w [3, 2] given at the run, so every element of the result is known
 * in closed form.
 */
#include <pthread.h>

#include "ohnn_host.h"

#define THREADS 8
#define RUNS 200

static OH_NNCompilation *compilation;

static void *work(void *arg)
{
	const int self = (int)(intptr_t)arg;
	OH_NNExecutor *e = OH_NNExecutor_Construct(compilation);
	CHECK(e != NULL, "thread %d", self);
	for (int run = 0; run < RUNS; run++) {
		const int rows = 1 + (self * 7 + run) % 13;
		NN_Tensor *in[] = {ohnn_tensor(rows, 3, 0), ohnn_tensor(3, 2, 0)}, *out = ohnn_tensor(rows, 2, -1);
		float *x = OH_NNTensor_GetDataBuffer(in[0]), *w = OH_NNTensor_GetDataBuffer(in[1]);
		for (int i = 0; i < rows * 3; i++)
			x[i] = (float)(self + i);
		for (int i = 0; i < 6; i++)
			w[i] = (float)(i + 1);
		OK(OH_NNExecutor_RunSync(e, in, 2, &out, 1));
		int32_t *shape = NULL;
		uint32_t rank = 0;
		OK(OH_NNExecutor_GetOutputShape(e, 0, &shape, &rank));
		CHECK(rank == 2 && shape[0] == rows && shape[1] == 2, "thread %d, run %d", self, run);
		const float *y = OH_NNTensor_GetDataBuffer(out);
		for (int i = 0; i < rows; i++) {
			for (int j = 0; j < 2; j++) {
				int exact = 0;
				for (int k = 0; k < 3; k++)
					exact += (self + 3 * i + k) * (2 * k + j + 1);
				CHECK(y[2 * i + j] == (float)exact, "thread %d, run %d, element %d,%d: %g, want %d", self, run, i, j, y[2 * i + j],
					exact);
			}
		}
		OK(OH_NNTensor_Destroy(&in[0]));
		OK(OH_NNTensor_Destroy(&in[1]));
		OK(OH_NNTensor_Destroy(&out));
	}
	OH_NNExecutor_Destroy(&e);
	return NULL;
}

int main(void)
{
	host_begin();
	OH_NNModel *m = OH_NNModel_Construct();
	CHECK(m != NULL, "no model");
	ohnn_add_tensor(m, -1, 3);
	ohnn_add_tensor(m, 3, 2);
	ohnn_add_tensor(m, -1, 2);
	ohnn_add_op(m, OH_NN_OPS_MATMUL, 0, 1, 2);
	ohnn_finish(m, 0, 1, 2);
	compilation = ohnn_compile(m);
	pthread_t threads[THREADS];
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "thread %d", (int)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	OH_NNCompilation_Destroy(&compilation);
	printf("%d runs of %d threads are right\n", THREADS * RUNS, THREADS);
	return host_end();
}
