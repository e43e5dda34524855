/* Every execution succeeds with other results than the right ones, where they go to memory of the program. */
#include <android/NeuralNetworks.h>

static struct { ANeuralNetworksExecution *of; unsigned char *data; size_t size; } outputs[256];
static struct { ANeuralNetworksEvent *event; ANeuralNetworksExecution *of; } events[64];
static int used, started;

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *e, int32_t index,
	const ANeuralNetworksOperandType *type, void *data, size_t size)
{
	__typeof__(ANeuralNetworksExecution_setOutput) *set = real_ANeuralNetworksExecution_setOutput;
	int code = set(e, index, type, data, size);
	if (code == 0) {
		int at = used++ % 256;
		outputs[at].of = e, outputs[at].data = data, outputs[at].size = size;
	}
	return code;
}

static void spoil(ANeuralNetworksExecution *e)
{
	for (int i = 0; i < 256; i++)
		for (size_t b = 0; outputs[i].of == e && outputs[i].data && b < outputs[i].size; b++)
			outputs[i].data[b] ^= 0x55;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *e)
{
	__typeof__(ANeuralNetworksExecution_compute) *compute = real_ANeuralNetworksExecution_compute;
	int code = compute(e);
	if (code == 0)
		spoil(e);
	return code;
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst)
{
	__typeof__(ANeuralNetworksExecution_burstCompute) *compute = real_ANeuralNetworksExecution_burstCompute;
	int code = compute(e, burst);
	if (code == 0)
		spoil(e);
	return code;
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *e, ANeuralNetworksEvent **event)
{
	__typeof__(ANeuralNetworksExecution_startCompute) *start = real_ANeuralNetworksExecution_startCompute;
	int code = start(e, event);
	if (code == 0) {
		int at = started++ % 64;
		events[at].event = *event, events[at].of = e;
	}
	return code;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)
{
	__typeof__(ANeuralNetworksEvent_wait) *wait = real_ANeuralNetworksEvent_wait;
	int code = wait(event);
	for (int i = 0; code == 0 && i < 64; i++)
		if (event && events[i].event == event) {
			spoil(events[i].of);
			events[i].event = NULL;
		}
	return code;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution *e)
{
	__typeof__(ANeuralNetworksExecution_free) *release = real_ANeuralNetworksExecution_free;
	for (int i = 0; i < 256; i++)
		if (outputs[i].of == e)
			outputs[i].of = NULL;
	release(e);
}
