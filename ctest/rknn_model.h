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

static inline void rknn_text(struct rknn_message *m, unsigned field, const char *text) { rknn_bytes(m, field, text, strlen(text)); }

static inline void rknn_part(struct rknn_message *m, unsigned field, const struct rknn_message *part)
{
	rknn_bytes(m, field, part->bytes, part->size);
}

/* A ValueInfoProto of float32. */
static inline struct rknn_message rknn_value(const char *name, const int64_t *dims, int rank)
{
	struct rknn_message shape = {0}, tensor = {0}, type = {0}, value = {0};
	for (int i = 0; i < rank; i++) {
		struct rknn_message dim = {0};
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

/* y = Relu(x), both of these dimensions. */
static inline struct rknn_message rknn_relu(const int64_t *dims, int rank)
{
	struct rknn_message node = {0}, graph = {0}, opset = {0}, model = {0};
	struct rknn_message x = rknn_value("x", dims, rank), y = rknn_value("y", dims, rank);
	rknn_text(&node, 1, "x");
	rknn_text(&node, 2, "y");
	rknn_text(&node, 3, "relu");
	rknn_text(&node, 4, "Relu");
	rknn_part(&graph, 1, &node);
	rknn_text(&graph, 2, "relu");
	rknn_part(&graph, 11, &x);
	rknn_part(&graph, 12, &y);
	rknn_number(&opset, 2, 17);
	rknn_number(&model, 1, 8);
	rknn_part(&model, 7, &graph);
	rknn_part(&model, 8, &opset);
	return model;
}

#endif
