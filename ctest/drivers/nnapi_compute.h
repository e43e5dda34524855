/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the fake driver of nnapi.h holds and computes: models of float32 with known sizes, of the operations of
 * examples/nnapi_digits.c, ADD and MUL, by their definitions in the documentation of NeuralNetworksTypes.h.
 */
#ifndef NNAPI_COMPUTE_H
#define NNAPI_COMPUTE_H

#include <android/NeuralNetworks.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NN_OPERANDS 256
#define NN_OPERATIONS 64
#define NN_PORTS 8
#define NN_MAGIC 0x4e4e4150 /* of every object */

enum nn_kind { NN_MODEL = 1, NN_COMPILATION, NN_EXECUTION, NN_MEMORY, NN_BURST, NN_EVENT };

struct nn_object {
	uint32_t magic;
	enum nn_kind kind;
};

struct nn_memory {
	struct nn_object object;
	char *at;
	size_t size;
};

struct nn_operand {
	int32_t type;
	uint32_t rank, dims[4];
	const void *value; /* a constant */
	size_t bytes;
	uint8_t small[128];
	void *copy;
};

struct nn_operation {
	int32_t type;
	uint32_t in_count, out_count, in[12], out[2];
};

struct nn_model {
	struct nn_object object;
	struct nn_operand operands[NN_OPERANDS];
	struct nn_operation operations[NN_OPERATIONS];
	uint32_t operand_count, operation_count, in_count, out_count, in[NN_PORTS], out[NN_PORTS];
	int finished;
};

struct nn_compilation {
	struct nn_object object;
	const struct nn_model *model;
	int liar, finished;
};

struct nn_execution {
	struct nn_object object;
	const struct nn_compilation *compilation;
	const void *in[NN_PORTS];
	void *out[NN_PORTS];
	int used, reusable;
};

struct nn_plain {
	struct nn_object object;
};

static size_t nn_elements(const struct nn_operand *o)
{
	size_t n = 1;
	for (uint32_t k = 0; k < o->rank; k++)
		n *= o->dims[k];
	return n;
}

static int32_t nn_int(const struct nn_operand *o)
{
	int32_t v = 0;
	if (o->value)
		memcpy(&v, o->value, sizeof v);
	return v;
}

/* Whether an operation is one of those above, of float32, with scalars that are constants. */
static int nn_can(const struct nn_model *m, const struct nn_operation *op)
{
	static const struct {
		int32_t type;
		uint32_t in, tensors;
	} known[] = {
		{ANEURALNETWORKS_ADD, 3, 2}, {ANEURALNETWORKS_MUL, 3, 2}, {ANEURALNETWORKS_CONV_2D, 7, 3}, {ANEURALNETWORKS_CONV_2D, 10, 3},
		{ANEURALNETWORKS_MAX_POOL_2D, 7, 1}, {ANEURALNETWORKS_MAX_POOL_2D, 10, 1}, {ANEURALNETWORKS_FULLY_CONNECTED, 4, 3},
		{ANEURALNETWORKS_SOFTMAX, 2, 1},
	};
	size_t k = 0;
	while (k < sizeof known / sizeof *known && (known[k].type != op->type || known[k].in != op->in_count))
		k++;
	if (k == sizeof known / sizeof *known || op->out_count != 1)
		return 0;
	for (uint32_t i = 0; i <= op->in_count; i++) {
		const struct nn_operand *o = &m->operands[i < op->in_count ? op->in[i] : op->out[0]];
		if (i >= known[k].tensors && i < op->in_count) {
			if (!o->value)
				return 0;
			continue;
		}
		if (o->type != ANEURALNETWORKS_TENSOR_FLOAT32 || o->rank == 0 || o->rank > 4 || nn_elements(o) == 0)
			return 0;
	}
	return 1;
}

static float nn_clip(float v, int32_t fuse)
{
	static const float low[] = {-INFINITY, 0, -1, 0}, high[] = {INFINITY, INFINITY, 1, 6};
	return fuse < 0 || fuse > 3 ? v : fminf(fmaxf(v, low[fuse]), high[fuse]);
}

/* a op b with NumPy's broadcasting. */
static void nn_elementwise(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *a = &o[op->in[0]], *b = &o[op->in[1]], *y = &o[op->out[0]];
	int32_t fuse = nn_int(&o[op->in[2]]);
	for (size_t at = 0; at < nn_elements(y); at++) {
		size_t left = at, ia = 0, ib = 0, ua = 1, ub = 1;
		for (uint32_t k = 1; k <= y->rank; k++) { /* from the last dimension */
			uint32_t n = y->dims[y->rank - k], x = (uint32_t)(left % n);
			left /= n;
			uint32_t na = k <= a->rank ? a->dims[a->rank - k] : 1, nb = k <= b->rank ? b->dims[b->rank - k] : 1;
			ia += (na == 1 ? 0 : x) * ua;
			ib += (nb == 1 ? 0 : x) * ub;
			ua *= na;
			ub *= nb;
		}
		float p = v[op->in[0]][ia], q = v[op->in[1]][ib];
		v[op->out[0]][at] = nn_clip(op->type == ANEURALNETWORKS_ADD ? p + q : p * q, fuse);
	}
}

