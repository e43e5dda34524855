/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * NNAPI without memory (starve.h). The large model is z = MEAN(x + y) of a row and a column: small inputs, a small
 * output, and an intermediate result of more than WISH bytes.
 */
#include "nnapi_host.h"

#include "starve.h"

#define SIDE 9400u /* SIDE * SIDE floats are more than WISH bytes */
#define FLOATS ((uint32_t)(WISH / 4))

static const struct starve_function starve_functions[] = {
#define FUNCTION(name, status) {#name, status},
#include "zfunctions_nnapi.h"
};

static ANeuralNetworksModel *wide(void)
{
	ANeuralNetworksModel *m = NULL;
	const uint32_t row[] = {1, SIDE}, column[] = {SIDE, 1}, all[] = {SIDE, SIDE}, one[] = {1, 1}, two[] = {2};
	const ANeuralNetworksOperandType types[] = {nn_tensor(2, row), nn_tensor(2, column), nn_tensor(2, all),
		nn_tensor(2, one)};
	const int32_t both[] = {0, 1};
	const uint32_t add[] = {0, 1, 4}, sum[] = {2}, mean[] = {2, 5, 6}, out[] = {3};
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i < 4; i++)
		OK(ANeuralNetworksModel_addOperand(m, &types[i]));
	nn_int(m, 4, ANEURALNETWORKS_FUSED_NONE);
	ANeuralNetworksOperandType axes = nn_tensor(1, two);
	axes.type = ANEURALNETWORKS_TENSOR_INT32;
	OK(ANeuralNetworksModel_addOperand(m, &axes));
	OK(ANeuralNetworksModel_setOperandValue(m, 5, both, sizeof both));
	nn_int(m, 6, 1);
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add, 1, sum));
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MEAN, 3, mean, 1, out));
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add, 1, out));
	OK(ANeuralNetworksModel_finish(m));
	return m;
}

static ANeuralNetworksCompilation *compiled(ANeuralNetworksModel *m)
{
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksDevice *d = nn_processor();
	OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
	OK(ANeuralNetworksCompilation_finish(c));
	return c;
}

static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c)
{
	static float x[SIDE], y[SIDE], z;
	ANeuralNetworksExecution *e = NULL;
	OK(ANeuralNetworksExecution_create(c, &e));
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, sizeof x));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, y, sizeof y));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &z, sizeof z));
	return e;
}

static int file(void)
{
	int fd = memfd_create("wish", MFD_CLOEXEC);
	DEMAND(fd >= 0 && ftruncate(fd, WISH) == 0);
	return fd;
}

static ANeuralNetworksMemory *memory(void)
{
	ANeuralNetworksMemory *m = NULL;
	OK(ANeuralNetworksMemory_createFromFd(WISH, PROT_READ | PROT_WRITE, file(), 0, &m));
	return m;
}

/* A model with an operand 0 of FLOATS elements. */
static ANeuralNetworksModel *open_model(void)
{
	ANeuralNetworksModel *m = NULL;
	const uint32_t n = FLOATS;
	ANeuralNetworksOperandType t = nn_tensor(1, &n);
	OK(ANeuralNetworksModel_create(&m));
	OK(ANeuralNetworksModel_addOperand(m, &t));
	return m;
}

static int create_from_desc(void)
{
	ANeuralNetworksMemoryDesc *d = NULL;
	ANeuralNetworksMemory *m = NULL;
	ANeuralNetworksCompilation *c = compiled(nn_sum(FLOATS));
	OK(ANeuralNetworksMemoryDesc_create(&d));
	OK(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1));
	OK(ANeuralNetworksMemoryDesc_finish(d));
	starve();
	return ANeuralNetworksMemory_createFromDesc(d, &m);
}

static int copy(void)
{
	ANeuralNetworksMemory *from = memory(), *to = memory();
	starve();
	return ANeuralNetworksMemory_copy(from, to);
}

