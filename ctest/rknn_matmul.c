/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A matrix product as programs for the boards compute it: create, fill A, convert and fill B, bind, run some times,
 * compare with plain loops, print the time.
 *
 *     rknn_matmul [TYPE [M K N [B_LAYOUT AC_LAYOUT [LOOPS]]]]
 *
 * Without arguments, every type in the layouts that programs use.
 */
#include <time.h>

#include "rknn_matmul.h"

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void set_params(rknn_matmul_ctx ctx, const rknn_matmul_tensor_attr *attr, float scale, int count)
{
	rknn_quant_params params;
	memset(&params, 0, sizeof params);
	memcpy(params.name, attr->name, RKNN_MAX_NAME_LEN);
	params.scale = (float *)malloc((size_t)count * sizeof *params.scale);
	params.zp = (int32_t *)calloc((size_t)count, sizeof *params.zp);
	params.scale_len = params.zp_len = count;
	for (int i = 0; i < count; i++)
		params.scale[i] = scale;
	OK(rknn_matmul_set_quant_params(ctx, &params));
	free(params.scale);
	free(params.zp);
}

/* A and B hold small integers, so that sums are exact in every type. */
static double value_a(int m, int k) { return (m * 3 + k) % 7 - 3; }

static double value_b(int k, int n) { return (k + n * 5) % 9 - 4; }

static int product(rknn_matmul_type type, int M, int K, int N, int b_layout, int ac_layout, int loops)
{
	rknn_matmul_info info;
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	memset(&info, 0, sizeof info);
	info.M = M;
	info.K = K;
	info.N = N;
	info.type = type;
	info.B_layout = (int16_t)b_layout;
	info.AC_layout = (int16_t)ac_layout;
	int quantized = type == RKNN_INT8_MM_INT8_TO_INT8;
	if (rknn_matmul_create(&ctx, &info, &attr) < 0)
		return 0;
	OK(rknn_matmul_set_core_mask(ctx, RKNN_NPU_CORE_AUTO));
	rknn_tensor_mem *a = rknn_create_mem(ctx, attr.A.size), *b = rknn_create_mem(ctx, attr.B.size),
		*c = rknn_create_mem(ctx, attr.C.size);
	CHECK(a && b && c, "memory");

	for (int m = 0; m < M; m++)
		for (int k = 0; k < K; k++)
			set_element(a->virt_addr, attr.A.type, index_ac(&attr.A, (size_t)M, (size_t)K, (size_t)m, (size_t)k), value_a(m, k));
	uint8_t *normal = (uint8_t *)calloc(1, attr.B.size);
	for (int k = 0; k < K; k++)
		for (int n = 0; n < N; n++)
			set_element(normal, attr.B.type, (size_t)k * (size_t)N + (size_t)n, value_b(k, n));
	if (b_layout == RKNN_MM_LAYOUT_NATIVE)
		OK(rknn_B_normal_layout_to_native_layout(normal, b->virt_addr, K, N, &info));
	else if (b_layout == RKNN_MM_LAYOUT_NORM)
		memcpy(b->virt_addr, normal, attr.B.size);
	else
		for (int k = 0; k < K; k++)
			for (int n = 0; n < N; n++)
				set_element(b->virt_addr, attr.B.type, (size_t)n * (size_t)K + (size_t)k, value_b(k, n));
	free(normal);

	OK(rknn_matmul_set_io_mem(ctx, a, &attr.A));
	OK(rknn_matmul_set_io_mem(ctx, b, &attr.B));
	OK(rknn_matmul_set_io_mem(ctx, c, &attr.C));
	if (quantized) {
		set_params(ctx, &attr.A, 0.2f, 1);
		set_params(ctx, &attr.B, 0.1f, N);
		set_params(ctx, &attr.C, 0.8f, 1);
	}
	double best = 1e9;
	for (int i = 0; i < loops; i++) {
		double start = seconds();
		OK(rknn_matmul_run(ctx));
		if (seconds() - start < best)
			best = seconds() - start;
	}

	size_t wrong = 0;
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			double want = 0;
			for (int k = 0; k < K; k++)
				want += value_a(m, k) * value_b(k, n);
			if (quantized)
				want = fmax(-128, fmin(127, nearbyint((double)((float)want * 0.2f * 0.1f / 0.8f))));
			wrong += element(c->virt_addr, attr.C.type, index_ac(&attr.C, (size_t)M, (size_t)N, (size_t)m, (size_t)n)) != want;
		}
	printf("%s %d x %d x %d, layouts %d %d: %zu of %d wrong, %.3f ms, %.1f Gop/s\n", get_matmul_type_string(type), M, K, N,
		b_layout, ac_layout,
	       wrong, M * N, best * 1e3, 2e-9 * M * K * N / best);
	CHECK(wrong == 0, "results");
	OK(rknn_destroy_mem(ctx, a));
	OK(rknn_destroy_mem(ctx, b));
	OK(rknn_destroy_mem(ctx, c));
	OK(rknn_matmul_destroy(ctx));
	return 1;
}

int main(int argc, char **argv)
{
	int n[7] = {2, 4, 64, 64, 0, 0, 10}, done = 0;
	for (int i = 1; i < argc && i < 8; i++)
		n[i - 1] = atoi(argv[i]);
	host_begin();
	if (argc > 1)
		return !product((rknn_matmul_type)n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
	for (int round = 0; round < 2; round++) {
		for (int type = 1; type < 16; type += type == 12 ? 3 : 1)
			for (int layouts = 0; layouts < 6; layouts++)
				done += product((rknn_matmul_type)type, 4, 64, 64, layouts % 3, layouts / 3, 2);
		done += product(RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32, 64, 256, 128, 1, 1, 3) +
			product(RKNN_INT8_MM_INT8_TO_INT32, 64, 256, 128, 1, 1, 3);
	}
	CHECK(done == 2 * (13 * 6 + 2), "%d products", done);
	puts("rknn_matmul: ok");
	return host_end();
}
