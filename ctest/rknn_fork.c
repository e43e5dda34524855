/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Processes that fork, as pools of Python processes do: a child of a parent that has called nothing works on its own;
 * after the parent's first call every function of a child returns RKNN_ERR_DEVICE_UNAVAILABLE, or NULL, at once, and
 * the parent goes on.
 */
#include <sys/wait.h>

#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

static rknn_context open_model(void)
{
	static const int64_t dims[] = {1, 4};
	struct rknn_message model = rknn_relu(dims, 2);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

static void infer(rknn_context ctx)
{
	float x[4] = {-1, 2, -3, 4}, y[4];
	rknn_input in = {.buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32};
	rknn_output out = {.want_float = 1, .is_prealloc = 1, .buf = y, .size = sizeof y};
	OK(rknn_inputs_set(ctx, 1, &in));
	OK(rknn_run(ctx, NULL));
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	CHECK(y[0] == 0 && y[1] == 2 && y[2] == 0 && y[3] == 4, "results");
}

static int own_life(void)
{
	alarm(300); /* a hang ends as SIGALRM */
	host_begin();
	rknn_context ctx = open_model();
	infer(ctx);
	OK(rknn_destroy(ctx));
	return host_end();
}

static int refused(rknn_context ctx)
{
	rknn_context other = 0;
	rknn_input_output_num count;
	rknn_output out = {.want_float = 1};
	alarm(300);
	host_begin();
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE, "rknn_run in a forked child");
	CHECK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count) == RKNN_ERR_DEVICE_UNAVAILABLE,
		"rknn_query in a forked child");
	CHECK(rknn_outputs_get(ctx, 1, &out, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE, "rknn_outputs_get in a forked child");
	CHECK(rknn_init(&other, (void *)"model", 0, 0, NULL) == RKNN_ERR_DEVICE_UNAVAILABLE && other == 0,
		"rknn_init in a forked child");
	CHECK(rknn_dup_context(&ctx, &other) == RKNN_ERR_DEVICE_UNAVAILABLE, "rknn_dup_context in a forked child");
	CHECK(rknn_create_mem(ctx, 64) == NULL, "rknn_create_mem in a forked child");
	CHECK(rknn_destroy(ctx) == RKNN_ERR_DEVICE_UNAVAILABLE, "rknn_destroy in a forked child");
	return host_end();
}

static void ends_well(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child ended with status %#x", (unsigned)status);
}

int main(void)
{
	pid_t children[4];
	host_begin();
	for (int i = 0; i < 4; i++)
		if ((children[i] = fork()) == 0)
			_exit(own_life());
	for (int i = 0; i < 4; i++)
		ends_well(children[i]);
	rknn_context ctx = open_model();
	for (int i = 0; i < 10; i++) {
		infer(ctx);
		pid_t pid = fork();
		if (pid == 0)
			_exit(refused(ctx));
		ends_well(pid);
	}
	infer(ctx);
	OK(rknn_destroy(ctx));
	puts("rknn_fork: ok");
	return host_end();
}
