/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operators that the program computes on other tensors than float32 ones of fixed size: float16 and integers, inputs
 * left out, several outputs, shapes that change, memory that is bound, and their times.
 */
#include <rknn_custom_op.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { FLOAT = 1, INT64 = 7, HALF = 10 };

static int computed;

/* A ValueInfoProto; a size of -1 is open and called n. */
static struct rknn_message value(const char *name, uint64_t type, const int64_t *dims, int rank)
{
	struct rknn_message shape = {0}, tensor = {0}, t = {0}, v = {0};
	for (int i = 0; i < rank; i++) {
		struct rknn_message dim = {0};
		if (dims[i] < 0)
			rknn_text(&dim, 2, "n");
		else
			rknn_number(&dim, 1, (uint64_t)dims[i]);
		rknn_part(&shape, 1, &dim);
	}
	rknn_number(&tensor, 1, type);
	rknn_part(&tensor, 2, &shape);
	rknn_part(&t, 1, &tensor);
	rknn_text(&v, 1, name);
	rknn_part(&v, 2, &t);
	return v;
}

static struct rknn_message finish(const struct rknn_message *graph, const char *key, const char *text)
{
	struct rknn_message opset = {0}, model = {0}, prop = {0};
	rknn_number(&opset, 2, 17);
	rknn_number(&model, 1, 8);
	rknn_part(&model, 7, graph);
	rknn_part(&model, 8, &opset);
	if (key) {
		rknn_text(&prop, 1, key);
		rknn_text(&prop, 2, text);
		rknn_part(&model, 14, &prop);
	}
	return model;
}

static void *data_of(rknn_custom_op_tensor *t) { return (char *)t->mem.virt_addr + t->mem.offset; }

static rknn_context load(const struct rknn_message *model, const char *type, uint32_t flag,
	int (*compute)(rknn_custom_op_context *, rknn_custom_op_tensor *, uint32_t, rknn_custom_op_tensor *, uint32_t))
{
	rknn_context ctx = 0;
	rknn_custom_op op;
	OK(rknn_init(&ctx, (void *)model->bytes, (uint32_t)model->size, flag, NULL));
	memset(&op, 0, sizeof op);
	op.version = 1;
	op.target = RKNN_TARGET_TYPE_CPU;
	strcpy(op.op_type, type);
	op.compute = compute;
	OK(rknn_register_custom_ops(ctx, &op, 1));
	return ctx;
}

/* y = x + k[0] as reals, n = 2 k; the second input of the node is left out. */
static int mix(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)op;
	CHECK(n_in == 2 && n_out == 2, "%u inputs, %u outputs", n_in, n_out);
	CHECK(in[0].attr.type == RKNN_TENSOR_FLOAT32 && in[0].attr.n_dims == 2 && in[0].attr.fmt == RKNN_TENSOR_UNDEFINED,
		"x");
	CHECK(in[1].attr.type == RKNN_TENSOR_INT64 && in[1].attr.size == 16 && strcmp(in[1].attr.name, "k") == 0, "k");
	CHECK(out[0].attr.type == RKNN_TENSOR_FLOAT32 && out[0].mem.size == 16 && out[1].attr.type == RKNN_TENSOR_INT64,
		"y and n");
	const float *x = data_of(&in[0]);
	const int64_t *k = data_of(&in[1]);
	for (int i = 0; i < 4; i++)
		((float *)data_of(&out[0]))[i] = x[i] + (float)k[0];
	for (int i = 0; i < 2; i++)
		((int64_t *)data_of(&out[1]))[i] = 2 * k[i];
	computed++;
	return 0;
}

