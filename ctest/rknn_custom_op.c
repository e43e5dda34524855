/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_custom_op [ROUNDS]
 *
 * Operators that the program computes: foreign ones, some of the library's own, their attributes, the order of calls, what fails, and
 * duplicates of a context.
 */
#include <math.h>
#include <pthread.h>

#include <rknn_custom_op.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

enum { C = 3, H = 1, W = 2, N = C * H * W };

/* What was called, one letter each: i(nit), p(repare), c(ompute), d(estroy), in upper case for the second operator. */
static char events[64];
static int fail_compute, init_result;
static rknn_context inside_of;
static pthread_t runner;

static void note(char e) { events[strlen(events)] = e; }

static void expect(const char *want)
{
	CHECK(strcmp(events, want) == 0, "calls are \"%s\", want \"%s\"", events, want);
	memset(events, 0, sizeof events);
}

/* An AttributeProto whose value is the field in value. */
static struct rknn_message attribute(const char *name, int type, const struct rknn_message *value)
{
	struct rknn_message a = {0};
	rknn_text(&a, 1, name);
	memcpy(a.bytes + a.size, value->bytes, value->size);
	a.size += value->size;
	rknn_number(&a, 20, (uint64_t)type);
	return a;
}

static struct rknn_message fixed32(struct rknn_message m, unsigned field, float v)
{
	rknn_varint(&m, field << 3 | 5);
	memcpy(m.bytes + m.size, &v, 4);
	m.size += 4;
	return m;
}

/* A node of op_type with inputs and one output. */
static struct rknn_message make_node(const char *type, const char *domain, const char *out, const char *in, const char *in2)
{
	struct rknn_message n = {0};
	rknn_text(&n, 1, in);
	if (in2)
		rknn_text(&n, 1, in2);
	rknn_text(&n, 2, out);
	rknn_text(&n, 3, out);
	rknn_text(&n, 4, type);
	if (domain)
		rknn_text(&n, 7, domain);
	return n;
}

static rknn_context load(const struct rknn_message *nodes, int n, const struct rknn_message *init, const int64_t *out_dims)
{
	static const int64_t dims[] = {1, C, H, W};
	struct rknn_message graph = {0}, opset = {0}, model = {0};
	struct rknn_message x = rknn_value("x", dims, 4), y = rknn_value("y", out_dims ? out_dims : dims, 4);
	struct rknn_message a = rknn_value("a", dims, 4), b = rknn_value("b", dims, 4);
	for (int i = 0; i < n; i++)
		rknn_part(&graph, 1, &nodes[i]);
	rknn_text(&graph, 2, "custom");
	if (init)
		rknn_part(&graph, 5, init);
	rknn_part(&graph, 11, &x);
	rknn_part(&graph, 12, &y);
	rknn_part(&graph, 13, &a);
	rknn_part(&graph, 13, &b);
	rknn_number(&opset, 2, 17);
	rknn_number(&model, 1, 8);
	rknn_part(&model, 7, &graph);
	rknn_part(&model, 8, &opset);
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	return ctx;
}

/* y = Softmax(Dual(Affine(x), x)) over channels; Affine and Dual are foreign. */
static rknn_context load_foreign(void)
{
	struct rknn_message nodes[3], value = {0}, a;
	nodes[0] = make_node("cstAffine", "acme", "a", "x", NULL);
	value = fixed32(value, 2, 0.5f);
	a = attribute("alpha", 1, &value);
	rknn_part(&nodes[0], 5, &a);
	memset(&value, 0, sizeof value);
	rknn_number(&value, 8, 3);
	rknn_number(&value, 8, (uint64_t)-7);
	a = attribute("steps", 7, &value);
	rknn_part(&nodes[0], 5, &a);
	memset(&value, 0, sizeof value);
	rknn_text(&value, 4, "half");
	a = attribute("mode", 3, &value);
	rknn_part(&nodes[0], 5, &a);
	nodes[1] = make_node("cstDual", "acme", "b", "a", "x");
	nodes[2] = make_node("Softmax", NULL, "y", "b", NULL);
	memset(&value, 0, sizeof value);
	rknn_number(&value, 3, 1);
	a = attribute("axis", 2, &value);
	rknn_part(&nodes[2], 5, &a);
	return load(nodes, 3, NULL, NULL);
}

static float *data_of(rknn_custom_op_tensor *t) { return (float *)((char *)t->mem.virt_addr + t->mem.offset); }

static void check_tensor(rknn_custom_op_tensor *t, const char *name)
{
	CHECK(strcmp(t->attr.name, name) == 0, "a tensor is \"%s\", want \"%s\"", t->attr.name, name);
	CHECK(t->attr.n_dims == 4 && t->attr.dims[1] == C && t->attr.dims[3] == W && t->attr.n_elems == N, "dimensions of %s", name);
	CHECK(t->attr.type == RKNN_TENSOR_FLOAT32 && t->attr.fmt == RKNN_TENSOR_NCHW && t->attr.size == N * 4, "type of %s", name);
}

