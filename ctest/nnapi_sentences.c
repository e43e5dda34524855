/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What each function of NNAPI refuses: the code, in the order NULL, state, value, and one sentence that names the
 * argument, its value and what would fit. Each row is one mistake with the words that must be there.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnapi_host.h"

static int rows;

/* says checks that a call was refused with a code and that the last error holds the given texts. */
static void says(int got, int want, const char *a, const char *b)
{
	const char *text = anynpu_last_error();
	CHECK(got == want, "row %d (%s): code %d, want %d: %s", rows, a ? a : "", got, want, text);
	CHECK(a == NULL || strstr(text, a) != NULL, "row %d: \"%s\" is not in: %s", rows, a, text);
	CHECK(b == NULL || strstr(text, b) != NULL, "row %d: \"%s\" is not in: %s", rows, b, text);
	if (getenv("SHOW"))
		printf("%s\n", text);
	rows++;
}

#define NULLS(call, name) says(call, ANEURALNETWORKS_UNEXPECTED_NULL, name ": NULL", NULL)
#define DATA(call, a, b) says(call, ANEURALNETWORKS_BAD_DATA, a, b)
#define STATE(call, a) says(call, ANEURALNETWORKS_BAD_STATE, a, NULL)

static void devices(void)
{
	uint32_t n = 0;
	int32_t type = 0;
	int64_t level = 0;
	bool yes = true;
	const char *text = NULL;
	ANeuralNetworksDevice *d = NULL, *again = NULL;
	OK(ANeuralNetworks_getDeviceCount(&n));
	CHECK(n >= 1, "%u devices", n);
	NULLS(ANeuralNetworks_getDeviceCount(NULL), "numDevices");
	DATA(ANeuralNetworks_getDevice(n, &d), "devIndex", NULL);
	NULLS(ANeuralNetworks_getDevice(0, NULL), "device");
	OK(ANeuralNetworks_getDevice(n - 1, &d));
	OK(ANeuralNetworks_getDevice(n - 1, &again));
	CHECK(d != NULL && d == again, "a device has two addresses");
	OK(ANeuralNetworksDevice_getName(d, &text));
	CHECK(strcmp(text, "nnapi-reference") == 0, "the last device is %s", text);
	OK(ANeuralNetworksDevice_getType(d, &type));
	CHECK(type == ANEURALNETWORKS_DEVICE_CPU, "its type is %d", type);
	OK(ANeuralNetworksDevice_getVersion(d, &text));
	CHECK(text[0] != 0, "no version");
	OK(ANeuralNetworksDevice_getFeatureLevel(d, &level));
	CHECK(level == ANeuralNetworks_getRuntimeFeatureLevel(), "levels differ");
	OK(ANeuralNetworksDevice_wait(d));
	OK(ANeuralNetworksDevice_getExtensionSupport(d, "vendor.none", &yes));
	CHECK(!yes, "an extension that nobody knows");
	NULLS(ANeuralNetworksDevice_getName(NULL, &text), "device");
	NULLS(ANeuralNetworksDevice_getName(d, NULL), "name");
	NULLS(ANeuralNetworksDevice_wait(NULL), "device");
	NULLS(ANeuralNetworksDevice_getExtensionSupport(d, NULL, &yes), "extensionName");
	DATA(ANeuralNetworksDevice_wait((ANeuralNetworksDevice *)&n), "it is no device", NULL);
}

