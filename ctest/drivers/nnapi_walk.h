/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the fake driver of nnapi.h computes a model, operation by operation.
 */
#ifndef NNAPI_WALK_H
#define NNAPI_WALK_H

#include "nnapi_compute.h"
#include "nnapi_finds.h"
#include "nnapi_loops.h"
#include "nnapi_notes.h"

/* Computes a model, that of an execution or a part of it. */
static int nn_walk(const struct nn_model *m, const void *const *in, void *const *out, uint64_t loop_limit,
                   struct nn_execution *e)
{
	float *v[NN_OPERANDS] = {NULL};
	int made[NN_OPERANDS] = {0}, code = ANEURALNETWORKS_NO_ERROR;
	for (uint32_t i = 0; i < m->in_count; i++)
		v[m->in[i]] = (float *)(uintptr_t)in[i];
	for (uint32_t i = 0; i < m->out_count; i++)
		v[m->out[i]] = out[i];
	for (uint32_t i = 0; i < m->operand_count; i++) {
		if (!v[i] && m->operands[i].value)
			v[i] = (float *)(uintptr_t)m->operands[i].value;
		if (!v[i]) {
			v[i] = malloc(4 * nn_elements(&m->operands[i]) + 4);
			made[i] = 1;
		}
	}
	for (uint32_t k = 0; k < m->operation_count && code == ANEURALNETWORKS_NO_ERROR; k++) {
		const struct nn_operation *op = &m->operations[k];
		switch (op->type) {
		case ANEURALNETWORKS_ADD:
		case ANEURALNETWORKS_SUB:
		case ANEURALNETWORKS_MUL:
		case ANEURALNETWORKS_DIV:
		case ANEURALNETWORKS_MAXIMUM:
		case ANEURALNETWORKS_MINIMUM:
		case ANEURALNETWORKS_GREATER:
		case ANEURALNETWORKS_LOGICAL_OR:
			nn_elementwise(op, m->operands, v);
			break;
		case ANEURALNETWORKS_TRANSPOSE:
			nn_transpose(op, m->operands, v);
			break;
		case ANEURALNETWORKS_CONCATENATION:
			nn_concatenate(op, m->operands, v);
			break;
		case ANEURALNETWORKS_MEAN:
			nn_mean(op, m->operands, v);
			break;
		case ANEURALNETWORKS_FULLY_CONNECTED:
			nn_fully_connected(op, m->operands, v);
			break;
		case ANEURALNETWORKS_SOFTMAX:
			nn_softmax(op, m->operands, v);
			break;
		case ANEURALNETWORKS_CONV_2D:
		case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
		case ANEURALNETWORKS_MAX_POOL_2D:
		case ANEURALNETWORKS_AVERAGE_POOL_2D:
			nn_windows(op, m->operands, v);
			break;
		case ANEURALNETWORKS_WHILE:
			code = nn_loop(m, op, v, loop_limit);
			break;
		case ANEURALNETWORKS_BOX_WITH_NMS_LIMIT:
			code = nn_boxes(m, op, v, e);
			break;
		case ANEURALNETWORKS_RANDOM_MULTINOMIAL:
			nn_draw(op, m->operands, v);
			break;
		default:
			nn_each(op, m->operands, v);
		}
	}
	for (uint32_t i = 0; i < m->operand_count; i++)
		if (made[i])
			free(v[i]);
	return code;
}

static int nn_compute(struct nn_execution *e)
{
	if (e->used && !e->reusable)
		return ANEURALNETWORKS_BAD_STATE;
	e->used = 1;
	nn_count("computed", 1);
	return nn_walk(e->compilation->model, e->in, e->out, e->loop_limit, e);
}

#endif
