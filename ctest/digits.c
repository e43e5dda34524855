/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     digits WEIGHTS MODEL IMAGE...
 *
 * ohnn_digits and nnapi_digits, which build the network call by call, rknn_digits, which loads it as a file and hands
 * over bytes, and hbdnn_digits, which hands over a gray image with gaps between its rows, give the same digit for every
 * image, and probabilities equal to 1e-5.
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
	size_t size = (size_t)count * sizeof(float[CLASSES]);
	float(*ohnn)[CLASSES] = malloc(size), (*others[3])[CLASSES], largest = 0;
	for (int api = 0; api < 3; api++)
		CHECK((others[api] = malloc(size)) != NULL, "no memory");
	static const char *const names[3] = {"RKNN", "hbDNN", "NNAPI"};
	digits_ohnn(argv[1], paths, count, ohnn);
	digits_rknn(argv[2], paths, count, others[0]);
	digits_hbdnn(argv[2], paths, count, others[1]);
	digits_nnapi(argv[1], paths, count, others[2]);
	for (int api = 0; api < 3; api++) {
		for (int i = 0; i < count; i++) {
			float *p = others[api][i], sum = 0;
			CHECK(best(ohnn[i]) == best(p), "%s: %d with OH_NN, %d with %s", paths[i], best(ohnn[i]), best(p), names[api]);
			for (int k = 0; k < CLASSES; k++) {
				float d = fabsf(ohnn[i][k] - p[k]);
				CHECK(d <= 1e-5f, "%s: probability of %d is %.7f with OH_NN, %.7f with %s", paths[i], k, (double)ohnn[i][k],
					(double)p[k], names[api]);
				largest = fmaxf(largest, d);
				sum += p[k];
			}
			CHECK(fabsf(sum - 1) < 1e-5f, "%s: the probabilities add up to %g", paths[i], (double)sum);
		}
		free(others[api]);
	}
	free(ohnn);
	printf("digits: %d images, largest difference %g\n", count, (double)largest);
	return host_end();
}
