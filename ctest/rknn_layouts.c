/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that was compiled with an older or the newest header, LAYOUT 150 or 232, on the library of today. Its
 * structs end where memory does, and what it did not set holds garbage: the library may neither read behind the one nor
 * believe the other. It asks for the version, as clients do that want a runtime of 2.4.1 or later.
 */
#include <sys/mman.h>

#include "host.h"
#include "rknn_layouts.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == 0, "%s", anynpu_last_error())

enum { IN_OUT_NUM = 0, INPUT_ATTR, OUTPUT_ATTR, SDK_VERSION = 5, MEM_SIZE = 6, INPUT_RANGE = 13, CURRENT_INPUT = 14,
	CURRENT_OUTPUT = 15 };
enum { FLOAT32 = 0, FLOAT16 = 1, NCHW = 0, NHWC = 1, HEIGHT = 3, WIDTH = 4, CHANNELS = 2,
	COUNT = HEIGHT * WIDTH * CHANNELS };

/* Memory of size bytes, all garbage, whose end is that of what can be touched; each lasts until the program ends. */
static void *at_end(size_t size)
{
	enum { PAGE = 4096 };
	size_t room = (size + PAGE - 1) / PAGE * PAGE;
	char *p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED && mprotect(p + room, PAGE, PROT_NONE) == 0, "no memory");
	memset(p, 0xa5, room);
	return p + room - size;
}

#define MAKE(type, name) type *name = at_end(sizeof *name)

static void versions(uint64_t ctx)
{
	MAKE(struct version, v);
	int major = 0, minor = 0, patch = 0;
	OK(rknn_query(ctx, SDK_VERSION, v, sizeof *v));
	CHECK(sscanf(v->api, "%d.%d.%d (", &major, &minor, &patch) == 3, "api_version %s", v->api);
	CHECK(major == 2 && minor == 5 && patch == 0, "api_version %s", v->api);
	CHECK(sscanf(v->driver, "%d.%d.%d", &major, &minor, &patch) == 3, "drv_version %s", v->driver);
	/* Not by setenv, whose copy is as long as the text: Go reads texts by words, which valgrind reports. */
	static char other[64] = "ANYNPU_RKNN_VERSION=1.5.0 (e6fe0c678@2023-05-25T08:09:20)";
	CHECK(putenv(other) == 0, "putenv");
	OK(rknn_query(ctx, SDK_VERSION, v, sizeof *v));
	CHECK(strcmp(v->api, "1.5.0 (e6fe0c678@2023-05-25T08:09:20)") == 0, "api_version %s", v->api);
	unsetenv("ANYNPU_RKNN_VERSION");
}

static void describes(uint64_t ctx)
{
	MAKE(struct counts, n);
	MAKE(struct attr, a);
	MAKE(struct mem_size, m);
	MAKE(struct range, r);
	OK(rknn_query(ctx, IN_OUT_NUM, n, sizeof *n));
	CHECK(n->inputs == 1 && n->outputs == 1, "%u inputs, %u outputs", n->inputs, n->outputs);
	a->index = 0;
	OK(rknn_query(ctx, INPUT_ATTR, a, sizeof *a));
	CHECK(a->n_dims == 4 && a->dims[1] == HEIGHT && a->dims[3] == CHANNELS && a->fmt == NHWC && strcmp(a->name, "x") == 0,
		"the input");
	CHECK(a->n_elems == COUNT && a->type == FLOAT16 && a->w_stride == WIDTH && a->h_stride == 0, "the input");
	OK(rknn_query(ctx, MEM_SIZE, m, sizeof *m));
	CHECK(m->weight > 0 && m->dma > 0, "memory");
	r->index = 0;
	OK(rknn_query(ctx, INPUT_RANGE, r, sizeof *r));
	CHECK(r->shapes == 2 && r->n_dims == 4 && r->dims[0][1] == HEIGHT && r->dims[1][1] == 1, "shapes");
	memset(a, 0xa5, sizeof *a);
	a->index = 0, a->n_dims = 4, a->fmt = r->fmt;
	memcpy(a->name, r->name, sizeof a->name);
	memcpy(a->dims, r->dims[0], sizeof a->dims);
	OK(rknn_set_input_shapes(ctx, 1, a));
	a->index = 0;
	OK(rknn_query(ctx, CURRENT_OUTPUT, a, sizeof *a));
	CHECK(a->n_elems == COUNT, "%u elements", a->n_elems);
}

static float pixel(int h, int w, int c) { return (float)(h * 8 + w * 2 + c - 9); }

