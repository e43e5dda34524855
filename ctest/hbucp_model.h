/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Models of one operator, y = Relu(x), for the UCP tests, with tensors made as programs for boards make them.
 */
#ifndef HBUCP_MODEL_H
#define HBUCP_MODEL_H

#include <stdbool.h>

#include <hobot/dnn/hb_dnn.h>
#include <hobot/dnn/hb_dnn_status.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == HB_UCP_SUCCESS, "%s", #call)

/* A pack with one model, y = Relu(x) of float32, with pairs of metadata up to a NULL. */
static inline hbDNNPackedHandle_t relu_load(hbDNNHandle_t *model, const int64_t *dims, int rank, const char *const *meta)
{
	struct rknn_message made = rknn_relu(dims, rank);
	const void *data;
	int32_t length, count;
	char const **names;
	hbDNNPackedHandle_t pack = NULL;
	for (; meta && *meta; meta += 2)
		rknn_meta(&made, meta[0], meta[1]);
	data = made.bytes;
	length = (int32_t)made.size;
	OK(hbDNNInitializeFromDDR(&pack, &data, &length, 1));
	OK(hbDNNGetModelNameList(&names, &count, pack));
	CHECK(count == 1, "%d models", count);
	OK(hbDNNGetModelHandle(model, pack, names[0]));
	return pack;
}

/* Fills in the strides that are left to the program, from the last dimension outwards, and allocates. */
static inline void tensor_make(hbDNNTensor *t, hbDNNHandle_t model, bool input, int32_t index, int64_t alignment)
{
	hbDNNTensorProperties *p = &t->properties;
	memset(t, 0, sizeof *t);
	OK(input ? hbDNNGetInputTensorProperties(p, model, index) : hbDNNGetOutputTensorProperties(p, model, index));
	for (int32_t i = p->validShape.numDimensions - 1; i >= 0; i--)
		if (p->stride[i] == -1)
			p->stride[i] = (p->stride[i + 1] * p->validShape.dimensionSize[i + 1] + alignment - 1) / alignment * alignment;
	int64_t bytes = input ? p->stride[0] * p->validShape.dimensionSize[0] : p->alignedByteSize;
	OK(hbUCPMallocCached(&t->sysMem, (uint64_t)bytes, 0));
}

struct tensors {
	hbDNNTensor in, out;
};

static inline void tensors_make(struct tensors *t, hbDNNHandle_t model)
{
	tensor_make(&t->in, model, true, 0, 32);
	tensor_make(&t->out, model, false, 0, 32);
}

static inline void tensors_free(struct tensors *t)
{
	OK(hbUCPFree(&t->in.sysMem));
	OK(hbUCPFree(&t->out.sysMem));
}

static inline float *input_of(struct tensors *t) { return t->in.sysMem.virAddr; }
static inline float *output_of(struct tensors *t) { return t->out.sysMem.virAddr; }

static inline int32_t submit_at(hbUCPTaskHandle_t task, int32_t priority, int64_t custom)
{
	hbUCPSchedParam param;
	HB_UCP_INITIALIZE_SCHED_PARAM(&param);
	param.priority = priority;
	param.customId = custom;
	param.backend = HB_UCP_BPU_CORE_ANY;
	return hbUCPSubmitTask(task, &param);
}

#endif
