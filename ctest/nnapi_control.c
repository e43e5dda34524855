/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * IF and WHILE: loops of no trip, of one, of a thousand and without an end, shapes that grow with each trip, control
 * flow inside control flow inside control flow, and models that several operations and 16 threads share.
 */
#include <pthread.h>

#include "nnapi_host.h"

/* A model under construction with the index of its next operand. */
struct build {
	ANeuralNetworksModel *m;
	uint32_t next;
};

static struct build begin(void)
{
	struct build b = {NULL, 0};
	OK(ANeuralNetworksModel_create(&b.m));
	return b;
}

/* An operand of rank 1, or a scalar with n -1; 0 elements are an open number. */
static uint32_t operand(struct build *b, int32_t type, int32_t n)
{
	uint32_t dims = (uint32_t)n;
	ANeuralNetworksOperandType t = nn_tensor(n < 0 ? 0 : 1, &dims);
	t.type = type;
	OK(ANeuralNetworksModel_addOperand(b->m, &t));
	return b->next++;
}

static uint32_t constant(struct build *b, int32_t type, int32_t n, int32_t value)
{
	uint32_t i = operand(b, type, n);
	OK(ANeuralNetworksModel_setOperandValue(b->m, (int32_t)i, &value, sizeof value));
	return i;
}

static uint32_t submodel(struct build *b, ANeuralNetworksModel *value)
{
	uint32_t i = operand(b, ANEURALNETWORKS_MODEL, -1);
	OK(ANeuralNetworksModel_setOperandValueFromModel(b->m, (int32_t)i, value));
	return i;
}

static void add(struct build *b, int32_t op, uint32_t n, const uint32_t *in, uint32_t m, const uint32_t *out)
{
	OK(ANeuralNetworksModel_addOperation(b->m, op, n, in, m, out));
}

static ANeuralNetworksModel *end(struct build *b, uint32_t n, const uint32_t *in, uint32_t m, const uint32_t *out)
{
	OK(ANeuralNetworksModel_identifyInputsAndOutputs(b->m, n, in, m, out));
	OK(ANeuralNetworksModel_finish(b->m));
	return b->m;
}

/* y = x + k, of one INT32 each. */
static uint32_t plus(struct build *b, uint32_t x, int32_t k)
{
	uint32_t in[] = {x, constant(b, ANEURALNETWORKS_TENSOR_INT32, 1, k), constant(b, ANEURALNETWORKS_INT32, -1, 0)};
	uint32_t y = operand(b, ANEURALNETWORKS_TENSOR_INT32, 1);
	add(b, ANEURALNETWORKS_ADD, 3, in, 1, &y);
	return y;
}

/* s is an INT32, or with grows an open number of floats: CONCATENATION takes no integers. */
static uint32_t carried(struct build *b, int grows)
{
	return operand(b, grows ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_INT32, !grows);
}

/* Inputs i, s and n; output i < n. */
static ANeuralNetworksModel *condition(int grows)
{
	struct build b = begin();
	uint32_t in[] = {operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), carried(&b, grows),
		operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	uint32_t compared[] = {in[0], in[2]}, out = operand(&b, ANEURALNETWORKS_TENSOR_BOOL8, 1);
	add(&b, ANEURALNETWORKS_LESS, 2, compared, 1, &out);
	return end(&b, 3, in, 1, &out);
}

/* Inputs i, s and n; outputs i + 1 and s + k, or, if grows, s with a 1 behind it. */
static ANeuralNetworksModel *body(int32_t k, int grows)
{
	struct build b = begin();
	uint32_t in[] = {operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), carried(&b, grows),
		operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	uint32_t out[2] = {plus(&b, in[0], 1), 0};
	if (grows) {
		const float one = 1;
		uint32_t parts[] = {in[1], operand(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 1),
			constant(&b, ANEURALNETWORKS_INT32, -1, 0)};
		OK(ANeuralNetworksModel_setOperandValue(b.m, (int32_t)parts[1], &one, sizeof one));
		out[1] = carried(&b, 1);
		add(&b, ANEURALNETWORKS_CONCATENATION, 3, parts, 1, &out[1]);
	} else {
		out[1] = plus(&b, in[1], k);
	}
	return end(&b, 3, in, 2, out);
}

