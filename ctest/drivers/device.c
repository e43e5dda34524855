/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: device rknn|ohnn|hbdnn WHO MODEL IMAGE...
 *
 * Recognizes digits with a model file through one API, from bytes or from numbers, as the model's input has it. WHO is
 * what must compute the network: the id of a device. KEEPS in the environment is a part of the path of the driver's
 * file, "/librknnrt.so" by default, which stays open. FIRST is a model that OH_NN compiles before.
 */
#include <anynpu.h>
#include <math.h>
#include <rknn_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dnn/hb_dnn.h>
#include <dnn/hb_dnn_status.h>
#include <neural_network_runtime/neural_network_core.h>

#include "digits/files.h"
#include "host_end.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, anynpu_last_error()); \
			exit(1); \
		} \
	} while (0)

static const char *who, *model;
static char **images;

static void ink_of(const float pixels[DIGITS_PIXELS], uint8_t ink[DIGITS_PIXELS])
{
	for (int i = 0; i < DIGITS_PIXELS; i++)
		ink[i] = (uint8_t)(pixels[i] * 16 + 0.5f);
}

/* The report of a model names the device, and no other for the node of the network. */
static void check_placement(const void *handle)
{
	char report[1 << 14], want[64];
	CHECK(anynpu_placement_report(handle, report, sizeof report, NULL) == ANYNPU_PLACEMENT_OK);
	snprintf(want, sizeof want, "{\"device\":\"%s\",\"nodes\":", who);
	if (!strstr(report, want)) {
		printf("want %s in %s\n", want, report);
		exit(1);
	}
}

static int right;

static void judge(const char *image, const float *probabilities)
{
	float sum = 0;
	for (int i = 0; i < DIGITS_CLASSES; i++)
		sum += probabilities[i];
	CHECK(fabsf(sum - 1) < 1e-4f);
	right += digits_best(probabilities) == digits_label(image);
}

static void by_rknn(void)
{
	rknn_context context = 0;
	CHECK(rknn_init(&context, (void *)model, 0, 0, NULL) == 0);
	check_placement((const void *)(uintptr_t)context);
	for (int i = 0; images[i]; i++) {
		float pixels[DIGITS_PIXELS];
		uint8_t ink[DIGITS_PIXELS];
		CHECK(digits_read_image(images[i], pixels));
		ink_of(pixels, ink);
		rknn_input in = {.buf = ink, .size = sizeof ink, .type = RKNN_TENSOR_UINT8, .fmt = RKNN_TENSOR_NHWC};
		rknn_output got = {.want_float = 1};
		CHECK(rknn_inputs_set(context, 1, &in) == 0);
		CHECK(rknn_run(context, NULL) == 0);
		CHECK(rknn_outputs_get(context, 1, &got, NULL) == 0);
		judge(images[i], got.buf);
		CHECK(rknn_outputs_release(context, 1, &got) == 0);
	}
	CHECK(rknn_destroy(context) == 0);
}

static void by_ohnn(void)
{
	OH_NNCompilation *compilation = OH_NNCompilation_ConstructWithOfflineModelFile(model);
	CHECK(compilation);
	CHECK(OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS);
	check_placement(compilation);
	OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
	CHECK(executor);
	NN_TensorDesc *descs[] = {OH_NNExecutor_CreateInputTensorDesc(executor, 0),
		OH_NNExecutor_CreateOutputTensorDesc(executor, 0)};
	NN_Tensor *tensors[2];
	OH_NN_DataType type;
	size_t bytes;
	for (int i = 0; i < 2; i++) {
		const int32_t shapes[2][4] = {{1, 1, DIGITS_SIDE, DIGITS_SIDE}, {1, DIGITS_CLASSES}};
		CHECK(OH_NNTensorDesc_SetShape(descs[i], shapes[i], i == 0 ? 4 : 2) == OH_NN_SUCCESS);
		tensors[i] = OH_NNTensor_Create(0, descs[i]);
		CHECK(tensors[i]);
	}
	CHECK(OH_NNTensorDesc_GetDataType(descs[0], &type) == OH_NN_SUCCESS);
	CHECK(OH_NNTensorDesc_GetByteSize(descs[0], &bytes) == OH_NN_SUCCESS);
	CHECK(bytes == (type == OH_NN_UINT8 ? DIGITS_PIXELS : DIGITS_PIXELS * sizeof(float)));
	for (int i = 0; images[i]; i++) {
		float pixels[DIGITS_PIXELS];
		CHECK(digits_read_image(images[i], pixels));
		if (type == OH_NN_UINT8)
			ink_of(pixels, OH_NNTensor_GetDataBuffer(tensors[0]));
		else
			memcpy(OH_NNTensor_GetDataBuffer(tensors[0]), pixels, sizeof pixels);
		CHECK(OH_NNExecutor_RunSync(executor, &tensors[0], 1, &tensors[1], 1) == OH_NN_SUCCESS);
		judge(images[i], OH_NNTensor_GetDataBuffer(tensors[1]));
	}
	for (int i = 0; i < 2; i++) {
		CHECK(OH_NNTensor_Destroy(&tensors[i]) == OH_NN_SUCCESS);
		CHECK(OH_NNTensorDesc_Destroy(&descs[i]) == OH_NN_SUCCESS);
	}
	OH_NNExecutor_Destroy(&executor);
	OH_NNCompilation_Destroy(&compilation);
}

