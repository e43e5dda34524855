/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * UCP without memory (starve.h).
 */
#include <hobot/dnn/hb_dnn.h>
#include <hobot/dnn/hb_dnn_status.h>

#include "hbucp_abi.h"
#include "starve_onnx.h"

static const struct starve_function starve_functions[] = {
#define FUNCTION(name, status) {#name, status},
#include "zfunctions_hbucp.h"
};

static hbDNNPackedHandle_t wide_pack(void)
{
	struct rknn_message model = starve_wide();
	const void *data = model.bytes;
	int32_t size = (int32_t)model.size;
	hbDNNPackedHandle_t pack = NULL;
	DEMAND(hbDNNInitializeFromDDR(&pack, &data, &size, 1) == HB_UCP_SUCCESS);
	return pack;
}

static hbDNNHandle_t wide(void)
{
	char const **names;
	int32_t count;
	hbDNNHandle_t model = NULL;
	hbDNNPackedHandle_t pack = wide_pack();
	DEMAND(hbDNNGetModelNameList(&names, &count, pack) == 0 && hbDNNGetModelHandle(&model, pack, names[0]) == 0);
	return model;
}

static int from_files(void)
{
	hbDNNPackedHandle_t pack = NULL;
	const char *name = starve_text();
	starve();
	return hbDNNInitializeFromFiles(&pack, &name, 1);
}

static int from_memory(void)
{
	hbDNNPackedHandle_t pack = NULL;
	size_t size = 0;
	const void *data = starve_heavy(&size);
	int32_t length = (int32_t)size;
	starve();
	return hbDNNInitializeFromDDR(&pack, &data, &length, 1);
}

static int model_handle(void)
{
	hbDNNHandle_t model = NULL;
	hbDNNPackedHandle_t pack = wide_pack();
	const char *name = starve_text();
	starve();
	return hbDNNGetModelHandle(&model, pack, name);
}

static void tensor(hbDNNTensor *t, void *data, size_t size)
{
	t->sysMem.virAddr = data;
	t->sysMem.memSize = size;
}

/* The code of the call, or else that of the wait for its task. */
static int infer(void)
{
	static float x[2][SIDE], z[32];
	hbDNNTensor in[2], out;
	hbUCPTaskHandle_t task = NULL;
	hbUCPSchedParam param;
	hbDNNHandle_t model = wide();
	memset(in, 0, sizeof in);
	memset(&out, 0, sizeof out);
	HB_UCP_INITIALIZE_SCHED_PARAM(&param);
	for (int i = 0; i < 2; i++) {
		DEMAND(hbDNNGetInputTensorProperties(&in[i].properties, model, i) == 0);
		tensor(&in[i], x[i], sizeof x[i]);
	}
	DEMAND(hbDNNGetOutputTensorProperties(&out.properties, model, 0) == 0);
	tensor(&out, z, sizeof z);
	starve();
	int code = hbDNNInferV2(&task, &out, in, model);
	if (!code)
		code = hbUCPSubmitTask(task, &param);
	return code ? code : hbUCPWaitTaskDone(task, 0);
}

static int alloc(void)
{
	hbUCPSysMem mem;
	starve();
	return hbUCPMalloc(&mem, WISH, 0);
}

static int alloc_cached(void)
{
	hbUCPSysMem mem;
	starve();
	return hbUCPMallocCached(&mem, WISH, 0);
}

#define ENDS "ends an object"
#define TELLS "tells what is known"
#define PROGRAMS "the memory is the program's"

#define NONE(name, why) {name, NULL, why}

static const struct starve_case starve_cases[] = {
	NONE("hbUCPGetVersion", TELLS),
	NONE("hbUCPGetSocName", TELLS),
	NONE("hbUCPSubmitTask", "queues a task: the code of the task is tested with hbDNNInferV2"),
	NONE("hbUCPWaitTaskDone", "waits: the code of the task is tested with hbDNNInferV2"),
	NONE("hbUCPSetTaskDoneCb", "notes a callback"),
	NONE("hbUCPReleaseTask", ENDS),
	NONE("hbUCPGetErrorDesc", TELLS),
	{"hbUCPMalloc", alloc, NULL},
	{"hbUCPMallocCached", alloc_cached, NULL},
	NONE("hbUCPMemFlush", PROGRAMS),
	NONE("hbUCPFree", ENDS),
	NONE("hbDNNGetVersion", TELLS),
	{"hbDNNInitializeFromFiles", from_files, NULL},
	{"hbDNNInitializeFromDDR", from_memory, NULL},
	NONE("hbDNNRelease", ENDS),
	NONE("hbDNNGetModelNameList", TELLS),
	{"hbDNNGetModelHandle", model_handle, NULL},
	NONE("hbDNNGetInputCount", TELLS),
	NONE("hbDNNGetInputName", TELLS),
	NONE("hbDNNGetInputTensorProperties", TELLS),
	NONE("hbDNNGetOutputCount", TELLS),
	NONE("hbDNNGetOutputName", TELLS),
	NONE("hbDNNGetOutputTensorProperties", TELLS),
	NONE("hbDNNGetInputDesc", TELLS),
	NONE("hbDNNGetOutputDesc", TELLS),
	NONE("hbDNNGetModelDesc", TELLS),
	NONE("hbDNNGetHBMDesc", TELLS),
	NONE("hbDNNGetCompileBpuCoreNum", TELLS),
	{"hbDNNInferV2", infer, NULL},
	NONE("hbDNNGetTaskOutputTensorProperties", TELLS),
	NONE("hbDNNGetErrorDesc", TELLS),
};

STARVE_MAIN("hbucp", HB_UCP_MEM_ALLOC_FAIL)
