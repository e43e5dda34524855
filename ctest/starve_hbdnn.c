/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * hbDNN without memory (starve.h).
 */
#include <stdbool.h>

#include <dnn/hb_dnn.h>
#include <dnn/hb_dnn_status.h>
#include <dnn/hb_sys.h>

#include "starve_onnx.h"

static const struct starve_function starve_functions[] = {
#define FUNCTION(name, status) {#name, status},
#include "zfunctions_hbdnn.h"
};

static hbPackedDNNHandle_t wide_pack(void)
{
	struct rknn_message model = starve_wide();
	const void *data = model.bytes;
	int32_t size = (int32_t)model.size;
	hbPackedDNNHandle_t pack = NULL;
	DEMAND(hbDNNInitializeFromDDR(&pack, &data, &size, 1) == HB_DNN_SUCCESS);
	return pack;
}

static hbDNNHandle_t wide(void)
{
	char const **names;
	int32_t count;
	hbDNNHandle_t model = NULL;
	hbPackedDNNHandle_t pack = wide_pack();
	DEMAND(hbDNNGetModelNameList(&names, &count, pack) == 0 && hbDNNGetModelHandle(&model, pack, names[0]) == 0);
	return model;
}

static int from_files(void)
{
	hbPackedDNNHandle_t pack = NULL;
	const char *name = starve_text();
	starve();
	return hbDNNInitializeFromFiles(&pack, &name, 1);
}

static int from_memory(void)
{
	hbPackedDNNHandle_t pack = NULL;
	size_t size = 0;
	const void *data = starve_heavy(&size);
	int32_t length = (int32_t)size;
	starve();
	return hbDNNInitializeFromDDR(&pack, &data, &length, 1);
}

static int model_handle(void)
{
	hbDNNHandle_t model = NULL;
	hbPackedDNNHandle_t pack = wide_pack();
	const char *name = starve_text();
	starve();
	return hbDNNGetModelHandle(&model, pack, name);
}

/* The code of the call, or else that of the wait for its task. */
static int infer(void)
{
	static float x[2][SIDE], z[16];
	hbDNNTensor in[2], out, *outputs = &out;
	hbDNNInferCtrlParam control;
	hbDNNTaskHandle_t task = NULL;
	hbDNNHandle_t model = wide();
	memset(in, 0, sizeof in);
	memset(&out, 0, sizeof out);
	HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
	for (int i = 0; i < 2; i++) {
		DEMAND(hbDNNGetInputTensorProperties(&in[i].properties, model, i) == 0);
		in[i].sysMem[0].virAddr = x[i];
		in[i].sysMem[0].memSize = sizeof x[i];
	}
	DEMAND(hbDNNGetOutputTensorProperties(&out.properties, model, 0) == 0);
	out.sysMem[0].virAddr = z;
	out.sysMem[0].memSize = sizeof z;
	starve();
	int code = hbDNNInfer(&task, &outputs, in, model, &control);
	return code ? code : hbDNNWaitTaskDone(task, 0);
}

static int sys_code(int got) { return got == HB_SYS_OUT_OF_MEMORY ? starve_code : got; }

static int alloc(void)
{
	hbSysMem mem;
	starve();
	return sys_code(hbSysAllocMem(&mem, WISH));
}

static int alloc_cached(void)
{
	hbSysMem mem;
	starve();
	return sys_code(hbSysAllocCachedMem(&mem, WISH));
}

#define ENDS "ends an object"
#define TELLS "tells what is known"
#define PROGRAMS "the memory is the program's"

#define NONE(name, why) {name, NULL, why}

static const struct starve_case starve_cases[] = {
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
	{"hbDNNInfer", infer, NULL},
	NONE("hbDNNRoiInfer", "is hbDNNInfer of at most 32 regions, which have the size of the model's input"),
	NONE("hbDNNResize", "writes to memory of the program, row by row"),
	NONE("hbDNNSetTaskDoneCb", "notes a callback"),
	NONE("hbDNNWaitTaskDone", "waits: the code of the task is tested with hbDNNInfer"),
	NONE("hbDNNReleaseTask", ENDS),
	{"hbSysAllocMem", alloc, NULL},
	{"hbSysAllocCachedMem", alloc_cached, NULL},
	NONE("hbSysFlushMem", PROGRAMS),
	NONE("hbSysWriteMem", PROGRAMS),
	NONE("hbSysReadMem", PROGRAMS),
	NONE("hbSysFreeMem", ENDS),
	NONE("hbSysRegisterMem", PROGRAMS),
	NONE("hbSysUnregisterMem", PROGRAMS),
	NONE("hbDNNGetInputSource", TELLS),
	NONE("hbDNNGetInputDesc", TELLS),
	NONE("hbDNNGetOutputDesc", TELLS),
	NONE("hbDNNGetModelDesc", TELLS),
	NONE("hbDNNGetModelTag", TELLS),
	NONE("hbDNNGetOutputOperatorType", TELLS),
	NONE("hbDNNGetEstimateLatency", TELLS),
	NONE("hbDNNGetTaskEstimateTime", TELLS),
	NONE("hbDNNGetTaskEstimateStartTime", TELLS),
	NONE("hbDNNGetErrorDesc", TELLS),
	NONE("hbDNNGetLayoutName", TELLS),
	NONE("hbDNNUnquantizeByScale", PROGRAMS),
	NONE("hbDNNConvertLayout", PROGRAMS),
	NONE("hbDNNConvertLayoutRoi", PROGRAMS),
	NONE("hbDNNConvertLayoutToNative1HW1", PROGRAMS),
	NONE("hbDNNConvertLayoutToNative111C", PROGRAMS),
	NONE("hbDNNConvertLayoutToNative1111", PROGRAMS),
	NONE("hbDNNAddPadding", PROGRAMS),
	NONE("hbDNNRemovePadding", PROGRAMS),
	NONE("hbDNNAddPaddingWithStride", PROGRAMS),
	NONE("hbDNNRemovePaddingWithStride", PROGRAMS),
	NONE("hbDNNConvertEndianness", PROGRAMS),
	NONE("_Z25hbDNNRegisterLayerCreatorPKcPFPN5hobot3dnn5LayerEvE", "always refused"),
	NONE("_Z27hbDNNUnregisterLayerCreatorPKc", "always refused"),
};

STARVE_MAIN("hbdnn", HB_DNN_OUT_OF_MEMORY)
