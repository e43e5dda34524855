/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous runs: who calls back, with what, in which order, when time runs out, and when the executor ends.
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "ohnn_host.h"

#define RUNS 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;

/* What the callbacks were told, in the order of the calls. */
static struct end {
	void *user;
	OH_NN_ReturnCode code;
	void **outputs;
	int32_t count;
	pthread_t thread;
} ends[256];
static int count;

static void note(void *user, OH_NN_ReturnCode code, void **outputs, int32_t n)
{
	pthread_mutex_lock(&lock);
	ends[count++] = (struct end){user, code, outputs, n, pthread_self()};
	pthread_cond_broadcast(&called);
	pthread_mutex_unlock(&lock);
}

static void wait_for(int n)
{
	pthread_mutex_lock(&lock);
	while (count < n)
		pthread_cond_wait(&called, &lock);
	pthread_mutex_unlock(&lock);
}

static int so_far(void)
{
	pthread_mutex_lock(&lock);
	int n = count;
	pthread_mutex_unlock(&lock);
	return n;
}

static void forget(void)
{
	pthread_mutex_lock(&lock);
	count = 0;
	pthread_mutex_unlock(&lock);
}

static int users[RUNS];
static NN_Tensor *in[2], *out[1];

static void tensors(int rows, int columns)
{
	in[0] = ohnn_tensor(rows, columns, 1.5f);
	in[1] = ohnn_tensor(rows, columns, 2.0f);
	out[0] = ohnn_tensor(rows, columns, 0);
}

static void end_tensors(void)
{
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out[0]));
}

static OH_NN_ReturnCode start(OH_NNExecutor *e, int32_t timeout, void *user)
{
	return OH_NNExecutor_RunAsync(e, in, 2, out, 1, timeout, user);
}

static OH_NNExecutor *slow(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_powers(192, 12));
	OK(OH_NNExecutor_SetOnRunDone(e, note));
	return e;
}

static void order_and_data(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(1000));
	tensors(1, 1000);
	CHECK(start(e, 0, users) == OH_NN_OPERATION_FORBIDDEN, "a run that nothing would tell the end of");
	OK(OH_NNExecutor_SetOnRunDone(e, note));
	CHECK(start(e, 0, NULL) == OH_NN_INVALID_PARAMETER, "NULL user data");
	CHECK(start(e, -1, users) == OH_NN_INVALID_PARAMETER, "a negative time");
	for (int i = 0; i < RUNS; i++)
		OK(start(e, 60000, &users[i]));
	wait_for(RUNS);
	for (int i = 0; i < RUNS; i++) {
		CHECK(ends[i].user == &users[i], "end %d is of another run", i);
		CHECK(ends[i].code == OH_NN_SUCCESS, "end %d has code %d", i, (int)ends[i].code);
		CHECK(ends[i].outputs == (void **)out && ends[i].count == 1, "end %d: outputs %p, %d", i, (void *)ends[i].outputs,
			ends[i].count);
		CHECK(!pthread_equal(ends[i].thread, pthread_self()), "end %d: the callback came on the calling thread", i);
	}
	CHECK(((float *)OH_NNTensor_GetDataBuffer(out[0]))[999] == 3.5f, "wrong result");
	OH_NNExecutor_Destroy(&e);
	end_tensors();
	forget();
}

/* The second run waits behind the first, and its time counts from the call. */
static void timeout(void)
{
	OH_NNExecutor *e = slow();
	tensors(192, 192);
	for (int i = 0; i < 4; i++)
		OK(start(e, 0, &users[0]));
	OK(start(e, 1, &users[1]));
	OK(start(e, 60000, &users[2]));
	wait_for(6);
	CHECK(ends[4].user == &users[1] && ends[4].code == OH_NN_TIMEOUT, "code %d, want OH_NN_TIMEOUT", (int)ends[4].code);
	CHECK(ends[4].outputs == NULL && ends[4].count == 0, "outputs are told for a run that did not end");
	CHECK(ends[5].user == &users[2] && ends[5].code == OH_NN_SUCCESS, "the run after has code %d", (int)ends[5].code);
	OH_NNExecutor_Destroy(&e);
	end_tensors();
	forget();
}

