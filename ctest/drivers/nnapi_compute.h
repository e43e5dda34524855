/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the fake driver of nnapi.h holds, and its operations of float32 with known sizes, those in nn_known, by their
 * definitions in the documentation of NeuralNetworksTypes.h. Conditions are TENSOR_BOOL8. Sums are in double. Models of
 * operations are computed in nnapi_walk.h.
 */
#ifndef NNAPI_COMPUTE_H
#define NNAPI_COMPUTE_H

#include <android/NeuralNetworks.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NN_OPERANDS 1024
#define NN_OPERATIONS 256
#define NN_PORTS 32
#define NN_RESULTS 4
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
	const struct nn_model *sub; /* a model that it refers to */
};

struct nn_operation {
	int32_t type;
	uint32_t in_count, out_count, in[12], out[NN_RESULTS];
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
	int liar, finished, bursts;
};

struct nn_execution {
	struct nn_object object;
	const struct nn_compilation *compilation;
	const void *in[NN_PORTS];
	void *out[NN_PORTS];
	int used, reusable;
	uint64_t loop_limit; /* ns */
	size_t room[NN_PORTS];
	uint32_t found[NN_PORTS][4]; /* the sizes of outputs */
};

static size_t nn_elements(const struct nn_operand *o)
{
	size_t n = 1;
	for (uint32_t k = 0; k < o->rank; k++)
		n *= o->dims[k];
	return n;
}

static size_t nn_bytes(const struct nn_operand *o)
{
	return (o->type == ANEURALNETWORKS_TENSOR_BOOL8 ? 1 : 4) * nn_elements(o);
}

static int32_t nn_int(const struct nn_operand *o)
{
	int32_t v = 0;
	if (o->value)
		memcpy(&v, o->value, sizeof v);
	return v;
}

/* Operations by the number of their inputs, the first of which are tensors and the others constants. */
static const struct nn_known {
	int32_t type;
	uint32_t in, tensors;
} nn_known[] = {
	{ANEURALNETWORKS_ADD, 3, 2}, {ANEURALNETWORKS_SUB, 3, 2}, {ANEURALNETWORKS_MUL, 3, 2}, {ANEURALNETWORKS_DIV, 3, 2},
	{ANEURALNETWORKS_MAXIMUM, 2, 2}, {ANEURALNETWORKS_MINIMUM, 2, 2}, {ANEURALNETWORKS_RELU, 1, 1},
	{ANEURALNETWORKS_RELU1, 1, 1}, {ANEURALNETWORKS_RELU6, 1, 1}, {ANEURALNETWORKS_LOGISTIC, 1, 1},
	{ANEURALNETWORKS_TANH, 1, 1}, {ANEURALNETWORKS_ABS, 1, 1}, {ANEURALNETWORKS_NEG, 1, 1},
	{ANEURALNETWORKS_CONV_2D, 7, 3}, {ANEURALNETWORKS_CONV_2D, 10, 3}, {ANEURALNETWORKS_DEPTHWISE_CONV_2D, 11, 3},
	{ANEURALNETWORKS_MAX_POOL_2D, 7, 1}, {ANEURALNETWORKS_MAX_POOL_2D, 10, 1}, {ANEURALNETWORKS_AVERAGE_POOL_2D, 10, 1},
	{ANEURALNETWORKS_FULLY_CONNECTED, 4, 3}, {ANEURALNETWORKS_SOFTMAX, 2, 1}, {ANEURALNETWORKS_RESHAPE, 2, 1},
	{ANEURALNETWORKS_TRANSPOSE, 2, 1}, {ANEURALNETWORKS_CONCATENATION, 3, 2}, {ANEURALNETWORKS_MEAN, 3, 1},
	{ANEURALNETWORKS_GREATER, 2, 2}, {ANEURALNETWORKS_LOGICAL_OR, 2, 2},
};

/* The type of an operation's tensors, or of its result. */
static int32_t nn_type(int32_t operation, int result)
{
	int condition = operation == ANEURALNETWORKS_LOGICAL_OR || (operation == ANEURALNETWORKS_GREATER && result);
	return condition ? ANEURALNETWORKS_TENSOR_BOOL8 : ANEURALNETWORKS_TENSOR_FLOAT32;
}

static int nn_can_loop(const struct nn_model *m, const struct nn_operation *op);
static int nn_can_find(const struct nn_model *m, const struct nn_operation *op);

static int nn_can(const struct nn_model *m, const struct nn_operation *op)
{
	size_t k = 0;
	if (op->type == ANEURALNETWORKS_WHILE)
		return nn_can_loop(m, op);
	if (op->type == ANEURALNETWORKS_BOX_WITH_NMS_LIMIT || op->type == ANEURALNETWORKS_RANDOM_MULTINOMIAL)
		return nn_can_find(m, op);
	while (k < sizeof nn_known / sizeof *nn_known && (nn_known[k].type != op->type || nn_known[k].in != op->in_count))
		k++;
	if (k == sizeof nn_known / sizeof *nn_known || op->out_count != 1)
		return 0;
	for (uint32_t i = 0; i <= op->in_count; i++) {
		const struct nn_operand *o = &m->operands[i < op->in_count ? op->in[i] : op->out[0]];
		if (i >= nn_known[k].tensors && i < op->in_count) {
			if (!o->value)
				return 0;
			continue;
		}
		if (o->type != nn_type(op->type, i == op->in_count) || o->rank == 0 || o->rank > 4 || nn_elements(o) == 0)
			return 0;
	}
	return 1;
}