/* Operands that addOperand refuses. */
static void operands(void)
{
	static const uint32_t one[] = {2}, huge[] = {65536, 65536};
	static const struct {
		ANeuralNetworksOperandType type;
		const char *word;
	} bad[] = {
		{{-1, 0, NULL, 0, 0}, "extension"},
		{{16, 1, one, 0, 0}, "operand code 16"},
		{{ANEURALNETWORKS_FLOAT32, 1, one, 0, 0}, "scalar"},
		{{ANEURALNETWORKS_TENSOR_FLOAT32, 1, NULL, 0, 0}, "dimensionCount 1"},
		{{ANEURALNETWORKS_TENSOR_FLOAT32, 0, one, 0, 0}, "dimensionCount 0"},
		{{ANEURALNETWORKS_TENSOR_FLOAT32, 1, one, 1, 0}, "scale"},
		{{ANEURALNETWORKS_TENSOR_FLOAT32, 2, huge, 0, 0}, "4294967295"},
		{{ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, one, 0, 0}, "scale"},
		{{ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, one, NAN, 0}, "scale"},
		{{ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, one, 1, 256}, "zero point"},
		{{ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 1, one, 1, -129}, "zero point"},
		{{0x10000, 1, one, 0, 0}, "extension"},
	};
	ANeuralNetworksModel *m = NULL;
	OK(ANeuralNetworksModel_create(&m));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		DATA(ANeuralNetworksModel_addOperand(m, &bad[i].type), "operand 0", bad[i].word);
	NULLS(ANeuralNetworksModel_addOperand(m, NULL), "type");
	NULLS(ANeuralNetworksModel_addOperand(NULL, NULL), "model");
	ANeuralNetworksModel_free(m);
	NULLS(ANeuralNetworksModel_create(NULL), "model");
}

/* Values, and the scales of channels. */
static void values(void)
{
	ANeuralNetworksModel *m = NULL, *open = nn_open_sum(2), *sum = nn_sum(2);
	ANeuralNetworksOperandType t;
	uint32_t dims[] = {2, 3};
	float scales[] = {1, 2}, data[6] = {0};
	ANeuralNetworksSymmPerChannelQuantParams q = {0, 2, scales};
	t = nn_tensor(2, dims);
	OK(ANeuralNetworksModel_create(&m));
	OK(ANeuralNetworksModel_addOperand(m, &t));
	t.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	OK(ANeuralNetworksModel_addOperand(m, &t));
	t = nn_tensor(0, NULL);
	t.type = ANEURALNETWORKS_MODEL;
	OK(ANeuralNetworksModel_addOperand(m, &t));
	t.type = ANEURALNETWORKS_TENSOR_FLOAT32;
	OK(ANeuralNetworksModel_addOperand(m, &t));

	DATA(ANeuralNetworksModel_setOperandValue(m, 4, data, 4), "index: 4", "4 operands");
	DATA(ANeuralNetworksModel_setOperandValue(m, -1, data, 4), "4294967295", NULL);
	DATA(ANeuralNetworksModel_setOperandValue(m, 0, data, 0), "length: 0", "24 bytes");
	DATA(ANeuralNetworksModel_setOperandValue(m, 0, data, 20), "length: 20", "24 bytes");
	NULLS(ANeuralNetworksModel_setOperandValue(m, 0, NULL, 24), "buffer");
	DATA(ANeuralNetworksModel_setOperandValue(m, 2, data, 4), "MODEL", "setOperandValueFromModel");
	DATA(ANeuralNetworksModel_setOperandValue(m, 3, data, 4), "all its dimensions", NULL);
	OK(ANeuralNetworksModel_setOperandValue(m, 3, NULL, 0));

	DATA(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &q), "operand 0", "TENSOR_QUANT8_SYMM");
	q.channelDim = 2;
	DATA(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &q), "channelDim: 2", NULL);
	q.channelDim = 1;
	DATA(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &q), "scaleCount: 2", "size 3");
	q.channelDim = 0;
	q.scales = NULL;
	DATA(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &q), "scales", "scaleCount 2");
	q.scales = scales;
	static const float bad[] = {0, -1, NAN, INFINITY};
	for (int i = 0; i < 4; i++) {
		scales[1] = bad[i];
		DATA(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &q), "scales[1]", "above 0");
	}
	NULLS(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, NULL), "channelQuant");
	scales[1] = 2;
	OK(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &q));

	STATE(ANeuralNetworksModel_setOperandValueFromModel(m, 2, open), "not finished");
	STATE(ANeuralNetworksModel_setOperandValueFromModel(m, 2, m), "itself");
	DATA(ANeuralNetworksModel_setOperandValueFromModel(m, 0, sum), "want MODEL", NULL);
	OK(ANeuralNetworksModel_setOperandValueFromModel(m, 2, sum));
	DATA(ANeuralNetworksModel_setOperandValue(open, 0, data, 8), "input or output", NULL);
	STATE(ANeuralNetworksModel_setOperandValue(sum, 9, data, 8), "finished");
	ANeuralNetworksModel_free(m);
	ANeuralNetworksModel_free(open);
	ANeuralNetworksModel_free(sum);
}

