/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for NNAPI whose driver lacks ANeuralNetworksBurst_create: all calls are the driver's, its devices are the
 * only ones, and what it lacks is refused.
 *
 *     whole_nnapi DRIVER
 */
#include <android/NeuralNetworks.h>
#include <anynpu.h>

#include "host.h"

#define OK_(call) CHECK((call) == ANEURALNETWORKS_NO_ERROR, "%s", anynpu_last_error())

/* x + y of one element each. */
static ANeuralNetworksModel *sum(void)
{
	const uint32_t one = 1, in[] = {0, 1, 2}, out = 3;
	const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, &one, 0, 0};
	const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
	const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	ANeuralNetworksModel *model = NULL;
	OK_(ANeuralNetworksModel_create(&model));
	for (int i = 0; i < 4; i++)
		OK_(ANeuralNetworksModel_addOperand(model, i == 2 ? &scalar : &tensor));
	OK_(ANeuralNetworksModel_setOperandValue(model, 2, &none, sizeof none));
	OK_(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, in, 1, &out));
	OK_(ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, in, 1, &out));
	OK_(ANeuralNetworksModel_finish(model));
	return model;
}

static void devices(void)
{
	static const char *const names[] = {"fake-npu", "fake-liar"};
	uint32_t count = 0;
	OK_(ANeuralNetworks_getDeviceCount(&count));
	CHECK(count == 2, "%u devices", count);
	for (uint32_t i = 0; i < count; i++) {
		ANeuralNetworksDevice *device = NULL;
		const char *name = NULL;
		OK_(ANeuralNetworks_getDevice(i, &device));
		OK_(ANeuralNetworksDevice_getName(device, &name));
		CHECK(strcmp(name, names[i]) == 0, "device %u is %s", i, name);
	}
}

static void add(ANeuralNetworksCompilation *compilation)
{
	const float x = 40, y = 2;
	float z = 0;
	ANeuralNetworksExecution *execution = NULL;
	ANeuralNetworksEvent *event = NULL;
	OK_(ANeuralNetworksExecution_create(compilation, &execution));
	OK_(ANeuralNetworksExecution_setInput(execution, 0, NULL, &x, sizeof x));
	OK_(ANeuralNetworksExecution_setInput(execution, 1, NULL, &y, sizeof y));
	OK_(ANeuralNetworksExecution_setOutput(execution, 0, NULL, &z, sizeof z));
	OK_(ANeuralNetworksExecution_startCompute(execution, &event));
	OK_(ANeuralNetworksEvent_wait(event));
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksExecution_free(execution);
	CHECK(z == 42, "40 + 2 is %g", (double)z);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return puts("usage: whole_nnapi DRIVER"), 2;
	host_keeps = argv[1];
	host_begin();
	devices();
	ANeuralNetworksModel *model = sum();
	ANeuralNetworksCompilation *compilation = NULL;
	OK_(ANeuralNetworksCompilation_create(model, &compilation));
	OK_(ANeuralNetworksCompilation_finish(compilation));
	add(compilation);
	for (int twice = 0; twice < 2; twice++) {
		ANeuralNetworksBurst *burst = NULL;
		char want[512];
		snprintf(want, sizeof want, "%s has no function ANeuralNetworksBurst_create", argv[1]);
		CHECK(ANeuralNetworksBurst_create(compilation, &burst) == ANEURALNETWORKS_BAD_DATA,
			"a burst that the driver cannot make");
		CHECK(strstr(anynpu_last_error(), want) != NULL, "want \"%s\", got \"%s\"", want, anynpu_last_error());
	}
	ANeuralNetworksCompilation_free(compilation);
	ANeuralNetworksModel_free(model);
	return host_end();
}