/* Runs with an image of float32 that is 1.5.0's own: everything that is no field of its structs is garbage. */
static void runs(uint64_t ctx)
{
	MAKE(struct input, in);
	MAKE(struct output, out);
	MAKE(struct run_extend, run);
	MAKE(struct output_extend, got);
	float *image = at_end(COUNT * sizeof *image);
	for (int h = 0; h < HEIGHT; h++)
		for (int w = 0; w < WIDTH; w++)
			for (int c = 0; c < CHANNELS; c++)
				image[(h * WIDTH + w) * CHANNELS + c] = pixel(h, w, c);
	in->index = 0, in->buf = image, in->size = COUNT * sizeof *image, in->pass_through = 0, in->type = FLOAT32,
		in->fmt = NHWC;
	OK(rknn_inputs_set(ctx, 1, in));
	run->non_block = 0, run->timeout_ms = 0;
	OK(rknn_run(ctx, run));
	out->want_float = 1, out->is_prealloc = 0, out->index = 0;
	OK(rknn_outputs_get(ctx, 1, out, got));
	CHECK(out->size == COUNT * sizeof(float) && got->frame == run->frame && run->frame > 0, "%u bytes", out->size);
	const float *y = out->buf;
	for (int c = 0; c < CHANNELS; c++)
		for (int h = 0; h < HEIGHT; h++)
			for (int w = 0; w < WIDTH; w++, y++) {
				float x = pixel(h, w, c), want = x > 0 ? x : 0;
				CHECK(*y == want, "%g, want %g", (double)*y, (double)want);
			}
	OK(rknn_outputs_release(ctx, 1, out));
}

static void binds(uint64_t ctx)
{
	MAKE(struct attr, a);
	MAKE(struct attr, b);
	a->index = b->index = 0;
	OK(rknn_query(ctx, INPUT_ATTR, a, sizeof *a));
	OK(rknn_query(ctx, OUTPUT_ATTR, b, sizeof *b));
	a->type = b->type = FLOAT32, a->fmt = NHWC, a->pass_through = 0;
	struct tensor_mem *x = rknn_create_mem(ctx, COUNT * sizeof(float)), *y = rknn_create_mem(ctx, COUNT * sizeof(float));
	CHECK(x && y && x->virt_addr && y->size >= COUNT * sizeof(float), "memory");
	for (int i = 0; i < COUNT; i++)
		((float *)x->virt_addr)[i] = (float)(i - 5);
	OK(rknn_set_io_mem(ctx, x, a));
	OK(rknn_set_io_mem(ctx, y, b));
#if LAYOUT >= 232
	struct tensor_mem *z = rknn_create_mem2(ctx, 64, 0);
	CHECK(z != NULL, "rknn_create_mem2");
	OK(rknn_mem_sync(ctx, x, 1));
	OK(rknn_destroy_mem(ctx, z));
#endif
	OK(rknn_run(ctx, NULL));
	const float *got = y->virt_addr;
	for (int c = 0; c < CHANNELS; c++)
		for (int i = 0; i < HEIGHT * WIDTH; i++) {
			float v = (float)(i * CHANNELS + c - 5), want = v > 0 ? v : 0;
			CHECK(got[c * HEIGHT * WIDTH + i] == want, "%g, want %g", (double)got[c * HEIGHT * WIDTH + i], (double)want);
		}
	OK(rknn_destroy_mem(ctx, x));
	OK(rknn_destroy_mem(ctx, y));
}

/* A product of ones: 1.5.0's matmul_info has 24 bytes, and nothing behind them may be read. */
static void multiplies(void)
{
	enum { M = 2, K = 32, N = 32, ONE = 0x3c00, F16_F16_F32 = 1 };
	MAKE(struct matmul_info, info);
	MAKE(struct matmul_io, io);
	uint64_t ctx = 0;
	memset(info, 0, sizeof *info);
	info->m = M, info->k = K, info->n = N, info->type = F16_F16_F32;
	OK(rknn_matmul_create(&ctx, info, io));
	CHECK(io->a.size == M * K * 2 && io->b.size == K * N * 2 && io->c.size == M * N * 4, "%u, %u, %u bytes", io->a.size,
		io->b.size, io->c.size);
	struct matmul_tensor *attrs[] = {&io->a, &io->b, &io->c};
	struct tensor_mem *mem[3];
	for (int i = 0; i < 3; i++) {
		CHECK((mem[i] = rknn_create_mem(ctx, attrs[i]->size)) != NULL, "memory");
		for (uint32_t at = 0; i < 2 && at < attrs[i]->size / 2; at++)
			((uint16_t *)mem[i]->virt_addr)[at] = ONE;
		OK(rknn_matmul_set_io_mem(ctx, mem[i], attrs[i]));
	}
	OK(rknn_matmul_run(ctx));
	for (int i = 0; i < M * N; i++)
		CHECK(((float *)mem[2]->virt_addr)[i] == K, "element %d is %g", i, (double)((float *)mem[2]->virt_addr)[i]);
	for (int i = 0; i < 3; i++)
		OK(rknn_destroy_mem(ctx, mem[i]));
	OK(rknn_matmul_destroy(ctx));
}

int main(void)
{
	host_begin();
	static const int64_t dims[] = {1, CHANNELS, -1, WIDTH};
	struct rknn_message model = rknn_relu(dims, 4);
	rknn_meta(&model, "anynpu.input.x.shapes", "[[1,2,3,4],[1,2,1,4]]");
	uint64_t ctx = 0, twin = 0;
	MAKE(struct init_extend, extend);
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, extend));
	versions(ctx);
	describes(ctx);
	runs(ctx);
	OK(rknn_dup_context(&ctx, &twin));
	runs(twin);
	binds(twin);
	OK(rknn_destroy(twin));
	OK(rknn_destroy(ctx));
	multiplies();
	return host_end();
}