/* Operations, and what only a whole model can be wrong in. */
static void models(void)
{
	ANeuralNetworksModel *m = nn_open_sum(2);
	const uint32_t in[] = {0, 1, 3}, far[] = {0, 9, 3}, out[] = {2}, back[] = {2, 1, 3}, to_input[] = {0};
	bool supported = false;
	const ANeuralNetworksDevice *d = nn_processor(), *twice[3] = {d, d, d}, *none[1] = {NULL};
	DATA(ANeuralNetworksModel_addOperation(m, 106, 3, in, 1, out), "106", NULL);
	DATA(ANeuralNetworksModel_addOperation(m, -1, 3, in, 1, out), "extension", NULL);
	DATA(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 0, in, 1, out), "inputCount", NULL);
	DATA(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, far, 1, out), "inputs[1]: 9", "4 operands");
	DATA(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 2, in, 1, out), "ADD", "3 inputs");
	NULLS(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, NULL, 1, out), "inputs");
	NULLS(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, NULL), "outputs");
	DATA(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in, 1, out), "operand 0", "input already");
	DATA(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in + 2, 1, out), "operand 3", "constant");
	STATE(ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, &supported), "not finished");
	OK(ANeuralNetworksModel_finish(m));
	STATE(ANeuralNetworksModel_finish(m), "finished");
	STATE(ANeuralNetworksModel_addOperation(m, 106, 3, in, 1, out), "finished");
	STATE(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), "finished");
	DATA(ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 0, &supported), "numDevices", NULL);
	DATA(ANeuralNetworksModel_getSupportedOperationsForDevices(m, twice, 2, &supported), "devices[1]", "devices[0] too");
	DATA(ANeuralNetworksModel_getSupportedOperationsForDevices(m, twice, 3, &supported), "numDevices", "2 devices");
	NULLS(ANeuralNetworksModel_getSupportedOperationsForDevices(m, none, 1, &supported), "devices[0]");
	NULLS(ANeuralNetworksModel_getSupportedOperationsForDevices(m, NULL, 1, &supported), "devices");
	OK(ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, &supported));
	CHECK(supported, "ADD is not supported");
	ANeuralNetworksModel_free(m);

	/* Written twice. */
	m = nn_open_sum(2);
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, out));
	DATA(ANeuralNetworksModel_finish(m), "operation 1", "operation 0");
	ANeuralNetworksCompilation *c = (ANeuralNetworksCompilation *)m;
	STATE(ANeuralNetworksCompilation_create(m, &c), "invalid");
	CHECK(c == NULL, "a compilation of an invalid model");
	ANeuralNetworksModel_free(m);
	/* A circle. */
	m = nn_open_sum(2);
	uint32_t n = 2;
	ANeuralNetworksOperandType t = nn_tensor(1, &n);
	OK(ANeuralNetworksModel_addOperand(m, &t));
	OK(ANeuralNetworksModel_addOperand(m, &t));
	const uint32_t round[] = {5, 1, 3}, four[] = {4}, five[] = {5}, round2[] = {4, 1, 3};
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, round, 1, four));
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, round2, 1, five));
	DATA(ANeuralNetworksModel_finish(m), "operation 1", "circle");
	ANeuralNetworksModel_free(m);
	/* Never written. */
	m = nn_open_sum(2);
	OK(ANeuralNetworksModel_addOperand(m, &t));
	DATA(ANeuralNetworksModel_finish(m), "operand 4", "nothing reads it");
	ANeuralNetworksModel_free(m);
	/* Writing an input. */
	m = nn_open_sum(2);
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, back, 1, to_input));
	DATA(ANeuralNetworksModel_finish(m), "operand 0", "an input of the model");
	ANeuralNetworksModel_free(m);
	/* Nothing at all. */
	OK(ANeuralNetworksModel_create(&m));
	DATA(ANeuralNetworksModel_finish(m), "no operand", NULL);
	STATE(ANeuralNetworksModel_finish(m), "finished");
	ANeuralNetworksModel_free(m);
}

