/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A count that contradicts what NNAPI knows already is refused before the array is read: every array here ends where a
 * page ends behind which nothing can be touched, and the count says more.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "nnapi_host.h"

static char *room_end; /* the first byte that cannot be touched */

static void *at_the_end(const void *data, size_t size) { return memcpy(room_end - size, data, size); }

static void refused(const char *what, uint32_t n, int got, const char *word)
{
	CHECK(got == ANEURALNETWORKS_BAD_DATA, "%s with %u elements: code %d: %s", what, n, got, anynpu_last_error());
	CHECK(strstr(anynpu_last_error(), word), "%s: \"%s\" lacks \"%s\"", what, anynpu_last_error(), word);
}

static const uint32_t counts[] = {2, 3, 200, 1u << 20, UINT32_MAX};
enum { COUNTS = sizeof counts / sizeof *counts };

static void devices(void)
{
	ANeuralNetworksModel *m = nn_sum(4);
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksDevice *d = nn_processor(), *const *one;
	bool supported = false;
	uint32_t all = 0;
	OK(ANeuralNetworks_getDeviceCount(&all));
	CHECK(all >= 1 && all < counts[COUNTS - 1], "%u devices", all);
	for (int i = 0; i < COUNTS; i++) {
		if (counts[i] <= all)
			continue; /* an array of so many may be one of devices, and is read */
		one = (const ANeuralNetworksDevice *const *)at_the_end(&d, sizeof d);
		refused("createForDevices", counts[i], ANeuralNetworksCompilation_createForDevices(m, one, counts[i], &c),
			"numDevices");
		CHECK(c == NULL, "a compilation");
		refused("getSupportedOperationsForDevices", counts[i],
			ANeuralNetworksModel_getSupportedOperationsForDevices(m, one, counts[i], &supported), "numDevices");
	}
	one = (const ANeuralNetworksDevice *const *)at_the_end(&d, sizeof d);
	OK(ANeuralNetworksModel_getSupportedOperationsForDevices(m, one, 1, (bool *)(room_end - 1 - sizeof d)));
	OK(ANeuralNetworksCompilation_createForDevices(m, one, 1, &c));
	OK(ANeuralNetworksCompilation_setCaching(c, "/nonexistent",
		(const uint8_t *)(room_end - ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN)));
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

static void models(void)
{
	const uint32_t four = 4, in[] = {0, 1, 3}, out[] = {2};
	const ANeuralNetworksOperandType t = nn_tensor(1, &four);
	ANeuralNetworksModel *m = NULL;
	OK(ANeuralNetworksModel_create(&m));
	for (int i = 0; i < 3; i++)
		OK(ANeuralNetworksModel_addOperand(m, &t));
	nn_int(m, 3, ANEURALNETWORKS_FUSED_NONE);
	for (int i = 1; i < COUNTS; i++) {
		const uint32_t n = counts[i] + 1; /* also UINT32_MAX + 1, which is none */
		const uint32_t *ins = (const uint32_t *)at_the_end(in, sizeof in);
		refused("addOperation, inputs", n, ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, n, ins, 1, out), "nput");
		const uint32_t *outs = (const uint32_t *)at_the_end(out, sizeof out);
		refused("addOperation, outputs", n, ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, n, outs),
			"utput");
		ins = (const uint32_t *)at_the_end(in, 2 * sizeof *in);
		refused("identify, inputs", n, ANeuralNetworksModel_identifyInputsAndOutputs(m, n, ins, 1, out), "nput");
		outs = (const uint32_t *)at_the_end(out, sizeof out);
		refused("identify, outputs", n, ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in, n, outs), "utput");
	}
	const int32_t none = 0;
	refused("setOperandValue", 5, ANeuralNetworksModel_setOperandValue(m, 3, at_the_end(&none, 4), 5), "length");
	const float scale = 1;
	const uint32_t two[] = {2, 2};
	ANeuralNetworksOperandType q = nn_tensor(2, two);
	q.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	OK(ANeuralNetworksModel_addOperand(m, &q));
	for (int i = 1; i < COUNTS; i++) {
		ANeuralNetworksSymmPerChannelQuantParams p = {0, counts[i], (const float *)at_the_end(&scale, sizeof scale)};
		refused("setOperandSymmPerChannelQuantParams", counts[i], ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m,
			4, &p), "scaleCount");
		ANeuralNetworksOperandType far = nn_tensor(counts[i] > 1024 ? counts[i] : 1025,
			(const uint32_t *)at_the_end(&four, 4));
		refused("addOperand", counts[i], ANeuralNetworksModel_addOperand(m, &far), "dimensionCount");
	}
	ANeuralNetworksModel_free(m);
}

static void bindings(void)
{
	const uint32_t four = 4;
	float x[4] = {1, 2, 3, 4}, y[4];
	ANeuralNetworksCompilation *c = nn_compiled(nn_sum(4), 0);
	ANeuralNetworksExecution *e = nn_execution(c);
	ANeuralNetworksMemoryDesc *desc = NULL;
	OK(ANeuralNetworksMemoryDesc_create(&desc));
	OK(ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f));
	for (int i = 0; i < COUNTS; i++) {
		const uint32_t *dims = (const uint32_t *)at_the_end(&four, 4);
		ANeuralNetworksOperandType t = nn_tensor(counts[i], dims);
		refused("setInput, type", counts[i], ANeuralNetworksExecution_setInput(e, 0, &t, x, sizeof x), "dimensionCount");
		refused("setOutput, type", counts[i], ANeuralNetworksExecution_setOutput(e, 0, &t, y, sizeof y), "dimensionCount");
		refused("setDimensions", counts[i], ANeuralNetworksMemoryDesc_setDimensions(desc, counts[i], dims), "rank");
	}
	OK(ANeuralNetworksMemoryDesc_setDimensions(desc, 1, (const uint32_t *)at_the_end(&four, 4)));
	refused("setInput, bytes", 17, ANeuralNetworksExecution_setInput(e, 0, NULL, at_the_end(x, sizeof x), 17), "length");
	refused("setOutput, bytes", 17, ANeuralNetworksExecution_setOutput(e, 0, NULL, at_the_end(x, sizeof x), 17), "length");
	ANeuralNetworksMemoryDesc_free(desc);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
}

int main(void)
{
	host_begin();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0, "pages");
	room_end = pages + page;
	devices();
	models();
	bindings();
	munmap(pages, 2 * page);
	return host_end();
}
