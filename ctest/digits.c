/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     digits WEIGHTS MODEL IMAGE...
 *
 * ohnn_digits, which builds the network call by call, and rknn_digits, which loads it as a file and hands over bytes,
 * give the same digit for every image, and probabilities equal to 1e-5.
 */
#include <math.h>

#include "host.h"

#include "digits.h"

static int best(const float p[CLASSES])
{
	int b = 0;
	for (int i = 1; i < CLASSES; i++)
		if (p[i] > p[b])
			b = i;
	return b;
}

int main(int argc, char **argv)
{
	CHECK(argc > 3, "usage: digits WEIGHTS MODEL IMAGE...");
	host_begin();
	int count = argc - 3;
	char **paths = argv + 3;
	float(*ohnn)[CLASSES] = malloc((size_t)count * sizeof *ohnn), (*rknn)[CLASSES] = malloc((size_t)count * sizeof *rknn), largest = 0;
	digits_ohnn(argv[1], paths, count, ohnn);
	digits_rknn(argv[2], paths, count, rknn);
	for (int i = 0; i < count; i++) {
		float sum = 0;
		CHECK(best(ohnn[i]) == best(rknn[i]), "%s: %d with OH_NN, %d with RKNN", paths[i], best(ohnn[i]), best(rknn[i]));
		for (int k = 0; k < CLASSES; k++) {
			float d = fabsf(ohnn[i][k] - rknn[i][k]);
			CHECK(d <= 1e-5f, "%s: probability of %d is %.7f with OH_NN, %.7f with RKNN", paths[i], k, (double)ohnn[i][k], (double)rknn[i][k]);
			largest = fmaxf(largest, d);
			sum += rknn[i][k];
		}
		CHECK(fabsf(sum - 1) < 1e-5f, "%s: the probabilities add up to %g", paths[i], (double)sum);
	}
	free(ohnn);
	free(rknn);
	printf("digits: %d images, largest difference %g\n", count, (double)largest);
	return host_end();
}
