/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_custom_op [ROUNDS]
 *
 * Operators that the program computes: foreign ones, some of the library's own, their attributes, the order of calls,
 * what fails, and duplicates of a context.
 */
#include <math.h>
#include <pthread.h>

#include "rknn_customs.h"

/* What was called, one letter each: i(nit), p(repare), c(ompute), d(estroy), in upper case for the second operator. */
static char events[64];
static int fail_compute, init_result;
static rknn_context inside_of, copy_of;
static pthread_t runner;

static void note(char e) { events[strlen(events)] = e; }

static void expect(const char *want)
{
	CHECK(strcmp(events, want) == 0, "calls are \"%s\", want \"%s\"", events, want);
	memset(events, 0, sizeof events);
}

static void check_tensor(rknn_custom_op_tensor *t, const char *name)
{
	CHECK(strcmp(t->attr.name, name) == 0, "a tensor is \"%s\", want \"%s\"", t->attr.name, name);
	CHECK(t->attr.n_dims == 4 && t->attr.dims[1] == C && t->attr.dims[3] == W && t->attr.n_elems == N, "dimensions of %s",
		name);
	CHECK(t->attr.type == RKNN_TENSOR_FLOAT32 && t->attr.fmt == RKNN_TENSOR_NCHW && t->attr.size == N * 4, "type of %s",
		name);
}

static int unused(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)op, (void)in, (void)n_in, (void)out, (void)n_out;
	return -1;
}

/* What would wait for the duplication that calls this init is refused; what would not is answered. */
static void check_copying(rknn_context source)
{
	rknn_context copy = 1;
	rknn_custom_op op = {.version = 1, .target = RKNN_TARGET_TYPE_CPU, .op_type = "cstOther", .compute = unused};
	rknn_input_output_num num;
	CHECK(rknn_dup_context(&source, &copy) == RKNN_ERR_FAIL && copy == 0, "a duplicate in a duplicate's init");
	CHECK(rknn_register_custom_ops(source, &op, 1) == RKNN_ERR_FAIL, "operators in a duplicate's init");
	CHECK(rknn_destroy(source) == RKNN_ERR_FAIL, "the source's end in a duplicate's init");
	OK(rknn_query(source, RKNN_QUERY_IN_OUT_NUM, &num, sizeof num));
}

static int affine_init(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	note('i');
	CHECK(n_in == 1 && n_out == 1 && op->target == RKNN_TARGET_TYPE_CPU && op->priv_data == NULL, "init");
	check_tensor(in, "x");
	check_tensor(out, "a");
	rknn_custom_op_attr attr;
	rknn_custom_op_get_op_attr(op, "alpha", &attr);
	CHECK(attr.n_elems == 1 && attr.dtype == RKNN_TENSOR_FLOAT32 && strcmp(attr.name, "alpha") == 0, "alpha");
	float *alpha = malloc(sizeof *alpha);
	*alpha = *(float *)attr.data;
	rknn_custom_op_get_op_attr(op, "steps", &attr);
	CHECK(attr.n_elems == 2 && attr.dtype == RKNN_TENSOR_INT64 && ((int64_t *)attr.data)[1] == -7, "steps");
	rknn_custom_op_get_op_attr(op, "mode", &attr);
	CHECK(attr.n_elems == 4 && attr.dtype == RKNN_TENSOR_UINT8 && strcmp(attr.data, "half") == 0, "mode");
	rknn_custom_op_get_op_attr(op, "beta", &attr);
	CHECK(attr.n_elems == 0 && attr.data == NULL, "an attribute that is not there");
	op->priv_data = alpha;
	if (copy_of)
		check_copying(copy_of);
	if (init_result < 0)
		free(alpha); /* destroy is not called then */
	return init_result;
}

static int affine_prepare(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in,
	rknn_custom_op_tensor *out, uint32_t n_out)
{
	note('p');
	CHECK(op->priv_data != NULL && n_in == 1 && n_out == 1 && data_of(in) && data_of(out), "prepare");
	return 0;
}

static int affine(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	note('c');
	(void)n_in, (void)n_out;
	check_tensor(in, "x");
	CHECK(pthread_equal(pthread_self(), runner), "compute is called on another thread");
	for (uint32_t i = 0; i < in->attr.n_elems; i++)
		data_of(out)[i] = *(float *)op->priv_data * data_of(in)[i];
	if (inside_of) {
		rknn_input_output_num num;
		OK(rknn_query(inside_of, RKNN_QUERY_IN_OUT_NUM, &num, sizeof num));
		OK(rknn_mem_sync(inside_of, &out[0].mem, RKNN_MEMORY_SYNC_TO_DEVICE));
		rknn_context dup = 0, self = inside_of;
		CHECK(rknn_run(inside_of, NULL) == RKNN_ERR_FAIL, "a run within a run");
		CHECK(rknn_dup_context(&self, &dup) == RKNN_ERR_FAIL, "a duplicate made within a run");
		CHECK(rknn_destroy(inside_of) == RKNN_ERR_FAIL, "destroyed within a run");
	}
	return fail_compute;
}