static void types(void)
{
	static const int64_t x_dims[] = {1, 4}, k_dims[] = {2};
	struct rknn_message node = {0}, graph = {0}, v;
	rknn_text(&node, 1, "x");
	rknn_text(&node, 1, "");
	rknn_text(&node, 1, "k");
	rknn_text(&node, 2, "y");
	rknn_text(&node, 2, "n");
	rknn_text(&node, 3, "mix");
	rknn_text(&node, 4, "cstMix");
	rknn_text(&node, 7, "acme");
	rknn_part(&graph, 1, &node);
	rknn_text(&graph, 2, "types");
	v = value("x", HALF, x_dims, 2);
	rknn_part(&graph, 11, &v);
	v = value("k", INT64, k_dims, 1);
	rknn_part(&graph, 11, &v);
	v = value("y", HALF, x_dims, 2);
	rknn_part(&graph, 12, &v);
	v = value("n", INT64, k_dims, 1);
	rknn_part(&graph, 12, &v);
	struct rknn_message model = finish(&graph, NULL, NULL);
	rknn_context ctx = load(&model, "cstMix", RKNN_FLAG_COLLECT_PERF_MASK, mix);

	float x[4] = {0.5f, -1, 2, 100};
	int64_t k[2] = {3, -5};
	rknn_input in[2] = {{.index = 0, .buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32,
		.fmt = RKNN_TENSOR_UNDEFINED}, {.index = 1, .buf = k, .size = sizeof k, .type = RKNN_TENSOR_INT64,
		.fmt = RKNN_TENSOR_UNDEFINED}};
	OK(rknn_inputs_set(ctx, 2, in));
	OK(rknn_run(ctx, NULL));
	rknn_output out[2] = {{.index = 0}, {.index = 1}};
	OK(rknn_outputs_get(ctx, 2, out, NULL));
	static const uint16_t half[4] = {0x4300, 0x4000, 0x4500, 0x5670}; /* 3.5, 2, 5, 103 */
	CHECK(out[0].size == sizeof half && memcmp(out[0].buf, half, sizeof half) == 0, "y in float16");
	CHECK(out[1].size == 16 && ((int64_t *)out[1].buf)[0] == 6 && ((int64_t *)out[1].buf)[1] == -10, "n");
	OK(rknn_outputs_release(ctx, 2, out));

	rknn_perf_detail perf;
	OK(rknn_query(ctx, RKNN_QUERY_PERF_DETAIL, &perf, sizeof perf));
	CHECK(strstr(perf.perf_data, "cstMix:mix") != NULL, "the table of times:\n%s", perf.perf_data);

	/* Bound memory gets the results, in the type asked for. */
	rknn_tensor_attr attr = {.index = 0};
	OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr));
	attr.type = RKNN_TENSOR_FLOAT32;
	rknn_tensor_mem *mem = rknn_create_mem(ctx, 16);
	CHECK(mem != NULL, "rknn_create_mem");
	OK(rknn_set_io_mem(ctx, mem, &attr));
	OK(rknn_run(ctx, NULL));
	CHECK(((float *)mem->virt_addr)[3] == 103, "y in bound memory");
	OK(rknn_destroy(ctx));
	OK(rknn_destroy_mem(0, mem));
}

/* Adds its number of elements. */
static int count(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)op;
	CHECK(n_in == 1 && n_out == 1 && in->attr.n_elems == out->attr.n_elems && in->attr.dims[1] == in->attr.n_elems,
		"dimensions");
	for (uint32_t i = 0; i < in->attr.n_elems; i++)
		((float *)data_of(out))[i] = ((float *)data_of(in))[i] + (float)in->attr.n_elems;
	computed++;
	return 0;
}

/* y = Relu(Count(Relu(x))) of 1 x 2 or 1 x 5. */
static void shapes(const char *type, const char *domain)
{
	static const int64_t dims[] = {1, -1};
	static const char *const names[] = {"x", "a", "b", "y"};
	struct rknn_message graph = {0}, v;
	for (int i = 0; i < 3; i++) {
		struct rknn_message node = {0};
		rknn_text(&node, 1, names[i]);
		rknn_text(&node, 2, names[i + 1]);
		rknn_text(&node, 3, names[i + 1]);
		rknn_text(&node, 4, i == 1 ? type : "Relu");
		if (i == 1 && domain)
			rknn_text(&node, 7, domain);
		rknn_part(&graph, 1, &node);
	}
	rknn_text(&graph, 2, "shapes");
	v = value("x", FLOAT, dims, 2);
	rknn_part(&graph, 11, &v);
	v = value("y", FLOAT, dims, 2);
	rknn_part(&graph, 12, &v);
	if (domain) {
		v = value("b", FLOAT, dims, 2);
		rknn_part(&graph, 13, &v);
	}
	struct rknn_message model = finish(&graph, "anynpu.input.x.shapes", "[[1,2],[1,5]]");
	rknn_context ctx = load(&model, type, 0, count);
	for (int round = 0; round < 4; round++) {
		uint32_t n = round % 2 ? 5 : 2;
		float x[5] = {-1, 1, 2, 3, 4};
		rknn_tensor_attr attr = {.index = 0, .n_dims = 2, .dims = {1, n}, .fmt = RKNN_TENSOR_UNDEFINED};
		OK(rknn_set_input_shapes(ctx, 1, &attr));
		rknn_input in = {.buf = x, .size = n * 4, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED};
		OK(rknn_inputs_set(ctx, 1, &in));
		OK(rknn_run(ctx, NULL));
		rknn_output out = {.want_float = 1};
		OK(rknn_outputs_get(ctx, 1, &out, NULL));
		CHECK(out.size == n * 4, "%u bytes for %u elements", out.size, n);
		for (uint32_t i = 0; i < n; i++)
			CHECK(((float *)out.buf)[i] == (i ? x[i] : 0) + (float)n, "element %u of %u", i, n);
		OK(rknn_outputs_release(ctx, 1, &out));
	}
	OK(rknn_destroy(ctx));
}

int main(void)
{
	host_begin();
	for (int i = 0; i < 5; i++) {
		types();
		shapes("cstCount", "acme");
		shapes("Abs", NULL);
	}
	CHECK(computed == 5 * (2 + 4 + 4), "%d calls", computed);
	puts("rknn_custom_types: ok");
	return host_end();
}
