/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Models of one operator, y = Relu(x), for the hbDNN tests, with tensors.
 */
#ifndef HBDNN_MODEL_H
#define HBDNN_MODEL_H

#include <stdbool.h>

#include <dnn/hb_dnn_ext.h>
#include <dnn/hb_dnn_status.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == HB_DNN_SUCCESS, "%s", #call)

/* A pack with one model of each of n sizes, x and y float32 of shape 1 x size. */
static inline hbPackedDNNHandle_t relu_pack(const int64_t *sizes, int n, hbDNNHandle_t *models)
{
	struct rknn_message made[4];
	const void *data[4];
	int32_t lengths[4], count;
	char const **names;
	hbPackedDNNHandle_t pack = NULL;
	for (int i = 0; i < n; i++) {
		int64_t dims[2] = {1, sizes[i]};
		char key[] = "anynpu.name", name[] = {'m', (char)('0' + i), 0};
		struct rknn_message entry = {0};
		made[i] = rknn_relu(dims, 2);
		rknn_text(&entry, 1, key);
		rknn_text(&entry, 2, name);
		rknn_part(&made[i], 14, &entry);
		data[i] = made[i].bytes;
		lengths[i] = (int32_t)made[i].size;
	}
	OK(hbDNNInitializeFromDDR(&pack, data, lengths, n));
	OK(hbDNNGetModelNameList(&names, &count, pack));
	CHECK(count == n, "%d models", count);
	for (int i = 0; i < n; i++)
		OK(hbDNNGetModelHandle(&models[i], pack, names[i]));
	return pack;
}

/* Input and output of a model with memory. */
struct tensors {
	hbDNNTensor in, out;
};

static inline void tensors_make(struct tensors *t, hbDNNHandle_t model)
{
	memset(t, 0, sizeof *t);
	OK(hbDNNGetInputTensorProperties(&t->in.properties, model, 0));
	OK(hbDNNGetOutputTensorProperties(&t->out.properties, model, 0));
	OK(hbSysAllocCachedMem(&t->in.sysMem[0], (uint32_t)t->in.properties.alignedByteSize));
	OK(hbSysAllocMem(&t->out.sysMem[0], (uint32_t)t->out.properties.alignedByteSize));
}

static inline void tensors_free(struct tensors *t)
{
	OK(hbSysFreeMem(&t->in.sysMem[0]));
	OK(hbSysFreeMem(&t->out.sysMem[0]));
}

static inline float *input_of(struct tensors *t) { return t->in.sysMem[0].virAddr; }
static inline float *output_of(struct tensors *t) { return t->out.sysMem[0].virAddr; }

/* hbDNNInfer, which it leaves to the caller to judge. */
static inline int32_t infer(hbDNNTaskHandle_t *task, struct tensors *t, hbDNNHandle_t model, int32_t priority,
	int64_t custom, int32_t more)
{
	hbDNNTensor *out = &t->out;
	hbDNNInferCtrlParam control;
	memset(&control, 0, sizeof control);
	control.priority = priority;
	control.customId = custom;
	control.more = more;
	return hbDNNInfer(task, &out, &t->in, model, &control);
}

#endif