static int affine_destroy(rknn_custom_op_context *op)
{
	note('d');
	free(op->priv_data);
	return 0;
}

static int dual_prepare(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in,
	rknn_custom_op_tensor *out, uint32_t n_out)
{
	note('P');
	(void)op, (void)in, (void)n_in, (void)out, (void)n_out;
	return 0;
}

static int dual(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	note('C');
	(void)op;
	CHECK(n_in == 2 && n_out == 1, "operands");
	check_tensor(&in[0], "a");
	check_tensor(&in[1], "x");
	for (int i = 0; i < N; i++)
		data_of(out)[i] = data_of(&in[0])[i] + 2 * data_of(&in[1])[i];
	return 0;
}

static void operators(rknn_custom_op op[2])
{
	op[0] = operation("cstAffine", affine);
	op[0].init = affine_init;
	op[0].prepare = affine_prepare;
	op[0].destroy = affine_destroy;
	op[1] = operation("cstDual", dual);
	op[1].prepare = dual_prepare;
}

static void run(rknn_context ctx, float y[], uint32_t n)
{
	runner = pthread_self();
	OK(rknn_run(ctx, NULL));
	rknn_output out = {.want_float = 1, .is_prealloc = 1, .buf = y, .size = n * 4};
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
}

/* Softmax over channels of 2.5 x. */
static void check_foreign(rknn_context ctx)
{
	float y[N];
	run(ctx, y, N);
	for (int c = 0; c < C; c++)
		for (int w = 0; w < W; w++) {
			double sum = 0;
			for (int k = 0; k < C; k++)
				sum += exp(2.5 * (k - c));
			CHECK(fabs(y[c * W + w] - 1 / sum) < 1e-6, "result %d is %g, want %g", c * W + w, y[c * W + w], 1 / sum);
		}
}

static void life(void)
{
	rknn_context ctx = load_foreign();
	rknn_custom_op op[2];
	operators(op);
	set(ctx);
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run without functions");
	expect("");
	OK(rknn_register_custom_ops(ctx, op, 2));
	memset(op, 0xff, sizeof op); /* the array is copied */
	expect("i");
	check_foreign(ctx);
	expect("pcPC");
	check_foreign(ctx);
	expect("pcPC");

	/* What a function returns decides; the next run is a new one. */
	fail_compute = -5;
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run whose operator fails");
	expect("pc");
	fail_compute = 0;
	inside_of = ctx;
	check_foreign(ctx);
	inside_of = 0;
	expect("pcPC");
	OK(rknn_destroy(ctx));
	expect("d");
}

static void refusals(void)
{
	rknn_context ctx = load_foreign();
	rknn_custom_op op[2];
	operators(op);
	CHECK(rknn_register_custom_ops(ctx, op, 0) == RKNN_ERR_PARAM_INVALID, "no operator");
	CHECK(rknn_register_custom_ops(ctx, NULL, 1) == RKNN_ERR_PARAM_INVALID, "NULL");
	CHECK(rknn_register_custom_ops(0, op, 1) == RKNN_ERR_CTX_INVALID, "no context");
	op[1].compute = NULL;
	CHECK(rknn_register_custom_ops(ctx, op, 2) == RKNN_ERR_PARAM_INVALID, "nothing that computes");
	operators(op);
	op[1].target = RKNN_TARGET_TYPE_GPU;
	CHECK(rknn_register_custom_ops(ctx, op, 2) == RKNN_ERR_PARAM_INVALID, "a GPU");
	op[1] = op[0];
	CHECK(rknn_register_custom_ops(ctx, op, 2) == RKNN_ERR_PARAM_INVALID, "a type twice");
	operators(op);
	memset(op[0].op_type, 'x', sizeof op[0].op_type);
	CHECK(rknn_register_custom_ops(ctx, op, 1) == RKNN_ERR_PARAM_INVALID, "a type without end");
	expect("");

	/* An init that fails changes nothing. The foreign operator has no other implementation to be left to. */
	operators(op);
	for (init_result = -1; init_result > -20; init_result -= 13) {
		CHECK(rknn_register_custom_ops(ctx, op, 2) == RKNN_ERR_FAIL, "an init that returns %d", init_result);
		expect("i");
	}
	init_result = 0;
	set(ctx);
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run after a failed registration");

	/* One after the other is as good; again replaces. */
	OK(rknn_register_custom_ops(ctx, &op[1], 1));
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_FAIL, "a run with one of two operators");
	OK(rknn_register_custom_ops(ctx, &op[0], 1));
	expect("i");
	check_foreign(ctx);
	expect("pcPC");
	OK(rknn_register_custom_ops(ctx, &op[0], 1));
	expect("id");
	OK(rknn_destroy(ctx));
	expect("d");

	rknn_custom_op_context none;
	rknn_custom_op_attr attr = {.n_elems = 9};
	memset(&none, 0, sizeof none);
	rknn_custom_op_get_op_attr(&none, "alpha", &attr);
	CHECK(attr.n_elems == 0, "an attribute of no operator");
}