/* Inputs i, s and n; outputs i and s after WHILE (i < n). The two models end with the call. */
static ANeuralNetworksModel *loop(ANeuralNetworksModel *cond, ANeuralNetworksModel *round, int grows)
{
	struct build b = begin();
	uint32_t in[5] = {submodel(&b, cond), submodel(&b, round), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1),
		carried(&b, grows), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	uint32_t out[] = {operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), carried(&b, grows)};
	add(&b, ANEURALNETWORKS_WHILE, 5, in, 2, out);
	ANeuralNetworksModel *m = end(&b, 3, in + 2, 2, out);
	ANeuralNetworksModel_free(cond);
	ANeuralNetworksModel_free(round);
	return m;
}

/* The sum after trips from i to n, with a limit of nanoseconds for each loop; the code of the computation. */
static int run(ANeuralNetworksCompilation *c, int32_t i, int32_t s, int32_t n, uint64_t limit, int32_t *sum)
{
	int32_t at = -1;
	ANeuralNetworksExecution *e = nn_execution(c);
	OK(ANeuralNetworksExecution_setLoopTimeout(e, limit));
	OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &i, 4));
	OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &s, 4));
	OK(ANeuralNetworksExecution_setInput(e, 2, NULL, &n, 4));
	OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &at, 4));
	OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, sum, 4));
	int code = ANeuralNetworksExecution_compute(e);
	CHECK(code != 0 || at == (i < n ? n : i), "the counter is %d, from %d to %d", at, i, n);
	ANeuralNetworksExecution_free(e);
	return code;
}

static const uint64_t second = 1000000000;

static void trips(void)
{
	static const int32_t counts[] = {0, 1, 2, 1000};
	ANeuralNetworksCompilation *c = nn_compiled(loop(condition(0), body(7, 0), 0), 0);
	int32_t sum = 0;
	for (int k = 0; k < 4; k++) {
		OK(run(c, 0, 5, counts[k], 15 * second, &sum));
		CHECK(sum == 5 + 7 * counts[k], "%d trips: %d", counts[k], sum);
	}
	OK(run(c, 3, 5, 3, 0, &sum));
	CHECK(sum == 5, "no trip within no time: %d", sum);
	CHECK(run(c, 0, 5, 1, 0, &sum) == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT, "a trip within no time");
	CHECK(run(c, INT32_MIN, 0, INT32_MAX, second / 20, &sum) == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT,
		"a loop without an end");
	ANeuralNetworksCompilation_free(c);
}

/* Each trip makes the second output longer: it starts with one element. */
static void grows(void)
{
	ANeuralNetworksCompilation *c = nn_compiled(loop(condition(1), body(0, 1), 1), 0);
	for (int32_t n = 0; n < 40; n += 13) {
		int32_t zero = 0, at;
		float start = 9, s[64];
		uint32_t dims = 0;
		const uint32_t one[] = {1};
		const ANeuralNetworksOperandType t = nn_tensor(1, one);
		ANeuralNetworksExecution *e = nn_execution(c);
		OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &zero, 4));
		OK(ANeuralNetworksExecution_setInput(e, 1, &t, &start, 4));
		OK(ANeuralNetworksExecution_setInput(e, 2, NULL, &n, 4));
		OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &at, 4));
		OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, s, sizeof s));
		OK(ANeuralNetworksExecution_compute(e));
		OK(ANeuralNetworksExecution_getOutputOperandDimensions(e, 1, &dims));
		CHECK(dims == (uint32_t)n + 1, "%d trips: %u elements", n, dims);
		for (uint32_t i = 0; i < dims; i++)
			CHECK(s[i] == (i ? 1 : 9), "%d trips: element %u is %g", n, i, (double)s[i]);
		ANeuralNetworksExecution_free(e);
	}
	ANeuralNetworksCompilation_free(c);
}

