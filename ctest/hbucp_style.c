/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What public programs for UCP do: NV12 as y and uv with strides filled in for 32 and for 64 bytes, a part of a larger
 * image by strides alone, heads of 32-bit codes with a scale per channel read densely by channel, memory that two models
 * share, tensors that end before the wait, results read after the release, a failed load and what destructors do then,
 * descriptions, and the names of the vendor's other libraries.
 */
#include <math.h>

#include "hbucp_model.h"

enum { H = 8, W = 20, BIG_H = 24, BIG_W = 64, CHANNELS = 4 };

static double relu(double x) { return x > 0 ? x : 0; }

/* The planes of a big image, in a fixed order. */
static uint8_t big_y[BIG_H * BIG_W], big_uv[BIG_H / 2 * BIG_W];

static void paint(void)
{
	for (int i = 0; i < BIG_H * BIG_W; i++)
		big_y[i] = (uint8_t)(i * 31 % 256);
	for (int i = 0; i < BIG_H / 2 * BIG_W; i++)
		big_uv[i] = (uint8_t)(60 + i * 17 % 140);
}

/* Red, green and blue of a pixel of the big image. */
static double color(int c, int y, int x)
{
	double l = big_y[y * BIG_W + x], u = big_uv[y / 2 * BIG_W + x / 2 * 2] - 128., v = big_uv[y / 2 * BIG_W + x / 2 * 2 + 1] - 128.;
	return relu(c == 0 ? l + 1.402 * v : c == 1 ? l - 0.344136 * u - 0.714136 * v : l + 1.772 * u);
}

static void run(hbDNNHandle_t model, hbDNNTensor *in, hbDNNTensor *out)
{
	hbUCPTaskHandle_t task = NULL;
	hbDNNTensor gone[2] = {in[0], in[1]}, gone_out = *out;
	OK(hbDNNInferV2(&task, &gone_out, gone, model));
	OK(submit_at(task, 0, 0));
	memset(gone, 0xee, sizeof gone);
	memset(&gone_out, 0xee, sizeof gone_out);
	OK(hbUCPWaitTaskDone(task, 10000));
	OK(hbUCPReleaseTask(task));
	OK(hbUCPMemFlush(&out->sysMem, HB_SYS_MEM_CACHE_INVALIDATE));
}

/* The model's image is the part at top and left of the big one. */
static void judge(const hbDNNTensor *out, int top, int left)
{
	const float *got = out->sysMem.virAddr;
	for (int c = 0; c < 3; c++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				double want = color(c, top + y, left + x);
				CHECK(fabs(got[(c * H + y) * W + x] - want) <= 0.51, "channel %d, row %d, column %d: %g, want %g", c, y, x,
					(double)got[(c * H + y) * W + x], want);
			}
}

static void frames(void)
{
	static const int64_t dims[] = {1, 3, H, W};
	static const char *const meta[] = {"anynpu.input.x.pixel", "nv12", NULL};
	hbDNNHandle_t model;
	hbDNNPackedHandle_t pack = relu_load(&model, dims, 4, meta);
	int32_t count;
	char const *name;
	OK(hbDNNGetInputCount(&count, model));
	CHECK(count == 2, "%d inputs", count);
	OK(hbDNNGetInputName(&name, model, 0));
	CHECK(!strcmp(name, "x_y"), "%s", name);
	OK(hbDNNGetInputName(&name, model, 1));
	CHECK(!strcmp(name, "x_uv"), "%s", name);
	for (int64_t alignment = 32; alignment <= 64; alignment *= 2) {
		hbDNNTensor in[2], out;
		for (int i = 0; i < 2; i++) {
			tensor_make(&in[i], model, true, i, alignment);
			for (int row = 0; row < H >> i; row++)
				memcpy((char *)in[i].sysMem.virAddr + row * in[i].properties.stride[1], (i ? big_uv : big_y) + row * BIG_W, W);
			OK(hbUCPMemFlush(&in[i].sysMem, HB_SYS_MEM_CACHE_CLEAN));
		}
		CHECK(in[0].properties.stride[1] == alignment && in[0].properties.alignedByteSize == -1, "stride %lld",
			(long long)in[0].properties.stride[1]);
		tensor_make(&out, model, false, 0, alignment);
		run(model, in, &out);
		judge(&out, 0, 0);
		/* a part of the big image, of memory that UCP never made */
		for (int i = 0; i < 2; i++) {
			OK(hbUCPFree(&in[i].sysMem));
			in[i].sysMem.virAddr = i ? big_uv + 5 * BIG_W + 12 : big_y + 10 * BIG_W + 12;
			in[i].sysMem.memSize = i ? sizeof big_uv - (5 * BIG_W + 12) : sizeof big_y - (10 * BIG_W + 12);
			in[i].properties.stride[1] = BIG_W;
			in[i].properties.stride[0] = (int64_t)BIG_W * (H >> i);
		}
		run(model, in, &out);
		judge(&out, 10, 12);
		in[1].properties.stride[1] = -1;
		hbUCPTaskHandle_t task = NULL;
		CHECK(hbDNNInferV2(&task, &out, in, model) == HB_UCP_INVALID_ARGUMENT && !task, "a stride that is not filled in");
		OK(hbUCPFree(&out.sysMem));
	}
	OK(hbDNNRelease(pack));
}