static float nn_clip(float v, int32_t fuse)
{
	static const float low[] = {-INFINITY, 0, -1, 0}, high[] = {INFINITY, INFINITY, 1, 6};
	return fuse < 0 || fuse > 3 ? v : fminf(fmaxf(v, low[fuse]), high[fuse]);
}

static float nn_of_two(int32_t type, float p, float q)
{
	switch (type) {
	case ANEURALNETWORKS_ADD:
		return p + q;
	case ANEURALNETWORKS_SUB:
		return p - q;
	case ANEURALNETWORKS_MUL:
		return p * q;
	case ANEURALNETWORKS_DIV:
		return p / q;
	case ANEURALNETWORKS_MAXIMUM:
		return isnan(p) || isnan(q) ? NAN : p > q ? p : q;
	default:
		return isnan(p) || isnan(q) ? NAN : p < q ? p : q;
	}
}

static void nn_each(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	for (size_t at = 0; at < nn_elements(&o[op->out[0]]); at++) {
		float x = v[op->in[0]][at];
		switch (op->type) {
		case ANEURALNETWORKS_RELU:
			x = nn_clip(x, ANEURALNETWORKS_FUSED_RELU);
			break;
		case ANEURALNETWORKS_RELU1:
			x = nn_clip(x, ANEURALNETWORKS_FUSED_RELU1);
			break;
		case ANEURALNETWORKS_RELU6:
			x = nn_clip(x, ANEURALNETWORKS_FUSED_RELU6);
			break;
		case ANEURALNETWORKS_LOGISTIC:
			x = (float)(1 / (1 + exp(-(double)x)));
			break;
		case ANEURALNETWORKS_TANH:
			x = (float)tanh((double)x);
			break;
		case ANEURALNETWORKS_ABS:
			x = fabsf(x);
			break;
		case ANEURALNETWORKS_NEG:
			x = -x;
			break;
		default: /* RESHAPE */
			break;
		}
		v[op->out[0]][at] = x;
	}
}

/* How far apart the elements of a dimension are. */
static size_t nn_step(const struct nn_operand *o, uint32_t dim)
{
	size_t n = 1;
	for (uint32_t k = dim + 1; k < o->rank; k++)
		n *= o->dims[k];
	return n;
}

static void nn_transpose(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *x = &o[op->in[0]], *y = &o[op->out[0]];
	int32_t order[4];
	memcpy(order, o[op->in[1]].value, y->rank * sizeof *order);
	for (size_t at = 0; at < nn_elements(y); at++) {
		size_t from = 0;
		for (uint32_t k = 0; k < y->rank; k++)
			from += at / nn_step(y, k) % y->dims[k] * nn_step(x, (uint32_t)order[k]);
		v[op->out[0]][at] = v[op->in[0]][from];
	}
}

static void nn_concatenate(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *y = &o[op->out[0]];
	uint32_t axis = (uint32_t)nn_int(&o[op->in[2]]), before = 0;
	for (uint32_t i = 0; i < 2; i++) {
		const struct nn_operand *x = &o[op->in[i]];
		size_t row = x->dims[axis] * nn_step(x, axis), whole = y->dims[axis] * nn_step(y, axis);
		for (size_t at = 0; at < nn_elements(x); at++)
			v[op->out[0]][at / row * whole + before * nn_step(y, axis) + at % row] = v[op->in[i]][at];
		before += x->dims[axis];
	}
}

/* The mean along axes, whichever of the two forms the result has. */
static void nn_mean(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const struct nn_operand *x = &o[op->in[0]], *y = &o[op->out[0]], *axes = &o[op->in[1]];
	const int32_t *axis = axes->value;
	int gone[4] = {0};
	for (uint32_t k = 0; k < axes->dims[0]; k++)
		gone[axis[k] < 0 ? axis[k] + (int32_t)x->rank : axis[k]] = 1;
	for (size_t to = 0; to < nn_elements(y); to++) {
		double sum = 0;
		for (size_t at = 0; at < nn_elements(x); at++) {
			size_t place = 0;
			for (uint32_t k = 0; k < x->rank; k++)
				place = gone[k] ? place : place * x->dims[k] + at / nn_step(x, k) % x->dims[k];
			if (place == to)
				sum += (double)v[op->in[0]][at];
		}
		v[op->out[0]][to] = (float)(sum / (double)(nn_elements(x) / nn_elements(y)));
	}
}

