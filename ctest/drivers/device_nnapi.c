/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for NNAPI whose models a fake driver computes as a device: results whose size an execution finds, the limit
 * of loops, and the driver's cache. The driver says what it was told (nnapi_notes.h).
 *
 *     device_nnapi DRIVER DIRECTORY
 */
#include <android/NeuralNetworks.h>
#include <anynpu.h>
#include <dlfcn.h>

#include "host.h"

#define OK_(call) CHECK((call) == ANEURALNETWORKS_NO_ERROR, "%s", anynpu_last_error())

static const char *(*noted)(const char *what);
static const ANeuralNetworksDevice *npu;

static void find_device(void)
{
	uint32_t count = 0;
	OK_(ANeuralNetworks_getDeviceCount(&count));
	for (uint32_t i = 0; i < count && !npu; i++) {
		ANeuralNetworksDevice *device = NULL;
		const char *name = NULL;
		OK_(ANeuralNetworks_getDevice(i, &device));
		OK_(ANeuralNetworksDevice_getName(device, &name));
		if (strcmp(name, "nnapi") == 0)
			npu = device;
	}
	CHECK(npu != NULL, "no device nnapi among %u", count);
}

/* Adds an operand of up to two dimensions, 0 for one that is not there. */
static void operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, uint32_t rows, uint32_t columns)
{
	const uint32_t dims[] = {rows, columns};
	const ANeuralNetworksOperandType t = {type, rank, rank ? dims : NULL, 0, 0};
	OK_(ANeuralNetworksModel_addOperand(m, &t));
}

static ANeuralNetworksModel *finished(ANeuralNetworksModel *m)
{
	OK_(ANeuralNetworksModel_finish(m));
	return m;
}

/* Two boxes of a class that overlap, and one that does not. */
static ANeuralNetworksModel *boxes(void)
{
	static const float regions[] = {0, 0, 8, 8, 0, 0, 8, 8, 0, 1, 8, 9, 0, 1, 8, 9, 20, 0, 24, 4, 20, 0, 24, 4};
	static const int32_t batches[3], most = -1, hard;
	static const float least = 0.2f, overlap = 0.5f, sigma = 0.5f, keep = 0.1f;
	const uint32_t in[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, out[] = {9, 10, 11, 12};
	const int32_t f = ANEURALNETWORKS_TENSOR_FLOAT32;
	ANeuralNetworksModel *m = NULL;
	OK_(ANeuralNetworksModel_create(&m));
	operand(m, f, 2, 3, 2);
	operand(m, f, 2, 3, 8);
	operand(m, ANEURALNETWORKS_TENSOR_INT32, 1, 3, 0);
	for (int i = 3; i < 9; i++)
		operand(m, i == 4 || i == 5 ? ANEURALNETWORKS_INT32 : ANEURALNETWORKS_FLOAT32, 0, 0, 0);
	operand(m, f, 1, 0, 0);
	operand(m, f, 2, 0, 4);
	operand(m, ANEURALNETWORKS_TENSOR_INT32, 1, 0, 0);
	operand(m, ANEURALNETWORKS_TENSOR_INT32, 1, 0, 0);
	OK_(ANeuralNetworksModel_setOperandValue(m, 1, regions, sizeof regions));
	OK_(ANeuralNetworksModel_setOperandValue(m, 2, batches, sizeof batches));
	OK_(ANeuralNetworksModel_setOperandValue(m, 3, &least, sizeof least));
	OK_(ANeuralNetworksModel_setOperandValue(m, 4, &most, sizeof most));
	OK_(ANeuralNetworksModel_setOperandValue(m, 5, &hard, sizeof hard));
	OK_(ANeuralNetworksModel_setOperandValue(m, 6, &overlap, sizeof overlap));
	OK_(ANeuralNetworksModel_setOperandValue(m, 7, &sigma, sizeof sigma));
	OK_(ANeuralNetworksModel_setOperandValue(m, 8, &keep, sizeof keep));
	OK_(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_BOX_WITH_NMS_LIMIT, 9, in, 4, out));
	OK_(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in, 4, out));
	return finished(m);
}

