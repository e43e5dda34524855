/* Every run succeeds with other results than the right ones. */
#include <neural_network_runtime/neural_network_runtime.h>

static struct { OH_NNExecutor *of; void *data; size_t size; } outputs[256];
static int used;

static void spoil(void *data, size_t size)
{
	for (size_t i = 0; data && i < size; i++)
		((unsigned char *)data)[i] ^= 0x55;
}

OH_NN_ReturnCode OH_NNExecutor_RunSync(OH_NNExecutor *e, NN_Tensor *in[], size_t n, NN_Tensor *out[], size_t m)
{
	__typeof__(OH_NNExecutor_RunSync) *run = real_OH_NNExecutor_RunSync;
	OH_NN_ReturnCode code = run(e, in, n, out, m);
	for (size_t i = 0; code == OH_NN_SUCCESS && i < m; i++) {
		size_t size = 0;
		OH_NNTensor_GetSize(out[i], &size);
		spoil(OH_NNTensor_GetDataBuffer(out[i]), size);
	}
	return code;
}

OH_NN_ReturnCode OH_NNExecutor_SetOutput(OH_NNExecutor *e, uint32_t index, void *data, size_t size)
{
	__typeof__(OH_NNExecutor_SetOutput) *set = real_OH_NNExecutor_SetOutput;
	OH_NN_ReturnCode code = set(e, index, data, size);
	if (code == OH_NN_SUCCESS) {
		int at = used++ % 256;
		outputs[at].of = e, outputs[at].data = data, outputs[at].size = size;
	}
	return code;
}

OH_NN_ReturnCode OH_NNExecutor_Run(OH_NNExecutor *e)
{
	__typeof__(OH_NNExecutor_Run) *run = real_OH_NNExecutor_Run;
	OH_NN_ReturnCode code = run(e);
	for (int i = 0; code == OH_NN_SUCCESS && i < 256; i++)
		if (outputs[i].of == e) {
			spoil(outputs[i].data, outputs[i].size);
			outputs[i].of = NULL;
		}
	return code;
}
