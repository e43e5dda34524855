/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two models in turn on memory of the program: one block for the intermediate results of both, as large as the larger
 * needs, one for each one's weights, and inputs and outputs bound once. All memory is allocated through the first
 * context; the common block ends before what was made of it, and before the contexts.
 */
#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { MODELS = 2, N = 40 };

/* y = Relu(x * w + b) with w and b constants. */
static rknn_context open_model(int which)
{
	static const int64_t dims[] = {1, N}, one[] = {N};
	float w[N], b[N];
	struct rknn_message graph = {0};
	for (int i = 0; i < N; i++) {
		w[i] = (float)(which + 1) * (i % 2 ? -1.0f : 1.0f);
		b[i] = (float)(i - 20);
	}
	rknn_node(&graph, "Mul", "p", "x", "w");
	rknn_node(&graph, "Add", "s", "p", "b");
	rknn_node(&graph, "Relu", "y", "s", NULL);
	rknn_constant(&graph, "w", one, 1, w, sizeof w);
	rknn_constant(&graph, "b", one, 1, b, sizeof b);
	rknn_port(&graph, 11, "x", dims, 2);
	rknn_port(&graph, 12, "y", dims, 2);
	struct rknn_message model = rknn_model(graph);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, RKNN_FLAG_MEM_ALLOC_OUTSIDE, NULL));
	return ctx;
}

static float expected(int which, int i, float x)
{
	float v = x * (float)(which + 1) * (i % 2 ? -1.0f : 1.0f) + (float)(i - 20);
	return v > 0 ? v : 0;
}

static rknn_tensor_mem *create(rknn_context ctx, uint32_t size)
{
	rknn_tensor_mem *m = rknn_create_mem(ctx, size);
	CHECK(m != NULL && m->virt_addr != NULL && m->fd >= 0, "%s", anynpu_last_error());
	return m;
}

static void reuse(void)
{
	rknn_context ctx[MODELS];
	rknn_mem_size size[MODELS];
	rknn_tensor_mem *internal[MODELS], *weights[MODELS], *in[MODELS], *out[MODELS];
	uint32_t largest = 0;
	for (int m = 0; m < MODELS; m++) {
		ctx[m] = open_model(m);
		OK(rknn_query(ctx[m], RKNN_QUERY_MEM_SIZE, &size[m], sizeof size[m]));
		if (size[m].total_internal_size > largest)
			largest = size[m].total_internal_size;
	}
	rknn_tensor_mem *common = create(ctx[0], largest);
	for (int m = 0; m < MODELS; m++) {
		rknn_tensor_attr x = {.index = 0}, y = {.index = 0};
		OK(rknn_query(ctx[m], RKNN_QUERY_INPUT_ATTR, &x, sizeof x));
		OK(rknn_query(ctx[m], RKNN_QUERY_OUTPUT_ATTR, &y, sizeof y));
		internal[m] = rknn_create_mem_from_fd(ctx[m], common->fd, common->virt_addr, size[m].total_internal_size, 0);
		CHECK(internal[m] != NULL, "%s", anynpu_last_error());
		OK(rknn_set_internal_mem(ctx[m], internal[m]));
		weights[m] = create(ctx[0], size[m].total_weight_size);
		OK(rknn_set_weight_mem(ctx[m], weights[m]));
		CHECK(rknn_run(ctx[m], NULL) == RKNN_ERR_FAIL, "a run without memory for the input");
		x.type = y.type = RKNN_TENSOR_FLOAT32;
		in[m] = create(ctx[0], x.n_elems * 4);
		OK(rknn_set_io_mem(ctx[m], in[m], &x));
		CHECK(rknn_run(ctx[m], NULL) == RKNN_ERR_FAIL, "a run without memory for the output");
		out[m] = create(ctx[0], y.n_elems * 4);
		OK(rknn_set_io_mem(ctx[m], out[m], &y));
	}
	for (int round = 0; round < 4; round++)
		for (int m = 0; m < MODELS; m++) {
			float *x = in[m]->virt_addr, *y = out[m]->virt_addr;
			for (int i = 0; i < N; i++)
				x[i] = (float)(round * 3 + i % 7);
			OK(rknn_run(ctx[m], NULL));
			for (int i = 0; i < N; i++)
				CHECK(y[i] == expected(m, i, x[i]), "model %d, element %d: %g, want %g", m, i, (double)y[i],
					(double)expected(m, i, x[i]));
		}
	OK(rknn_destroy_mem(ctx[0], common));
	for (int m = 0; m < MODELS; m++) {
		OK(rknn_run(ctx[m], NULL)); /* what was made of it keeps it */
		OK(rknn_destroy_mem(ctx[m], internal[m]));
		OK(rknn_destroy_mem(ctx[m], weights[m]));
		OK(rknn_destroy_mem(ctx[m], in[m]));
		OK(rknn_destroy_mem(ctx[m], out[m]));
	}
	for (int m = 0; m < MODELS; m++)
		OK(rknn_destroy(ctx[m]));
}

int main(void)
{
	host_begin();
	for (int i = 0; i < 20; i++)
		reuse();
	puts("rknn_mem_reuse: ok");
	return host_end();
}