/* A model of one operation with n and a number: what the condition or the body of a loop is. */
static ANeuralNetworksModel *with(int32_t operation, int32_t gives, const float *number)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	const uint32_t in[] = {0, 1, 2}, out = 3;
	ANeuralNetworksModel *m = NULL;
	OK_(ANeuralNetworksModel_create(&m));
	operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, 1, 0);
	operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, 1, 0);
	operand(m, ANEURALNETWORKS_INT32, 0, 0, 0);
	operand(m, gives, 1, 1, 0);
	OK_(ANeuralNetworksModel_setOperandValue(m, 1, number, sizeof *number));
	OK_(ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
	OK_(ANeuralNetworksModel_addOperation(m, operation, operation == ANEURALNETWORKS_SUB ? 3 : 2, in, 1, &out));
	OK_(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in, 1, &out));
	return finished(m);
}

/* Subtracts step from n while n is above 0. */
static ANeuralNetworksModel *countdown(const ANeuralNetworksModel *condition, const ANeuralNetworksModel *body)
{
	const uint32_t in[] = {0, 1, 2}, out = 3;
	ANeuralNetworksModel *m = NULL;
	OK_(ANeuralNetworksModel_create(&m));
	operand(m, ANEURALNETWORKS_MODEL, 0, 0, 0);
	operand(m, ANEURALNETWORKS_MODEL, 0, 0, 0);
	operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, 1, 0);
	operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, 1, 0);
	OK_(ANeuralNetworksModel_setOperandValueFromModel(m, 0, condition));
	OK_(ANeuralNetworksModel_setOperandValueFromModel(m, 1, body));
	OK_(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_WHILE, 3, in, 1, &out));
	OK_(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, in + 2, 1, &out));
	return finished(m);
}

