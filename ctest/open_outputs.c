/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * y = Unique(x), the numbers of x in order and each once: how many, a run alone tells. The metadata give the largest
 * shape; anynpu_output_shape gives the real one, of a rknn_context and of a task of hbDNN.
 */
#include <dnn/hb_dnn.h>
#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

#define OK(call) CHECK((call) == 0, "%s", anynpu_last_error())

enum { N = 6 };

static const struct {
	float x[N], y[N];
	int64_t count;
} runs[] = {
	{{3, 1, 3, 2, 1, 3}, {1, 2, 3, 0, 0, 0}, 3},
	{{6, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 5, 6}, 6},
	{{7, 7, 7, 7, 7, 7}, {7, 0, 0, 0, 0, 0}, 1},
};
enum { RUNS = sizeof runs / sizeof *runs };

static struct rknn_message unique(void)
{
	static const int64_t in[] = {N}, out[] = {-1};
	struct rknn_message graph = {0};
	rknn_node(&graph, "Unique", "y", "x", NULL);
	rknn_port(&graph, 11, "x", in, 1);
	rknn_port(&graph, 12, "y", out, 1);
	struct rknn_message model = rknn_model(graph);
	rknn_meta(&model, "anynpu.output.y.max_shape", "[6]");
	return model;
}

static void shape(const void *handle, int64_t want)
{
	int64_t dims[2] = {-1, -1};
	CHECK(anynpu_output_shape(handle, 0, dims, 2) == 1 && dims[0] == want && dims[1] == -1, "%lld, want %lld",
		(long long)dims[0],
	      (long long)want);
	CHECK(anynpu_output_shape(handle, 0, NULL, 0) == 1, "the number of sizes");
	CHECK(anynpu_output_shape(handle, 1, dims, 2) == -1, "an output that there is not");
	CHECK(strstr(anynpu_last_error(), "output is 1") != NULL, "%s", anynpu_last_error());
}

static void by_rknn(void)
{
	struct rknn_message model = unique();
	rknn_context ctx = 0;
	int64_t none;
	OK(rknn_init(&ctx, model.bytes, (uint32_t)model.size, 0, NULL));
	CHECK(anynpu_output_shape((void *)(uintptr_t)ctx, 0, &none, 1) == -1, "sizes before a run");
	for (int r = 0; r < RUNS; r++) {
		float x[N];
		memcpy(x, runs[r].x, sizeof x);
		rknn_input in = {.buf = x, .size = sizeof x, .type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED};
		rknn_output out = {.want_float = 1};
		rknn_tensor_attr attr = {.index = 0};
		OK(rknn_inputs_set(ctx, 1, &in));
		OK(rknn_run(ctx, NULL));
		OK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr));
		CHECK(attr.n_dims == 1 && attr.dims[0] == N, "the largest shape is %u", attr.dims[0]);
		OK(rknn_query(ctx, RKNN_QUERY_CURRENT_OUTPUT_ATTR, &attr, sizeof attr));
		CHECK(attr.n_dims == 1 && attr.dims[0] == runs[r].count, "the shape is %u", attr.dims[0]);
		OK(rknn_outputs_get(ctx, 1, &out, NULL));
		CHECK(out.size == sizeof runs[r].y && memcmp(out.buf, runs[r].y, out.size) == 0, "run %d", r);
		OK(rknn_outputs_release(ctx, 1, &out));
		shape((void *)(uintptr_t)ctx, runs[r].count);
	}
	OK(rknn_destroy(ctx));
}

static void by_hbdnn(void)
{
	struct rknn_message model = unique();
	const void *bytes = model.bytes;
	int32_t size = (int32_t)model.size, count = 0;
	hbPackedDNNHandle_t packed = NULL;
	hbDNNHandle_t handle = NULL;
	const char **names;
	OK(hbDNNInitializeFromDDR(&packed, &bytes, &size, 1));
	OK(hbDNNGetModelNameList(&names, &count, packed));
	OK(hbDNNGetModelHandle(&handle, packed, names[0]));
	hbDNNTensor in, out, *results = &out;
	memset(&in, 0, sizeof in);
	memset(&out, 0, sizeof out);
	OK(hbDNNGetInputTensorProperties(&in.properties, handle, 0));
	OK(hbDNNGetOutputTensorProperties(&out.properties, handle, 0));
	CHECK(out.properties.validShape.numDimensions == 1 && out.properties.validShape.dimensionSize[0] == N,
		"the largest shape");
	OK(hbSysAllocCachedMem(&in.sysMem[0], sizeof runs[0].x));
	OK(hbSysAllocCachedMem(&out.sysMem[0], sizeof runs[0].y));
	for (int r = 0; r < RUNS; r++) {
		hbDNNInferCtrlParam control;
		hbDNNTaskHandle_t task = NULL;
		HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
		memcpy(in.sysMem[0].virAddr, runs[r].x, sizeof runs[r].x);
		OK(hbSysFlushMem(&in.sysMem[0], HB_SYS_MEM_CACHE_CLEAN));
		OK(hbDNNInfer(&task, &results, &in, handle, &control));
		OK(hbDNNWaitTaskDone(task, 0));
		OK(hbSysFlushMem(&out.sysMem[0], HB_SYS_MEM_CACHE_INVALIDATE));
		CHECK(memcmp(out.sysMem[0].virAddr, runs[r].y, sizeof runs[r].y) == 0, "run %d", r);
		shape(task, runs[r].count);
		OK(hbDNNReleaseTask(task));
	}
	OK(hbSysFreeMem(&in.sysMem[0]));
	OK(hbSysFreeMem(&out.sysMem[0]));
	OK(hbDNNRelease(packed));
}

int main(void)
{
	host_begin();
	by_rknn();
	by_hbdnn();
	CHECK(anynpu_output_shape(&(int){0}, 0, NULL, 0) == -1, "a pointer of ours");
	return host_end();
}
