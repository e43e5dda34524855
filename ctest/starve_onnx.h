/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * ONNX models whose memory is more than starve.h leaves: when they are loaded, or when they run.
 */
#ifndef STARVE_ONNX_H
#define STARVE_ONNX_H

#include "rknn_model.h"
#include "starve.h"

#define SIDE 9400 /* SIDE * SIDE floats are more than WISH bytes */
#define ROWS 8192 /* a matrix of ROWS x (WISH / 4 / ROWS) floats has WISH bytes */

/* z = ReduceMean(x + y) of a row and a column: small inputs, a small output, a large intermediate result. */
static inline struct rknn_message starve_wide(void)
{
	const int64_t row[] = {1, SIDE}, column[] = {SIDE, 1}, one[] = {1, 1};
	struct rknn_message graph = {0};
	rknn_node(&graph, "Add", "s", "x", "y");
	rknn_node(&graph, "ReduceMean", "z", "s", NULL);
	rknn_port(&graph, 11, "x", row, 2);
	rknn_port(&graph, 11, "y", column, 2);
	rknn_port(&graph, 12, "z", one, 2);
	return rknn_model(graph);
}

/* Adds the head of a field whose bytes are those of m and more behind it, and then those of m. */
static inline void starve_open(struct rknn_message *to, unsigned field, const struct rknn_message *m, size_t more)
{
	rknn_varint(to, field << 3 | 2);
	rknn_varint(to, m->size + more);
	memcpy(to->bytes + to->size, m->bytes, m->size);
	to->size += m->size;
}

/* y = MatMul(x, w) with w of WISH bytes, which end the file. */
static inline const void *starve_heavy(size_t *size)
{
	const int64_t x[] = {8, ROWS}, y[] = {8, (int64_t)(WISH / 4 / ROWS)};
	struct rknn_message head = {0}, tensor = {0}, graph = {0}, opset = {0}, model = {0};
	rknn_number(&tensor, 1, ROWS);
	rknn_number(&tensor, 1, WISH / 4 / ROWS);
	rknn_number(&tensor, 2, 1);
	rknn_text(&tensor, 8, "w");
	starve_open(&tensor, 9, &head, WISH);
	rknn_node(&graph, "MatMul", "y", "x", "w");
	rknn_text(&graph, 2, "test");
	rknn_port(&graph, 11, "x", x, 2);
	rknn_port(&graph, 12, "y", y, 2);
	starve_open(&graph, 5, &tensor, WISH);
	rknn_number(&opset, 2, 17);
	rknn_number(&model, 1, 8);
	rknn_part(&model, 8, &opset);
	starve_open(&model, 7, &graph, WISH);
	char *bytes = (char *)starve_bytes(0);
	memcpy(bytes, model.bytes, model.size); /* and so in every MiB of the weights */
	*size = model.size + WISH;
	return bytes;
}

#endif
