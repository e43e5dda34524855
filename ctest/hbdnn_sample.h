/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What programs in the style of the vendor's samples share: a model from memory, and tensors as it describes them.
 */
#ifndef HBDNN_SAMPLE_H
#define HBDNN_SAMPLE_H

#include "hbdnn_model.h"

/* Loads one model. */
static inline hbPackedDNNHandle_t sample_load(const struct rknn_message *bytes, hbDNNHandle_t *model)
{
	const void *data[1] = {bytes->bytes};
	int32_t length[1] = {(int32_t)bytes->size}, count = 0;
	char const **names;
	hbPackedDNNHandle_t pack;
	OK(hbDNNInitializeFromDDR(&pack, data, length, 1));
	OK(hbDNNGetModelNameList(&names, &count, pack));
	OK(hbDNNGetModelHandle(model, pack, names[0]));
	return pack;
}

/* Queries an input or output and allocates its memory. */
static inline void sample_tensor(hbDNNTensor *t, hbDNNHandle_t model, bool input, int index)
{
	memset(t, 0, sizeof *t);
	OK(input ? hbDNNGetInputTensorProperties(&t->properties, model, index) : hbDNNGetOutputTensorProperties(&t->properties,
		model, index));
	OK(hbSysAllocCachedMem(&t->sysMem[0], (uint32_t)t->properties.alignedByteSize));
}

/* An image that the program describes itself, of one byte per pixel. */
static inline void sample_gray(hbDNNTensor *t, int height, int width, int pitch)
{
	hbDNNTensorShape valid = {{1, 1, height, width}, 4}, aligned = {{1, 1, height, pitch}, 4};
	memset(t, 0, sizeof *t);
	t->properties.tensorType = HB_DNN_IMG_TYPE_Y;
	t->properties.tensorLayout = HB_DNN_LAYOUT_NCHW;
	t->properties.validShape = valid;
	t->properties.alignedShape = aligned;
	OK(hbSysAllocCachedMem(&t->sysMem[0], (uint32_t)(height * pitch)));
}

static inline uint8_t *sample_bytes(hbDNNTensor *t) { return t->sysMem[0].virAddr; }
static inline float *sample_floats(hbDNNTensor *t) { return t->sysMem[0].virAddr; }

static inline void sample_clean(hbDNNTensor *t) { OK(hbSysFlushMem(&t->sysMem[0], HB_SYS_MEM_CACHE_CLEAN)); }
static inline void sample_invalidate(hbDNNTensor *t) { OK(hbSysFlushMem(&t->sysMem[0], HB_SYS_MEM_CACHE_INVALIDATE)); }

/* Waits for a task and releases it. */
static inline void sample_finish(hbDNNTaskHandle_t task)
{
	OK(hbDNNWaitTaskDone(task, 0));
	OK(hbDNNReleaseTask(task));
}

#endif
