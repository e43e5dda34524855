/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     hb_bits MODEL IMAGE...
 *
 * Prints the bits of each digit's probabilities. Compiled with the example of either generation of hbDNN (EXAMPLE), so that
 * the two can be compared.
 */
#define main example_main
#include EXAMPLE

#include "host_end.h"
#undef main

int main(int argc, char **argv)
{
	struct network network = {0};
	host_begin();
	if (argc < 3)
		return 1;
	load(&network, argv[1]);
	for (int i = 2; i < argc; i++) {
		float pixels[DIGITS_PIXELS], probabilities[DIGITS_CLASSES];
		uint8_t ink[DIGITS_PIXELS];
		if (!digits_read_image(argv[i], pixels))
			return 1;
		for (int k = 0; k < DIGITS_PIXELS; k++)
			ink[k] = (uint8_t)(pixels[k] * 16 + 0.5f);
		recognize(&network, ink, probabilities);
		for (int k = 0; k < DIGITS_CLASSES; k++)
			printf("%a%c", (double)probabilities[k], k + 1 < DIGITS_CLASSES ? ' ' : '\n');
	}
	unload(&network);
	return host_end();
}
