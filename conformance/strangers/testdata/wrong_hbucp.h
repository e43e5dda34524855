/* Every task succeeds with other results than the right ones. */
#include <hobot/dnn/hb_dnn.h>
#include <hobot/hb_ucp.h>

static struct { hbUCPTaskHandle_t of; hbDNNTensor *tensors; int32_t n; } outputs[64];
static int used;

static void spoil(hbDNNTensor *tensors, int32_t n)
{
	for (int32_t k = 0; k < n; k++)
		for (uint64_t b = 0; tensors[k].sysMem.virAddr && b < tensors[k].sysMem.memSize; b++)
			((unsigned char *)tensors[k].sysMem.virAddr)[b] ^= 0x55;
}

int32_t hbDNNInferV2(hbUCPTaskHandle_t *task, hbDNNTensor *output, hbDNNTensor const *input, hbDNNHandle_t model)
{
	__typeof__(hbDNNInferV2) *infer = real_hbDNNInferV2;
	int32_t code = infer(task, output, input, model), n = 0;
	if (code != 0 || hbDNNGetOutputCount(&n, model) != 0)
		return code;
	if (!task) { /* the call has computed */
		spoil(output, n);
		return code;
	}
	int at = used++ % 64;
	outputs[at].of = *task, outputs[at].tensors = output, outputs[at].n = n;
	return code;
}

int32_t hbUCPWaitTaskDone(hbUCPTaskHandle_t task, int32_t timeout)
{
	__typeof__(hbUCPWaitTaskDone) *wait = real_hbUCPWaitTaskDone;
	int32_t code = wait(task, timeout);
	for (int i = 0; code == 0 && i < 64; i++) {
		if (outputs[i].of != task)
			continue;
		spoil(outputs[i].tensors, outputs[i].n);
		outputs[i].of = NULL;
	}
	return code;
}