static void by_hbdnn(void)
{
	hbPackedDNNHandle_t pack;
	hbDNNHandle_t network;
	const char **names;
	int32_t count;
	hbDNNTensor input, output;
	memset(&input, 0, sizeof input);
	memset(&output, 0, sizeof output);
	CHECK(hbDNNInitializeFromFiles(&pack, &model, 1) == 0);
	CHECK(hbDNNGetModelNameList(&names, &count, pack) == 0 && count == 1);
	CHECK(hbDNNGetModelHandle(&network, pack, names[0]) == 0);
	check_placement(network);
	CHECK(hbDNNGetInputTensorProperties(&input.properties, network, 0) == 0);
	CHECK(hbDNNGetOutputTensorProperties(&output.properties, network, 0) == 0);
	CHECK(hbSysAllocCachedMem(&input.sysMem[0], (uint32_t)input.properties.alignedByteSize) == 0);
	CHECK(hbSysAllocCachedMem(&output.sysMem[0], (uint32_t)output.properties.alignedByteSize) == 0);
	/* Rows of an image begin at multiples of 16 bytes, those of a tensor follow each other. */
	int image = input.properties.tensorType == HB_DNN_IMG_TYPE_Y;
	int pitch = image ? input.properties.alignedShape.dimensionSize[3] : DIGITS_SIDE;
	CHECK(image || input.properties.tensorType == HB_DNN_TENSOR_TYPE_U8);
	for (int i = 0; images[i]; i++) {
		float pixels[DIGITS_PIXELS];
		uint8_t ink[DIGITS_PIXELS];
		CHECK(digits_read_image(images[i], pixels));
		ink_of(pixels, ink);
		for (int y = 0; y < DIGITS_SIDE; y++)
			memcpy((char *)input.sysMem[0].virAddr + y * pitch, ink + y * DIGITS_SIDE, DIGITS_SIDE);
		hbDNNTaskHandle_t task = NULL;
		hbDNNTensor *to = &output;
		hbDNNInferCtrlParam control;
		HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
		CHECK(hbSysFlushMem(&input.sysMem[0], HB_SYS_MEM_CACHE_CLEAN) == 0);
		CHECK(hbDNNInfer(&task, &to, &input, network, &control) == 0);
		CHECK(hbDNNWaitTaskDone(task, 0) == 0 && hbDNNReleaseTask(task) == 0);
		CHECK(hbSysFlushMem(&output.sysMem[0], HB_SYS_MEM_CACHE_INVALIDATE) == 0);
		judge(images[i], output.sysMem[0].virAddr);
	}
	CHECK(hbSysFreeMem(&input.sysMem[0]) == 0 && hbSysFreeMem(&output.sysMem[0]) == 0 && hbDNNRelease(pack) == 0);
}

static void compile(const char *file)
{
	OH_NNCompilation *compilation = OH_NNCompilation_ConstructWithOfflineModelFile(file);
	CHECK(compilation);
	CHECK(OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS);
	OH_NNCompilation_Destroy(&compilation);
}

int main(int argc, char **argv)
{
	CHECK(argc > 4);
	who = argv[2];
	model = argv[3];
	images = argv + 4;
	host_keeps = getenv("KEEPS") ? getenv("KEEPS") : "/librknnrt.so";
	host_begin();
	if (getenv("FIRST"))
		compile(getenv("FIRST"));
	if (strcmp(argv[1], "rknn") == 0)
		by_rknn();
	else if (strcmp(argv[1], "ohnn") == 0)
		by_ohnn();
	else
		by_hbdnn();
	printf("%s on %s: %d of %d right\n", argv[1], who, right, argc - 4);
	return host_end() || right * 100 < (argc - 4) * 97;
}
