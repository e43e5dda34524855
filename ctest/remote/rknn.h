/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * network.c with RKNN: real numbers in, the output's own type out.
 */
#include <rknn_api.h>

#define OK(call) CHECK((call) == RKNN_SUCC, "%s: %s", #call, anynpu_last_error())

struct runner {
	rknn_context context;
	float *in;
	size_t in_count;
	rknn_tensor_attr out;
};

static rknn_context whole;

static void load(const char *model) { OK(rknn_init(&whole, (void *)model, 0, 0, NULL)); }
static void unload(void) { OK(rknn_destroy(whole)); }

static void begin_runner(struct runner *r)
{
	rknn_tensor_attr in = {0};
	OK(rknn_dup_context(&whole, &r->context));
	OK(rknn_query(r->context, RKNN_QUERY_INPUT_ATTR, &in, sizeof in));
	OK(rknn_query(r->context, RKNN_QUERY_OUTPUT_ATTR, &r->out, sizeof r->out));
	r->in_count = in.n_elems;
	r->in = malloc(r->in_count * sizeof *r->in);
	CHECK(r->in != NULL, "no memory");
}

static int run(struct runner *r, int input, struct values *v)
{
	enum element e = r->out.type == RKNN_TENSOR_INT8 ? S8 : r->out.type == RKNN_TENSOR_UINT8 ? U8 : F32;
	fill(r->in, F32, r->in_count, input, 1, 0);
	rknn_input in = {.buf = r->in, .size = (uint32_t)(r->in_count * sizeof *r->in), .type = RKNN_TENSOR_FLOAT32,
		.fmt = RKNN_TENSOR_NCHW};
	rknn_output out = {.want_float = e == F32};
	int code = rknn_inputs_set(r->context, 1, &in);
	if (code == RKNN_SUCC)
		code = rknn_run(r->context, NULL);
	if (code == RKNN_SUCC)
		code = rknn_outputs_get(r->context, 1, &out, NULL);
	if (code == RKNN_SUCC) {
		take(v, out.buf, e, r->out.n_elems);
		OK(rknn_outputs_release(r->context, 1, &out));
	}
	return code;
}

static void end_runner(struct runner *r)
{
	OK(rknn_destroy(r->context));
	free(r->in);
}
