/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every type of matrix product in every layout with every quantization, against sums of double in plain loops. Values
 * and scales have so few bits that these sums are exact, so results must be equal: integers saturated, reals rounded
 * once. Then long sums, products of many sizes, and random numbers against an error bound. ANYNPU_RKNN_TARGET chooses
 * the board.
 */
#include "rknn_matmul.h"

enum { LAYER = 1, CHANNEL, GROUP }; /* 0: no parameters */

struct params {
	float *scale;
	int32_t *zp;
	int n;
};

struct test {
	rknn_matmul_info info;
	int kind, asym;
	struct params p[3];
};

static uint32_t state = 12345;

static int randomly(int n)
{
	state = state * 1664525u + 1013904223u;
	return (int)((state >> 8) % (uint32_t)n);
}

static const char *target(void)
{
	const char *t = getenv("ANYNPU_RKNN_TARGET");
	return t && *t ? t : "rk3588";
}

static size_t segment(size_t K) { return !strcmp(target(), "rk3588") ? 8192 : !strcmp(target(), "rk3576") ? 4096 : K; }

/* A value that the type has: every integer, or reals in steps of 1/64 below 8. */
static double some(rknn_tensor_type t)
{
	switch (t) {
	case RKNN_TENSOR_INT4: return randomly(16) - 8;
	case RKNN_TENSOR_INT8: return randomly(256) - 128;
	default: return (randomly(1023) - 511) / 64.0;
	}
}

static void make_params(struct params *p, int n, float first, int steps, int asym, int limit)
{
	p->n = n;
	p->scale = (float *)malloc(sizeof(float) * (size_t)n);
	p->zp = (int32_t *)malloc(sizeof(int32_t) * (size_t)n);
	for (int i = 0; i < n; i++) {
		p->scale[i] = first * (float)(1 + (steps ? randomly(7) : 0));
		p->zp[i] = asym ? randomly(2 * limit) - limit : 0;
	}
}

static void set_params(rknn_matmul_ctx ctx, const char *name, const struct params *p)
{
	rknn_quant_params q;
	if (!p->n)
		return;
	memset(&q, 0, sizeof q);
	strcpy(q.name, name);
	q.scale = p->scale;
	q.scale_len = q.zp_len = p->n;
	q.zp = p->zp;
	OK(rknn_matmul_set_quant_params(ctx, &q));
}

static double expected(const struct test *t, const rknn_matmul_io_attr *attr, const double *a, const double *b, int m,
	int n)
{
	const rknn_matmul_info *info = &t->info;
	const struct params *pa = &t->p[0], *pb = &t->p[1], *pc = &t->p[2];
	int real = attr->A.type == RKNN_TENSOR_FLOAT16, raw = attr->B.type == RKNN_TENSOR_FLOAT16 ||
		attr->C.type == RKNN_TENSOR_INT32 || attr->C.type == RKNN_TENSOR_INT16;
	int step = t->kind == GROUP ? info->group_size : info->K;
	double total = 0;
	for (int k0 = 0; k0 < info->K; k0 += step) {
		int i = pb->n == 1 ? 0 : k0 / step * info->N + n;
		double sum = 0, za = !raw && !real && pa->n ? pa->zp[0] : 0, zb = !raw && pb->n ? pb->zp[i] : 0;
		for (int k = k0; k < k0 + step; k++)
			sum += (a[m * info->K + k] - za) * (b[k * info->N + n] - zb);
		total += t->kind == GROUP && !raw ? sum * (double)pb->scale[i] : sum;
	}
	float sa = pa->n ? pa->scale[0] : 1, sb = pb->n ? pb->scale[pb->n == 1 ? 0 : n] : 1, sc = pc->n ? pc->scale[0] : 1;
	double scaled = raw ? total : t->kind == GROUP ? total * (double)sa : total * (double)sa * (double)sb;
	switch (attr->C.type) {
	case RKNN_TENSOR_INT32: return total;
	case RKNN_TENSOR_INT16: return fmax(-32768, fmin(32767, total));
	case RKNN_TENSOR_INT8: {
		float r;
		if (t->kind == GROUP)
			r = (float)scaled / sc;
		else {
			r = (float)total * sa;
			r = r * sb;
			r = r / sc;
		}
		return fmax(-128, fmin(127, nearbyint((double)r) + (pc->n ? pc->zp[0] : 0)));
	}
	case RKNN_TENSOR_FLOAT16: return half_rounded(scaled);
	case RKNN_TENSOR_BFLOAT16: return brain_rounded(scaled);
	default: return (double)(float)scaled;
	}
}

