/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What programs that multiply matrices share: numbers of small types, and where the layouts put them.
 */
#ifndef RKNN_MATMUL_H
#define RKNN_MATMUL_H

#include <math.h>
#include <rknn_matmul_api.h>

#include "host.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

/* A half-precision number as double. */
static inline double half_value(uint16_t v)
{
	int exponent = v >> 10 & 31, mantissa = v & 1023;
	double x = exponent == 31 ? (mantissa ? NAN : INFINITY) : exponent ? ldexp(1024 + mantissa,
		exponent - 25) : ldexp(mantissa, -24);
	return v >> 15 ? -x : x;
}

/*
 * The number nearest to x with so many bits of mantissa, of two the even one, and with exponents from least on; too
 * large ones are infinite.
 */
static inline double rounded(double x, int bits, int least, double largest)
{
	int e;
	if (x == 0 || isnan(x) || isinf(x))
		return x;
	frexp(x, &e);
	int unit = (e - bits > least ? e - bits : least);
	double r = ldexp(nearbyint(ldexp(x, -unit)), unit);
	return fabs(r) > largest ? copysign(INFINITY, x) : r;
}

static inline double half_rounded(double x) { return rounded(x, 11, -24, 65504); }

static inline double brain_rounded(double x) { return rounded(x, 8, -133, ldexp(255, 120)); }

/* A number that half precision has, as such. */
static inline uint16_t half_of(double x)
{
	uint16_t sign = signbit(x) ? 0x8000 : 0;
	int e;
	x = fabs(x);
	if (x == 0)
		return sign;
	frexp(x, &e);
	if (e < -13)
		return sign | (uint16_t)ldexp(x, 24);
	return sign | (uint16_t)((e + 14) << 10) | ((uint16_t)ldexp(x, 11 - e) & 1023);
}

/* Bits of an element type. */
static inline int bits_of(rknn_tensor_type t)
{
	switch (t) {
	case RKNN_TENSOR_INT4: return 4;
	case RKNN_TENSOR_INT8: return 8;
	case RKNN_TENSOR_FLOAT16:
	case RKNN_TENSOR_BFLOAT16:
	case RKNN_TENSOR_INT16: return 16;
	default: return 32;
	}
}

/* Element i of memory as double. */
static inline double element(const void *data, rknn_tensor_type t, size_t i)
{
	uint32_t word;
	float f;
	switch (t) {
	case RKNN_TENSOR_INT4: return (double)((((const uint8_t *)data)[i / 2] >> (i % 2 * 4) & 15) ^ 8) - 8;
	case RKNN_TENSOR_INT8: return ((const int8_t *)data)[i];
	case RKNN_TENSOR_INT16: return ((const int16_t *)data)[i];
	case RKNN_TENSOR_INT32: return ((const int32_t *)data)[i];
	case RKNN_TENSOR_FLOAT32: return (double)((const float *)data)[i];
	case RKNN_TENSOR_FLOAT16: return half_value(((const uint16_t *)data)[i]);
	case RKNN_TENSOR_BFLOAT16:
		word = (uint32_t)((const uint16_t *)data)[i] << 16;
		memcpy(&f, &word, sizeof f);
		return (double)f;
	default: return NAN;
	}
}

/* Stores x, which an input type has. */
static inline void set_element(void *data, rknn_tensor_type t, size_t i, double x)
{
	uint8_t *byte = (uint8_t *)data + i / 2;
	switch (t) {
	case RKNN_TENSOR_INT4: *byte = (uint8_t)(i % 2 ? (*byte & 0x0f) | ((int)x & 15) << 4 : (*byte & 0xf0) |
		((int)x & 15)); break;
	case RKNN_TENSOR_INT8: ((int8_t *)data)[i] = (int8_t)x; break;
	default: ((uint16_t *)data)[i] = half_of(x);
	}
}

/* Where element (m, k) of A or (m, n) of C lies: rows, or groups of the last dimension of the attributes. */
static inline size_t index_ac(const rknn_matmul_tensor_attr *a, size_t rows, size_t columns, size_t r, size_t c)
{
	size_t lanes = a->n_dims == 3 ? a->dims[2] : columns;
	return c / lanes * rows * lanes + r * lanes + c % lanes;
}

/* Where element (k, n) of B lies, K rows in all; segment is how many of them are stored as a matrix of their own. */
static inline size_t index_b(const rknn_matmul_tensor_attr *b, int layout, size_t K, size_t N, size_t segment, size_t k,
	size_t n)
{
	if (layout == RKNN_MM_LAYOUT_NORM)
		return k * N + n;
	if (layout == RKNN_MM_LAYOUT_TP_NORM)
		return n * K + k;
	size_t first = k / segment * segment, rows = K - first < segment ? K - first : segment, sn = b->dims[2],
		sk = b->dims[3];
	k -= first;
	return first * N + ((n / sn * (rows / sk) + k / sk) * sn + n % sn) * sk + k % sk;
}

#endif
