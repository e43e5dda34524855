/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rknn_benchmark MODEL [LOOPS]
 *
 * What a benchmark of a board's runtime does: versions, memory sizes, attributes, inputs of the reported size, timed
 * runs, results in both types, and the same from a duplicate in another thread. MODEL has one input and results that
 * add up to 1.
 */
#include <math.h>
#include <pthread.h>

#include <rknn_api.h>

#include "host.h"

#define OK(call) CHECK((call) == RKNN_SUCC, #call)

static float input_value(uint32_t i) { return (float)(i * 7 % 16) / 15.0f; }

/* Runs loops times and returns the results of the last run, which the caller frees. */
static float *run(rknn_context ctx, int loops, uint32_t *count)
{
	rknn_tensor_attr in = {.index = 0}, out = {.index = 0};
	OK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &in, sizeof in));
	OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &out, sizeof out));
	float *data = malloc(in.n_elems * sizeof *data), *result = malloc(out.n_elems * sizeof *result);
	for (uint32_t i = 0; i < in.n_elems; i++)
		data[i] = input_value(i);
	rknn_input input = {.index = 0, .buf = data, .size = in.n_elems * 4, .type = RKNN_TENSOR_FLOAT32,
		.fmt = RKNN_TENSOR_NHWC};
	OK(rknn_inputs_set(ctx, 1, &input));
	memset(data, 0x55, in.n_elems * 4); /* copied by then */
	for (int i = 0; i < loops; i++) {
		rknn_run_extend extend = {0};
		rknn_perf_run perf;
		OK(rknn_run(ctx, &extend));
		CHECK(extend.frame_id == (uint64_t)i + 1, "the frames are not counted");
		OK(rknn_query(ctx, RKNN_QUERY_PERF_RUN, &perf, sizeof perf));
		CHECK(perf.run_duration >= 0, "a run took negative time");
	}
	rknn_output fresh = {.want_float = 1}, raw = {.want_float = 0},
		mine = {.want_float = 1, .is_prealloc = 1, .buf = result, .size = out.n_elems * 4};
	OK(rknn_outputs_get(ctx, 1, &fresh, NULL));
	OK(rknn_outputs_get(ctx, 1, &raw, NULL));
	OK(rknn_outputs_get(ctx, 1, &mine, NULL));
	CHECK(fresh.size == out.n_elems * 4 && raw.size == out.size, "the sizes of the results");
	CHECK(memcmp(fresh.buf, result, fresh.size) == 0, "both buffers hold the same");
	double sum = 0;
	for (uint32_t i = 0; i < out.n_elems; i++)
		sum += result[i];
	CHECK(fabs(sum - 1) < 1e-4, "the results do not add up to 1");
	OK(rknn_outputs_release(ctx, 1, &fresh));
	OK(rknn_outputs_release(ctx, 1, &fresh)); /* harmless */
	CHECK(fresh.buf == NULL, "a released buffer is still there");
	free(data);
	*count = out.n_elems;
	return result; /* raw stays for rknn_destroy */
}

struct other {
	rknn_context ctx;
	float *result;
	uint32_t count;
};

static void *other_main(void *arg)
{
	struct other *o = arg;
	o->result = run(o->ctx, 5, &o->count);
	return NULL;
}

int main(int argc, char **argv)
{
	CHECK(argc > 1, "usage: rknn_benchmark MODEL [LOOPS]");
	int loops = argc > 2 ? atoi(argv[2]) : 15;
	host_begin();
	rknn_context ctx = 0;
	OK(rknn_init(&ctx, argv[1], 0, RKNN_FLAG_COLLECT_PERF_MASK, NULL));
	rknn_sdk_version version;
	rknn_mem_size size;
	rknn_custom_string text;
	rknn_input_output_num count;
	rknn_perf_detail detail;
	OK(rknn_query(ctx, RKNN_QUERY_SDK_VERSION, &version, sizeof version));
	OK(rknn_query(ctx, RKNN_QUERY_MEM_SIZE, &size, sizeof size));
	OK(rknn_query(ctx, RKNN_QUERY_CUSTOM_STRING, &text, sizeof text));
	OK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count));
	CHECK(version.api_version[0] == '2' && size.total_weight_size > 0 && size.total_internal_size > 0, "version or sizes");
	CHECK(count.n_input == 1 && count.n_output == 1, "counts");
	OK(rknn_query(ctx, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail));
	CHECK(detail.perf_data && detail.data_len == 0, "times before a run");
	OK(rknn_set_core_mask(ctx, RKNN_NPU_CORE_0));

	struct other o = {0};
	pthread_t thread;
	OK(rknn_dup_context(&ctx, &o.ctx));
	CHECK(o.ctx != ctx && o.ctx != 0, "a duplicate has a handle of its own");
	CHECK(pthread_create(&thread, NULL, other_main, &o) == 0, "pthread_create");
	uint32_t n;
	float *result = run(ctx, loops, &n);
	OK(rknn_query(ctx, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail));
	CHECK(strlen(detail.perf_data) == detail.data_len && strstr(detail.perf_data, "Network Layer Information Table"),
		"the table of times");
	CHECK(strstr(detail.perf_data, "softmax") && strstr(detail.perf_data, "Total Operator Elapsed Per Frame Time(us): "),
		"rows of the table");
	OK(rknn_destroy(ctx));
	CHECK(pthread_join(thread, NULL) == 0, "pthread_join");
	CHECK(o.count == n && memcmp(o.result, result, n * sizeof *result) == 0, "a duplicate computes the same");
	OK(rknn_destroy(o.ctx));
	CHECK(rknn_run(ctx, NULL) == RKNN_ERR_CTX_INVALID, "a run after destroy");
	free(result);
	free(o.result);
	puts("rknn_benchmark: ok");
	return host_end();
}