/* Compiles for the driver's device, with a cache if there is a directory. */
static ANeuralNetworksCompilation *compiled(ANeuralNetworksModel *m, const char *dir, uint8_t token)
{
	const uint8_t all[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = {token};
	ANeuralNetworksCompilation *c = NULL;
	OK_(ANeuralNetworksCompilation_createForDevices(m, &npu, 1, &c));
	if (dir)
		OK_(ANeuralNetworksCompilation_setCaching(c, dir, all));
	OK_(ANeuralNetworksCompilation_finish(c));
	return c;
}

/* Finds two boxes, with room for so many. */
static void find(ANeuralNetworksCompilation *c, uint32_t room)
{
	static const float scores[] = {1, 0.9f, 1, 0.8f, 1, 0.7f};
	const int enough = room >= 2, want = enough ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
	float found[3] = {0}, regions[12] = {0};
	int32_t classes[3] = {0}, batches[3] = {9, 9, 9};
	uint32_t rank = 0, dims[2] = {0};
	ANeuralNetworksExecution *e = NULL;
	OK_(ANeuralNetworksExecution_create(c, &e));
	OK_(ANeuralNetworksExecution_setInput(e, 0, NULL, scores, sizeof scores));
	OK_(ANeuralNetworksExecution_setOutput(e, 0, NULL, found, room * sizeof *found));
	OK_(ANeuralNetworksExecution_setOutput(e, 1, NULL, regions, room * 4 * sizeof *regions));
	OK_(ANeuralNetworksExecution_setOutput(e, 2, NULL, classes, room * sizeof *classes));
	OK_(ANeuralNetworksExecution_setOutput(e, 3, NULL, batches, room * sizeof *batches));
	int code = ANeuralNetworksExecution_compute(e);
	CHECK(code == want, "room for %u: want %d, got %d: %s", room, want, code, anynpu_last_error());
	code = ANeuralNetworksExecution_getOutputOperandRank(e, 1, &rank);
	CHECK(code == want && rank == 2, "code %d, rank %u", code, rank);
	code = ANeuralNetworksExecution_getOutputOperandDimensions(e, 1, dims);
	CHECK(code == want && dims[0] == 2 && dims[1] == 4, "code %d, %u boxes of %u", code, dims[0], dims[1]);
	if (enough)
		CHECK(found[0] == 0.9f && found[1] == 0.7f && regions[4] == 20 && regions[7] == 4 && classes[1] == 1 &&
			batches[1] == 0, "%g %g, %g %g, class %d, batch %d", (double)found[0], (double)found[1], (double)regions[4],
			(double)regions[7], classes[1], batches[1]);
	ANeuralNetworksExecution_free(e);
}

/* Counts down from 3 in a time. */
static void count(ANeuralNetworksModel *m, uint64_t limit, int ends)
{
	const float n = 3;
	float left = 9;
	char want[32];
	ANeuralNetworksCompilation *c = compiled(m, NULL, 0);
	ANeuralNetworksExecution *e = NULL;
	OK_(ANeuralNetworksExecution_create(c, &e));
	OK_(ANeuralNetworksExecution_setInput(e, 0, NULL, &n, sizeof n));
	OK_(ANeuralNetworksExecution_setOutput(e, 0, NULL, &left, sizeof left));
	if (limit)
		OK_(ANeuralNetworksExecution_setLoopTimeout(e, limit));
	int code = ANeuralNetworksExecution_compute(e);
	if (ends)
		CHECK(code == ANEURALNETWORKS_NO_ERROR && left == 0, "code %d, %g: %s", code, (double)left, anynpu_last_error());
	else
		CHECK(code == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT, "code %d", code);
	snprintf(want, sizeof want, "%llu", (unsigned long long)(limit ? limit : 2000000000));
	CHECK(strcmp(noted("loop limit"), want) == 0, "want a limit of %s, the driver was told %s", want, noted("loop limit"));
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
}

static void cache(ANeuralNetworksModel *m, const char *dir)
{
	char first[512], again[512];
	for (int i = 0; i < 3; i++) { /* compiled, taken from the cache, and compiled for another token */
		ANeuralNetworksCompilation *c = compiled(m, dir, i < 2);
		find(c, 3);
		ANeuralNetworksCompilation_free(c);
		snprintf(i ? again : first, sizeof first, "%s", noted("cache"));
		CHECK(strncmp(noted("cache"), dir, strlen(dir)) == 0, "want directory %s, the driver was told %s", dir,
			noted("cache"));
		if (i)
			CHECK((strcmp(first, again) == 0) == (i == 1), "%d: %s, then %s", i, first, again);
	}
}

int main(int argc, char **argv)
{
	static const float zero, one = 1;
	if (argc != 3)
		return puts("usage: device_nnapi DRIVER DIRECTORY"), 2;
	host_keeps = argv[1];
	host_begin();
	find_device();
	void *driver = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
	CHECK(driver != NULL, "%s", dlerror());
	*(void **)&noted = dlsym(driver, "fake_noted");
	ANeuralNetworksModel *m = boxes();
	ANeuralNetworksCompilation *c = compiled(m, NULL, 0);
	find(c, 2);
	find(c, 1);
	ANeuralNetworksCompilation_free(c);
	cache(m, argv[2]);
	ANeuralNetworksModel_free(m);
	ANeuralNetworksModel *above = with(ANEURALNETWORKS_GREATER, ANEURALNETWORKS_TENSOR_BOOL8, &zero);
	for (int ends = 0; ends < 2; ends++) {
		ANeuralNetworksModel *less = with(ANEURALNETWORKS_SUB, ANEURALNETWORKS_TENSOR_FLOAT32, ends ? &one : &zero);
		ANeuralNetworksModel *loop = countdown(above, less);
		count(loop, ends ? 5000000000 : 20000000, ends);
		if (ends)
			count(loop, 0, ends);
		ANeuralNetworksModel_free(loop);
		ANeuralNetworksModel_free(less);
	}
	ANeuralNetworksModel_free(above);
	dlclose(driver);
	return host_end();
}