/*
 * Destroying ends the run under way, refuses the others, and returns after every callback. Tensors in use cannot be
 * destroyed.
 */
static void destroy_while_running(void)
{
	OH_NNExecutor *e = slow();
	tensors(192, 192);
	for (int i = 0; i < 8; i++)
		OK(start(e, 0, &users[i]));
	NN_Tensor *y = out[0];
	OH_NN_ReturnCode code = OH_NNTensor_Destroy(&y);
	CHECK(code == OH_NN_SUCCESS || y == out[0], "a refused destroy cleared the variable");
	CHECK(code != OH_NN_SUCCESS || so_far() == 8, "a tensor in use was destroyed");
	OH_NNExecutor_Destroy(&e);
	CHECK(e == NULL, "the variable was not cleared");
	CHECK(so_far() == 8, "%d of 8 callbacks when the destroy returned", so_far());
	bool ended = false;
	for (int i = 0; i < 8; i++) {
		CHECK(ends[i].user == &users[i], "end %d is of another run", i);
		CHECK(ends[i].code == OH_NN_SUCCESS || ends[i].code == OH_NN_FAILED, "end %d has code %d", i, (int)ends[i].code);
		CHECK(!ended || ends[i].code == OH_NN_FAILED, "run %d succeeded after one that was ended", i);
		ended = ended || ends[i].code == OH_NN_FAILED;
	}
	if (code == OH_NN_SUCCESS)
		out[0] = ohnn_tensor(1, 1, 0);
	end_tensors();
	forget();
}

static OH_NNExecutor *own;

static void destroy_inside(void *user, OH_NN_ReturnCode code, void **outputs, int32_t n)
{
	pthread_mutex_lock(&lock);
	bool first = count == 0;
	pthread_mutex_unlock(&lock);
	/* The call that started the run may not have returned yet: as long as it holds the executor, Destroy is refused. */
	for (int i = 0; first && own != NULL && i < 100000; i++) {
		OH_NNExecutor_Destroy(&own);
		usleep(100);
	}
	note(user, code, outputs, n);
}

static void destroy_from_callback(void)
{
	own = ohnn_executor(ohnn_sum(8));
	OK(OH_NNExecutor_SetOnRunDone(own, destroy_inside));
	tensors(1, 8);
	int accepted = 0;
	OH_NNExecutor *e = own;
	for (int i = 0; i < 4; i++)
		accepted += start(e, 0, &users[i]) == OH_NN_SUCCESS; /* the executor may have ended before the later ones */
	wait_for(accepted);
	CHECK(accepted > 0 && own == NULL, "%d runs accepted, executor %p", accepted, (void *)own);
	for (int i = 1; i < accepted; i++)
		CHECK(ends[i].code == OH_NN_FAILED, "run %d has code %d after the end of the executor", i, (int)ends[i].code);
	end_tensors();
	forget();
}

static int left;

static void again(void *user, OH_NN_ReturnCode code, void **outputs, int32_t n)
{
	if (--left > 0)
		OK(start((OH_NNExecutor *)user, 0, user));
	note(user, code, outputs, n);
}

static void start_from_callback(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(8));
	OK(OH_NNExecutor_SetOnRunDone(e, again));
	tensors(1, 8);
	left = 20;
	OK(start(e, 0, e));
	wait_for(20);
	OH_NNExecutor_Destroy(&e);
	end_tensors();
	forget();
}

int main(void)
{
	host_begin();
	order_and_data();
	timeout();
	destroy_while_running();
	destroy_from_callback();
	start_from_callback();
	return host_end();
}