static void compilations(void)
{
	uint8_t token[32] = {0};
	uint32_t n = 0;
	const ANeuralNetworksDevice *d = nn_processor();
	ANeuralNetworksModel *m = nn_sum(2), *open = nn_open_sum(2);
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e = (ANeuralNetworksExecution *)m;
	ANeuralNetworksBurst *b = NULL;
	STATE(ANeuralNetworksCompilation_create(open, &c), "not finished");
	NULLS(ANeuralNetworksCompilation_create(m, NULL), "compilation");
	DATA(ANeuralNetworksCompilation_createForDevices(m, &d, 0, &c), "numDevices", NULL);
	OK(ANeuralNetworksCompilation_create(m, &c));
	DATA(ANeuralNetworksCompilation_setPreference(c, 3), "preference: 3", NULL);
	DATA(ANeuralNetworksCompilation_setPreference(c, -1), "preference: -1", NULL);
	DATA(ANeuralNetworksCompilation_setPriority(c, 91), "priority: 91", "90");
	DATA(ANeuralNetworksCompilation_setTimeout(c, 1), "exactly one device", NULL);
	NULLS(ANeuralNetworksCompilation_setCaching(c, NULL, token), "cacheDir");
	NULLS(ANeuralNetworksCompilation_setCaching(c, "/", NULL), "token");
	DATA(ANeuralNetworksCompilation_addExtensionAttribute(c, "x", 0, NULL, 0), "exactly one device", NULL);
	STATE(ANeuralNetworksExecution_create(c, &e), "not finished");
	CHECK(e == NULL, "an execution of nothing");
	STATE(ANeuralNetworksBurst_create(c, &b), "not finished");
	STATE(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 9, &n), "not finished");
	OK(ANeuralNetworksCompilation_finish(c));
	STATE(ANeuralNetworksCompilation_finish(c), "finished");
	STATE(ANeuralNetworksCompilation_setPreference(c, 3), "finished");
	STATE(ANeuralNetworksCompilation_setPriority(c, 91), "finished");
	STATE(ANeuralNetworksCompilation_setTimeout(c, 1), "finished");
	STATE(ANeuralNetworksCompilation_setCaching(c, "/", token), "finished");
	STATE(ANeuralNetworksCompilation_addExtensionAttribute(c, "x", 0, NULL, 0), "finished");
	OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 1, &n));
	CHECK(n && !(n & (n - 1)), "alignment %u", n);
	OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c, 0, &n));
	OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 1, &n));
	OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 0, &n));
	CHECK(n && !(n & (n - 1)), "padding %u", n);
	DATA(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 2, &n), "index: 2", NULL);
	DATA(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 1, &n), "index: 1", NULL);
	ANeuralNetworksCompilation_free(c);
	OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
	OK(ANeuralNetworksCompilation_setTimeout(c, 60000000000));
	DATA(ANeuralNetworksCompilation_addExtensionAttribute(c, "vendor.x", 0, NULL, 0), "vendor.x", NULL);
	NULLS(ANeuralNetworksCompilation_addExtensionAttribute(c, "vendor.x", 0, NULL, 1), "data");
	OK(ANeuralNetworksCompilation_finish(c));
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
	ANeuralNetworksModel_free(open);
}