static int affine_init(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
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
	if (init_result < 0)
		free(alpha); /* destroy is not called then */
	return init_result;
}

static int affine_prepare(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	note('p');
	CHECK(op->priv_data != NULL && n_in == 1 && n_out == 1 && data_of(in) && data_of(out), "prepare");
	return 0;
}

static int affine(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
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

static int dual_prepare(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	note('P');
	(void)op, (void)in, (void)n_in, (void)out, (void)n_out;
	return 0;
}

static int dual(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
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

static rknn_custom_op operation(const char *type, int (*compute)(rknn_custom_op_context *, rknn_custom_op_tensor *, uint32_t, rknn_custom_op_tensor *, uint32_t))
{
	rknn_custom_op op;
	memset(&op, 0, sizeof op);
	op.version = 1;
	op.target = RKNN_TARGET_TYPE_CPU;
	strcpy(op.op_type, type);
	op.compute = compute;
	return op;
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

/* Pixels in NHWC, the input of every run: element (c, w) is c + w / 2. */
static void set(rknn_context ctx)
{
	float x[N];
	for (int c = 0; c < C; c++)
		for (int w = 0; w < W; w++)
			x[w * C + c] = (float)c + (float)w / 2;
	rknn_input in = {.buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &in));
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
	OK(rknn_dup_context(&ctx, &dup));
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
static int hardmax(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
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

static int skip(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
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

/* A convolution by the program, which adds up its filter as the model holds it: (o, i, 0, w) has the value 100 o + 10 i + w. */
static int conv(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	(void)op, (void)n_out;
	CHECK(n_in == 2 && in[1].attr.n_dims == 4 && in[1].attr.dims[0] == 2 && in[1].attr.dims[1] == C && in[1].attr.dims[2] == 1 && in[1].attr.dims[3] == 2, "a filter's dimensions");
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

/* Threads, each with a duplicate that it makes and ends again and again, while all use the source as well. */
enum { THREADS = 8 };

static rknn_context pool_source;
static int rounds = 20, pool_lives, pool_calls;

static int pool_init(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	(void)in, (void)n_in, (void)out, (void)n_out;
	op->priv_data = malloc(sizeof(pthread_t));
	__atomic_add_fetch(&pool_lives, 1, __ATOMIC_RELAXED);
	return 0;
}

static int pool_prepare(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	(void)in, (void)n_in, (void)out, (void)n_out;
	*(pthread_t *)op->priv_data = pthread_self();
	return 0;
}

static int pool_affine(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	(void)n_in, (void)n_out;
	CHECK(pthread_equal(*(pthread_t *)op->priv_data, pthread_self()), "one run in two threads");
	for (int i = 0; i < N; i++)
		data_of(out)[i] = data_of(in)[i] / 2;
	__atomic_add_fetch(&pool_calls, 1, __ATOMIC_RELAXED);
	return 0;
}

static int pool_dual(rknn_custom_op_context *op, rknn_custom_op_tensor *in, uint32_t n_in, rknn_custom_op_tensor *out, uint32_t n_out)
{
	(void)op, (void)n_in, (void)n_out;
	for (int i = 0; i < N; i++)
		data_of(out)[i] = data_of(&in[0])[i] + 2 * data_of(&in[1])[i];
	return 0;
}

static int pool_destroy(rknn_custom_op_context *op)
{
	free(op->priv_data);
	__atomic_sub_fetch(&pool_lives, 1, __ATOMIC_RELAXED);
	return 0;
}

static void pool_run(rknn_context ctx)
{
	float y[N], sum = 0;
	rknn_output out = {.want_float = 1, .is_prealloc = 1, .buf = y, .size = sizeof y};
	set(ctx);
	OK(rknn_run(ctx, NULL));
	OK(rknn_outputs_get(ctx, 1, &out, NULL));
	for (int c = 0; c < C; c++)
		sum += y[c * W];
	CHECK(fabs(sum - 1) < 1e-5 && y[2 * W] > y[W] && y[W] > y[0], "a result in a thread");
}

static void *pool_thread(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		rknn_context source = pool_source, dup = 0;
		OK(rknn_dup_context(&source, &dup));
		pool_run(dup);
		pool_run(pool_source);
		OK(rknn_destroy(dup));
	}
	return arg;
}

static void pool(void)
{
	pthread_t threads[THREADS];
	rknn_custom_op op[2] = {operation("cstAffine", pool_affine), operation("cstDual", pool_dual)};
	op[0].init = pool_init;
	op[0].prepare = pool_prepare;
	op[0].destroy = pool_destroy;
	pool_source = load_foreign();
	OK(rknn_register_custom_ops(pool_source, op, 2));
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, pool_thread, NULL) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join");
	OK(rknn_destroy(pool_source));
	CHECK(pool_lives == 0 && pool_calls == 2 * THREADS * rounds, "%d lives, %d calls", pool_lives, pool_calls);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	host_begin();
	pool();
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
