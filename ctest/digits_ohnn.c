/* SPDX-License-Identifier: Apache-2.0 */
#define main ohnn_digits_main
#include "../examples/ohnn_digits.c"

#include "digits.h"

void digits_ohnn(const char *weights_file, char **paths, int count, float (*out)[CLASSES])
{
	struct weight weights[WEIGHTS];
	read_weights(weights_file, weights);
	OH_NNModel *model = build_model(weights);
	OH_NNExecutor *executor = compile(model);
	OH_NNModel_Destroy(&model);
	for (int i = 0; i < WEIGHTS; i++)
		free(weights[i].data);
	NN_Tensor *input = tensor_for(OH_NNExecutor_CreateInputTensorDesc(executor, 0));
	NN_Tensor *output = tensor_for(OH_NNExecutor_CreateOutputTensorDesc(executor, 0));
	for (int i = 0; i < count; i++) {
		read_image(paths[i], made(OH_NNTensor_GetDataBuffer(input), "OH_NNTensor_GetDataBuffer"));
		check(OH_NNExecutor_RunSync(executor, &input, 1, &output, 1), "OH_NNExecutor_RunSync");
		memcpy(out[i], made(OH_NNTensor_GetDataBuffer(output), "OH_NNTensor_GetDataBuffer"), sizeof out[i]);
	}
	check(OH_NNTensor_Destroy(&input), "OH_NNTensor_Destroy");
	check(OH_NNTensor_Destroy(&output), "OH_NNTensor_Destroy");
	OH_NNExecutor_Destroy(&executor);
}
