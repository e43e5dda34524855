/* SPDX-License-Identifier: Apache-2.0 */
#define main nnapi_digits_main
#include "../examples/nnapi_digits.c"

#include "digits.h"

void digits_nnapi(const char *weights_file, char **paths, int count, float (*out)[CLASSES])
{
	struct digits_weight weights[DIGITS_WEIGHTS];
	float pixels[DIGITS_PIXELS] = {0}, probabilities[DIGITS_CLASSES];
	if (!digits_read_weights(weights_file, weights))
		exit(1);
	ANeuralNetworksModel *model = build_model(weights);
	digits_free_weights(weights);
	ANeuralNetworksCompilation *compilation = compile(model);
	ANeuralNetworksExecution *execution = execution_of(compilation, pixels, probabilities);
	for (int i = 0; i < count; i++) {
		if (!digits_read_image(paths[i], pixels))
			exit(1);
		check(ANeuralNetworksExecution_compute(execution), "ANeuralNetworksExecution_compute");
		memcpy(out[i], probabilities, sizeof out[i]);
	}
	ANeuralNetworksExecution_free(execution);
	ANeuralNetworksCompilation_free(compilation);
	ANeuralNetworksModel_free(model);
}
