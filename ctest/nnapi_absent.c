/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What each execution decides: a permutation that is left out or there, and the values of scalars, in one compilation
 * by executions that take turns. Buffers end where their elements do, and are freed after their last computation.
 */
#include <math.h>
#include <stdlib.h>

#include "nnapi_host.h"

enum { INPUT, ORDER, TURNED, BETA, AXIS, OUTPUT, TURNS = 64 };

/* y = SOFTMAX(TRANSPOSE(x, order), beta, axis) of x [2,3]; order, beta and axis are inputs. */
static ANeuralNetworksModel *model(void)
{
	ANeuralNetworksModel *m = NULL;
	const uint32_t dims[] = {2, 3}, open[] = {0};
	const int32_t types[] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_INT32, ANEURALNETWORKS_TENSOR_FLOAT32,
				 ANEURALNETWORKS_FLOAT32,	 ANEURALNETWORKS_INT32,	       ANEURALNETWORKS_TENSOR_FLOAT32};
	const uint32_t ranks[] = {2, 1, 0, 0, 0, 0};
	const uint32_t turn[] = {INPUT, ORDER}, turned[] = {TURNED}, soft[] = {TURNED, BETA, AXIS}, out[] = {OUTPUT};
	const uint32_t in[] = {INPUT, ORDER, BETA, AXIS};
	OK(ANeuralNetworksModel_create(&m));
	for (int i = INPUT; i <= OUTPUT; i++) {
		ANeuralNetworksOperandType t = nn_tensor(ranks[i], i == ORDER ? open : dims);
		t.type = types[i];
		OK(ANeuralNetworksModel_addOperand(m, &t));
	}
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_TRANSPOSE, 2, turn, 1, turned));
	OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_SOFTMAX, 3, soft, 1, out));
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 4, in, 1, out));
	OK(ANeuralNetworksModel_finish(m));
	return m;
}

/* An execution and what is bound to it. */
struct turn {
	ANeuralNetworksExecution *e;
	float *x, *y, *beta;
	int32_t *order, *axis;
	int reversed; /* order is left out */
};

static void *room(size_t n)
{
	void *p = malloc(n);
	CHECK(p != NULL, "no memory");
	return p;
}

static struct turn begin(ANeuralNetworksCompilation *c, int reversed)
{
	struct turn t = {nn_execution(c), (float *)room(24), (float *)room(24), (float *)room(4), NULL, (int32_t *)room(4),
		reversed};
	const uint32_t two = 2;
	ANeuralNetworksOperandType type = nn_tensor(1, &two);
	type.type = ANEURALNETWORKS_TENSOR_INT32;
	for (int i = 0; i < 6; i++)
		t.x[i] = (float)i;
	OK(ANeuralNetworksExecution_setReusable(t.e, true));
	OK(ANeuralNetworksExecution_setInput(t.e, 0, NULL, t.x, 24));
	if (reversed) {
		OK(ANeuralNetworksExecution_setInput(t.e, 1, NULL, NULL, 0));
	} else {
		t.order = (int32_t *)room(8);
		t.order[0] = 0;
		t.order[1] = 1;
		OK(ANeuralNetworksExecution_setInput(t.e, 1, &type, t.order, 8));
	}
	OK(ANeuralNetworksExecution_setInput(t.e, 2, NULL, t.beta, 4));
	OK(ANeuralNetworksExecution_setInput(t.e, 3, NULL, t.axis, 4));
	OK(ANeuralNetworksExecution_setOutput(t.e, 0, NULL, t.y, 24));
	return t;
}

/* Element i of the result: of 0 to 5 in rows of 3, or turned in rows of 2. */
static double expected(const struct turn *t, int i)
{
	const int wide = t->reversed ? 2 : 3, high = 6 / wide, row = i / wide, column = i % wide;
	const int along = *t->axis == 1 || *t->axis == -1, n = along ? wide : high;
	double own = 0, sum = 0;
	for (int k = 0; k < n; k++) {
		const int r = along ? row : k, s = along ? k : column;
		const double v = exp((t->reversed ? s * 3 + r : r * 3 + s) * (double)*t->beta);
		sum += v;
		if (r == row && s == column)
			own = v;
	}
	return own / sum;
}

static void compute(struct turn *t, int k)
{
	*t->beta = 0.25f * (float)(k % 7);
	*t->axis = k % 5 - 2; /* 2 is beyond the rank */
	const int code = ANeuralNetworksExecution_compute(t->e);
	if (k % 7 == 0 || k % 5 == 4) {
		CHECK(code == ANEURALNETWORKS_OP_FAILED, "turn %d: code %d, want OP_FAILED", k, code);
		return;
	}
	CHECK(code == ANEURALNETWORKS_NO_ERROR, "turn %d: code %d: %s", k, code, anynpu_last_error());
	for (int i = 0; i < 6; i++)
		CHECK(fabs(t->y[i] - expected(t, i)) < 1e-5, "turn %d: element %d is %g, want %g", k, i, t->y[i], expected(t, i));
}

static void finish(struct turn *t)
{
	ANeuralNetworksExecution_free(t->e);
	free(t->x);
	free(t->y);
	free(t->beta);
	free(t->order);
	free(t->axis);
}

int main(void)
{
	host_begin();
	ANeuralNetworksCompilation *c = nn_compiled(model(), 1);
	struct turn turns[] = {begin(c, 0), begin(c, 1)};
	for (int k = 0; k < TURNS; k++)
		compute(&turns[k % 2], k);
	finish(&turns[0]);
	for (int k = 0; k < TURNS; k++)
		compute(&turns[1], k);
	finish(&turns[1]);
	ANeuralNetworksCompilation_free(c);
	return host_end();
}