/* Windows of a convolution or a pooling: image NHWC, filter [O,h,w,I]. */
static void nn_windows(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	int conv = op->type == ANEURALNETWORKS_CONV_2D, first = conv ? 3 : 1, implied = op->in_count == 7;
	const struct nn_operand *x = &o[op->in[0]], *y = &o[op->out[0]];
	int32_t p[9] = {0}, fuse = nn_int(&o[op->in[op->in_count - 1]]);
	for (uint32_t i = (uint32_t)first; i < op->in_count; i++)
		p[i - (uint32_t)first] = nn_int(&o[op->in[i]]);
	const int32_t *rest = implied ? p + 1 : p + 4; /* strides of width and height, then a pool's window */
	int sw = rest[0], sh = rest[1];
	int h = conv ? (int)o[op->in[1]].dims[1] : rest[3], w = conv ? (int)o[op->in[1]].dims[2] : rest[2];
	int top = implied ? 0 : p[2], left = implied ? 0 : p[0];
	if (implied && p[0] == ANEURALNETWORKS_PADDING_SAME) {
		int rows = ((int)y->dims[1] - 1) * sh + h - (int)x->dims[1], columns = ((int)y->dims[2] - 1) * sw + w - (int)x->dims[2];
		top = rows > 0 ? rows / 2 : 0;
		left = columns > 0 ? columns / 2 : 0;
	}
	uint32_t channels = x->dims[3];
	for (size_t at = 0; at < nn_elements(y); at++) {
		uint32_t c = (uint32_t)(at % y->dims[3]), column = (uint32_t)(at / y->dims[3] % y->dims[2]);
		uint32_t row = (uint32_t)(at / y->dims[3] / y->dims[2] % y->dims[1]), n = (uint32_t)(at / y->dims[3] / y->dims[2] / y->dims[1]);
		float sum = conv ? v[op->in[2]][c] : -INFINITY;
		for (int i = 0; i < h; i++)
			for (int k = 0; k < w; k++) {
				int r = (int)row * sh + i - top, q = (int)column * sw + k - left;
				if (r < 0 || r >= (int)x->dims[1] || q < 0 || q >= (int)x->dims[2])
					continue;
				const float *pixel = v[op->in[0]] + ((n * x->dims[1] + (uint32_t)r) * x->dims[2] + (uint32_t)q) * channels;
				if (!conv) {
					sum = fmaxf(sum, pixel[c]);
					continue;
				}
				const float *filter = v[op->in[1]] + ((c * (uint32_t)h + (uint32_t)i) * (uint32_t)w + (uint32_t)k) * channels;
				for (uint32_t z = 0; z < channels; z++)
					sum += pixel[z] * filter[z];
			}
		v[op->out[0]][at] = nn_clip(sum, fuse);
	}
}

static void nn_fully_connected(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	uint32_t units = o[op->in[1]].dims[0], depth = o[op->in[1]].dims[1];
	int32_t fuse = nn_int(&o[op->in[3]]);
	for (size_t at = 0; at < nn_elements(&o[op->out[0]]); at++) {
		float sum = v[op->in[2]][at % units];
		for (uint32_t z = 0; z < depth; z++)
			sum += v[op->in[0]][at / units * depth + z] * v[op->in[1]][at % units * depth + z];
		v[op->out[0]][at] = nn_clip(sum, fuse);
	}
}

/* Over the last dimension. */
static void nn_softmax(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *y = &o[op->out[0]];
	uint32_t n = y->dims[y->rank - 1];
	float beta;
	memcpy(&beta, o[op->in[1]].value, sizeof beta);
	for (size_t at = 0; at < nn_elements(y); at += n) {
		const float *x = v[op->in[0]] + at;
		float *to = v[op->out[0]] + at, most = x[0], sum = 0;
		for (uint32_t k = 1; k < n; k++)
			most = fmaxf(most, x[k]);
		for (uint32_t k = 0; k < n; k++)
			sum += to[k] = expf((x[k] - most) * beta);
		for (uint32_t k = 0; k < n; k++)
			to[k] /= sum;
	}
}

static int nn_compute(struct nn_execution *e)
{
	const struct nn_model *m = e->compilation->model;
	float *v[NN_OPERANDS] = {NULL};
	int made[NN_OPERANDS] = {0};
	if (e->used && !e->reusable)
		return ANEURALNETWORKS_BAD_STATE;
	e->used = 1;
	for (uint32_t i = 0; i < m->in_count; i++)
		v[m->in[i]] = (float *)(uintptr_t)e->in[i];
	for (uint32_t i = 0; i < m->out_count; i++)
		v[m->out[i]] = e->out[i];
	for (uint32_t i = 0; i < m->operand_count; i++) {
		if (!v[i] && m->operands[i].value)
			v[i] = (float *)(uintptr_t)m->operands[i].value;
		if (!v[i]) {
			v[i] = malloc(4 * nn_elements(&m->operands[i]) + 4);
			made[i] = 1;
		}
	}
	for (uint32_t k = 0; k < m->operation_count; k++) {
		const struct nn_operation *op = &m->operations[k];
		switch (op->type) {
		case ANEURALNETWORKS_ADD:
		case ANEURALNETWORKS_MUL:
			nn_elementwise(op, m->operands, v);
			break;
		case ANEURALNETWORKS_FULLY_CONNECTED:
			nn_fully_connected(op, m->operands, v);
			break;
		case ANEURALNETWORKS_SOFTMAX:
			nn_softmax(op, m->operands, v);
			break;
		default:
			nn_windows(op, m->operands, v);
		}
	}
	for (uint32_t i = 0; i < m->operand_count; i++)
		if (made[i])
			free(v[i]);
	return ANEURALNETWORKS_NO_ERROR;
}

#endif