static void bindings(void)
{
	float a[] = {1, 2, 3}, y[3];
	const uint32_t two[] = {2}, three[] = {3}, grid[] = {1, 2}, zero[] = {0};
	const ANeuralNetworksOperandType t2 = nn_tensor(1, two), t3 = nn_tensor(1, three), square = nn_tensor(2, grid),
		open = nn_tensor(1, zero);
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(2), 0), *loose = nn_compiled(nn_sum(0), 0);
	ANeuralNetworksExecution *e = nn_execution(c);
	uint32_t n = 0;
	uint64_t time = 0;
	DATA(ANeuralNetworksExecution_setInput(e, 2, NULL, a, 8), "index: 2", "2 inputs");
	DATA(ANeuralNetworksExecution_setInput(e, -1, NULL, a, 8), "index: -1", NULL);
	DATA(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 4), "length: 4", "8 bytes");
	DATA(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 12), "length: 12", "padding");
	DATA(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 0), "length: 0", NULL);
	NULLS(ANeuralNetworksExecution_setInput(e, 0, NULL, NULL, 8), "buffer");
	DATA(ANeuralNetworksExecution_setInput(e, 0, &t3, a, 12), "dimensions [3]", "[2]");
	DATA(ANeuralNetworksExecution_setInput(e, 0, &square, a, 8), "dimensionCount 2", "[2]");
	DATA(ANeuralNetworksExecution_setInput(e, 0, &open, a, 8), "dimensions [0]", "[2]");
	OK(ANeuralNetworksExecution_setInput(e, 0, &t2, a, 8));
	STATE(ANeuralNetworksExecution_setInput(e, 0, &t3, a, 8), "set already");
	STATE(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true), "set already");
	DATA(ANeuralNetworksExecution_setMeasureTiming(e, true), "exactly one device", NULL);
	DATA(ANeuralNetworksExecution_setTimeout(e, 1), "exactly one device", NULL);
	DATA(ANeuralNetworksExecution_addExtensionAttribute(e, "x", 0, NULL, 0), "exactly one device", NULL);
	STATE(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &n), "computed");
	STATE(ANeuralNetworksExecution_getOutputOperandDimensions(e, 9, &n), "computed");
	DATA(ANeuralNetworksExecution_getDuration(e, 4, &time), "durationCode: 4", NULL);
	STATE(ANeuralNetworksExecution_getDuration(e, 0, &time), "computed");
	CHECK(time == UINT64_MAX, "a duration of nothing");
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, 8));
	/* Input 1 is missing: the computation has failed, and there is no other. */
	DATA(ANeuralNetworksExecution_compute(e), "input 1 is not set", NULL);
	STATE(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &n), "failed");
	STATE(ANeuralNetworksExecution_setInput(e, 1, NULL, a, 8), "begun");
	STATE(ANeuralNetworksExecution_setReusable(e, true), "begun");
	STATE(ANeuralNetworksExecution_setLoopTimeout(e, 1), "begun");
	STATE(ANeuralNetworksExecution_compute(e), "already");
	ANeuralNetworksEvent *ev = (ANeuralNetworksEvent *)e;
	STATE(ANeuralNetworksExecution_startCompute(e, &ev), "already");
	CHECK(ev == NULL, "an event of nothing");
	ANeuralNetworksExecution_free(e);

	e = nn_execution(loose);
	DATA(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 8), "give the dimensions", NULL);
	OK(ANeuralNetworksExecution_setInput(e, 0, &t2, a, 8));
	OK(ANeuralNetworksExecution_setInput(e, 1, &t2, a, 8));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, y, 8));
	DATA(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &ev), "output 0", "known");
	NULLS(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 1, 0, &ev), "dependencies");
	NULLS(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, NULL), "event");
	DATA(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 1, &ev), "exactly one device", NULL);
	ANeuralNetworksBurst *b = NULL;
	OK(ANeuralNetworksBurst_create(c, &b));
	DATA(ANeuralNetworksExecution_burstCompute(e, b), "another compilation", NULL);
	ANeuralNetworksBurst_free(b);
	OK(ANeuralNetworksExecution_compute(e));
	DATA(ANeuralNetworksExecution_getOutputOperandRank(e, 1, &n), "index: 1", NULL);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_free(loose);
}

