/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Dynamic shapes without copies: memory for the largest shape is bound once per shape; in one turn the library
 * allocates it, in the other the program does, from descriptors of its own, with RKNN_FLAG_MEM_ALLOC_OUTSIDE. Results
 * are read in the native format.
 */
#include <sys/mman.h>

#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { CHANNELS = 11, WIDTH = 3 };

static rknn_context open_model(uint32_t flags)
{
	static const int64_t dims[] = {1, CHANNELS, -1, WIDTH};
	struct rknn_message model = rknn_relu(dims, 4);
	rknn_meta(&model, "anynpu.input.x.shapes", "[[1,11,2,3],[1,11,6,3],[1,11,4,3]]");
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, flags, NULL));
	return ctx;
}

/* Memory, and the program's part of it if it is the program's. */
struct block {
	rknn_tensor_mem *mem;
	int              fd;
	void            *address;
	size_t           size;
};

static struct block allocate(rknn_context ctx, uint32_t size, int outside)
{
	struct block b = {.fd = -1, .size = size};
	if (!outside) {
		b.mem = rknn_create_mem(ctx, size);
	} else {
		b.fd = memfd_create("program", MFD_CLOEXEC);
		CHECK(b.fd >= 0 && ftruncate(b.fd, size) == 0, "memfd");
		b.address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
		CHECK(b.address != MAP_FAILED, "mmap");
		b.mem = rknn_create_mem_from_fd(ctx, b.fd, b.address, size, 0);
	}
	CHECK(b.mem != NULL && b.mem->size == size, "%s", anynpu_last_error());
	return b;
}

static void release(rknn_context ctx, struct block *b)
{
	OK(rknn_destroy_mem(ctx, b->mem));
	if (b->fd >= 0) {
		munmap(b->address, b->size);
		close(b->fd);
	}
}

static float value(uint32_t h, uint32_t w, uint32_t c) { return (float)((h * WIDTH + w) * CHANNELS + c) - 40; }

/* A half-precision number of a small integer that is not negative. */
static float half(uint16_t v)
{
	float f = 0;
	uint32_t bits = v ? ((uint32_t)(v >> 10) + 112) << 23 | (uint32_t)(v & 1023) << 13 : 0;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static void check(const rknn_tensor_attr *native, const uint16_t *data, uint32_t height)
{
	uint32_t lanes = native->dims[4];
	CHECK(native->fmt == RKNN_TENSOR_NC1HWC2 && native->n_dims == 5 && native->dims[2] == height &&
		native->dims[3] == WIDTH, "native dimensions");
	for (uint32_t c = 0; c < native->dims[1] * lanes; c++)
		for (uint32_t h = 0; h < height; h++)
			for (uint32_t w = 0; w < WIDTH; w++) {
				float got = half(data[((c / lanes * height + h) * WIDTH + w) * lanes + c % lanes]);
				float want = c < CHANNELS && value(h, w, c) > 0 ? value(h, w, c) : 0;
				CHECK(got == want, "height %u, channel %u: %g, want %g", height, c, (double)got, (double)want);
			}
}

static void turn(int outside)
{
	rknn_context ctx = open_model(outside ? RKNN_FLAG_MEM_ALLOC_OUTSIDE : 0);
	rknn_tensor_attr in = {.index = 0}, out = {.index = 0};
	rknn_input_range *range = calloc(1, sizeof *range);
	rknn_mem_size size;
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_DYNAMIC_RANGE, range, sizeof *range));
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &in, sizeof in)); /* the largest */
	OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out));
	OK(rknn_query(ctx, RKNN_QUERY_MEM_SIZE, &size, sizeof size));
	CHECK(in.dims[1] == 6 && out.dims[2] == 6, "the largest shape has %u rows", in.dims[1]);
	struct block x = allocate(ctx, in.n_elems * 4, outside), y = allocate(ctx, out.size_with_stride, outside);
	struct block internal = allocate(ctx, size.total_internal_size, outside),
		weights = allocate(ctx, size.total_weight_size, outside);
	if (outside) {
		OK(rknn_set_internal_mem(ctx, internal.mem));
		OK(rknn_set_weight_mem(ctx, weights.mem));
	}
	for (int round = 0; round < 6; round++) {
		uint32_t shape = (uint32_t)(round * 2) % range->shape_number;
		rknn_tensor_attr chosen = {.index = 0, .n_dims = range->n_dims, .fmt = range->fmt}, native = {.index = 0},
			now = {.index = 0};
		memcpy(chosen.dims, range->dyn_range[shape], sizeof chosen.dims);
		OK(rknn_set_input_shapes(ctx, 1, &chosen));
		OK(rknn_query(ctx, RKNN_QUERY_CURRENT_NATIVE_INPUT_ATTR, &now, sizeof now));
		OK(rknn_query(ctx, RKNN_QUERY_CURRENT_NATIVE_OUTPUT_ATTR, &native, sizeof native));
		now.type = RKNN_TENSOR_FLOAT32;
		OK(rknn_set_io_mem(ctx, x.mem, &now));
		OK(rknn_set_io_mem(ctx, y.mem, &native));
		uint32_t height = now.dims[1];
		float *to = x.mem->virt_addr;
		for (uint32_t h = 0; h < height; h++)
			for (uint32_t w = 0; w < WIDTH; w++)
				for (uint32_t c = 0; c < CHANNELS; c++)
					*to++ = value(h, w, c);
		memset(y.mem->virt_addr, 0xff, y.mem->size);
		OK(rknn_mem_sync(ctx, x.mem, RKNN_MEMORY_SYNC_TO_DEVICE));
		OK(rknn_run(ctx, NULL));
		OK(rknn_mem_sync(ctx, y.mem, RKNN_MEMORY_SYNC_FROM_DEVICE));
		check(&native, y.mem->virt_addr, height);
	}
	free(range);
	release(ctx, &x);
	release(ctx, &y);
	release(ctx, &internal);
	release(ctx, &weights);
	OK(rknn_destroy(ctx));
}

int main(void)
{
	host_begin();
	for (int i = 0; i < 20; i++) {
		turn(0);
		turn(1);
	}
	puts("rknn_dynamic_memory: ok");
	return host_end();
}