/* Fills, binds, runs and compares one size of a context. */
static size_t compute(rknn_matmul_ctx ctx, struct test *t, const rknn_matmul_io_attr *attr)
{
	size_t M = (size_t)t->info.M, K = (size_t)t->info.K, N = (size_t)t->info.N, wrong = 0;
	rknn_tensor_mem *mem[3] = {rknn_create_mem(ctx, attr->A.size), rknn_create_mem(ctx, attr->B.size),
		rknn_create_mem(ctx, attr->C.size)};
	double *a = (double *)malloc(M * K * sizeof *a), *b = (double *)malloc(K * N * sizeof *b);
	uint8_t *normal = (uint8_t *)calloc(1, attr->B.size);
	CHECK(attr->A.size == M * K * (size_t)bits_of(attr->A.type) / 8 &&
		attr->B.size == K * N * (size_t)bits_of(attr->B.type) / 8, "sizes");
	for (size_t m = 0; m < M; m++)
		for (size_t k = 0; k < K; k++)
			set_element(mem[0]->virt_addr, attr->A.type, index_ac(&attr->A, M, K, m, k), a[m * K + k] = some(attr->A.type));
	for (size_t k = 0; k < K; k++)
		for (size_t n = 0; n < N; n++) {
			b[k * N + n] = some(attr->B.type);
			set_element(mem[1]->virt_addr, attr->B.type, index_b(&attr->B, t->info.B_layout, K, N, segment(K), k, n),
				b[k * N + n]);
			set_element(normal, attr->B.type, k * N + n, b[k * N + n]);
		}
	if (t->info.B_layout == RKNN_MM_LAYOUT_NATIVE) { /* the function gives what the formula says, also in place */
		OK(rknn_B_normal_layout_to_native_layout(normal, normal, t->info.K, t->info.N, &t->info));
		CHECK(memcmp(normal, mem[1]->virt_addr, attr->B.size) == 0, "rknn_B_normal_layout_to_native_layout");
	}
	memset(mem[2]->virt_addr, 0x55, attr->C.size);
	OK(rknn_matmul_set_io_mem(ctx, mem[0], (rknn_matmul_tensor_attr *)&attr->A));
	OK(rknn_matmul_set_io_mem(ctx, mem[1], (rknn_matmul_tensor_attr *)&attr->B));
	OK(rknn_matmul_set_io_mem(ctx, mem[2], (rknn_matmul_tensor_attr *)&attr->C));
	OK(rknn_matmul_run(ctx));
	for (size_t m = 0; m < M; m++)
		for (size_t n = 0; n < N; n++) {
			double got = element(mem[2]->virt_addr, attr->C.type, index_ac(&attr->C, M, N, m, n)),
				want = expected(t, attr, a, b, (int)m, (int)n);
			if (got != want && wrong++ == 0)
				printf("type %d, layouts %d %d, parameters %d %d, %zu x %zu x %zu: C[%zu][%zu] is %.9g, want %.9g\n",
					(int)t->info.type, t->info.B_layout,
				       t->info.AC_layout, t->kind, t->asym, M, K, N, m, n, got, want);
		}
	for (int i = 0; i < 3; i++)
		OK(rknn_destroy_mem(ctx, mem[i]));
	free(a);
	free(b);
	free(normal);
	return wrong;
}

