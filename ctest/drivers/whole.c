/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for OH_NN whose driver lacks OH_NNTensorDesc_Create and OH_NNDevice_GetType: all calls are the driver's,
 * and what it lacks is refused, because an object of the library's would be of no use to it. The error names the
 * setting with which the library would answer, and names it for an ONNX model that the driver refuses, not for what the
 * library would refuse too.
 *
 *     whole DRIVER MODEL.onnx OTHER
 */
#include <anynpu.h>
#include <neural_network_runtime/neural_network_core.h>
#include <neural_network_runtime/neural_network_runtime.h>

#include "host_end.h"

static int refused(const char *driver, const char *function)
{
	char want[512];
	snprintf(want, sizeof want, "%s has no function %s; with ANYNPU_OHNN=device this library answers", driver, function);
	if (strstr(anynpu_last_error(), want))
		return 1;
	return printf("want \"%s\", got \"%s\"\n", want, anynpu_last_error()), 0;
}

/* Whether the driver refuses a call, and the error has the hint or has it not. */
static int answered(const char *what, const void *made, int hint)
{
	const char *error = anynpu_last_error();
	if (!made && strstr(error, "this is the answer of the driver") && !strstr(error, "ANYNPU_OHNN=device") == !hint)
		return 1;
	return printf("%s: made %p, want a refusal %s the hint, got \"%s\"\n", what, made, hint ? "with" : "without", error),
		0;
}

/* Offline models, which the driver refuses all. */
static int offline(const char *path, int ours)
{
	char bytes[512]; /* the beginning tells what a model is */
	FILE *f = fopen(path, "rb");
	size_t size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (size == 0)
		return printf("%s cannot be read\n", path), 0;
	fclose(f);
	return answered(path, OH_NNCompilation_ConstructWithOfflineModelFile(path), ours) &&
		answered("its first bytes", OH_NNCompilation_ConstructWithOfflineModelBuffer(bytes, size), ours);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return puts("usage: whole DRIVER MODEL.onnx OTHER"), 2;
	host_keeps = argv[1];
	host_begin();
	/* The script of the fake says 0x1122 for every model. */
	OH_NNModel *model = OH_NNModel_Construct();
	if ((uintptr_t)model != 0x1122)
		return printf("OH_NNModel_Construct: %p is not the driver's\n", (void *)model), 1;
	for (int twice = 0; twice < 2; twice++) {
		if (OH_NNTensorDesc_Create() || !refused(argv[1], "OH_NNTensorDesc_Create"))
			return 1;
		OH_NN_DeviceType type;
		if (OH_NNDevice_GetType(0, &type) == OH_NN_SUCCESS || !refused(argv[1], "OH_NNDevice_GetType"))
			return 1;
	}
	if (!offline(argv[2], 1) || !offline(argv[3], 0))
		return 1;
	if (!answered("no path", OH_NNCompilation_ConstructWithOfflineModelFile(NULL), 0) ||
		!answered("no bytes", OH_NNCompilation_ConstructWithOfflineModelBuffer(NULL, 0), 0))
		return 1;
	OH_NNModel_Destroy(&model);
	if ((uintptr_t)model != 0x3344)
		return printf("OH_NNModel_Destroy: %p is not what the driver leaves\n", (void *)model), 1;
	return host_end();
}
