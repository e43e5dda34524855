/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * WHILE of the fake driver of nnapi.h. Values have the same sizes in every trip. The time is looked at when the
 * condition is true, before each trip.
 */
#ifndef NNAPI_LOOPS_H
#define NNAPI_LOOPS_H

#include <time.h>

#include "nnapi_compute.h"

#define NN_LOOP_LIMIT 2000000000 /* ns, of an execution that is not told another one */

static uint64_t nn_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int nn_can_loop(const struct nn_model *m, const struct nn_operation *op)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct nn_model *sub = op->in_count > 2 ? m->operands[op->in[i]].sub : NULL;
		if (!sub || sub->in_count != op->in_count - 2 || (i == 0 && sub->out_count != 1))
			return 0;
		for (uint32_t k = 0; k < sub->operation_count; k++)
			if (!nn_can(sub, &sub->operations[k]))
				return 0;
		for (uint32_t k = 0; k < sub->in_count; k++)
			if (nn_bytes(&sub->operands[sub->in[k]]) != nn_bytes(&m->operands[op->in[2 + k]]))
				return 0;
		for (uint32_t k = 0; i == 1 && k < sub->out_count; k++)
			if (k >= sub->in_count || nn_bytes(&sub->operands[sub->out[k]]) != nn_bytes(&sub->operands[sub->in[k]]))
				return 0;
	}
	return op->out_count <= m->operands[op->in[1]].sub->out_count;
}

static int nn_walk(const struct nn_model *m, const void *const *in, void *const *out, uint64_t loop_limit,
                   struct nn_execution *e);

static int nn_loop(const struct nn_model *m, const struct nn_operation *op, float *const *v, uint64_t limit)
{
	const struct nn_model *ask = m->operands[op->in[0]].sub, *body = m->operands[op->in[1]].sub;
	uint32_t count = body->in_count;
	void *state[NN_PORTS] = {NULL}, *next[NN_PORTS] = {NULL};
	uint64_t begin = nn_now();
	int code;
	for (uint32_t k = 0; k < count; k++) {
		size_t size = nn_bytes(&body->operands[body->in[k]]);
		state[k] = memcpy(malloc(size), v[op->in[2 + k]], size);
		next[k] = malloc(size);
	}
	for (;;) {
		uint8_t again = 0;
		code = nn_walk(ask, (const void *const *)state, (void *[]){&again}, limit, NULL);
		if (code != ANEURALNETWORKS_NO_ERROR || !again)
			break;
		if (nn_now() - begin >= limit) {
			code = ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT;
			break;
		}
		code = nn_walk(body, (const void *const *)state, next, limit, NULL);
		if (code != ANEURALNETWORKS_NO_ERROR)
			break;
		for (uint32_t k = 0; k < body->out_count; k++) {
			void *before = state[k];
			state[k] = next[k];
			next[k] = before;
		}
	}
	for (uint32_t k = 0; k < op->out_count && code == ANEURALNETWORKS_NO_ERROR; k++)
		memcpy(v[op->out[k]], state[k], nn_bytes(&body->operands[body->in[k]]));
	for (uint32_t k = 0; k < count; k++) {
		free(state[k]);
		free(next[k]);
	}
	return code;
}

#endif
