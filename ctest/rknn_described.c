/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that has an .rknn file, whose ONNX model lies in a folder: given as path and as bytes it sees the file's
 * attributes, hands over bytes, branches on INT8 and reads codes; with ANYNPU_RKNN_QUANTIZE=off it gets FLOAT16. A
 * folder without the model is refused.
 */
#include "host.h"
#include "rknn_api.h"

#define OK(call) CHECK((call) == RKNN_SUCC, "%s", #call)

static uint8_t ink[64];

/* A bar: a one. */
static void draw(void)
{
	for (int y = 1; y < 7; y++)
		ink[y * 8 + 3] = ink[y * 8 + 4] = 16;
}

static int best(const int8_t *q)
{
	int at = 0;
	for (int i = 1; i < 10; i++)
		if (q[i] > q[at])
			at = i;
	return at;
}

static int recognize(void *model, uint32_t size, rknn_tensor_type want)
{
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model, size, 0, NULL));
	rknn_tensor_attr in = {.index = 0}, out = {.index = 0};
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &in, sizeof in));
	OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out));
	CHECK(in.type == want && out.type == want && in.fmt == RKNN_TENSOR_NHWC, "types %d and %d, want %d", in.type, out.type,
		want);
	int quantized = out.qnt_type == RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC && out.type == RKNN_TENSOR_INT8;
	if (quantized) {
		CHECK(in.zp == -128 && in.scale == 0.0625f, "input: zp %d, scale %g", in.zp, in.scale);
		CHECK(out.zp == -128 && out.scale == 1 / 255.0f, "output: zp %d, scale %g", out.zp, out.scale);
	}
	rknn_custom_string text;
	OK(rknn_query(ctx, RKNN_QUERY_CUSTOM_STRING, &text, sizeof text));
	CHECK(strcmp(text.string, "ten digits") == 0, "%s", text.string);
	CHECK(rknn_set_core_mask(ctx, RKNN_NPU_CORE_1) < 0, "an rk3566 has one core");
	rknn_input input = {.buf = ink, .size = sizeof ink, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &input));
	OK(rknn_run(ctx, NULL));
	rknn_output result = {.want_float = !quantized};
	OK(rknn_outputs_get(ctx, 1, &result, NULL));
	CHECK(result.size == (quantized ? 10 : 40), "%u bytes", result.size);
	int digit = 0;
	if (quantized)
		digit = best(result.buf);
	else
		for (int i = 1; i < 10; i++)
			if (((float *)result.buf)[i] > ((float *)result.buf)[digit])
				digit = i;
	OK(rknn_outputs_release(ctx, 1, &result));
	OK(rknn_destroy(ctx));
	return digit;
}

int main(int argc, char **argv)
{
	CHECK(argc == 4, "usage: rknn_described FILE.rknn FOLDER-WITH-ITS-ONNX OTHER-FOLDER");
	static uint8_t bytes[1 << 16];
	FILE *f = fopen(argv[1], "rb");
	CHECK(f != NULL, "%s", argv[1]);
	size_t size = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	CHECK(size > 64 && size < sizeof bytes, "%zu bytes", size);
	host_begin();
	draw();
	unsetenv("ANYNPU_RKNN_TARGET");
	setenv("ANYNPU_MODEL_MAP", argv[2], 1);
	int digit = recognize(argv[1], 0, RKNN_TENSOR_INT8);
	CHECK(recognize(bytes, (uint32_t)size, RKNN_TENSOR_INT8) == digit, "as bytes another result");
	setenv("ANYNPU_RKNN_QUANTIZE", "off", 1);
	CHECK(recognize(bytes, (uint32_t)size, RKNN_TENSOR_FLOAT16) == digit, "as real numbers another result than %d", digit);
	unsetenv("ANYNPU_RKNN_QUANTIZE");
	setenv("ANYNPU_MODEL_MAP", argv[3], 1);
	rknn_context ctx = 1;
	CHECK(rknn_init(&ctx, bytes, (uint32_t)size, 0, NULL) == RKNN_ERR_MODEL_INVALID && ctx == 0,
		"a folder without the model");
	for (size_t n = 0; n < size; n += 97) /* cut off anywhere: loaded or refused */
		if (rknn_init(&ctx, bytes, (uint32_t)(n + 8), 0, NULL) == RKNN_SUCC)
			OK(rknn_destroy(ctx));
	unsetenv("ANYNPU_MODEL_MAP");
	printf("rknn_described: ok, a %d\n", digit);
	return host_end();
}