static int value_from_memory(void)
{
	ANeuralNetworksModel *m = open_model();
	ANeuralNetworksMemory *from = memory();
	starve();
	return ANeuralNetworksModel_setOperandValueFromMemory(m, 0, from, 0, WISH);
}

static int channel_scales(void)
{
	ANeuralNetworksModel *m = NULL;
	const uint32_t dims[] = {FLOATS, 1};
	ANeuralNetworksOperandType t = nn_tensor(2, dims);
	t.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	OK(ANeuralNetworksModel_create(&m));
	OK(ANeuralNetworksModel_addOperand(m, &t));
	ANeuralNetworksSymmPerChannelQuantParams q;
	q.channelDim = 0;
	q.scaleCount = FLOATS;
	q.scales = (const float *)starve_bytes(0x3f);
	starve();
	return ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q);
}

static int add_operation(void)
{
	ANeuralNetworksModel *m = open_model();
	const uint32_t *list = (const uint32_t *)starve_bytes(0);
	starve();
	return ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_CONCATENATION, FLOATS, list, 1, list);
}

static int identify(void)
{
	ANeuralNetworksModel *m = open_model();
	const uint32_t *list = (const uint32_t *)starve_bytes(0);
	starve();
	return ANeuralNetworksModel_identifyInputsAndOutputs(m, FLOATS, list, 1, list);
}

static ANeuralNetworksModel *constant_sum(void)
{
	ANeuralNetworksModel *m = NULL;
	const uint32_t n = FLOATS, add[] = {0, 1, 3}, out[] = {2};
	const ANeuralNetworksOperandType t = nn_tensor(1, &n);
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i < 3; i++)
		OK(ANeuralNetworksModel_addOperand(m, &t));
	nn_int(m, 3, ANEURALNETWORKS_FUSED_NONE);
	OK(ANeuralNetworksModel_setOperandValue(m, 1, starve_bytes(0), WISH));
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add, 1, out));
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, add, 1, out));
	return m;
}

static int model_finish(void)
{
	ANeuralNetworksModel *m = constant_sum();
	starve();
	return ANeuralNetworksModel_finish(m);
}

/* A product whose weights are turned around for the kernels. */
static int compilation_finish(void)
{
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c = NULL;
	const uint32_t x[] = {8, SIDE}, w[] = {SIDE, SIDE}, b[] = {SIDE}, in[] = {0, 1, 2, 4}, out[] = {3};
	const ANeuralNetworksOperandType types[] = {nn_tensor(2, x), nn_tensor(2, w), nn_tensor(1, b), nn_tensor(2, x)};
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i < 4; i++)
		OK(ANeuralNetworksModel_addOperand(m, &types[i]));
	nn_int(m, 4, ANEURALNETWORKS_FUSED_NONE);
	void *weights = mmap(NULL, 4ul * SIDE * SIDE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OK(ANeuralNetworksModel_setOperandValue(m, 1, weights, 4ul * SIDE * SIDE));
	OK(ANeuralNetworksModel_setOperandValue(m, 2, weights, 4ul * SIDE));
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_FULLY_CONNECTED, 4, in, 1, out));
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in, 1, out));
	OK(ANeuralNetworksModel_finish(m));
	OK(ANeuralNetworksCompilation_create(m, &c));
	starve();
	return ANeuralNetworksCompilation_finish(c);
}

static int set_caching(void)
{
	static const uint8_t token[32];
	ANeuralNetworksCompilation *c = NULL;
	OK(ANeuralNetworksCompilation_create(nn_sum(4), &c));
	const char *folder = starve_text();
	starve();
	return ANeuralNetworksCompilation_setCaching(c, folder, token);
}

static ANeuralNetworksExecution *bare(void)
{
	ANeuralNetworksExecution *e = NULL;
	OK(ANeuralNetworksExecution_create(compiled(nn_sum(FLOATS)), &e));
	return e;
}

