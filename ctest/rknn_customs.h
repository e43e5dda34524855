/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Models with foreign operators, for programs that compute these themselves.
 */
#ifndef RKNN_CUSTOMS_H
#define RKNN_CUSTOMS_H

#include <rknn_custom_op.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { C = 3, H = 1, W = 2, N = C * H * W };

/* An AttributeProto whose value is the field in value. */
static inline struct rknn_message attribute(const char *name, int type, const struct rknn_message *value)
{
	struct rknn_message a = {0};
	rknn_text(&a, 1, name);
	memcpy(a.bytes + a.size, value->bytes, value->size);
	a.size += value->size;
	rknn_number(&a, 20, (uint64_t)type);
	return a;
}

static inline struct rknn_message fixed32(struct rknn_message m, unsigned field, float v)
{
	rknn_varint(&m, field << 3 | 5);
	memcpy(m.bytes + m.size, &v, 4);
	m.size += 4;
	return m;
}

/* A node of op_type with inputs and one output. */
static inline struct rknn_message make_node(const char *type, const char *domain, const char *out, const char *in,
	const char *in2)
{
	struct rknn_message n = {0};
	rknn_text(&n, 1, in);
	if (in2)
		rknn_text(&n, 1, in2);
	rknn_text(&n, 2, out);
	rknn_text(&n, 3, out);
	rknn_text(&n, 4, type);
	if (domain)
		rknn_text(&n, 7, domain);
	return n;
}

static inline rknn_context load(const struct rknn_message *nodes, int n, const struct rknn_message *init,
	const int64_t *out_dims)
{
	static const int64_t dims[] = {1, C, H, W};
	struct rknn_message graph = {0}, opset = {0}, model = {0};
	struct rknn_message x = rknn_value("x", dims, 4), y = rknn_value("y", out_dims ? out_dims : dims, 4);
	struct rknn_message a = rknn_value("a", dims, 4), b = rknn_value("b", dims, 4);
	for (int i = 0; i < n; i++)
		rknn_part(&graph, 1, &nodes[i]);
	rknn_text(&graph, 2, "custom");
	if (init)
		rknn_part(&graph, 5, init);
	rknn_part(&graph, 11, &x);
	rknn_part(&graph, 12, &y);
	rknn_part(&graph, 13, &a);
	rknn_part(&graph, 13, &b);
	rknn_number(&opset, 2, 17);
	rknn_number(&model, 1, 8);
	rknn_part(&model, 7, &graph);
	rknn_part(&model, 8, &opset);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

/* y = Softmax(Dual(Affine(x), x)) over channels; Affine and Dual are foreign. */
static inline rknn_context load_foreign(void)
{
	struct rknn_message nodes[3], value = {0}, a;
	nodes[0] = make_node("cstAffine", "acme", "a", "x", NULL);
	value = fixed32(value, 2, 0.5f);
	a = attribute("alpha", 1, &value);
	rknn_part(&nodes[0], 5, &a);
	memset(&value, 0, sizeof value);
	rknn_number(&value, 8, 3);
	rknn_number(&value, 8, (uint64_t)-7);
	a = attribute("steps", 7, &value);
	rknn_part(&nodes[0], 5, &a);
	memset(&value, 0, sizeof value);
	rknn_text(&value, 4, "half");
	a = attribute("mode", 3, &value);
	rknn_part(&nodes[0], 5, &a);
	nodes[1] = make_node("cstDual", "acme", "b", "a", "x");
	nodes[2] = make_node("Softmax", NULL, "y", "b", NULL);
	memset(&value, 0, sizeof value);
	rknn_number(&value, 3, 1);
	a = attribute("axis", 2, &value);
	rknn_part(&nodes[2], 5, &a);
	return load(nodes, 3, NULL, NULL);
}

static inline float *data_of(rknn_custom_op_tensor *t) { return (float *)((char *)t->mem.virt_addr + t->mem.offset); }

static inline rknn_custom_op operation(const char *type, int (*compute)(rknn_custom_op_context *,
	rknn_custom_op_tensor *, uint32_t, rknn_custom_op_tensor *, uint32_t))
{
	rknn_custom_op op;
	memset(&op, 0, sizeof op);
	op.version = 1;
	op.target = RKNN_TARGET_TYPE_CPU;
	strcpy(op.op_type, type);
	op.compute = compute;
	return op;
}

/* Pixels in NHWC, the input of every run: element (c, w) is c + w / 2. */
static inline void set(rknn_context ctx)
{
	float x[N];
	for (int c = 0; c < C; c++)
		for (int w = 0; w < W; w++)
			x[w * C + c] = (float)c + (float)w / 2;
	rknn_input in = {.buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &in));
}

#endif
