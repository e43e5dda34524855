/* Every task succeeds with other results than the right ones. */
#include <dnn/hb_dnn.h>

static struct { hbDNNTaskHandle_t of; hbDNNTensor *tensors; int32_t n; } outputs[64];
static int used;

int32_t hbDNNInfer(hbDNNTaskHandle_t *task, hbDNNTensor **output, hbDNNTensor const *input, hbDNNHandle_t model,
	hbDNNInferCtrlParam *control)
{
	__typeof__(hbDNNInfer) *infer = real_hbDNNInfer;
	int32_t code = infer(task, output, input, model, control), n = 0;
	if (code == 0 && hbDNNGetOutputCount(&n, model) == 0) {
		int at = used++ % 64;
		outputs[at].of = *task, outputs[at].tensors = *output, outputs[at].n = n;
	}
	return code;
}

int32_t hbDNNWaitTaskDone(hbDNNTaskHandle_t task, int32_t timeout)
{
	__typeof__(hbDNNWaitTaskDone) *wait = real_hbDNNWaitTaskDone;
	int32_t code = wait(task, timeout);
	for (int i = 0; code == 0 && i < 64; i++) {
		for (int32_t k = 0; outputs[i].of == task && k < outputs[i].n; k++) {
			hbSysMem *m = &outputs[i].tensors[k].sysMem[0];
			for (uint32_t b = 0; m->virAddr && b < m->memSize; b++)
				((unsigned char *)m->virAddr)[b] ^= 0x55;
		}
		if (outputs[i].of == task)
			outputs[i].of = NULL;
	}
	return code;
}
