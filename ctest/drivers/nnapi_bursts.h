/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The bursts of the fake driver of nnapi.h: each of one compilation, which outlives it, and for one computation at a
 * time. It counts how many it is asked for, what they compute, and what must not be.
 */
#ifndef NNAPI_BURSTS_H
#define NNAPI_BURSTS_H

#include "nnapi_events.h"

struct nn_burst {
	struct nn_object object;
	struct nn_compilation *compilation;
	int busy;
};

static int nn_burst_begin(struct nn_burst *b, struct nn_compilation *c)
{
	int32_t code = ANEURALNETWORKS_NO_ERROR;
	nn_count("bursts", 1);
	if (!c || !c->finished)
		return c ? ANEURALNETWORKS_BAD_STATE : ANEURALNETWORKS_UNEXPECTED_NULL;
	tell_lies("refusal of a burst", &code, sizeof code);
	if (code)
		return code;
	b->compilation = c;
	__atomic_add_fetch(&c->bursts, 1, __ATOMIC_SEQ_CST);
	return ANEURALNETWORKS_NO_ERROR;
}

static int nn_burst_compute(struct nn_burst *b, struct nn_execution *e)
{
	int free = 0, code;
	if (!b)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (b->compilation != e->compilation)
		return ANEURALNETWORKS_BAD_DATA;
	if (!__atomic_compare_exchange_n(&b->busy, &free, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return ANEURALNETWORKS_BAD_STATE;
	nn_count("computed in a burst", 1);
	pass_gate();
	code = nn_compute(e);
	__atomic_store_n(&b->busy, 0, __ATOMIC_SEQ_CST);
	return code;
}

/* An object is freed: a burst that computes is not, and neither is a compilation that has bursts. */
static void nn_burst_frees(struct nn_object *o)
{
	struct nn_burst *b = (struct nn_burst *)o;
	if (o->kind == NN_COMPILATION && __atomic_load_n(&((struct nn_compilation *)o)->bursts, __ATOMIC_SEQ_CST))
		nn_count("freed too early", 1);
	if (o->kind != NN_BURST)
		return;
	if (__atomic_load_n(&b->busy, __ATOMIC_SEQ_CST))
		nn_count("freed too early", 1);
	if (b->compilation)
		__atomic_sub_fetch(&b->compilation->bursts, 1, __ATOMIC_SEQ_CST);
}

#endif
