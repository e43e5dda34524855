/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the fake drivers that compute have in common: the network of examples/digits/README.md, from what digits.weights
 * has, runs that a program can have block (fake_block), and answers that it can have changed (fake_lie).
 */
#ifndef COMPUTE_H
#define COMPUTE_H

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What answers say instead: bytes at an offset of what a function gives, or its code. */
static struct lie {
	char what[32];
	uint32_t offset, count;
	uint8_t bytes[512];
} lies[8];
static pthread_mutex_t lying = PTHREAD_MUTEX_INITIALIZER;

void fake_lie(const char *what, uint32_t offset, const void *bytes, uint32_t count);
void fake_block(int on);
int fake_live(void);

/* Overwrites from now on what the driver calls so gives, such as "memory" or "code run"; no bytes: no more. */
void fake_lie(const char *what, uint32_t offset, const void *bytes, uint32_t count)
{
	pthread_mutex_lock(&lying);
	if (!what)
		memset(lies, 0, sizeof lies);
	for (size_t k = 0; what && k < sizeof lies / sizeof *lies; k++)
		if (lies[k].count == 0) {
			snprintf(lies[k].what, sizeof lies[k].what, "%s", what);
			lies[k].offset = offset;
			lies[k].count = count < sizeof lies[k].bytes ? count : sizeof lies[k].bytes;
			memcpy(lies[k].bytes, bytes, lies[k].count);
			break;
		}
	pthread_mutex_unlock(&lying);
}

static void tell_lies(const char *what, void *at, uint32_t size)
{
	pthread_mutex_lock(&lying);
	for (size_t k = 0; k < sizeof lies / sizeof *lies; k++)
		if (lies[k].count != 0 && strcmp(lies[k].what, what) == 0 && lies[k].offset < size) {
			uint32_t room = size - lies[k].offset;
			memcpy((char *)at + lies[k].offset, lies[k].bytes, lies[k].count < room ? lies[k].count : room);
		}
	pthread_mutex_unlock(&lying);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate_closed;

/* Runs that begin from now on do not end before it is taken back. */
void fake_block(int on)
{
	pthread_mutex_lock(&gate);
	gate_closed = on;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate);
}

static void pass_gate(void)
{
	pthread_mutex_lock(&gate);
	while (gate_closed)
		pthread_cond_wait(&gate_moved, &gate);
	pthread_mutex_unlock(&gate);
}

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
