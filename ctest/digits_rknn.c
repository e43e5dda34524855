/* SPDX-License-Identifier: Apache-2.0 */
#define main rknn_digits_main
#include "../examples/rknn_digits.c"

#include "digits.h"

void digits_rknn(const char *model, char **paths, int count, float (*out)[CLASSES])
{
	rknn_context context = 0;
	check(rknn_init(&context, (void *)model, 0, 0, NULL), "rknn_init");
	check_model(context);
	for (int i = 0; i < count; i++) {
		float pixels[DIGITS_PIXELS];
		uint8_t ink[DIGITS_PIXELS];
		if (!digits_read_image(paths[i], pixels))
			exit(1);
		for (int k = 0; k < DIGITS_PIXELS; k++)
			ink[k] = (uint8_t)(pixels[k] * 16 + 0.5f);
		recognize(context, ink, out[i]);
	}
	check(rknn_destroy(context), "rknn_destroy");
}
