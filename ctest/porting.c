/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Makes the mistakes of the table in docs/porting.md and looks for the words that the table promises.
 *
 *     porting DIGITS_ONNX
 */
#include <rknn_api.h>

#include "host.h"

static char said[4096];

/* Keeps the last message, without the backslashes before its inner quotes. */
static void take(int level, const char *component, const char *message, void *user)
{
	size_t n = 0;
	(void)level, (void)component, (void)user;
	for (; *message && n < sizeof said - 1; message++)
		if (*message != '\\')
			said[n++] = *message;
	said[n] = 0;
}

static void says(const char *want)
{
	CHECK(strstr(said, want) != NULL, "said:\n%s\nwant:\n%s", said, want);
	said[0] = 0;
}

/* The model without the file of metadata beside it. */
static rknn_context open_plain(const char *path)
{
	static char bytes[1 << 20];
	FILE *f = fopen(path, "rb");
	CHECK(f != NULL, "%s", path);
	size_t size = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	rknn_context ctx = 0;
	CHECK(rknn_init(&ctx, bytes, (uint32_t)size, 0, NULL) == RKNN_SUCC, "rknn_init");
	return ctx;
}

static void inputs_and_outputs(rknn_context ctx)
{
	static unsigned char image[64];
	static float small[2];
	rknn_input in = {.buf = image, .size = sizeof image, .fmt = RKNN_TENSOR_NHWC};
	rknn_output out = {.want_float = 1};
	CHECK(rknn_inputs_set(ctx, 1, &in) < 0, "a type that was not set");
	says("inputs[0].size is 64: input \"image\" has 64 elements, which as RKNN_TENSOR_FLOAT32, the type in "
	     "inputs[0].type, take 256 bytes");
	in.type = RKNN_TENSOR_UINT8;
	in.fmt = RKNN_TENSOR_NC1HWC2;
	CHECK(rknn_inputs_set(ctx, 1, &in) < 0, "NC1HWC2");
	says("inputs[0].fmt is RKNN_TENSOR_NC1HWC2: input \"image\" takes RKNN_TENSOR_NHWC or RKNN_TENSOR_NCHW");
	in.fmt = RKNN_TENSOR_NHWC;
	CHECK(rknn_inputs_set(ctx, 1, &in) == RKNN_SUCC, "rknn_inputs_set");
	says("the model's metadata give neither mean nor std");
	CHECK(rknn_outputs_get(ctx, 1, &out, NULL) < 0, "results before a run");
	says("context has no results: rknn_run must succeed");
	CHECK(rknn_run(ctx, NULL) == RKNN_SUCC, "rknn_run");
	out = (rknn_output){.want_float = 1, .is_prealloc = 1, .buf = small, .size = 10};
	CHECK(rknn_outputs_get(ctx, 1, &out, NULL) < 0, "a small buffer");
	says("outputs[0].size is 10: output \"probabilities\" as RKNN_TENSOR_FLOAT32, with outputs[0].want_float 1, "
	     "takes 40 bytes");
	for (int i = 0; i < 256; i++) {
		rknn_output kept = {.want_float = 1};
		CHECK(rknn_outputs_get(ctx, 1, &kept, NULL) == RKNN_SUCC, "rknn_outputs_get");
	}
	says("buffers of rknn_outputs_get pile up");
}

static void memory(rknn_context ctx)
{
	rknn_tensor_attr attr = {.index = 0};
	CHECK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr) == RKNN_SUCC, "rknn_query");
	attr.type = RKNN_TENSOR_FLOAT32;
	rknn_tensor_mem *mem = rknn_create_mem(ctx, 16);
	CHECK(mem != NULL && rknn_set_io_mem(ctx, mem, &attr) < 0, "memory that is too small");
	says("mem->size is 16: \"image\" as RKNN_TENSOR_FLOAT32 in RKNN_TENSOR_NHWC takes 256 bytes");
	CHECK(rknn_destroy_mem(ctx, mem) == RKNN_SUCC, "rknn_destroy_mem");
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: porting DIGITS_ONNX");
	host_begin();
	setenv("ANYNPU_LOG", "warn", 1);
	anynpu_set_log_callback(take, NULL);
	rknn_context ctx = open_plain(argv[1]);
	inputs_and_outputs(ctx);
	memory(ctx);
	CHECK(rknn_destroy(ctx) == RKNN_SUCC, "rknn_destroy");
	CHECK(rknn_run(ctx, NULL) < 0, "a context that was destroyed");
	says("a handle that was destroyed");
	anynpu_set_log_callback(NULL, NULL);
	return host_end();
}
