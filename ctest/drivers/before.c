/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library that a program preloads to stand before some functions of rknn, as tracers do: each call goes on to the
 * next file that has the name.
 */
#include <dlfcn.h>
#include <rknn_api.h>
#include <stdlib.h>
#include <string.h>

#define NEXT(type, name, parameters, ...) \
	type name parameters \
	{ \
		static type (*_Atomic next) parameters; \
		type(*f) parameters = next; \
		if (!f) { \
			void *symbol = dlsym(RTLD_NEXT, #name); \
			if (!symbol) \
				abort(); \
			memcpy(&f, &symbol, sizeof f); \
			next = f; \
		} \
		type result = f(__VA_ARGS__); \
		__asm__ volatile("" : "+r"(result)); /* no jump: the call returns to here */ \
		return result; \
	}

NEXT(int, rknn_init, (rknn_context * context, void *model, uint32_t size, uint32_t flag, rknn_init_extend *extend),
	context, model, size, flag, extend)
NEXT(int, rknn_dup_context, (rknn_context * from, rknn_context *to), from, to)
NEXT(int, rknn_query, (rknn_context context, rknn_query_cmd cmd, void *info, uint32_t size), context, cmd, info, size)
NEXT(int, rknn_run, (rknn_context context, rknn_run_extend *extend), context, extend)
NEXT(int, rknn_destroy, (rknn_context context), context)
NEXT(rknn_tensor_mem *, rknn_create_mem, (rknn_context context, uint32_t size), context, size)
NEXT(int, rknn_destroy_mem, (rknn_context context, rknn_tensor_mem *mem), context, mem)
