/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_cycles MODEL COUNT
 *
 * A context is made, run and destroyed COUNT times, from bytes and from the file MODEL, with duplicates, bound memory,
 * buffers that are released and some that are not. Memory, descriptors and mappings of the process do not grow with the
 * number of cycles.
 */
#include <rknn_api.h>

#include "growth.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { N = 16 };

static void small(int i)
{
	static const int64_t dims[] = {1, N};
	struct rknn_message model = rknn_relu(dims, 2);
	rknn_context ctx = 0, twin = 0;
	float x[N];
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, i % 3 ? 0 : RKNN_FLAG_COLLECT_PERF_MASK, NULL));
	OK(rknn_dup_context(&ctx, &twin));
	for (int k = 0; k < N; k++)
		x[k] = (float)(i % 1000 + k - 8);
	rknn_input in = {.buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32};
	OK(rknn_inputs_set(ctx, 1, &in));
	rknn_tensor_attr attr = {.index = 0};
	rknn_tensor_mem *m = rknn_create_mem(twin, sizeof x);
	CHECK(m != NULL, "%s", anynpu_last_error());
	OK(rknn_query(twin, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr));
	attr.type = RKNN_TENSOR_FLOAT32;
	OK(rknn_set_io_mem(twin, m, &attr));
	memcpy(m->virt_addr, x, sizeof x);
	rknn_context both[2] = {ctx, twin};
	for (int c = 0; c < 2; c++) {
		rknn_output out = {.want_float = 1};
		rknn_perf_detail detail;
		OK(rknn_run(both[c], NULL));
		OK(rknn_outputs_get(both[c], 1, &out, NULL));
		for (int k = 0; k < N; k++)
			CHECK(((float *)out.buf)[k] == (x[k] > 0 ? x[k] : 0), "cycle %d, element %d: %g", i, k,
				(double)((float *)out.buf)[k]);
		OK(rknn_query(both[c], RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail));
		if (i % 2)
			OK(rknn_outputs_release(both[c], 1, &out)); /* else rknn_destroy frees it */
	}
	OK(rknn_destroy(i % 2 ? ctx : twin));
	OK(rknn_destroy_mem(0, m));
	OK(rknn_destroy(i % 2 ? twin : ctx));
	CHECK(rknn_init(&ctx, (void *)"no model", 8, 0, NULL) == RKNN_ERR_MODEL_INVALID, "what is no model");
}

/* A network of convolutions from a file, whose results add up to 1. */
static void network(const char *path)
{
	rknn_context ctx = 0;
	rknn_tensor_attr in = {.index = 0}, out = {.index = 0};
	OK(rknn_init(&ctx, (void *)path, 0, 0, NULL));
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &in, sizeof in));
	OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out));
	uint8_t *image = calloc(1, in.n_elems);
	rknn_input input = {.buf = image, .size = in.n_elems, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
	rknn_output output = {.want_float = 1};
	OK(rknn_inputs_set(ctx, 1, &input));
	OK(rknn_run(ctx, NULL));
	OK(rknn_outputs_get(ctx, 1, &output, NULL));
	float sum = 0;
	for (uint32_t i = 0; i < out.n_elems; i++)
		sum += ((float *)output.buf)[i];
	CHECK(sum > 0.999f && sum < 1.001f, "the results add up to %g", (double)sum);
	free(image);
	OK(rknn_destroy(ctx));
}

static void cycle(const char *path, int i)
{
	small(i);
	network(path);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3, "usage: rknn_cycles MODEL COUNT");
	host_begin();
	growth_check("rknn_cycles", atoi(argv[2]), cycle, argv[1]);
	return host_end();
}