static void memories(void)
{
	char page[64];
	const uint32_t two[] = {2}, three[] = {3};
	const ANeuralNetworksOperandType t2 = nn_tensor(1, two);
	ANeuralNetworksMemory *m = (ANeuralNetworksMemory *)page, *reads = NULL, *none = NULL, *more = NULL;
	ANeuralNetworksMemoryDesc *d = NULL;
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(2), 0), *wide = nn_compiled(nn_sum(3), 0),
		*loose = nn_compiled(nn_sum(0), 0), *raw = NULL;
	ANeuralNetworksModel *model = nn_sum(2);
	ANeuralNetworksExecution *e = nn_execution(c);
	int fd = memfd_create("memories", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, 64) == 0, "no file");
	says(ANeuralNetworksMemory_createFromFd(64, PROT_READ, -1, 0, &m), ANEURALNETWORKS_OP_FAILED, "fd: -1", NULL);
	CHECK(m == NULL, "memory of nothing");
	says(ANeuralNetworksMemory_createFromFd(64, PROT_READ, 1 << 20, 0, &m), ANEURALNETWORKS_OP_FAILED, "fd", NULL);
	NULLS(ANeuralNetworksMemory_createFromFd(64, PROT_READ, fd, 0, NULL), "memory");
	DATA(ANeuralNetworksMemory_createFromAHardwareBuffer((AHardwareBuffer *)page, &m), "hardware buffers", NULL);
	OK(ANeuralNetworksMemory_createFromFd(64, PROT_READ | PROT_WRITE, fd, 0, &m));
	OK(ANeuralNetworksMemory_createFromFd(64, PROT_READ, fd, 0, &reads));
	OK(ANeuralNetworksMemory_createFromFd(128, PROT_READ, fd, 0, &more));
	DATA(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0), "offset and length", NULL);
	DATA(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 60, 8), "60", "64");
	DATA(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, UINT64_MAX, 8), "64", NULL);
	DATA(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, reads, 0, 8), "protect 0x1", "PROT_WRITE");
	says(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, more, 0, 8), ANEURALNETWORKS_UNMAPPABLE,
		"128 bytes", NULL);
	NULLS(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, NULL, 0, 8), "memory");

	NULLS(ANeuralNetworksMemoryDesc_create(NULL), "desc");
	OK(ANeuralNetworksMemoryDesc_create(&d));
	DATA(ANeuralNetworksMemoryDesc_finish(d), "no role", NULL);
	OK(ANeuralNetworksCompilation_create(model, &raw));
	DATA(ANeuralNetworksMemoryDesc_addInputRole(d, raw, 0, 1), "not finished", NULL);
	DATA(ANeuralNetworksMemoryDesc_addInputRole(d, c, 2, 1), "index: 2", NULL);
	static const float often[] = {0, -1, 1.5f, NAN};
	for (int i = 0; i < 4; i++)
		DATA(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, often[i]), "frequency", NULL);
	OK(ANeuralNetworksMemoryDesc_addInputRole(d, loose, 0, 1));
	DATA(ANeuralNetworksMemoryDesc_addInputRole(d, loose, 0, 1), "this role", NULL);
	NULLS(ANeuralNetworksMemoryDesc_setDimensions(d, 1, NULL), "dimensions");
	OK(ANeuralNetworksMemoryDesc_setDimensions(d, 0, NULL));
	OK(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 0, 0.5f));
	DATA(ANeuralNetworksMemoryDesc_addInputRole(d, wide, 0, 1), "dimensions [3]", "[2]");
	DATA(ANeuralNetworksMemoryDesc_setDimensions(d, 1, three), "[3]", "[2]");
	STATE(ANeuralNetworksMemory_createFromDesc(d, &none), "not finished");
	OK(ANeuralNetworksMemoryDesc_finish(d));
	STATE(ANeuralNetworksMemoryDesc_finish(d), "finished");
	STATE(ANeuralNetworksMemoryDesc_addInputRole(d, c, 9, 9), "finished");
	STATE(ANeuralNetworksMemoryDesc_setDimensions(d, 1, three), "finished");
	OK(ANeuralNetworksMemory_createFromDesc(d, &none));
	DATA(ANeuralNetworksMemory_copy(none, m), "nothing was written", NULL);
	DATA(ANeuralNetworksMemory_copy(m, none), "8 bytes", "64");
	DATA(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, none, 0, 8), "want 0 and 0", NULL);
	DATA(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, none, 0, 0), "this role", NULL);
	ANeuralNetworksExecution *of_loose = nn_execution(loose);
	float y[2];
	OK(ANeuralNetworksExecution_setInputFromMemory(of_loose, 0, &t2, none, 0, 0));
	OK(ANeuralNetworksExecution_setInputFromMemory(of_loose, 1, &t2, m, 8, 8));
	OK(ANeuralNetworksExecution_setOutput(of_loose, 0, &t2, y, 8));
	says(ANeuralNetworksExecution_compute(of_loose), ANEURALNETWORKS_OP_FAILED, "input 0", "nothing was written");
	ANeuralNetworksExecution_free(of_loose);
	ANeuralNetworksMemoryDesc_free(d);
	ANeuralNetworksMemory_free(none);

	/* What a constant may come from. */
	OK(ANeuralNetworksMemoryDesc_create(&d));
	OK(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 0, 1));
	OK(ANeuralNetworksMemoryDesc_finish(d));
	OK(ANeuralNetworksMemory_createFromDesc(d, &none));
	ANeuralNetworksModel *open = NULL;
	OK(ANeuralNetworksModel_create(&open));
	OK(ANeuralNetworksModel_addOperand(open, &t2));
	DATA(ANeuralNetworksModel_setOperandValueFromMemory(open, 0, none, 0, 8), "a device manages it", NULL);
	DATA(ANeuralNetworksModel_setOperandValueFromMemory(open, 0, m, 60, 8), "60", "64");
	DATA(ANeuralNetworksModel_setOperandValueFromMemory(open, 0, m, 0, 12), "length: 12", "8 bytes");
	OK(ANeuralNetworksModel_setOperandValueFromMemory(open, 0, m, 8, 8));
	ANeuralNetworksModel_free(open);
	ANeuralNetworksMemoryDesc_free(d);
	ANeuralNetworksMemory_free(none);
	ANeuralNetworksMemory_free(m);
	ANeuralNetworksMemory_free(reads);
	ANeuralNetworksMemory_free(more);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_free(wide);
	ANeuralNetworksCompilation_free(loose);
	ANeuralNetworksCompilation_free(raw);
	ANeuralNetworksModel_free(model);
	close(fd);
}

