/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * BOX_WITH_NMS_LIMIT of the fake driver of nnapi.h, with the hard kernel and all boxes in one batch, and
 * RANDOM_MULTINOMIAL, whose numbers are any in range. A test may have it find more boxes than there are ("more boxes"):
 * they are all 0.
 */
#ifndef NNAPI_FINDS_H
#define NNAPI_FINDS_H

#include "nnapi_compute.h"
#include "told.h"

/* Whether all boxes are of one batch, as far as can be known before a run. */
static int nn_one_batch(const struct nn_operand *o)
{
	for (uint32_t k = 1; o->value && k < o->dims[0]; k++)
		if (memcmp(o->value, (const char *)o->value + k * sizeof(int32_t), sizeof(int32_t)))
			return 0;
	return 1;
}

static int nn_can_find(const struct nn_model *m, const struct nn_operation *op)
{
	const struct nn_operand *o = m->operands;
	int32_t real = ANEURALNETWORKS_TENSOR_FLOAT32, whole = ANEURALNETWORKS_TENSOR_INT32;
	if (op->type == ANEURALNETWORKS_RANDOM_MULTINOMIAL)
		return op->in_count == 3 && o[op->in[0]].type == real && o[op->out[0]].type == whole && nn_int(&o[op->in[1]]) > 0;
	return op->in_count == 9 && op->out_count == 4 && o[op->in[0]].type == real && o[op->in[1]].type == real &&
		nn_one_batch(&o[op->in[2]]) && nn_int(&o[op->in[5]]) == 0;
}

/* The bytes of a result. */
static size_t nn_needs(const struct nn_execution *e, uint32_t port)
{
	const struct nn_operand *o = &e->compilation->model->operands[e->compilation->model->out[port]];
	size_t n = o->type == ANEURALNETWORKS_TENSOR_BOOL8 ? 1 : 4;
	for (uint32_t k = 0; k < o->rank; k++)
		n *= e->found[port][k];
	return n;
}

static float nn_real(const struct nn_operand *o)
{
	float v;
	memcpy(&v, o->value, sizeof v);
	return v;
}

/* How much of two boxes is in both. */
static double nn_overlap(const float *a, const float *b)
{
	double w = fmin((double)a[2], (double)b[2]) - fmax((double)a[0], (double)b[0]);
	double h = fmin((double)a[3], (double)b[3]) - fmax((double)a[1], (double)b[1]);
	double of_a = ((double)a[2] - (double)a[0]) * ((double)a[3] - (double)a[1]);
	double of_b = ((double)b[2] - (double)b[0]) * ((double)b[3] - (double)b[1]);
	return w > 0 && h > 0 ? w * h / (of_a + of_b - w * h) : 0;
}

struct nn_box {
	float score;
	uint32_t row, class;
	int rest;
};

/* The best of the boxes that are still there, -1 if there is none. */
static int nn_best(const struct nn_box *list, uint32_t count)
{
	int best = -1;
	for (uint32_t k = 0; k < count; k++)
		if (list[k].rest && (best < 0 || list[k].score > list[best].score))
			best = (int)k;
	return best;
}

/* Classes from 1 on, each with its best boxes; of all of them the best ones stay. */
static uint32_t nn_select(const struct nn_operation *op, const struct nn_operand *o, float *const *v,
                          struct nn_box *kept)
{
	const float *regions = v[op->in[1]];
	uint32_t rows = o[op->in[0]].dims[0], classes = o[op->in[0]].dims[1], n = 0;
	float least = nn_real(&o[op->in[3]]), most = nn_real(&o[op->in[6]]);
	int32_t limit = nn_int(&o[op->in[4]]);
	struct nn_box *list = calloc(rows, sizeof *list);
	for (uint32_t c = 1; c < classes; c++) {
		for (uint32_t k = 0; k < rows; k++) {
			float score = v[op->in[0]][k * classes + c];
			list[k] = (struct nn_box){score, k, c, score > least};
		}
		int best;
		for (int32_t taken = 0; taken != limit && (best = nn_best(list, rows)) >= 0; taken++) {
			kept[n++] = list[best];
			list[best].rest = 0;
			for (uint32_t k = 0; k < rows; k++)
				if (nn_overlap(regions + 4 * ((uint32_t)best * classes + c), regions + 4 * (k * classes + c)) >= (double)most)
					list[k].rest = 0;
		}
	}
	free(list);
	for (uint32_t over = limit >= 0 && n > (uint32_t)limit ? n - (uint32_t)limit : 0; over; over--, n--) {
		uint32_t worst = 0;
		for (uint32_t k = 1; k < n; k++)
			if (kept[k].score <= kept[worst].score)
				worst = k;
		memmove(kept + worst, kept + worst + 1, (n - 1 - worst) * sizeof *kept);
	}
	return n;
}

static int nn_boxes(const struct nn_model *m, const struct nn_operation *op, float *const *v, struct nn_execution *e)
{
	const struct nn_operand *o = m->operands;
	uint32_t classes = o[op->in[0]].dims[1], more = 0;
	struct nn_box *kept = calloc((size_t)o[op->in[0]].dims[0] * classes + 1, sizeof *kept);
	uint32_t n = nn_select(op, o, v, kept);
	int code = e ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED;
	tell_lies("more boxes", &more, sizeof more);
	for (uint32_t i = 0; i < op->out_count && e; i++)
		for (uint32_t port = 0; port < m->out_count; port++) {
			if (m->out[port] != op->out[i])
				continue;
			e->found[port][0] = n + more;
			e->found[port][1] = 4;
			if (nn_needs(e, port) > e->room[port]) {
				code = ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
				continue;
			}
			float *real = e->out[port];
			int32_t *whole = e->out[port];
			memset(e->out[port], 0, nn_needs(e, port));
			for (uint32_t k = 0; k < n; k++) {
				if (i == 0)
					real[k] = kept[k].score;
				else if (i == 1)
					memcpy(real + 4 * k, v[op->in[1]] + 4 * (kept[k].row * classes + kept[k].class), 4 * sizeof *real);
				else if (i == 2)
					whole[k] = (int32_t)kept[k].class;
				else
					whole[k] = ((const int32_t *)v[op->in[2]])[0];
			}
		}
	free(kept);
	return code;
}

static void nn_draw(const struct nn_operation *op, const struct nn_operand *o, float *const *v)
{
	const uint32_t *seeds = (const uint32_t *)v[op->in[2]];
	uint64_t state = ((uint64_t)seeds[0] << 32 | seeds[1]) + 1;
	int32_t *to = (int32_t *)v[op->out[0]];
	for (size_t at = 0; at < nn_elements(&o[op->out[0]]); at++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[at] = (int32_t)((state >> 33) % o[op->in[0]].dims[1]);
	}
}

#endif
