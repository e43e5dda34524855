/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fake driver of bpu.h in the newer generation of the API, UCP: what that calls otherwise, the structs of its
 * tensors, and the functions that the older one lacks. Images are two-dimensional U8 tensors whose rows the program
 * places (stride -1).
 */
#ifndef BPU_NEWER_H
#define BPU_NEWER_H

#include <hobot/dnn/hb_dnn.h>
#include <hobot/dnn/hb_dnn_status.h>
#include <string.h>

#define BPU_VERSION_NEWEST "3.13.6_(fake)"
#define BPU_MEMORY(t) (&(t)->sysMem)

typedef hbUCPSysMem hbSysMem;
typedef hbDNNPackedHandle_t hbPackedDNNHandle_t;
typedef hbUCPTaskHandle_t hbDNNTaskHandle_t;
typedef hbUCPTaskDoneCb hbDNNTaskDoneCb;
typedef struct {
	int32_t priority, more;
} hbDNNInferCtrlParam;

enum {
	HB_SYS_SUCCESS = HB_UCP_SUCCESS,
	HB_SYS_INVALID_ARGUMENT = HB_UCP_INVALID_ARGUMENT,
	HB_SYS_OUT_OF_MEMORY = HB_UCP_MEM_ALLOC_FAIL
};

/* A tensor of a sum: sizes, bytes of an element, whether rows are aligned to 16, and the scales of codes. */
static inline void bpu_newer_sum(hbDNNTensorProperties *p, const uint32_t *dims, uint32_t rank, int64_t width,
	int padded)
{
	p->validShape.numDimensions = (int32_t)rank;
	for (uint32_t k = rank; k-- > 0;) {
		int64_t size = dims[k];
		p->validShape.dimensionSize[k] = (int32_t)size;
		p->stride[k] = width;
		width *= padded && k == rank - 1 ? (size + 15) / 16 * 16 : size;
	}
	p->alignedByteSize = width;
}

/* The image of the network, or its probabilities. */
static inline void bpu_newer_network(hbDNNTensorProperties *p, int input)
{
	if (input)
		*p = (hbDNNTensorProperties){.validShape = {{1, 8, 8, 1}, 4}, .tensorType = HB_DNN_TENSOR_TYPE_U8,
			.alignedByteSize = -1, .stride = {-1, -1, 1, 1}};
	else
		*p = (hbDNNTensorProperties){.validShape = {{1, 10}, 2}, .tensorType = HB_DNN_TENSOR_TYPE_F32,
			.alignedByteSize = 128, .stride = {40, 4}};
}

#endif
