/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One task with members of three models, submitted with more = 1 but for the last; a feature map each, whose tensors
 * the program frees before it waits.
 */
#include "hbdnn_sample.h"

enum { MODELS = 3 };

int main(void)
{
	host_begin();
	const int64_t sizes[MODELS] = {3, 8, 5};
	hbDNNHandle_t models[MODELS];
	hbPackedDNNHandle_t pack = relu_pack(sizes, MODELS, models);
	hbSysMem in[MODELS], out[MODELS];
	hbDNNTaskHandle_t task = NULL;
	for (int m = 0; m < MODELS; m++) {
		hbDNNTensor *tensors = calloc(2, sizeof *tensors), *result = &tensors[1];
		hbDNNInferCtrlParam control;
		HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
		sample_tensor(&tensors[0], models[m], true, 0);
		sample_tensor(result, models[m], false, 0);
		tensors[0].properties.alignedShape = tensors[0].properties.validShape;
		for (int i = 0; i < sizes[m]; i++)
			sample_floats(&tensors[0])[i] = (float)(i * (m + 1) - 3);
		sample_clean(&tensors[0]);
		control.more = m < MODELS - 1;
		OK(hbDNNInfer(&task, &result, &tensors[0], models[m], &control));
		in[m] = tensors[0].sysMem[0];
		out[m] = result->sysMem[0];
		free(tensors);
	}
	sample_finish(task);
	for (int m = 0; m < MODELS; m++) {
		OK(hbSysFlushMem(&out[m], HB_SYS_MEM_CACHE_INVALIDATE));
		for (int i = 0; i < sizes[m]; i++) {
			float got = ((float *)out[m].virAddr)[i], want = (float)(i * (m + 1) - 3);
			CHECK(got == (want > 0 ? want : 0), "model %d, element %d: %g", m, i, (double)got);
		}
		OK(hbSysFreeMem(&in[m]));
		OK(hbSysFreeMem(&out[m]));
	}
	OK(hbDNNRelease(pack));
	printf("hbdnn_multi_model: %d models in one task\n", MODELS);
	return host_end();
}