static int input_from_memory(void)
{
	ANeuralNetworksExecution *e = bare();
	ANeuralNetworksMemory *m = memory();
	starve();
	return ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, WISH);
}

static int output_from_memory(void)
{
	ANeuralNetworksExecution *e = bare();
	ANeuralNetworksMemory *m = memory();
	starve();
	return ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 0, WISH);
}

static int compute(void)
{
	ANeuralNetworksExecution *e = execution(compiled(wide()));
	starve();
	return ANeuralNetworksExecution_compute(e);
}

static int burst_compute(void)
{
	ANeuralNetworksCompilation *c = compiled(wide());
	ANeuralNetworksExecution *e = execution(c);
	ANeuralNetworksBurst *b = NULL;
	OK(ANeuralNetworksBurst_create(c, &b));
	starve();
	return ANeuralNetworksExecution_burstCompute(e, b);
}

/* The code of the start, or else that of its event. */
static int ended(int code, ANeuralNetworksEvent **event)
{
	return code ? code : ANeuralNetworksEvent_wait(*event);
}

static int start_compute(void)
{
	ANeuralNetworksEvent *event = NULL;
	ANeuralNetworksExecution *e = execution(compiled(wide()));
	starve();
	return ended(ANeuralNetworksExecution_startCompute(e, &event), &event);
}

static int start_with_dependencies(void)
{
	ANeuralNetworksEvent *event = NULL;
	ANeuralNetworksExecution *e = execution(compiled(wide()));
	starve();
	return ended(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event), &event);
}

static int extension_support(void)
{
	bool supported = true;
	const char *name = starve_text();
	ANeuralNetworksDevice *d = nn_processor();
	starve();
	return ANeuralNetworksDevice_getExtensionSupport(d, name, &supported);
}

static int extension_operand(void)
{
	int32_t type = 0;
	const char *name = starve_text();
	ANeuralNetworksModel *m = open_model();
	starve();
	return ANeuralNetworksModel_getExtensionOperandType(m, name, 0, &type);
}

static int extension_operation(void)
{
	ANeuralNetworksOperationType type = 0;
	const char *name = starve_text();
	ANeuralNetworksModel *m = open_model();
	starve();
	return ANeuralNetworksModel_getExtensionOperationType(m, name, 0, &type);
}

static int compilation_attribute(void)
{
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksDevice *d = nn_processor();
	OK(ANeuralNetworksCompilation_createForDevices(nn_sum(4), &d, 1, &c));
	const char *name = starve_text();
	starve();
	return ANeuralNetworksCompilation_addExtensionAttribute(c, name, 0, NULL, 0);
}

static int execution_attribute(void)
{
	ANeuralNetworksExecution *e = bare();
	const char *name = starve_text();
	starve();
	return ANeuralNetworksExecution_addExtensionAttribute(e, name, 0, NULL, 0);
}

#define ENDS "ends an object"
#define SMALL "makes an object whose size does not depend on the program"
#define LATER "notes what is asked for: compiling or computing takes the memory"
#define TELLS "tells what is known"

#define NONE(name, why) {"ANeuralNetworks" name, NULL, why}
#define STARVED(name, call) {"ANeuralNetworks" name, call, NULL}

