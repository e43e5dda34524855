/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A detector's head whose results are codes with a scale for each channel: decoded as quantizeAxis and stride say,
 * overlapping boxes suppressed.
 */
#include <math.h>

#include "hbdnn_sample.h"

enum { GRID = 4, FIELDS = 6, ANCHORS = 2, CHANNELS = ANCHORS * FIELDS, MOST = GRID * GRID * ANCHORS };

struct box {
	float x, y, w, h, score;
	bool gone;
};

/* codes = QuantizeLinear(Relu(x)), which leave the model as they are. */
static struct rknn_message head(void)
{
	const int64_t dims[] = {1, CHANNELS, GRID, GRID}, channels[] = {CHANNELS};
	float scales[CHANNELS];
	struct rknn_message graph = {0};
	for (int c = 0; c < CHANNELS; c++)
		scales[c] = c % FIELDS < 4 ? 0.25f : 1.0f / 128;
	rknn_constant(&graph, "scale", channels, 1, scales, sizeof scales);
	rknn_node(&graph, "Relu", "r", "x", NULL);
	rknn_node(&graph, "QuantizeLinear", "q", "r", "scale");
	rknn_node(&graph, "DequantizeLinear", "y", "q", "scale");
	rknn_port(&graph, 11, "x", dims, 4);
	rknn_port(&graph, 12, "y", dims, 4);
	return rknn_model(graph);
}

/* Puts a box into the feature map. */
static void plant(float *features, int anchor, int row, int column, struct box b)
{
	const float fields[FIELDS] = {b.x, b.y, b.w, b.h, b.score, 1};
	for (int f = 0; f < FIELDS; f++)
		features[((anchor * FIELDS + f) * GRID + row) * GRID + column] = fields[f];
}

/* The number behind a code. */
static float number(const hbDNNTensor *t, int c, int row, int column)
{
	const hbDNNTensorProperties *p = &t->properties;
	int at = c * p->stride[1] + row * p->stride[2] + column * p->stride[3];
	int code = ((const uint8_t *)t->sysMem[0].virAddr)[at];
	int i = p->scale.scaleLen > 1 ? c : 0;
	return ((float)code - (float)p->scale.zeroPointData[i]) * p->scale.scaleData[i];
}

static int decode(const hbDNNTensor *t, struct box *boxes)
{
	int n = 0;
	for (int a = 0; a < ANCHORS; a++)
		for (int row = 0; row < GRID; row++)
			for (int column = 0; column < GRID; column++) {
				float v[FIELDS];
				for (int f = 0; f < FIELDS; f++)
					v[f] = number(t, a * FIELDS + f, row, column);
				if (v[4] * v[5] > 0.3f)
					boxes[n++] = (struct box){v[0], v[1], v[2], v[3], v[4] * v[5], false};
			}
	return n;
}

static float overlap(struct box a, struct box b)
{
	float w = fminf(a.x + a.w, b.x + b.w) - fmaxf(a.x, b.x), h = fminf(a.y + a.h, b.y + b.h) - fmaxf(a.y, b.y);
	float both = fmaxf(w, 0) * fmaxf(h, 0);
	return both / (a.w * a.h + b.w * b.h - both);
}

static int suppress(struct box *boxes, int n)
{
	int left = n;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			if (!boxes[i].gone && !boxes[k].gone && boxes[k].score < boxes[i].score && overlap(boxes[i], boxes[k]) > 0.5f) {
				boxes[k].gone = true;
				left--;
			}
	return left;
}

int main(void)
{
	host_begin();
	struct rknn_message bytes = head();
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = sample_load(&bytes, &model);
	hbDNNTensor in, out, *outs = &out;
	hbDNNTaskHandle_t task = NULL;
	hbDNNInferCtrlParam control = {0};
	struct box boxes[MOST];
	sample_tensor(&in, model, true, 0);
	sample_tensor(&out, model, false, 0);
	const hbDNNTensorProperties *p = &out.properties;
	CHECK(p->tensorType == HB_DNN_TENSOR_TYPE_U8 && p->quantiType == SCALE, "type %d, quantiType %d", p->tensorType,
		p->quantiType);
	CHECK(p->scale.scaleLen == CHANNELS && p->quantizeAxis == 1, "%d scales along axis %d", p->scale.scaleLen,
		p->quantizeAxis);
	memset(in.sysMem[0].virAddr, 0, in.sysMem[0].memSize);
	plant(sample_floats(&in), 0, 1, 2, (struct box){10, 10, 20, 20, 0.9f, false});
	plant(sample_floats(&in), 1, 1, 3, (struct box){12, 11, 20, 20, 0.8f, false});
	plant(sample_floats(&in), 1, 3, 0, (struct box){40.25f, 2, 8, 8, 0.5f, false});
	plant(sample_floats(&in), 0, 0, 0, (struct box){1, 1, 5, 5, 0.1f, false});
	sample_clean(&in);
	OK(hbDNNInfer(&task, &outs, &in, model, &control));
	sample_finish(task);
	sample_invalidate(&out);
	int found = decode(&out, boxes), left = suppress(boxes, found);
	CHECK(found == 3 && left == 2, "%d boxes, %d after suppression", found, left);
	for (int i = 0; i < found; i++)
		if (!boxes[i].gone)
			CHECK((boxes[i].x == 10 && boxes[i].w == 20 && fabsf(boxes[i].score - 0.9f) < 0.01f) ||
			          (boxes[i].x == 40.25f && boxes[i].h == 8 && fabsf(boxes[i].score - 0.5f) < 0.01f),
			      "a box at %g of score %g", (double)boxes[i].x, (double)boxes[i].score);
	OK(hbSysFreeMem(&in.sysMem[0]));
	OK(hbSysFreeMem(&out.sysMem[0]));
	OK(hbDNNRelease(pack));
	printf("hbdnn_yolo: %d boxes of %d\n", left, found);
	return host_end();
}
