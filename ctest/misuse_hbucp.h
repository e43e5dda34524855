/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Good handles for the generated misuse test: packs with a model of one operator, y = Relu(x), x and y float32 of shape
 * 1 x 4, the model of one, and a task of it.
 */
#ifndef MISUSE_HBUCP_H
#define MISUSE_HBUCP_H

#include "hbucp_abi.h"
#include "rknn_model.h"

static inline hbDNNPackedHandle_t make_hbDNNPackedHandle_t(void)
{
	static const int64_t dims[] = {1, 4};
	struct rknn_message model = rknn_relu(dims, 2);
	const void *data = model.bytes;
	int32_t size = (int32_t)model.size;
	hbDNNPackedHandle_t pack = NULL;
	if (hbDNNInitializeFromDDR(&pack, &data, &size, 1) != HB_UCP_SUCCESS)
		abort();
	return pack;
}

static inline void drop_hbDNNPackedHandle_t(hbDNNPackedHandle_t pack) { hbDNNRelease(pack); }

/* What the handles that were made live with: the pack of a model, the model of a task. */
static struct misuse_owned {
	void *made, *owner;
} misuse_models[8], misuse_tasks[8];

static inline void *misuse_note(struct misuse_owned *list, void *made, void *owner)
{
	for (int i = 0; i < 8; i++)
		if (!list[i].made) {
			list[i].made = made;
			list[i].owner = owner;
			return made;
		}
	abort();
}

/* The owner of a handle that was made, NULL for one that a call gave out. */
static inline void *misuse_owner(struct misuse_owned *list, void *made)
{
	for (int i = 0; i < 8; i++)
		if (made && list[i].made == made) {
			list[i].made = NULL;
			return list[i].owner;
		}
	return NULL;
}

static inline hbDNNHandle_t make_hbDNNHandle_t(void)
{
	char const **names;
	int32_t count;
	hbDNNPackedHandle_t pack = make_hbDNNPackedHandle_t();
	hbDNNHandle_t model = NULL;
	if (hbDNNGetModelNameList(&names, &count, pack) || hbDNNGetModelHandle(&model, pack, names[0]))
		abort();
	return misuse_note(misuse_models, model, pack);
}

static inline void drop_hbDNNHandle_t(hbDNNHandle_t model)
{
	void *pack = misuse_owner(misuse_models, model);
	if (pack)
		hbDNNRelease(pack);
}

static inline hbUCPTaskHandle_t make_hbUCPTaskHandle_t(void)
{
	static float data[2][32];
	hbDNNTensor in, out;
	hbUCPTaskHandle_t task = NULL;
	hbDNNHandle_t model = make_hbDNNHandle_t();
	memset(&in, 0, sizeof in);
	memset(&out, 0, sizeof out);
	hbDNNGetInputTensorProperties(&in.properties, model, 0);
	hbDNNGetOutputTensorProperties(&out.properties, model, 0);
	in.sysMem.virAddr = data[0];
	out.sysMem.virAddr = data[1];
	in.sysMem.memSize = out.sysMem.memSize = sizeof data[0];
	if (hbDNNInferV2(&task, &out, &in, model) != HB_UCP_SUCCESS)
		abort();
	return misuse_note(misuse_tasks, task, model);
}

static inline void drop_hbUCPTaskHandle_t(hbUCPTaskHandle_t task)
{
	void *model = misuse_owner(misuse_tasks, task);
	hbUCPReleaseTask(task);
	if (model)
		drop_hbDNNHandle_t(model);
}

#endif