static const struct starve_case starve_cases[] = {
	NONE("_getDeviceCount", TELLS),
	NONE("_getDevice", TELLS),
	NONE("Device_getName", TELLS),
	NONE("Device_getType", TELLS),
	NONE("Device_getVersion", TELLS),
	NONE("Device_getFeatureLevel", TELLS),
	NONE("Device_wait", TELLS),
	NONE("_getRuntimeFeatureLevel", TELLS),
	NONE("Model_getSupportedOperationsForDevices", "lists operations, which the model has already"),
	NONE("Memory_createFromFd", "keeps a descriptor: the first use maps the file"),
	NONE("Memory_createFromAHardwareBuffer", "always refused"),
	NONE("Memory_free", ENDS),
	NONE("MemoryDesc_create", SMALL),
	NONE("MemoryDesc_addInputRole", LATER),
	NONE("MemoryDesc_addOutputRole", LATER),
	NONE("MemoryDesc_setDimensions", "a rank has a bound"),
	NONE("MemoryDesc_finish", LATER),
	NONE("MemoryDesc_free", ENDS),
	STARVED("Memory_createFromDesc", create_from_desc),
	STARVED("Memory_copy", copy),
	NONE("Model_create", SMALL),
	NONE("Model_free", ENDS),
	NONE("Model_addOperand", "a rank has a bound"),
	NONE("Model_setOperandValue", "keeps a pointer, or 128 bytes: finishing the model copies"),
	STARVED("Model_setOperandValueFromMemory", value_from_memory),
	NONE("Model_setOperandValueFromModel", "shares the model"),
	STARVED("Model_setOperandSymmPerChannelQuantParams", channel_scales),
	STARVED("Model_addOperation", add_operation),
	STARVED("Model_identifyInputsAndOutputs", identify),
	NONE("Model_relaxComputationFloat32toFloat16", LATER),
	STARVED("Model_finish", model_finish),
	NONE("Compilation_create", SMALL),
	NONE("Compilation_createForDevices", "there are as many devices as there are"),
	NONE("Compilation_free", ENDS),
	NONE("Compilation_setPreference", LATER),
	STARVED("Compilation_setCaching", set_caching),
	NONE("Compilation_setPriority", LATER),
	NONE("Compilation_setTimeout", LATER),
	STARVED("Compilation_finish", compilation_finish),
	NONE("Compilation_getPreferredMemoryAlignmentForInput", TELLS),
	NONE("Compilation_getPreferredMemoryAlignmentForOutput", TELLS),
	NONE("Compilation_getPreferredMemoryPaddingForInput", TELLS),
	NONE("Compilation_getPreferredMemoryPaddingForOutput", TELLS),
	NONE("Execution_create", LATER),
	NONE("Execution_free", ENDS),
	NONE("Execution_setInput", "keeps a pointer"),
	STARVED("Execution_setInputFromMemory", input_from_memory),
	NONE("Execution_setOutput", "keeps a pointer"),
	STARVED("Execution_setOutputFromMemory", output_from_memory),
	NONE("Execution_enableInputAndOutputPadding", LATER),
	NONE("Execution_setReusable", LATER),
	NONE("Execution_setMeasureTiming", LATER),
	NONE("Execution_setTimeout", LATER),
	NONE("Execution_setLoopTimeout", LATER),
	NONE("_getDefaultLoopTimeout", TELLS),
	NONE("_getMaximumLoopTimeout", TELLS),
	STARVED("Execution_compute", compute),
	STARVED("Execution_startCompute", start_compute),
	STARVED("Execution_burstCompute", burst_compute),
	STARVED("Execution_startComputeWithDependencies", start_with_dependencies),
	NONE("Execution_getOutputOperandRank", TELLS),
	NONE("Execution_getOutputOperandDimensions", TELLS),
	NONE("Execution_getDuration", TELLS),
	NONE("Burst_create", SMALL),
	NONE("Burst_free", ENDS),
	NONE("Event_wait", "waits: the code of the computation is tested with the functions that start one"),
	NONE("Event_free", ENDS),
	NONE("Event_createFromSyncFenceFd", SMALL),
	NONE("Event_getSyncFenceFd", SMALL),
	STARVED("Device_getExtensionSupport", extension_support),
	STARVED("Model_getExtensionOperandType", extension_operand),
	STARVED("Model_getExtensionOperationType", extension_operation),
	NONE("Model_setOperandExtensionData", "no operand can have the type of an extension"),
	STARVED("Compilation_addExtensionAttribute", compilation_attribute),
	STARVED("Execution_addExtensionAttribute", execution_attribute),
};

STARVE_MAIN("nnapi", ANEURALNETWORKS_OUT_OF_MEMORY)
