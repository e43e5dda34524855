/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What fake drivers that know one network have in common: the network of examples/digits/README.md, from what
 * digits.weights has.
 */
#ifndef COMPUTE_H
#define COMPUTE_H

#include <math.h>

#include "told.h"

/* The weights and biases of two convolutions and a matrix. */
struct network {
	float weights[6][10 * 512];
};

/* Reads what digits.weights has; 0 if it is anything else. */
static int network_read(struct network *n, const char *at, const char *end)
{
	if (end - at < 12 || memcmp(at, "DIGITSW1", 8) != 0)
		return 0;
	at += 12;
	for (int i = 0; i < 6; i++) {
		uint32_t dims[4], size = sizeof(float);
		if (end - at < 36)
			return 0;
		memcpy(dims, at + 20, sizeof dims);
		for (int k = 0; k < 4; k++)
			size *= dims[k];
		at += 36;
		if (size > sizeof n->weights[i] || end - at < (long)size)
			return 0;
		memcpy(n->weights[i], at, size);
		at += size;
	}
	return 1;
}

/* 3x3, padding SAME, ReLU; [side,side,in] to [side,side,out]. */
static void convolve(const float *x, int side, int in, const float *w, const float *bias, int out, float *y)
{
	for (int at = 0; at < side * side; at++)
		for (int o = 0; o < out; o++) {
			float sum = bias[o];
			for (int k = 0; k < 9; k++) {
				int row = at / side + k / 3 - 1, column = at % side + k % 3 - 1;
				if (row < 0 || row >= side || column < 0 || column >= side)
					continue;
				for (int i = 0; i < in; i++)
					sum += x[(row * side + column) * in + i] * w[(o * 9 + k) * in + i];
			}
			y[at * out + o] = sum > 0 ? sum : 0;
		}
}

/* The probabilities of the ten digits for an image of 8 rows of 8 bytes, 0 to 16. */
static void network_run(const struct network *n, const uint8_t ink[64], float out[10])
{
	static const int sides[] = {8, 4};
	float x[64], first[64 * 16], pooled[16 * 16], second[16 * 32], sum = 0;
	for (int i = 0; i < 64; i++)
		x[i] = (float)ink[i] / 16;
	convolve(x, sides[0], 1, n->weights[0], n->weights[1], 16, first);
	for (int at = 0; at < 16; at++)
		for (int k = 0; k < 16; k++) {
			float most = 0; /* behind a ReLU */
			for (int j = 0; j < 4; j++) {
				float v = first[((at / 4 * 2 + j / 2) * 8 + at % 4 * 2 + j % 2) * 16 + k];
				most = v > most ? v : most;
			}
			pooled[at * 16 + k] = most;
		}
	convolve(pooled, sides[1], 16, n->weights[2], n->weights[3], 32, second);
	for (int o = 0; o < 10; o++) {
		double logit = n->weights[5][o];
		for (int i = 0; i < 512; i++)
			logit += (double)second[i] * n->weights[4][o * 512 + i];
		sum += out[o] = expf((float)logit);
	}
	for (int o = 0; o < 10; o++)
		out[o] /= sum;
}

#endif
