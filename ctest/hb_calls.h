/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs that are compiled for both generations of hbDNN: without UCP for the older one, with it for the newer.
 */
#ifndef HB_CALLS_H
#define HB_CALLS_H

#ifdef UCP

#include <hobot/dnn/hb_dnn.h>
#include <hobot/dnn/hb_dnn_status.h>

typedef hbDNNPackedHandle_t pack_handle;
typedef hbUCPTaskHandle_t task_handle;
typedef hbUCPSysMem memory;

#define MEMORY(t) ((t)->sysMem)
#define PITCH(t) ((int)(t)->properties.stride[1])

static inline int32_t allocate(memory *m, size_t size) { return hbUCPMallocCached(m, size, 0); }
static inline int32_t flush(memory *m, int32_t flag) { return hbUCPMemFlush(m, flag); }
static inline int32_t release_memory(memory *m) { return hbUCPFree(m); }
static inline int32_t wait_for(task_handle t) { return hbUCPWaitTaskDone(t, 0); }
static inline int32_t release_task(task_handle t) { return hbUCPReleaseTask(t); }

/* Makes a task that does not run yet, or adds to it. */
static inline int32_t add_member(task_handle *t, hbDNNTensor *out, const hbDNNTensor *in, hbDNNHandle_t model)
{
	return hbDNNInferV2(t, out, in, model);
}

static inline int32_t begin(task_handle *t, hbDNNTensor *out, const hbDNNTensor *in, hbDNNHandle_t model,
	hbUCPTaskDoneCb done, void *user)
{
	hbUCPSchedParam param;
	HB_UCP_INITIALIZE_SCHED_PARAM(&param);
	param.backend = HB_UCP_BPU_CORE_ANY;
	int32_t code = hbDNNInferV2(t, out, in, model);
	if (code == 0 && done)
		code = hbUCPSetTaskDoneCb(*t, done, user);
	return code ? code : hbUCPSubmitTask(*t, &param);
}

/* The text by which a model says who computes. */
static inline const char *text_of(hbDNNHandle_t model)
{
	char const *text = NULL;
	uint32_t size;
	int32_t type;
	return hbDNNGetModelDesc(&text, &size, &type, model) == 0 ? text : NULL;
}

/* Decides strides that are the program's to say, and returns the bytes of a tensor. */
static inline size_t place(hbDNNTensorProperties *p)
{
	for (int i = p->validShape.numDimensions - 1; i >= 0; i--)
		if (p->stride[i] == -1)
			p->stride[i] = (p->stride[i + 1] * p->validShape.dimensionSize[i + 1] + 15) / 16 * 16;
	return (size_t)(p->alignedByteSize == -1 ? p->stride[0] * p->validShape.dimensionSize[0] : p->alignedByteSize);
}

#else

#include <dnn/hb_dnn_ext.h>
#include <dnn/hb_dnn_status.h>

typedef hbPackedDNNHandle_t pack_handle;
typedef hbDNNTaskHandle_t task_handle;
typedef hbSysMem memory;

#define MEMORY(t) ((t)->sysMem[0])
#define PITCH(t) ((t)->properties.alignedShape.dimensionSize[3])

static inline int32_t allocate(memory *m, size_t size) { return hbSysAllocCachedMem(m, (uint32_t)size); }
static inline int32_t flush(memory *m, int32_t flag) { return hbSysFlushMem(m, flag); }
static inline int32_t release_memory(memory *m) { return hbSysFreeMem(m); }
static inline int32_t wait_for(task_handle t) { return hbDNNWaitTaskDone(t, 0); }
static inline int32_t release_task(task_handle t) { return hbDNNReleaseTask(t); }

static inline int32_t infer(task_handle *t, hbDNNTensor *out, const hbDNNTensor *in, hbDNNHandle_t model, int more)
{
	hbDNNInferCtrlParam control;
	HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
	control.more = more;
	return hbDNNInfer(t, &out, in, model, &control);
}

static inline int32_t add_member(task_handle *t, hbDNNTensor *out, const hbDNNTensor *in, hbDNNHandle_t model)
{
	return infer(t, out, in, model, 1);
}

static inline int32_t begin(task_handle *t, hbDNNTensor *out, const hbDNNTensor *in, hbDNNHandle_t model,
	hbDNNTaskDoneCb done, void *user)
{
	int32_t code = infer(t, out, in, model, 0);
	return code || !done ? code : hbDNNSetTaskDoneCb(*t, done, user);
}

static inline const char *text_of(hbDNNHandle_t model)
{
	char const *tag = NULL;
	return hbDNNGetModelTag(&tag, model) == 0 ? tag : NULL;
}

static inline size_t place(hbDNNTensorProperties *p) { return (size_t)p->alignedByteSize; }

#endif
#endif
