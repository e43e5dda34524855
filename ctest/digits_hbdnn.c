/* SPDX-License-Identifier: Apache-2.0 */
#define main hbdnn_digits_main
#include "../examples/hbdnn_digits.c"

#include "digits.h"

void digits_hbdnn(const char *model, char **paths, int count, float (*out)[CLASSES])
{
	struct network network = {0};
	load(&network, model);
	for (int i = 0; i < count; i++) {
		float pixels[DIGITS_PIXELS];
		uint8_t ink[DIGITS_PIXELS];
		if (!digits_read_image(paths[i], pixels))
			exit(1);
		for (int k = 0; k < DIGITS_PIXELS; k++)
			ink[k] = (uint8_t)(pixels[k] * 16 + 0.5f);
		recognize(&network, ink, out[i]);
	}
	unload(&network);
}
