/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A color image for one network as RGB and as NV12, which has one pair of chroma for 2 x 2 pixels: the results are
 * apart by what a pixel's chroma is off its pair's, and by rounding.
 */
#include <math.h>

#include "hbdnn_sample.h"

enum { H = 24, W = 40, PITCH = 48, CHANNELS = 3 };

/* y = Relu(x) of the colors. */
static struct rknn_message colors(const char *pixel)
{
	const int64_t dims[] = {1, CHANNELS, H, W};
	struct rknn_message model = rknn_relu(dims, 4);
	rknn_meta(&model, "anynpu.input.x.pixel", pixel);
	rknn_meta(&model, "anynpu.input.x.order", "rgb");
	return model;
}

static double clip(double v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

/* Smooth colors with an edge in the middle of a pair. */
static int color(int y, int x, int channel)
{
	double wave = 100 + 60 * sin(0.21 * x + 0.9 * channel) + 50 * cos(0.17 * y - 0.7 * channel);
	return (int)clip(x == 21 ? wave + 25 * (channel - 1) : wave);
}

/* Luma, and the two kinds of chroma, of a pixel: BT.601 of the full range. */
static void yuv(int y, int x, double out[3])
{
	double r = color(y, x, 0), g = color(y, x, 1), b = color(y, x, 2);
	out[0] = 0.299 * r + 0.587 * g + 0.114 * b;
	out[1] = 128 + (b - out[0]) / 1.772;
	out[2] = 128 + (r - out[0]) / 1.402;
}

static void pair_of(int y, int x, double out[2])
{
	out[0] = out[1] = 0;
	for (int k = 0; k < 4; k++) {
		double p[3];
		yuv(y / 2 * 2 + k / 2, x / 2 * 2 + k % 2, p);
		out[0] += p[1] / 4;
		out[1] += p[2] / 4;
	}
}

/* Runs the model of one kind of pixels. */
static void run(const char *pixel, float *result)
{
	struct rknn_message bytes = colors(pixel);
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = sample_load(&bytes, &model);
	hbDNNTensor in, out, *outs = &out;
	hbDNNTaskHandle_t task = NULL;
	hbDNNInferCtrlParam control = {0};
	sample_tensor(&in, model, true, 0);
	sample_tensor(&out, model, false, 0);
	bool nv12 = in.properties.tensorType == HB_DNN_IMG_TYPE_NV12;
	CHECK(nv12 || in.properties.tensorType == HB_DNN_IMG_TYPE_RGB, "type %d", in.properties.tensorType);
	uint8_t *to = sample_bytes(&in);
	int pitch = in.properties.alignedShape.dimensionSize[3];
	CHECK(!nv12 || pitch == PITCH, "rows of %d bytes", pitch);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			double p[3], pair[2];
			yuv(y, x, p);
			pair_of(y, x, pair);
			if (!nv12) {
				for (int c = 0; c < CHANNELS; c++)
					to[(y * W + x) * CHANNELS + c] = (uint8_t)color(y, x, c);
				continue;
			}
			to[y * PITCH + x] = (uint8_t)lround(p[0]);
			to[(H + y / 2) * PITCH + x] = (uint8_t)lround(clip(pair[x % 2]));
		}
	sample_clean(&in);
	OK(hbDNNInfer(&task, &outs, &in, model, &control));
	sample_finish(task);
	sample_invalidate(&out);
	memcpy(result, sample_floats(&out), CHANNELS * H * W * sizeof *result);
	OK(hbSysFreeMem(&in.sysMem[0]));
	OK(hbSysFreeMem(&out.sysMem[0]));
	OK(hbDNNRelease(pack));
}

int main(void)
{
	static float rgb[CHANNELS * H * W], nv12[CHANNELS * H * W];
	static const double of_u[] = {0, 0.344136, 1.772}, of_v[] = {1.402, 0.714136, 0};
	const double rounding = 2.5;
	double largest = 0, most = 0;
	host_begin();
	run("rgb", rgb);
	run("nv12", nv12);
	for (int i = 0; i < CHANNELS * H * W; i++) {
		int c = i / (H * W), y = i / W % H, x = i % W;
		double p[3], pair[2], apart = fabs((double)rgb[i] - (double)nv12[i]);
		CHECK(rgb[i] == (float)color(y, x, c), "channel %d of %d, %d is %g", c, y, x, (double)rgb[i]);
		yuv(y, x, p);
		pair_of(y, x, pair);
		double chroma = of_u[c] * fabs(p[1] - pair[0]) + of_v[c] * fabs(p[2] - pair[1]);
		CHECK(apart <= chroma + rounding, "channel %d of %d, %d: %g apart, chroma %g", c, y, x, apart, chroma);
		largest = fmax(largest, apart);
		most = fmax(most, apart - chroma);
	}
	printf("hbdnn_chroma: NV12 is %.1f levels from RGB at most, %.2f beyond its chroma\n", largest, most);
	return host_end();
}