/* A head as detectors read it: int32_t by channel, times scaleData of the channel. */
static void heads(void)
{
	static const int64_t dims[] = {1, CHANNELS, 2, 3};
	static const char *const meta[] = {"anynpu.output.y.codes", "{\"type\": \"int32\", \"scale\": [0.001, 0.01, 0.5, 0.25], \"axis\": 3}",
		"anynpu.output.y.layout", "nhwc", NULL};
	hbDNNHandle_t model;
	hbDNNPackedHandle_t pack = relu_load(&model, dims, 4, meta);
	struct tensors t;
	tensors_make(&t, model);
	const hbDNNTensorProperties *p = &t.out.properties;
	CHECK(p->tensorType == HB_DNN_TENSOR_TYPE_S32 && p->quantiType == SCALE && p->quantizeAxis == 3 && p->scale.scaleLen == CHANNELS &&
		p->scale.zeroPointLen == CHANNELS && p->validShape.dimensionSize[3] == CHANNELS, "type %d, axis %d", p->tensorType, p->quantizeAxis);
	for (int i = 0; i < CHANNELS * 6; i++)
		input_of(&t)[i] = (float)i * 0.73f - 3;
	OK(hbDNNInferV2(NULL, &t.out, &t.in, model));
	const int32_t *codes = t.out.sysMem.virAddr;
	for (int at = 0; at < 6; at++)
		for (int c = 0; c < CHANNELS; c++) {
			float x = input_of(&t)[c * 6 + at], want = x > 0 ? x : 0, scale = p->scale.scaleData[c];
			CHECK(p->scale.zeroPointData[c] == 0, "zero point %d", p->scale.zeroPointData[c]);
			CHECK(codes[at * CHANNELS + c] == (int32_t)lrintf(want / scale), "%d, want %g / %g", codes[at * CHANNELS + c], (double)want,
				(double)scale);
		}
	OK(hbUCPFree(&t.in.sysMem));
	OK(hbUCPFree(&t.out.sysMem));
	OK(hbDNNRelease(pack));
}

static void descriptions(void)
{
	static const int64_t dims[] = {1, 4};
	hbDNNHandle_t model;
	hbDNNPackedHandle_t pack = relu_load(&model, dims, 2, NULL);
	char const *text;
	uint32_t size;
	int32_t type, cores;
	OK(hbDNNGetModelDesc(&text, &size, &type, model));
	CHECK(size == 2 && !strcmp(text, "{}") && type == HB_DNN_DESC_TYPE_STRING, "%u %s", size, text);
	OK(hbDNNGetHBMDesc(&text, &size, &type, pack, 0));
	OK(hbDNNGetInputDesc(&text, &size, &type, model, 0));
	OK(hbDNNGetOutputDesc(&text, &size, &type, model, 0));
	CHECK(size == 0 && text, "%u", size);
	CHECK(hbDNNGetHBMDesc(&text, &size, &type, pack, 1) == HB_UCP_INVALID_ARGUMENT, "a file that was not loaded");
	OK(hbDNNGetCompileBpuCoreNum(&cores, model));
	CHECK(cores == 1 && strstr(hbUCPGetSocName(), "S100") && !strcmp(hbUCPGetVersion(), "3.13.6") &&
		!strncmp(hbDNNGetVersion(), "3.13.6_(", 8), "%d %s %s %s", cores, hbUCPGetSocName(), hbUCPGetVersion(), hbDNNGetVersion());
	OK(hbDNNRelease(pack));
}

/* A load that fails, and destructors that run all the same. */
static void failed_load(void)
{
	const char *name = "no such folder/model.hbm";
	hbDNNPackedHandle_t pack = NULL;
	hbUCPSysMem none;
	memset(&none, 0, sizeof none);
	CHECK(hbDNNInitializeFromFiles(&pack, &name, 1) == HB_UCP_FILE_OPEN_FAILED && !pack, "a file that is not there");
	CHECK(hbUCPFree(&none) == HB_UCP_MEM_FREE_FAIL, "an empty struct");
	CHECK(hbDNNRelease(pack) == HB_UCP_INVALID_ARGUMENT, "no pack");
	CHECK(hbUCPReleaseTask(NULL) == HB_UCP_INVALID_ARGUMENT, "no task");
	CHECK(hbUCPGetErrorDesc(HB_UCP_MODEL_IS_INUSE) == hbDNNGetErrorDesc(HB_DNN_MODEL_IS_RUNNING), "two texts for one code");
}

/* A tensor of a model may be another's. */
static void shared_memory(void)
{
	static const int64_t dims[] = {2, 3};
	hbDNNHandle_t a, b;
	hbDNNPackedHandle_t first = relu_load(&a, dims, 2, NULL), second = relu_load(&b, dims, 2, NULL);
	struct tensors t, u;
	hbUCPTaskHandle_t task = NULL;
	tensors_make(&t, a);
	tensors_make(&u, b);
	input_of(&t)[5] = 5;
	input_of(&t)[4] = -4;
	OK(hbDNNInferV2(&task, &t.out, &t.in, a));
	OK(hbDNNInferV2(&task, &u.out, &t.out, b));
	OK(submit_at(task, 0, 0));
	OK(hbUCPWaitTaskDone(task, 0));
	CHECK(hbDNNRelease(second) == HB_UCP_MODEL_IS_INUSE, "a pack whose task is done and not released");
	OK(hbUCPReleaseTask(task));
	CHECK(output_of(&u)[5] == 5 && output_of(&u)[4] == 0, "%g %g", (double)output_of(&u)[5], (double)output_of(&u)[4]);
	tensors_free(&t);
	tensors_free(&u);
	OK(hbDNNRelease(first));
	OK(hbDNNRelease(second));
}

int main(void)
{
	host_begin();
	paint();
	frames();
	heads();
	descriptions();
	failed_load();
	shared_memory();
	printf("hbucp_style: all right\n");
	return host_end();
}
