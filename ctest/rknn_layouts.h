/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Structs and functions of rknn_api.h and rknn_matmul_api.h as the headers of 1.5.0 (LAYOUT 150) and 2.3.2 (232) lay
 * them out, declared here: what a program has that was compiled with one of them.
 */
#ifndef RKNN_LAYOUTS_H
#define RKNN_LAYOUTS_H

#include <stdint.h>

struct counts {
	uint32_t inputs, outputs;
};

struct attr {
	uint32_t index, n_dims, dims[16];
	char name[256];
	uint32_t n_elems, size;
	int32_t fmt, type, qnt_type;
	int8_t fl;
	int32_t zp;
	float scale;
	uint32_t w_stride, size_with_stride;
	uint8_t pass_through;
	uint32_t h_stride;
};

struct range {
	uint32_t index, shapes;
	int32_t fmt;
	char name[256];
	uint32_t dims[512][16], n_dims;
};

struct version {
	char api[256], driver[256];
};

struct mem_size {
	uint32_t weight, internal;
	uint64_t dma;
	uint32_t sram[2], reserved[10];
};

struct tensor_mem {
	void *virt_addr;
	uint64_t phys_addr;
	int32_t fd, offset;
	uint32_t size, flags;
	void *priv_data;
};

struct input {
	uint32_t index;
	void *buf;
	uint32_t size;
	uint8_t pass_through;
	int32_t type, fmt;
};

struct output {
	uint8_t want_float, is_prealloc;
	uint32_t index;
	void *buf;
	uint32_t size;
};

struct init_extend {
	uint64_t ctx;
	int32_t offset;
	uint32_t size;
#if LAYOUT >= 232
	int32_t fd;
	uint32_t flags;
	uint8_t reserved[112];
#else
	uint8_t reserved[120];
#endif
};

struct run_extend {
	uint64_t frame;
	int32_t non_block, timeout_ms, fence_fd;
};

struct output_extend {
	uint64_t frame;
};

struct matmul_info {
	int32_t m, k, n, type;
#if LAYOUT >= 232
	int16_t b_layout, b_quant, ac_layout, ac_quant;
	int32_t domain;
	int16_t group;
	int8_t reserved[34];
#else
	int32_t b_layout, ac_layout;
#endif
};

struct matmul_tensor {
	char name[256];
	uint32_t n_dims, dims[16], size;
	int32_t type;
};

struct matmul_io {
	struct matmul_tensor a, b, c;
};

_Static_assert(sizeof(struct attr) == 376 && sizeof(struct range) == 33040 && sizeof(struct mem_size) == 64 &&
    sizeof(struct tensor_mem) == 40 && sizeof(struct input) == 32 && sizeof(struct output) == 24 &&
    sizeof(struct init_extend) == 136 && sizeof(struct run_extend) == 24 && sizeof(struct matmul_io) == 996 &&
    sizeof(struct matmul_info) == (LAYOUT >= 232 ? 64 : 24), "sizes of the structs");

int rknn_init(uint64_t *ctx, void *model, uint32_t size, uint32_t flag, struct init_extend *extend);
int rknn_dup_context(uint64_t *from, uint64_t *to);
int rknn_destroy(uint64_t ctx);
int rknn_query(uint64_t ctx, int cmd, void *info, uint32_t size);
int rknn_inputs_set(uint64_t ctx, uint32_t n, struct input *inputs);
int rknn_set_input_shapes(uint64_t ctx, uint32_t n, struct attr *attrs);
int rknn_run(uint64_t ctx, struct run_extend *extend);
int rknn_outputs_get(uint64_t ctx, uint32_t n, struct output *outputs, struct output_extend *extend);
int rknn_outputs_release(uint64_t ctx, uint32_t n, struct output *outputs);
struct tensor_mem *rknn_create_mem(uint64_t ctx, uint32_t size);
int rknn_destroy_mem(uint64_t ctx, struct tensor_mem *mem);
int rknn_set_io_mem(uint64_t ctx, struct tensor_mem *mem, struct attr *attr);
int rknn_matmul_create(uint64_t *ctx, struct matmul_info *info, struct matmul_io *io);
int rknn_matmul_set_io_mem(uint64_t ctx, struct tensor_mem *mem, struct matmul_tensor *attr);
int rknn_matmul_run(uint64_t ctx);
int rknn_matmul_destroy(uint64_t ctx);
#if LAYOUT >= 232
struct tensor_mem *rknn_create_mem2(uint64_t ctx, uint64_t size, uint64_t flags);
int rknn_mem_sync(uint64_t ctx, struct tensor_mem *mem, int mode);
#endif

#endif