/* One combination; 0 if the board has no such type. */
static int combination(rknn_matmul_type type, int b_layout, int ac_layout, int kind, int asym, int M, int K, int N,
	size_t *wrong)
{
	struct test t;
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	memset(&t, 0, sizeof t);
	t.kind = kind;
	t.asym = asym;
	t.info.M = M;
	t.info.K = K;
	t.info.N = N;
	t.info.type = type;
	t.info.B_layout = (int16_t)b_layout;
	t.info.AC_layout = (int16_t)ac_layout;
	t.info.B_quant_type = (int16_t)(kind ? 2 * (kind - 1) + asym : 0);
	t.info.AC_quant_type = (int16_t)asym;
	t.info.group_size = kind == GROUP ? 32 : 0;
	if (rknn_matmul_create(&ctx, &t.info, &attr) != RKNN_SUCC)
		return 0;
	if (kind) {
		make_params(&t.p[0], 1, 0.3f, 0, asym && attr.A.type != RKNN_TENSOR_FLOAT16,
			attr.A.type == RKNN_TENSOR_INT4 ? 8 : 128);
		make_params(&t.p[1], kind == LAYER ? 1 : kind == CHANNEL ? N : K / 32 * N, 1 / 16.f, 1, asym &&
			attr.B.type != RKNN_TENSOR_FLOAT16, attr.B.type == RKNN_TENSOR_INT4 ? 8 : 128);
		make_params(&t.p[2], 1, 150.f, 0, asym && attr.C.type == RKNN_TENSOR_INT8, 128);
	}
	set_params(ctx, "A", &t.p[0]);
	set_params(ctx, "B", &t.p[1]);
	set_params(ctx, "C", &t.p[2]);
	*wrong += compute(ctx, &t, &attr);
	for (int i = 0; i < 3; i++) {
		free(t.p[i].scale);
		free(t.p[i].zp);
	}
	OK(rknn_matmul_destroy(ctx));
	return 1;
}

/* Sums of 4-bit numbers that 16 bits do not hold saturate. */
static void saturation(void)
{
	rknn_matmul_info info;
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	memset(&info, 0, sizeof info);
	info.M = 1;
	info.K = 1024;
	info.N = 64;
	info.type = RKNN_INT4_MM_INT4_TO_INT16;
	if (rknn_matmul_create(&ctx, &info, &attr) != RKNN_SUCC)
		return;
	rknn_tensor_mem *a = rknn_create_mem(ctx, attr.A.size), *b = rknn_create_mem(ctx, attr.B.size),
		*c = rknn_create_mem(ctx, attr.C.size);
	OK(rknn_matmul_set_io_mem(ctx, a, &attr.A));
	OK(rknn_matmul_set_io_mem(ctx, b, &attr.B));
	OK(rknn_matmul_set_io_mem(ctx, c, &attr.C));
	memset(a->virt_addr, 0x88, a->size);
	memset(b->virt_addr, 0x88, b->size);
	OK(rknn_matmul_run(ctx));
	CHECK(((int16_t *)c->virt_addr)[63] == 32767, "64 x 1024");
	memset(b->virt_addr, 0x77, b->size);
	OK(rknn_matmul_run(ctx));
	CHECK(((int16_t *)c->virt_addr)[63] == -32768, "-56 x 1024");
	OK(rknn_destroy_mem(ctx, a));
	OK(rknn_destroy_mem(ctx, b));
	OK(rknn_destroy_mem(ctx, c));
	OK(rknn_matmul_destroy(ctx));
}