/* a op b with NumPy's broadcasting. */
static void nn_elementwise(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const uint8_t *p = (const uint8_t *)v[op->in[0]], *q = (const uint8_t *)v[op->in[1]];
	uint8_t *flags = (uint8_t *)v[op->out[0]];
	const struct nn_operand *a = &o[op->in[0]], *b = &o[op->in[1]], *y = &o[op->out[0]];
	int32_t fuse = op->in_count > 2 ? nn_int(&o[op->in[2]]) : ANEURALNETWORKS_FUSED_NONE;
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
		if (op->type == ANEURALNETWORKS_LOGICAL_OR)
			flags[at] = p[ia] || q[ib];
		else if (op->type == ANEURALNETWORKS_GREATER)
			flags[at] = v[op->in[0]][ia] > v[op->in[1]][ib];
		else
			v[op->out[0]][at] = nn_clip(nn_of_two(op->type, v[op->in[0]][ia], v[op->in[1]][ib]), fuse);
	}
}

/* Windows of a convolution or a pooling: image NHWC, filter [O,h,w,I], or [1,h,w,O] of one channel each. */
static void nn_windows(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	int deep = op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D, conv = deep || op->type == ANEURALNETWORKS_CONV_2D;
	int mean = op->type == ANEURALNETWORKS_AVERAGE_POOL_2D, first = conv ? 3 : 1, implied = op->in_count == 7;
	const struct nn_operand *x = &o[op->in[0]], *y = &o[op->out[0]];
	int32_t p[9] = {0}, fuse = nn_int(&o[op->in[op->in_count - 1]]);
	for (uint32_t i = (uint32_t)first; i < op->in_count; i++)
		p[i - (uint32_t)first] = nn_int(&o[op->in[i]]);
	const int32_t *rest = implied ? p + 1 : p + 4; /* strides of width and height, then a pool's window */
	int sw = rest[0], sh = rest[1];
	int h = conv ? (int)o[op->in[1]].dims[1] : rest[3], w = conv ? (int)o[op->in[1]].dims[2] : rest[2];
	int top = implied ? 0 : p[2], left = implied ? 0 : p[0];
	if (implied && p[0] == ANEURALNETWORKS_PADDING_SAME) {
		int rows = ((int)y->dims[1] - 1) * sh + h - (int)x->dims[1], columns = ((int)y->dims[2] - 1) * sw +
			w - (int)x->dims[2];
		top = rows > 0 ? rows / 2 : 0;
		left = columns > 0 ? columns / 2 : 0;
	}
	uint32_t channels = x->dims[3];
	for (size_t at = 0; at < nn_elements(y); at++) {
		uint32_t c = (uint32_t)(at % y->dims[3]), column = (uint32_t)(at / y->dims[3] % y->dims[2]);
		uint32_t row = (uint32_t)(at / y->dims[3] / y->dims[2] % y->dims[1]),
			n = (uint32_t)(at / y->dims[3] / y->dims[2] / y->dims[1]);
		double sum = conv ? (double)v[op->in[2]][c] : mean ? 0 : -INFINITY;
		int cells = 0;
		for (int i = 0; i < h; i++)
			for (int k = 0; k < w; k++) {
				int r = (int)row * sh + i - top, q = (int)column * sw + k - left;
				if (r < 0 || r >= (int)x->dims[1] || q < 0 || q >= (int)x->dims[2])
					continue;
				const float *pixel = v[op->in[0]] + ((n * x->dims[1] + (uint32_t)r) * x->dims[2] + (uint32_t)q) * channels;
				if (!conv) {
					sum = mean ? sum + (double)pixel[c] : fmax(sum, (double)pixel[c]);
					cells++;
					continue;
				}
				if (deep) {
					uint32_t outputs = y->dims[3];
					sum += (double)pixel[c / (outputs / channels)] *
						(double)v[op->in[1]][((uint32_t)i * (uint32_t)w + (uint32_t)k) * outputs + c];
					continue;
				}
				const float *filter = v[op->in[1]] + ((c * (uint32_t)h + (uint32_t)i) * (uint32_t)w + (uint32_t)k) * channels;
				for (uint32_t z = 0; z < channels; z++)
					sum += (double)pixel[z] * (double)filter[z];
			}
		v[op->out[0]][at] = nn_clip((float)(mean && cells ? sum / cells : sum), fuse);
	}
}

static void nn_fully_connected(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	uint32_t units = o[op->in[1]].dims[0], depth = o[op->in[1]].dims[1];
	int32_t fuse = nn_int(&o[op->in[3]]);
	for (size_t at = 0; at < nn_elements(&o[op->out[0]]); at++) {
		double sum = (double)v[op->in[2]][at % units];
		for (uint32_t z = 0; z < depth; z++)
			sum += (double)v[op->in[0]][at / units * depth + z] * (double)v[op->in[1]][at % units * depth + z];
		v[op->out[0]][at] = nn_clip((float)sum, fuse);
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
		float *to = v[op->out[0]] + at, most = x[0];
		double sum = 0;
		for (uint32_t k = 1; k < n; k++)
			most = fmaxf(most, x[k]);
		for (uint32_t k = 0; k < n; k++)
			sum += exp(((double)x[k] - (double)most) * (double)beta);
		for (uint32_t k = 0; k < n; k++)
			to[k] = (float)(exp(((double)x[k] - (double)most) * (double)beta) / sum);
	}
}

#endif
