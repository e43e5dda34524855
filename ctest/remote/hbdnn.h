/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * network.c with hbDNN, and compiled with UCP with the newer one: tensors of numbers, without gaps.
 */
#include "hb_calls.h"

#define OK(call) CHECK((call) == 0, "%s: %s", #call, anynpu_last_error())

struct runner {
	hbDNNTensor in, out;
};

static pack_handle pack;
static hbDNNHandle_t network;

static void load(const char *model)
{
	char const **names;
	int32_t count;
	OK(hbDNNInitializeFromFiles(&pack, &model, 1));
	OK(hbDNNGetModelNameList(&names, &count, pack));
	OK(hbDNNGetModelHandle(&network, pack, names[0]));
}

static void unload(void) { OK(hbDNNRelease(pack)); }

static enum element type_of(const hbDNNTensor *t)
{
	switch (t->properties.tensorType) {
	case HB_DNN_TENSOR_TYPE_F32: return F32;
	case HB_DNN_TENSOR_TYPE_S8: return S8;
	case HB_DNN_TENSOR_TYPE_U8: return U8;
	default: CHECK(false, "type %d", (int)t->properties.tensorType);
	}
	return F32;
}

static size_t count_of(const hbDNNTensor *t)
{
	size_t n = 1;
	for (int i = 0; i < t->properties.validShape.numDimensions; i++)
		n *= (size_t)t->properties.validShape.dimensionSize[i];
	return n;
}

static void begin_runner(struct runner *r)
{
	OK(hbDNNGetInputTensorProperties(&r->in.properties, network, 0));
	OK(hbDNNGetOutputTensorProperties(&r->out.properties, network, 0));
	for (int i = 0; i < 2; i++) {
		hbDNNTensor *t = i ? &r->out : &r->in;
		size_t size = place(&t->properties);
		CHECK(size >= count_of(t) * (type_of(t) == F32 ? sizeof(float) : 1), "%zu bytes", size);
		OK(allocate(&MEMORY(t), size));
	}
}

static int run(struct runner *r, int input, struct values *v)
{
	task_handle task = NULL;
	const hbDNNQuantiScale *q = &r->in.properties.scale;
	fill(MEMORY(&r->in).virAddr, type_of(&r->in), count_of(&r->in), input, q->scaleLen ? q->scaleData[0] : 1,
		q->zeroPointLen ? (int)q->zeroPointData[0] : 0);
	OK(flush(&MEMORY(&r->in), HB_SYS_MEM_CACHE_CLEAN));
	int code = begin(&task, &r->out, &r->in, network, NULL, NULL);
	if (code == 0)
		code = wait_for(task);
	if (task)
		OK(release_task(task));
	if (code == 0) {
		OK(flush(&MEMORY(&r->out), HB_SYS_MEM_CACHE_INVALIDATE));
		take(v, MEMORY(&r->out).virAddr, type_of(&r->out), count_of(&r->out));
	}
	return code;
}

static void end_runner(struct runner *r)
{
	OK(release_memory(&MEMORY(&r->in)));
	OK(release_memory(&MEMORY(&r->out)));
}
