/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Regions of two cameras for a model with two resizer inputs and a batch of two: five pairs, the last run filled up.
 */
#include "hbdnn_sample.h"

enum { SIDE = 4, PAIRS = 5, RUNS = 3, BATCH = 2, H = 16, W = 21, PITCH = 32 };

/* z = a + b, gray images whose regions are scaled to 4 x 4. */
static struct rknn_message adds(void)
{
	const int64_t dims[] = {BATCH, 1, SIDE, SIDE};
	struct rknn_message graph = {0};
	rknn_node(&graph, "Add", "z", "a", "b");
	rknn_port(&graph, 11, "a", dims, 4);
	rknn_port(&graph, 11, "b", dims, 4);
	rknn_port(&graph, 12, "z", dims, 4);
	struct rknn_message model = rknn_model(graph);
	for (const char *const *key = (const char *const[]){"anynpu.input.a", "anynpu.input.b", NULL}; *key; key++) {
		char name[64];
		snprintf(name, sizeof name, "%s.pixel", *key);
		rknn_meta(&model, name, "gray");
		snprintf(name, sizeof name, "%s.source", *key);
		rknn_meta(&model, name, "resizer");
	}
	return model;
}

int main(void)
{
	host_begin();
	struct rknn_message bytes = adds();
	hbDNNHandle_t model;
	hbPackedDNNHandle_t pack = sample_load(&bytes, &model);
	hbDNNTensor cameras[2], in[PAIRS * 2], out, *outs = &out;
	hbDNNRoi rois[PAIRS * 2];
	hbDNNTaskHandle_t task = NULL;
	hbDNNInferCtrlParam control = {0};
	for (int c = 0; c < 2; c++) {
		int32_t source;
		OK(hbDNNGetInputSource(&source, model, c));
		CHECK(source == HB_DNN_INPUT_FROM_RESIZER, "source %d", source);
		sample_gray(&cameras[c], H, W, PITCH);
		for (int i = 0; i < H * PITCH; i++)
			sample_bytes(&cameras[c])[i] = (uint8_t)(i * (7 + 6 * c) + i / PITCH);
		sample_clean(&cameras[c]);
	}
	sample_tensor(&out, model, false, 0);
	int each = out.properties.alignedByteSize;
	OK(hbSysFreeMem(&out.sysMem[0]));
	OK(hbSysAllocCachedMem(&out.sysMem[0], (uint32_t)(RUNS * each)));
	for (int i = 0; i < PAIRS * 2; i++) { /* regions of the model's size: nothing is scaled */
		int left = i * 3 % (W - SIDE), top = i * 5 % (H - SIDE);
		in[i] = cameras[i % 2];
		rois[i] = (hbDNNRoi){left, top, left + SIDE - 1, top + SIDE - 1};
	}
	OK(hbDNNRoiInfer(&task, &outs, in, rois, PAIRS * 2, model, &control));
	sample_finish(task);
	sample_invalidate(&out);
	for (int pair = 0; pair < PAIRS; pair++)
		for (int i = 0; i < SIDE * SIDE; i++) {
			int want = 0;
			for (int c = 0; c < 2; c++) {
				const hbDNNRoi *r = &rois[pair * 2 + c];
				want += sample_bytes(&cameras[c])[(r->top + i / SIDE) * PITCH + r->left + i % SIDE];
			}
			float got = sample_floats(&out)[pair * SIDE * SIDE + i];
			CHECK(got == (float)want, "pair %d, pixel %d: %g, want %d", pair, i, (double)got, want);
		}
	for (int c = 0; c < 2; c++)
		OK(hbSysFreeMem(&cameras[c].sysMem[0]));
	OK(hbSysFreeMem(&out.sysMem[0]));
	OK(hbDNNRelease(pack));
	printf("hbdnn_rois: %d pairs of regions in %d runs\n", PAIRS, RUNS);
	return host_end();
}