static void duplicates(void)
{
	rknn_context ctx = load_foreign(), dup = 0, second = 0;
	rknn_custom_op op[2];
	operators(op);
	OK(rknn_register_custom_ops(ctx, op, 2));
	expect("i");
	copy_of = ctx;
	OK(rknn_dup_context(&ctx, &dup));
	copy_of = 0;
	OK(rknn_dup_context(&dup, &second));
	expect("ii");
	OK(rknn_destroy(ctx));
	expect("d");
	set(dup);
	check_foreign(dup);
	expect("pcPC");
	init_result = -1;
	rknn_context third = 1;
	CHECK(rknn_dup_context(&dup, &third) == RKNN_ERR_FAIL && third == 0, "a duplicate whose init fails");
	init_result = 0;
	expect("i");
	OK(rknn_destroy(second));
	OK(rknn_destroy(dup));
	expect("dd");
}

/* Softmax by the program: the largest channel gets 10, the others 0. */
static int hardmax(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	rknn_custom_op_attr axis;
	(void)n_in, (void)n_out;
	note('c');
	check_tensor(out, "y");
	rknn_custom_op_get_op_attr(op, "axis", &axis);
	CHECK(axis.n_elems == 1 && axis.dtype == RKNN_TENSOR_INT64 && *(int64_t *)axis.data == 1, "axis");
	for (int i = 0; i < N; i++)
		data_of(out)[i] = i / W == C - 1 ? 10 : 0;
	(void)in;
	return 0;
}

static int skip(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)op, (void)in, (void)n_in, (void)out, (void)n_out;
	note('s');
	return RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE;
}

static void replaced(void)
{
	rknn_context ctx = load_foreign(), dup = 0;
	rknn_custom_op op[2], soft = operation("Softmax", hardmax);
	float y[N];
	operators(op);
	OK(rknn_register_custom_ops(ctx, op, 2));
	soft.init = skip;
	OK(rknn_register_custom_ops(ctx, &soft, 1));
	set(ctx);
	check_foreign(ctx);
	expect("ispcPC");
	soft.init = NULL;
	OK(rknn_register_custom_ops(ctx, &soft, 1));
	run(ctx, y, N);
	for (int i = 0; i < N; i++)
		CHECK(y[i] == (i / W == C - 1 ? 10 : 0), "the program's Softmax");
	expect("pcPCc");
	OK(rknn_dup_context(&ctx, &dup));
	set(dup);
	run(dup, y, N);
	CHECK(y[N - 1] == 10, "a duplicate's Softmax");
	soft.init = skip;
	OK(rknn_register_custom_ops(ctx, &soft, 1)); /* back to the library's */
	memset(events, 0, sizeof events);
	check_foreign(ctx);
	expect("pcPC");
	OK(rknn_destroy(ctx));
	OK(rknn_destroy(dup));
	expect("dd");
}

/*
 * A convolution by the program, which adds up its filter as the model holds it: (o, i, 0, w) has the value 100 o + 10 i
 * + w.
 */
static int conv(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out,
	uint32_t n_out)
{
	(void)op, (void)n_out;
	CHECK(n_in == 2 && in[1].attr.n_dims == 4 && in[1].attr.dims[0] == 2 && in[1].attr.dims[1] == C &&
		in[1].attr.dims[2] == 1 && in[1].attr.dims[3] == 2, "a filter's dimensions");
	for (int o = 0; o < 2; o++) {
		float sum = 0;
		for (int i = 0; i < C; i++)
			for (int w = 0; w < 2; w++) {
				float f = data_of(&in[1])[(o * C + i) * 2 + w];
				CHECK(f == (float)(100 * o + 10 * i + w), "a filter's elements");
				sum += f * data_of(&in[0])[i * W + w];
			}
		data_of(out)[o] = -sum;
	}
	return 0;
}

static void filters(void)
{
	static const int64_t out_dims[] = {1, 2, 1, 1};
	struct rknn_message node = make_node("Conv", NULL, "y", "x", "w"), w = {0};
	float filter[2 * C * 2], lib[2], own[2];
	for (int i = 0; i < 2 * C * 2; i++)
		filter[i] = (float)(100 * (i / (2 * C)) + 10 * (i / 2 % C) + i % 2);
	int64_t dims[] = {2, C, 1, 2};
	for (int i = 0; i < 4; i++)
		rknn_number(&w, 1, (uint64_t)dims[i]);
	rknn_number(&w, 2, 1);
	rknn_text(&w, 8, "w");
	rknn_bytes(&w, 9, filter, sizeof filter);
	rknn_context ctx = load(&node, 1, &w, out_dims);
	rknn_custom_op op = operation("Conv", conv);
	set(ctx);
	run(ctx, lib, 2);
	OK(rknn_register_custom_ops(ctx, &op, 1));
	run(ctx, own, 2);
	CHECK(lib[0] != 0 && own[0] == -lib[0] && own[1] == -lib[1], "%g %g and %g %g", lib[0], lib[1], own[0], own[1]);
	OK(rknn_destroy(ctx));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	host_begin();
	for (int i = 0; i < rounds; i++) {
		life();
		refusals();
		duplicates();
		replaced();
		filters();
	}
	puts("rknn_custom_op: ok");
	return host_end();
}
