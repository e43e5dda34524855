/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * RGB images of which a program has subtracted 128, as some for X5 do: the metadata of a model say so, or a variable
 * for all models. Without either one line says how.
 */
#include "hbdnn_sample.h"

enum { PIXELS = 4 };

static int lines; /* of the log that name the key */

static void count(int level, const char *component, const char *line, void *user)
{
	(void)level, (void)component, (void)user;
	lines += strstr(line, "anynpu.input.NAME.bytes") != NULL && strstr(line, "ANYNPU_HBDNN_BYTES") != NULL;
}

/* y = Relu(x), x an RGB image in planes; bytes is the key's value, or NULL. */
static void check(const char *bytes, bool taken_signed)
{
	const int64_t dims[] = {1, 3, 1, PIXELS};
	struct rknn_message model = rknn_relu(dims, 4);
	hbDNNHandle_t handle;
	hbDNNTensor in, out, *outs = &out;
	hbDNNTaskHandle_t task = NULL;
	hbDNNInferCtrlParam control = {0};
	rknn_meta(&model, "anynpu.input.x.pixel", "rgb");
	rknn_meta(&model, "anynpu.input.x.layout", "nchw");
	if (bytes != NULL)
		rknn_meta(&model, "anynpu.input.x.bytes", bytes);
	hbPackedDNNHandle_t pack = sample_load(&model, &handle);
	sample_tensor(&in, handle, true, 0);
	sample_tensor(&out, handle, false, 0);
	CHECK(in.properties.tensorType == HB_DNN_IMG_TYPE_RGB, "type %d", in.properties.tensorType);
	for (int i = 0; i < 3 * PIXELS; i++) /* pixels 0, 23, 46 ... 253 */
		((int8_t *)in.sysMem[0].virAddr)[i] = (int8_t)(i * 23 - 128);
	sample_clean(&in);
	OK(hbDNNInfer(&task, &outs, &in, handle, &control));
	sample_finish(task);
	sample_invalidate(&out);
	for (int i = 0; i < 3 * PIXELS; i++) {
		int want = taken_signed ? i * 23 : (i * 23 + 128) % 256;
		CHECK(sample_floats(&out)[i] == (float)want, "pixel %d is %g, want %d", i, (double)sample_floats(&out)[i], want);
	}
	OK(hbSysFreeMem(&in.sysMem[0]));
	OK(hbSysFreeMem(&out.sysMem[0]));
	OK(hbDNNRelease(pack));
}

int main(void)
{
	host_begin();
	anynpu_set_log_callback(count, NULL);
	check("signed", true);
	check("unsigned", false);
	CHECK(lines == 0, "%d lines although the key is there", lines);
	check(NULL, false);
	check(NULL, false);
	CHECK(lines == 1, "%d lines, want one", lines);
	CHECK(setenv("ANYNPU_HBDNN_BYTES", "signed", 1) == 0, "setenv");
	check(NULL, true);
	check("unsigned", false);
	printf("hbdnn_bytes: right\n");
	return host_end();
}