/* Inputs b, i, s and n: IF b the loop, else i and s as they are, plus 0. */
static ANeuralNetworksModel *choice(ANeuralNetworksModel *then)
{
	struct build other = begin(), b = begin();
	uint32_t in[] = {operand(&other, ANEURALNETWORKS_TENSOR_INT32, 1), operand(&other, ANEURALNETWORKS_TENSOR_INT32, 1),
		operand(&other, ANEURALNETWORKS_TENSOR_INT32, 1)};
	uint32_t out[] = {plus(&other, in[0], 0), plus(&other, in[1], 0)};
	ANeuralNetworksModel *otherwise = end(&other, 3, in, 2, out);
	uint32_t cond = operand(&b, ANEURALNETWORKS_TENSOR_BOOL8, 1);
	uint32_t args[] = {cond, submodel(&b, then), submodel(&b, otherwise), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1),
		operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	uint32_t chosen[] = {operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	add(&b, ANEURALNETWORKS_IF, 6, args, 2, chosen);
	uint32_t outer[] = {cond, args[3], args[4], args[5]};
	ANeuralNetworksModel *m = end(&b, 4, outer, 2, chosen);
	ANeuralNetworksModel_free(then);
	ANeuralNetworksModel_free(otherwise);
	return m;
}

/* The body of a loop that runs another loop from 0 to n, which adds k to s, n times each. */
static ANeuralNetworksModel *inner(int32_t k)
{
	struct build b = begin();
	ANeuralNetworksModel *cond = condition(0), *round = body(k, 0);
	uint32_t in[] = {operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1),
		operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	uint32_t args[] = {submodel(&b, cond), submodel(&b, round), constant(&b, ANEURALNETWORKS_TENSOR_INT32, 1, 0), in[1],
		in[2]};
	uint32_t after[] = {operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
	add(&b, ANEURALNETWORKS_WHILE, 5, args, 2, after);
	uint32_t out[] = {plus(&b, in[0], 1), after[1]};
	/* The counter of the loop inside is of no use: it is added to nothing. */
	ANeuralNetworksModel *m = end(&b, 3, in, 2, out);
	ANeuralNetworksModel_free(cond);
	ANeuralNetworksModel_free(round);
	return m;
}

static ANeuralNetworksCompilation *nested;

static void *compute_nested(void *arg)
{
	int32_t first = (int32_t)(uintptr_t)arg;
	for (int32_t n = 0; n < 12; n++) {
		/* Any value but 0 is true. */
		uint8_t yes = (uint8_t)(n % 3 == 2 ? 0 : n % 3 == 1 ? 255 : 1);
		int32_t zero = 0, s = first, at = -1, sum = -1;
		ANeuralNetworksExecution *e = nn_execution(nested);
		OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &yes, 1));
		OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &zero, 4));
		OK(ANeuralNetworksExecution_setInput(e, 2, NULL, &s, 4));
		OK(ANeuralNetworksExecution_setInput(e, 3, NULL, &n, 4));
		OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &at, 4));
		OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, &sum, 4));
		OK(ANeuralNetworksExecution_compute(e));
		int32_t want = first + (yes ? 3 * n * n : 0);
		CHECK(sum == want && at == (yes ? n : 0), "n %d, condition %d: %d and %d, want %d", n, yes, at, sum, want);
		ANeuralNetworksExecution_free(e);
	}
	return NULL;
}

/* IF, a WHILE in it, and a WHILE in that one's body. */
static void three_deep(void)
{
	enum { THREADS = 16 };
	pthread_t t[THREADS];
	nested = nn_compiled(choice(loop(condition(0), inner(3), 0)), 0);
	compute_nested((void *)100);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, compute_nested, (void *)(uintptr_t)i) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ANeuralNetworksCompilation_free(nested);
}

/* Models that hold each other twice, 60 deep, which are 2^60 places: finishing and refusing it takes no time. */
static void deep(void)
{
	struct build b = begin();
	uint32_t x = operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1), y = plus(&b, x, 1);
	ANeuralNetworksModel *m = end(&b, 1, &x, 1, &y);
	ANeuralNetworksModel *all[60];
	for (int i = 0; i < 60; i++) {
		all[i] = m;
		b = begin();
		uint32_t cond = operand(&b, ANEURALNETWORKS_TENSOR_BOOL8, 1);
		uint8_t yes = 1;
		OK(ANeuralNetworksModel_setOperandValue(b.m, 0, &yes, 1));
		uint32_t in[] = {cond, submodel(&b, m), submodel(&b, m), operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1)};
		uint32_t out = operand(&b, ANEURALNETWORKS_TENSOR_INT32, 1);
		add(&b, ANEURALNETWORKS_IF, 4, in, 1, &out);
		m = end(&b, 1, in + 3, 1, &out);
	}
	ANeuralNetworksCompilation *c = NULL;
	OK(ANeuralNetworksCompilation_create(m, &c));
	int code = ANeuralNetworksCompilation_finish(c);
	CHECK(code == 0 || code == ANEURALNETWORKS_OP_FAILED || code == ANEURALNETWORKS_BAD_DATA ||
		code == ANEURALNETWORKS_OUT_OF_MEMORY, "code %d", code);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
	for (int i = 0; i < 60; i++)
		ANeuralNetworksModel_free(all[i]);
}

int main(void)
{
	host_begin();
	trips();
	grows();
	three_deep();
	deep();
	return host_end();
}