static void events(void)
{
	int fd = 0, ends[2];
	ANeuralNetworksEvent *ev = NULL;
	CHECK(pipe(ends) == 0, "no pipe");
	DATA(ANeuralNetworksEvent_createFromSyncFenceFd(0, &ev), "sync_fence_fd: 0", NULL);
	DATA(ANeuralNetworksEvent_createFromSyncFenceFd(-1, &ev), "sync_fence_fd: -1", NULL);
	DATA(ANeuralNetworksEvent_createFromSyncFenceFd(1 << 20, &ev), "sync_fence_fd", NULL);
	NULLS(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], NULL), "event");
	OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &ev));
	close(ends[0]);
	NULLS(ANeuralNetworksEvent_getSyncFenceFd(ev, NULL), "sync_fence_fd");
	OK(ANeuralNetworksEvent_getSyncFenceFd(ev, &fd));
	CHECK(fd > 0, "descriptor %d", fd);
	close(fd);
	close(ends[1]);
	says(ANeuralNetworksEvent_wait(ev), ANEURALNETWORKS_OP_FAILED, "without signalling", NULL);
	ANeuralNetworksEvent_free(ev);
	NULLS(ANeuralNetworksEvent_wait(NULL), "event");
}

/* Every free takes NULL, and refuses what is no handle, or ends no more, without a word to the caller. */
static void frees(void)
{
	ANeuralNetworksMemory_free(NULL);
	ANeuralNetworksMemoryDesc_free(NULL);
	ANeuralNetworksModel_free(NULL);
	ANeuralNetworksCompilation_free(NULL);
	ANeuralNetworksExecution_free(NULL);
	ANeuralNetworksBurst_free(NULL);
	ANeuralNetworksEvent_free(NULL);
	ANeuralNetworksModel *m = nn_sum(2);
	ANeuralNetworksModel_free(m);
	ANeuralNetworksModel_free(m);
	DATA(ANeuralNetworksModel_finish(m), "destroyed", NULL);
}

int main(void)
{
	host_begin();
	devices();
	operands();
	values();
	models();
	compilations();
	bindings();
	memories();
	events();
	frees();
	printf("%d refusals, each with its code and its sentence\n", rows);
	return host_end();
}
