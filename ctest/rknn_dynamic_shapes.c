/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Images of several heights through one context: the shapes are listed, chosen with rknn_set_input_shapes, filled with
 * rknn_inputs_set and fetched with rknn_outputs_get. The model is y = max((x - mean) / deviation, 0) per channel, as
 * its metadata and its operator say.
 */
#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { CHANNELS = 2, WIDTH = 5, ROUNDS = 3 };

static const float mean[CHANNELS] = {100, 64}, deviation[CHANNELS] = {2, 4};

static rknn_context open_model(void)
{
	static const int64_t dims[] = {1, CHANNELS, -1, WIDTH};
	struct rknn_message model = rknn_relu(dims, 4);
	rknn_meta(&model, "anynpu.input.x.shapes", "[[1,2,8,5],[1,2,3,5],[1,2,16,5],[1,2,1,5]]");
	rknn_meta(&model, "anynpu.input.x.mean", "[100,64]");
	rknn_meta(&model, "anynpu.input.x.std", "[2,4]");
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

static uint8_t pixel(uint32_t h, uint32_t w, uint32_t c, int round) { return (uint8_t)(h * 37 + w * 11 + c * 5 +
	(uint32_t)round * 101); }

static float expected(uint32_t h, uint32_t w, uint32_t c, int round)
{
	float v = ((float)pixel(h, w, c, round) - mean[c]) / deviation[c];
	return v > 0 ? v : 0;
}

/* Chooses the shape and returns the attributes that the input has then. */
static rknn_tensor_attr choose(rknn_context ctx, const rknn_input_range *range, uint32_t shape)
{
	rknn_tensor_attr in = {.index = 0, .n_dims = range->n_dims, .fmt = range->fmt};
	memcpy(in.name, range->name, sizeof in.name);
	memcpy(in.dims, range->dyn_range[shape], sizeof in.dims);
	OK(rknn_set_input_shapes(ctx, 1, &in));
	memset(&in, 0, sizeof in);
	OK(rknn_query(ctx, RKNN_QUERY_CURRENT_INPUT_ATTR, &in, sizeof in));
	CHECK(memcmp(in.dims, range->dyn_range[shape], sizeof in.dims) == 0, "shape %u is not the current one", shape);
	return in;
}

static void infer(rknn_context ctx, const rknn_tensor_attr *in, int round)
{
	uint32_t height = in->dims[1], n = in->n_elems;
	CHECK(in->fmt == RKNN_TENSOR_NHWC && in->dims[2] == WIDTH && in->dims[3] == CHANNELS, "dimensions");
	uint8_t *image = malloc(n);
	for (uint32_t h = 0; h < height; h++)
		for (uint32_t w = 0; w < WIDTH; w++)
			for (uint32_t c = 0; c < CHANNELS; c++)
				image[(h * WIDTH + w) * CHANNELS + c] = pixel(h, w, c, round);
	rknn_input input = {.index = 0, .buf = image, .size = n, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &input));
	free(image);
	OK(rknn_run(ctx, NULL));

	rknn_tensor_attr out = {.index = 0};
	rknn_output output = {.index = 0, .want_float = 1};
	OK(rknn_query(ctx, RKNN_QUERY_CURRENT_OUTPUT_ATTR, &out, sizeof out));
	OK(rknn_outputs_get(ctx, 1, &output, NULL));
	CHECK(out.n_dims == 4 && out.dims[2] == height && output.size == n * sizeof(float), "height %u gives %u bytes", height,
		output.size);
	for (uint32_t c = 0; c < CHANNELS; c++)
		for (uint32_t h = 0; h < height; h++)
			for (uint32_t w = 0; w < WIDTH; w++) {
				float got = ((float *)output.buf)[(c * height + h) * WIDTH + w], want = expected(h, w, c, round);
				CHECK(got == want, "height %u, channel %u, row %u, column %u: %g, want %g", height, c, h, w, (double)got,
					(double)want);
			}
	OK(rknn_outputs_release(ctx, 1, &output));
}

int main(void)
{
	host_begin();
	rknn_context ctx = open_model();
	rknn_input_output_num count;
	OK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count));
	CHECK(count.n_input == 1 && count.n_output == 1, "counts");
	rknn_input_range *range = calloc(1, sizeof *range);
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range, sizeof *range));
	CHECK(range->shape_number == 4 && range->n_dims == 4, "%u shapes of %u dimensions", range->shape_number,
		range->n_dims);

	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t s = 0; s < range->shape_number; s++) {
			rknn_tensor_attr in = choose(ctx, range, round % 2 ? range->shape_number - 1 - s : s);
			infer(ctx, &in, round);
			infer(ctx, &in, round + 1); /* the shape stays */
		}

	/* A shape that is not listed changes nothing. */
	rknn_tensor_attr in = choose(ctx, range, 1), other = in;
	other.dims[1] = 4;
	CHECK(rknn_set_input_shapes(ctx, 1, &other) == RKNN_ERR_FAIL, "a shape that is not listed");
	infer(ctx, &in, 7);
	free(range);
	OK(rknn_destroy(ctx));
	puts("rknn_dynamic_shapes: ok");
	return host_end();
}
