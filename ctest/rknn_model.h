/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * ONNX models of one operator, written field by field: what the RKNN tests load.
 */
#ifndef RKNN_MODEL_H
#define RKNN_MODEL_H

#include <stdint.h>
#include <string.h>

/* A protobuf message under construction. */
struct rknn_message {
	uint8_t bytes[1024];
	size_t size;
};

static inline void rknn_varint(struct rknn_message *m, uint64_t v)
{
	for (; v > 127; v >>= 7)
		m->bytes[m->size++] = (uint8_t)(v | 128);
	m->bytes[m->size++] = (uint8_t)v;
}

static inline void rknn_number(struct rknn_message *m, unsigned field, uint64_t v)
{
	rknn_varint(m, field << 3);
	rknn_varint(m, v);
}

static inline void rknn_bytes(struct rknn_message *m, unsigned field, const void *data, size_t size)
{
	rknn_varint(m, field << 3 | 2);
	rknn_varint(m, size);
	memcpy(m->bytes + m->size, data, size);
	m->size += size;
}

static inline void rknn_text(struct rknn_message *m, unsigned field,
	const char *text) { rknn_bytes(m, field, text, strlen(text)); }

static inline void rknn_part(struct rknn_message *m, unsigned field, const struct rknn_message *part)
{
	rknn_bytes(m, field, part->bytes, part->size);
}

/* A ValueInfoProto of float32; a size of -1 is open. */
static inline struct rknn_message rknn_value(const char *name, const int64_t *dims, int rank)
{
	struct rknn_message shape = {0}, tensor = {0}, type = {0}, value = {0};
	for (int i = 0; i < rank; i++) {
		struct rknn_message dim = {0};
		if (dims[i] < 0)
			rknn_text(&dim, 2, "n");
		else
			rknn_number(&dim, 1, (uint64_t)dims[i]);
		rknn_part(&shape, 1, &dim);
	}
	rknn_number(&tensor, 1, 1);
	rknn_part(&tensor, 2, &shape);
	rknn_part(&type, 1, &tensor);
	rknn_text(&value, 1, name);
	rknn_part(&value, 2, &type);
	return value;
}

/* Adds a node out = type(in, in2) to a graph; in2 may be NULL. */
static inline void rknn_node(struct rknn_message *graph, const char *type, const char *out, const char *in,
	const char *in2)
{
	struct rknn_message node = {0};
	rknn_text(&node, 1, in);
	if (in2)
		rknn_text(&node, 1, in2);
	rknn_text(&node, 2, out);
	rknn_text(&node, 3, out);
	rknn_text(&node, 4, type);
	rknn_part(graph, 1, &node);
}

/* Adds an input (field 11) or output (field 12) to a graph. */
static inline void rknn_port(struct rknn_message *graph, unsigned field, const char *name, const int64_t *dims,
	int rank)
{
	struct rknn_message value = rknn_value(name, dims, rank);
	rknn_part(graph, field, &value);
}

/* Adds a float32 constant to a graph. */
static inline void rknn_constant(struct rknn_message *graph, const char *name, const int64_t *dims, int rank,
	const float *data, size_t size)
{
	struct rknn_message tensor = {0};
	for (int i = 0; i < rank; i++)
		rknn_number(&tensor, 1, (uint64_t)dims[i]);
	rknn_number(&tensor, 2, 1);
	rknn_text(&tensor, 8, name);
	rknn_bytes(&tensor, 9, data, size);
	rknn_part(graph, 5, &tensor);
}

/* The model of a graph. */
static inline struct rknn_message rknn_model(struct rknn_message graph)
{
	struct rknn_message opset = {0}, model = {0};
	rknn_text(&graph, 2, "test");
	rknn_number(&opset, 2, 17);
	rknn_number(&model, 1, 8);
	rknn_part(&model, 7, &graph);
	rknn_part(&model, 8, &opset);
	return model;
}

/* Adds a pair of metadata to a model. */
static inline void rknn_meta(struct rknn_message *model, const char *key, const char *value)
{
	struct rknn_message pair = {0};
	rknn_text(&pair, 1, key);
	rknn_text(&pair, 2, value);
	rknn_part(model, 14, &pair);
}

/* y = Relu(x), both of these dimensions. */
static inline struct rknn_message rknn_relu(const int64_t *dims, int rank)
{
	struct rknn_message graph = {0};
	rknn_node(&graph, "Relu", "y", "x", NULL);
	rknn_port(&graph, 11, "x", dims, rank);
	rknn_port(&graph, 12, "y", dims, rank);
	return rknn_model(graph);
}

#endif
