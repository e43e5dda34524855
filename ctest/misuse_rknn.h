/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Good contexts for the generated misuse test: a model of one operator, y = Relu(x), x and y float32 of shape 1 x 4,
 * and a product of the smallest matrices.
 */
#ifndef MISUSE_RKNN_H
#define MISUSE_RKNN_H

#include <rknn_matmul_api.h>

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

static inline rknn_matmul_ctx make_rknn_matmul_ctx(void)
{
	rknn_matmul_info info;
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	memset(&info, 0, sizeof info);
	info.M = 1;
	info.K = info.N = 32;
	info.type = RKNN_INT8_MM_INT8_TO_INT32;
	if (rknn_matmul_create(&ctx, &info, &attr) != RKNN_SUCC)
		abort();
	return ctx;
}

static inline void drop_rknn_matmul_ctx(rknn_matmul_ctx ctx) { rknn_matmul_destroy(ctx); }

#endif