/* Several sizes of one context, in any order. */
static void sizes(size_t *wrong)
{
	struct test t;
	rknn_matmul_shape shapes[] = {{1, 64, 64}, {7, 64, 64}, {33, 128, 192}, {2, 1536, 64}};
	rknn_matmul_io_attr attrs[4];
	for (int layout = 0; layout < 3; layout++) {
		rknn_matmul_ctx ctx = 0;
		memset(&t, 0, sizeof t);
		t.info.type = RKNN_INT8_MM_INT8_TO_INT32;
		t.info.B_layout = (int16_t)layout;
		t.info.AC_layout = (int16_t)(layout % 2);
		OK(rknn_matmul_create_dynamic_shape(&ctx, &t.info, 4, shapes, attrs));
		for (int i = 0; i < 8; i++) {
			int s = i * 3 % 4;
			OK(rknn_matmul_set_dynamic_shape(ctx, &shapes[s]));
			t.info.M = shapes[s].M;
			t.info.K = shapes[s].K;
			t.info.N = shapes[s].N;
			*wrong += compute(ctx, &t, &attrs[s]);
		}
		OK(rknn_matmul_destroy(ctx));
	}
}

/* Numbers of every magnitude: within the error of sums of 1024 terms in float32. */
static void bounded(void)
{
	enum { M = 3, K = 4096, N = 64 };
	rknn_matmul_info info;
	rknn_matmul_io_attr attr;
	rknn_matmul_ctx ctx = 0;
	memset(&info, 0, sizeof info);
	info.M = M;
	info.K = K;
	info.N = N;
	info.type = RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32;
	OK(rknn_matmul_create(&ctx, &info, &attr));
	rknn_tensor_mem *a = rknn_create_mem(ctx, attr.A.size), *b = rknn_create_mem(ctx, attr.B.size),
		*c = rknn_create_mem(ctx, attr.C.size);
	OK(rknn_matmul_set_io_mem(ctx, a, &attr.A));
	OK(rknn_matmul_set_io_mem(ctx, b, &attr.B));
	OK(rknn_matmul_set_io_mem(ctx, c, &attr.C));
	uint16_t *x = (uint16_t *)a->virt_addr, *y = (uint16_t *)b->virt_addr;
	for (int i = 0; i < M * K; i++)
		x[i] = (uint16_t)(randomly(0x7000) | randomly(2) << 15);
	for (int i = 0; i < K * N; i++)
		y[i] = (uint16_t)(randomly(0x7000) | randomly(2) << 15);
	OK(rknn_matmul_run(ctx));
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			double sum = 0, all = 0;
			for (int k = 0; k < K; k++) {
				double p = half_value(x[m * K + k]) * half_value(y[k * N + n]);
				sum += p;
				all += fabs(p);
			}
			CHECK(fabs((double)((float *)c->virt_addr)[m * N + n] - sum) <= 1024 * ldexp(all, -24), "float16, 4096 terms");
		}
	OK(rknn_destroy_mem(ctx, a));
	OK(rknn_destroy_mem(ctx, b));
	OK(rknn_destroy_mem(ctx, c));
	OK(rknn_matmul_destroy(ctx));
}

int main(void)
{
	size_t wrong = 0;
	int done = 0, types = 0;
	host_begin();
	for (int type = 1; type < 16; type += type == 12 ? 3 : 1) {
		int before = done;
		for (int i = 0; i < 3 * 2 * 4 * 2; i++)
			done += combination((rknn_matmul_type)type, i % 3, i / 3 % 2, i / 6 % 4, i / 24, 3, 128, 128, &wrong);
		CHECK(done == before || done == before + 48, "type %d: some combinations only", type);
		types += done > before;
	}
	CHECK(types == (strcmp(target(), "rk3588") && strcmp(target(), "rk3576") ? 7 : 13), "%d types", types);
	/* More rows of B than one segment of the native layout. */
	for (int i = 0; i < 4; i++)
		done += combination(i % 2 ? RKNN_INT8_MM_INT8_TO_INT32 : RKNN_INT8_MM_INT8_TO_FLOAT32, 1, i / 2, 0, 0, 2, 2 * 8192 +
			96, 32, &wrong);
	saturation();
	sizes(&wrong);
	bounded();
	printf("rknn_matmul_reference: %s, %d types, %d combinations, %zu values wrong\n", target(), types, done, wrong);
	CHECK(wrong == 0, "values");
	return host_end();
}
