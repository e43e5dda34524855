/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a program and a context share: bound inputs and outputs in several formats, wrapped descriptors, memory
 * that ends first.
 */
#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { C = 5, H = 2, W = 3, N = C * H * W };

static const int64_t dims[] = {1, C, H, W};

static rknn_context open_model(uint32_t flags)
{
	struct rknn_message model = rknn_relu(dims, 4);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, flags, NULL));
	return ctx;
}

static rknn_tensor_attr attr_of(rknn_context ctx, rknn_query_cmd cmd)
{
	rknn_tensor_attr a = {.index = 0};
	OK(rknn_query(ctx, cmd, &a, sizeof a));
	return a;
}

/* The value of channel c, row h, column w of the input; the model makes negative ones 0. */
static float value(int c, int h, int w) { return (float)((c * H + h) * W + w) - 9; }

static float result(int c, int h, int w) { return value(c, h, w) > 0 ? value(c, h, w) : 0; }

static void fill_nhwc(float *x)
{
	for (int h = 0; h < H; h++)
		for (int w = 0; w < W; w++)
			for (int c = 0; c < C; c++)
				x[(h * W + w) * C + c] = value(c, h, w);
}

/* Half-precision numbers of small integers. */
static float half(uint16_t v)
{
	float f = 0;
	uint32_t bits = v ? ((uint32_t)(v >> 10) + 112) << 23 | (uint32_t)(v & 1023) << 13 : 0;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static void formats(void)
{
	rknn_context ctx = open_model(RKNN_FLAG_MEM_ALLOC_OUTSIDE);
	rknn_tensor_attr in = attr_of(ctx, RKNN_QUERY_INPUT_ATTR), out = attr_of(ctx, RKNN_QUERY_OUTPUT_ATTR);
	rknn_tensor_attr native = attr_of(ctx, RKNN_QUERY_NATIVE_OUTPUT_ATTR),
		nhwc = attr_of(ctx, RKNN_QUERY_NATIVE_NHWC_OUTPUT_ATTR);
	CHECK(in.fmt == RKNN_TENSOR_NHWC && in.dims[3] == C && in.w_stride == W && in.type == RKNN_TENSOR_FLOAT16,
		"input attributes");
	CHECK(out.fmt == RKNN_TENSOR_NCHW && out.dims[1] == C && out.size == 2 * N, "output attributes");
	CHECK(native.fmt == RKNN_TENSOR_NC1HWC2 && native.n_dims == 5 && native.dims[1] == 1 && native.dims[4] == 8,
		"native attributes");
	CHECK(out.size_with_stride >= native.size && nhwc.fmt == RKNN_TENSOR_NHWC, "sizes");

	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run without memory");
	in.type = RKNN_TENSOR_FLOAT32;
	rknn_tensor_mem *x = rknn_create_mem(ctx, N * 4), *y = rknn_create_mem2(ctx, out.size_with_stride * 2,
		RKNN_FLAG_MEMORY_CACHEABLE);
	CHECK(x && y && x->fd >= 0 && x->virt_addr && x->size == N * 4 && ((uintptr_t)x->virt_addr & 4095) == 0,
		"rknn_create_mem");
	OK(rknn_set_io_mem(ctx, x, &in));
	fill_nhwc(x->virt_addr);
	OK(rknn_mem_sync(ctx, x, RKNN_MEMORY_SYNC_TO_DEVICE));

	out.type = RKNN_TENSOR_FLOAT32;
	OK(rknn_set_io_mem(ctx, y, &out));
	OK(rknn_run(ctx, NULL));
	for (int c = 0; c < C; c++)
		for (int i = 0; i < H * W; i++)
			CHECK(((float *)y->virt_addr)[c * H * W + i] == result(c, i / W, i % W), "NCHW float32");

	OK(rknn_set_io_mem(ctx, y, &native));
	memset(y->virt_addr, 0xff, y->size);
	OK(rknn_run(ctx, NULL));
	for (int c = 0; c < 8; c++)
		for (int i = 0; i < H * W; i++)
			CHECK(half(((uint16_t *)y->virt_addr)[i * 8 + c]) == (c < C ? result(c, i / W, i % W) : 0), "NC1HWC2 float16");

	OK(rknn_set_io_mem(ctx, y, &nhwc));
	OK(rknn_run(ctx, NULL));
	for (int c = 0; c < C; c++)
		for (int i = 0; i < H * W; i++)
			CHECK(half(((uint16_t *)y->virt_addr)[i * C + c]) == result(c, i / W, i % W), "NHWC float16");

	/* Wrong ones leave the binding as it was. */
	rknn_tensor_mem *small = rknn_create_mem(ctx, N), fake = {0};
	rknn_tensor_attr odd = in;
	strcpy(odd.name, "z");
	CHECK(rknn_set_io_mem(ctx, small, &in) == RKNN_ERR_PARAM_INVALID, "memory that is too small");
	CHECK(rknn_set_io_mem(ctx, &fake, &in) == RKNN_ERR_PARAM_INVALID, "invalid memory");
	CHECK(rknn_set_io_mem(ctx, x, &odd) == RKNN_ERR_PARAM_INVALID, "an invalid tensor");
	odd = in;
	odd.fmt = RKNN_TENSOR_NC1HWC2;
	CHECK(rknn_set_io_mem(ctx, x, &odd) == RKNN_ERR_PARAM_INVALID, "an invalid format");
	OK(rknn_run(ctx, NULL));

	/* Memory that ends first: the next run says so. */
	OK(rknn_destroy_mem(ctx, x));
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run with memory that has gone");
	CHECK(rknn_destroy_mem(ctx, x) == RKNN_ERR_PARAM_INVALID, "memory destroyed twice");
	OK(rknn_destroy(ctx));
	OK(rknn_destroy_mem(ctx, y));
	OK(rknn_destroy_mem(0, small));
}

/* One descriptor, two contexts, each with its part of it, as programs that reuse memory do. */
static void shared(void)
{
	rknn_context ctx[2] = {open_model(RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE), open_model(RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE)};
	rknn_tensor_mem *base = rknn_create_mem(ctx[0], 4 * 4096), *part[2], *in[2];
	for (int i = 0; i < 2; i++) {
		rknn_mem_size size;
		OK(rknn_query(ctx[i], RKNN_QUERY_MEM_SIZE, &size, sizeof size));
		part[i] = rknn_create_mem_from_fd(ctx[i], base->fd, base->virt_addr, size.total_internal_size, 4096 * i);
		CHECK(part[i] && part[i]->virt_addr == base->virt_addr && part[i]->flags == RKNN_TENSOR_MEMORY_FLAGS_FROM_FD,
			"from_fd");
		OK(rknn_set_internal_mem(ctx[i], part[i]));
		in[i] = rknn_create_mem_from_fd(ctx[i], base->fd, i ? NULL : base->virt_addr, N * 4, 4096 * (2 + i));
		rknn_tensor_attr a = attr_of(ctx[i], RKNN_QUERY_INPUT_ATTR);
		a.type = RKNN_TENSOR_FLOAT32;
		OK(rknn_set_io_mem(ctx[i], in[i], &a));
		fill_nhwc((float *)((char *)base->virt_addr + 4096 * (2 + i)));
	}
	OK(rknn_destroy_mem(ctx[0], base)); /* the parts keep it */
	for (int i = 0; i < 2; i++) {
		float got[N];
		rknn_output out = {.want_float = 1, .is_prealloc = 1, .buf = got, .size = sizeof got};
		OK(rknn_run(ctx[i], NULL));
		OK(rknn_outputs_get(ctx[i], 1, &out, NULL));
		for (int k = 0; k < N; k++)
			CHECK(got[k] == result(k / (H * W), k / W % H, k % W), "a shared descriptor");
		OK(rknn_destroy_mem(ctx[i], part[i]));
		OK(rknn_destroy_mem(ctx[i], in[i]));
		OK(rknn_destroy(ctx[i]));
	}
}

int main(void)
{
	host_begin();
	for (int i = 0; i < 50; i++) {
		formats();
		shared();
	}
	puts("rknn_zero_copy: ok");
	return host_end();
}
