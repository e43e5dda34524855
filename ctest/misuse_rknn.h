/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A good rknn_context for the generated misuse test: a model of one operator, y = Relu(x), x and y float32 of shape 1 x 4.
 */
#ifndef MISUSE_RKNN_H
#define MISUSE_RKNN_H

#include "rknn_model.h"

static inline rknn_context make_rknn_context(void)
{
	static const int64_t dims[] = {1, 4};
	struct rknn_message model = rknn_relu(dims, 2);
	rknn_context context = 0;
	if (rknn_init(&context, model.bytes, (uint32_t)model.size, 0, NULL) != RKNN_SUCC)
		abort();
	return context;
}

static inline void drop_rknn_context(rknn_context context) { rknn_destroy(context); }

#endif
