/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Good handles for the generated misuse test: packs with a model of one operator, y = Relu(x), x and y float32 of shape
 * 1 x 4, the model of one, and a task that runs it.
 */
#ifndef MISUSE_HBDNN_H
#define MISUSE_HBDNN_H

#include "rknn_model.h"

static inline hbPackedDNNHandle_t make_hbPackedDNNHandle_t(void)
{
	static const int64_t dims[] = {1, 4};
	struct rknn_message model = rknn_relu(dims, 2);
	const void *data = model.bytes;
	int32_t size = (int32_t)model.size;
	hbPackedDNNHandle_t pack = NULL;
	if (hbDNNInitializeFromDDR(&pack, &data, &size, 1) != HB_DNN_SUCCESS)
		abort();
	return pack;
}

static inline void drop_hbPackedDNNHandle_t(hbPackedDNNHandle_t pack) { hbDNNRelease(pack); }

/* A model lives as long as its pack: the packs of those that were made. Handles that a call gave out are not among
 * them. */
static struct {
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack;
} misuse_models[8];

static inline hbDNNHandle_t make_hbDNNHandle_t(void)
{
	char const **names;
	int32_t count;
	hbPackedDNNHandle_t pack = make_hbPackedDNNHandle_t();
	hbDNNHandle_t model = NULL;
	if (hbDNNGetModelNameList(&names, &count, pack) || hbDNNGetModelHandle(&model, pack, names[0]))
		abort();
	for (int i = 0; i < 8; i++)
		if (!misuse_models[i].model) {
			misuse_models[i].model = model;
			misuse_models[i].pack = pack;
			return model;
		}
	abort();
}

static inline void drop_hbDNNHandle_t(hbDNNHandle_t model)
{
	for (int i = 0; i < 8; i++)
		if (model && misuse_models[i].model == model) {
			misuse_models[i].model = NULL;
			hbDNNRelease(misuse_models[i].pack);
			return;
		}
}

/* The models of tasks that were made. */
static struct {
	hbDNNTaskHandle_t task;
	hbDNNHandle_t model;
} misuse_tasks[8];

static inline hbDNNTaskHandle_t make_hbDNNTaskHandle_t(void)
{
	static float data[2][8];
	hbDNNTensor in, out, *outputs = &out;
	hbDNNInferCtrlParam control;
	hbDNNTaskHandle_t task = NULL;
	hbDNNHandle_t model = make_hbDNNHandle_t();
	memset(&in, 0, sizeof in);
	memset(&out, 0, sizeof out);
	memset(&control, 0, sizeof control);
	hbDNNGetInputTensorProperties(&in.properties, model, 0);
	hbDNNGetOutputTensorProperties(&out.properties, model, 0);
	in.sysMem[0].virAddr = data[0];
	out.sysMem[0].virAddr = data[1];
	in.sysMem[0].memSize = out.sysMem[0].memSize = sizeof data[0];
	if (hbDNNInfer(&task, &outputs, &in, model, &control) != HB_DNN_SUCCESS)
		abort();
	if (hbDNNWaitTaskDone(task, 0) != HB_DNN_SUCCESS)
		abort();
	for (int i = 0; i < 8; i++)
		if (!misuse_tasks[i].task) {
			misuse_tasks[i].task = task;
			misuse_tasks[i].model = model;
			return task;
		}
	abort();
}

static inline void drop_hbDNNTaskHandle_t(hbDNNTaskHandle_t task)
{
	hbDNNReleaseTask(task);
	for (int i = 0; i < 8; i++)
		if (task && misuse_tasks[i].task == task) {
			misuse_tasks[i].task = NULL;
			drop_hbDNNHandle_t(misuse_tasks[i].model);
			return;
		}
}

#endif
