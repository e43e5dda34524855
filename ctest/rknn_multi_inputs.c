/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model of three inputs of different shapes and types of the program, set together, one by one, in another order, and
 * partly bound to memory; two outputs, fetched together and alone. scaled = image x gain + offset, negative = -image.
 */
#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { C = 3, H = 4, W = 2, N = C * H * W };

static const float gain[C] = {0.5f, 2, -1};

static rknn_context open_model(void)
{
	static const int64_t image[] = {1, C, H, W}, channels[] = {1, C, 1, 1}, one[] = {1};
	struct rknn_message graph = {0};
	rknn_node(&graph, "Mul", "p", "image", "gain");
	rknn_node(&graph, "Add", "scaled", "p", "offset");
	rknn_node(&graph, "Neg", "negative", "image", NULL);
	rknn_port(&graph, 11, "image", image, 4);
	rknn_port(&graph, 11, "gain", channels, 4);
	rknn_port(&graph, 11, "offset", one, 1);
	rknn_port(&graph, 12, "scaled", image, 4);
	rknn_port(&graph, 12, "negative", image, 4);
	struct rknn_message model = rknn_model(graph);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

static uint8_t pixel(int h, int w, int c) { return (uint8_t)(h * 40 + w * 13 + c * 7); }

static void fill(uint8_t *image)
{
	for (int h = 0; h < H; h++)
		for (int w = 0; w < W; w++)
			for (int c = 0; c < C; c++)
				image[(h * W + w) * C + c] = pixel(h, w, c);
}

static void check(const float *scaled, const float *negative, float offset)
{
	for (int c = 0; c < C; c++)
		for (int i = 0; i < H * W; i++) {
			float x = pixel(i / W, i % W, c);
			if (scaled)
				CHECK(scaled[c * H * W + i] == x * gain[c] + offset, "scaled, channel %d, pixel %d: %g, want %g", c, i,
					(double)scaled[c * H * W + i], (double)(x * gain[c] + offset));
			if (negative)
				CHECK(negative[c * H * W + i] == -x, "negative, channel %d, pixel %d: %g", c, i, (double)negative[c * H * W + i]);
		}
}

/* Runs and checks both outputs, fetched together and alone. */
static void results(rknn_context ctx, float offset)
{
	OK(rknn_run(ctx, NULL));
	rknn_output both[2] = {{.index = 0, .want_float = 1}, {.index = 1, .want_float = 1}};
	OK(rknn_outputs_get(ctx, 2, both, NULL));
	check(both[0].buf, both[1].buf, offset);
	OK(rknn_outputs_release(ctx, 2, both));
	float mine[N];
	rknn_output second = {.index = 1, .want_float = 1, .is_prealloc = 1, .buf = mine, .size = sizeof mine};
	OK(rknn_outputs_get(ctx, 1, &second, NULL));
	check(NULL, mine, offset);
}

int main(void)
{
	host_begin();
	rknn_context ctx = open_model();
	rknn_input_output_num count;
	OK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count));
	CHECK(count.n_input == 3 && count.n_output == 2, "%u inputs, %u outputs", count.n_input, count.n_output);
	static const char *names[] = {"image", "gain", "offset"};
	for (uint32_t i = 0; i < count.n_input; i++) {
		rknn_tensor_attr a = {.index = i};
		OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &a, sizeof a));
		CHECK(strcmp(a.name, names[i]) == 0 && a.index == i, "input %u is %s", i, a.name);
	}
	uint8_t image[N];
	float offset = 5, g[C];
	int64_t whole = -9;
	memcpy(g, gain, sizeof g);
	fill(image);
	rknn_input in[3] = {
		{.index = 0, .buf = image, .size = sizeof image, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC},
		{.index = 1, .buf = g, .size = sizeof g, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_NHWC},
		{.index = 2, .buf = &offset, .size = sizeof offset, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED},
	};
	OK(rknn_inputs_set(ctx, 3, in));
	results(ctx, 5);

	/* One alone, of another type; the others stay. */
	rknn_input other = {.index = 2, .buf = &whole, .size = sizeof whole, .type = RKNN_TENSOR_INT64};
	OK(rknn_inputs_set(ctx, 1, &other));
	results(ctx, -9);

	/* In another order, and an input too many changes nothing. */
	rknn_input turned[3] = {in[2], in[0], in[1]}, wrong[2] = {other, {.index = 3, .buf = g, .size = sizeof g}};
	OK(rknn_inputs_set(ctx, 3, turned));
	CHECK(rknn_inputs_set(ctx, 2, wrong) == RKNN_ERR_INPUT_INVALID, "an invalid input");
	results(ctx, 5);

	/* One of them bound to memory. */
	rknn_tensor_attr a = {.index = 2};
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &a, sizeof a));
	a.type = RKNN_TENSOR_FLOAT32;
	rknn_tensor_mem *m = rknn_create_mem(ctx, sizeof(float));
	CHECK(m != NULL, "%s", anynpu_last_error());
	OK(rknn_set_io_mem(ctx, m, &a));
	for (int i = 0; i < 10; i++) {
		*(float *)m->virt_addr = (float)(i * i);
		results(ctx, (float)(i * i));
	}
	OK(rknn_destroy_mem(ctx, m));
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run with memory that has gone");
	OK(rknn_inputs_set(ctx, 1, &in[2]));
	results(ctx, 5);

	/* A context that was not given all. */
	rknn_context fresh = open_model();
	OK(rknn_inputs_set(fresh, 2, in));
	CHECK(rknn_run(fresh, NULL) == RKNN_ERR_FAIL && strstr(anynpu_last_error(), "offset"), "a run without an input: %s",
		anynpu_last_error());
	OK(rknn_destroy(fresh));
	OK(rknn_destroy(ctx));
	puts("rknn_multi_inputs: ok");
	return host_end();
}
