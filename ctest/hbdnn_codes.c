/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A float network whose outputs a program wants as codes, as boards give them of the heads of detectors: boxes of 32
 * bits with a scale per channel, channels last, and prototypes of 16 bits. The model transposes the boxes; the
 * prototypes are NCHW in it and NHWC for the program.
 */
#include <math.h>

#include "hbdnn_sample.h"

enum { GRID = 3, BINS = 64, MASKS = 4, CELLS = GRID * GRID };

/* A node's list of whole numbers: an AttributeProto of type INTS. */
static void integers(struct rknn_message *node, const char *name, const int64_t *v, int n)
{
	struct rknn_message a = {0};
	rknn_text(&a, 1, name);
	for (int i = 0; i < n; i++)
		rknn_number(&a, 8, (uint64_t)v[i]);
	rknn_number(&a, 20, 7);
	rknn_part(node, 5, &a);
}

/* boxes = Transpose(Relu(x)), masks = Relu(z), all names in metadata. */
static struct rknn_message head(const char *boxes, const char *masks)
{
	const int64_t x[] = {1, BINS, GRID, GRID}, y[] = {1, GRID, GRID, BINS}, z[] = {1, MASKS, GRID, GRID},
		last[] = {0, 2, 3, 1};
	struct rknn_message graph = {0}, turn = {0};
	rknn_node(&graph, "Relu", "r", "x", NULL);
	rknn_text(&turn, 1, "r");
	rknn_text(&turn, 2, "boxes");
	rknn_text(&turn, 4, "Transpose");
	integers(&turn, "perm", last, 4);
	rknn_part(&graph, 1, &turn);
	rknn_node(&graph, "Relu", "masks", "z", NULL);
	rknn_port(&graph, 11, "x", x, 4);
	rknn_port(&graph, 11, "z", z, 4);
	rknn_port(&graph, 12, "boxes", y, 4);
	rknn_port(&graph, 12, "masks", z, 4);
	struct rknn_message model = rknn_model(graph);
	rknn_meta(&model, boxes, "int32");
	if (masks != NULL)
		rknn_meta(&model, "anynpu.output.masks.codes", masks);
	rknn_meta(&model, "anynpu.output.masks.layout", "nhwc");
	return model;
}

/* Numbers of a closed form, a third of them negative, one beyond all codes. */
static float number(int i) { return i == 7 ? 1e9f : (float)((i * 37) % 101 - 30) * 0.37f; }

static void check(const char *boxes, const char *masks, float scale)
{
	struct rknn_message bytes = head(boxes, masks);
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = sample_load(&bytes, &model);
	hbDNNTensor in[2], out[2], *outs = out;
	hbDNNTaskHandle_t task = NULL;
	hbDNNInferCtrlParam control = {0};
	for (int i = 0; i < 2; i++) {
		sample_tensor(&in[i], model, true, i);
		sample_tensor(&out[i], model, false, i);
	}
	const hbDNNTensorProperties *p = &out[0].properties, *q = &out[1].properties;
	CHECK(p->tensorType == HB_DNN_TENSOR_TYPE_S32 && p->quantiType == SCALE && p->tensorLayout == HB_DNN_LAYOUT_NHWC,
	      "type %d, quantiType %d, layout %d", p->tensorType, p->quantiType, p->tensorLayout);
	CHECK(p->validShape.dimensionSize[3] == BINS && p->quantizeAxis == 3 && p->scale.scaleLen == BINS &&
		p->scale.zeroPointLen == BINS,
	      "%d scales along axis %d", p->scale.scaleLen, p->quantizeAxis);
	CHECK(p->alignedByteSize == CELLS * BINS * 4 && p->stride[3] == 4 && p->stride[2] == BINS * 4, "%d bytes",
		p->alignedByteSize);
	CHECK(q->tensorType == (masks ? HB_DNN_TENSOR_TYPE_S16 : HB_DNN_TENSOR_TYPE_S32) && q->quantiType == SCALE, "type %d",
		q->tensorType);
	CHECK(q->tensorLayout == HB_DNN_LAYOUT_NHWC && q->validShape.dimensionSize[1] == GRID &&
		q->validShape.dimensionSize[3] == MASKS,
	      "layout %d, %d channels", q->tensorLayout, q->validShape.dimensionSize[3]);
	for (int i = 0; i < CELLS * BINS; i++)
		sample_floats(&in[0])[i] = number(i);
	for (int i = 0; i < CELLS * MASKS; i++)
		sample_floats(&in[1])[i] = number(i);
	sample_clean(&in[0]);
	sample_clean(&in[1]);
	OK(hbDNNInfer(&task, &outs, in, model, &control));
	sample_finish(task);
	sample_invalidate(&out[0]);
	sample_invalidate(&out[1]);
	const int32_t *codes = out[0].sysMem[0].virAddr;
	for (int cell = 0; cell < CELLS; cell++)
		for (int c = 0; c < BINS; c++) {
			float v = fmaxf(number(c * CELLS + cell), 0), s = p->scale.scaleData[c];
			double want = fmin(nearbyint((double)(v / s)), INT32_MAX);
			CHECK(s == 1.0f / 65536 && p->scale.zeroPointData[c] == 0, "scale %g of channel %d", (double)s, c);
			CHECK(codes[cell * BINS + c] == (int32_t)want, "code %d at cell %d, channel %d, want %.0f", codes[cell * BINS + c],
				cell, c, want);
		}
	for (int cell = 0; masks != NULL && cell < CELLS; cell++)
		for (int c = 0; c < MASKS; c++) {
			float v = fmaxf(number(c * CELLS + cell), 0), s = q->scale.scaleData[c];
			double want = fmin(nearbyint((double)(v / s)), INT16_MAX);
			int16_t code = ((const int16_t *)out[1].sysMem[0].virAddr)[cell * MASKS + c];
			CHECK(s == scale, "scale %g of channel %d, want %g", (double)s, c, (double)scale);
			CHECK(code == (int16_t)want, "code %d at cell %d, channel %d, want %.0f", code, cell, c, want);
		}
	for (int i = 0; i < 2; i++) {
		OK(hbSysFreeMem(&in[i].sysMem[0]));
		OK(hbSysFreeMem(&out[i].sysMem[0]));
	}
	OK(hbDNNRelease(pack));
}

int main(void)
{
	host_begin();
	check("anynpu.outputs.codes", NULL, 0);
	check("anynpu.output.boxes.codes", "int16", 1.0f / 256);
	check("anynpu.outputs.codes", "{\"type\": \"int16\", \"scale\": 0.5}", 0.5f);
	check("anynpu.outputs.codes", "{\"type\": \"int16\", \"scale\": [0.25, 0.25, 0.25, 0.25], \"axis\": 3}", 0.25f);
	printf("hbdnn_codes: right\n");
	return host_end();
}
