/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plain exported network, whose first input is float32 [1,3,H,W], or whose output has 64 channels, or one as a map of
 * disparities has, in a program for a board that looks for NV12 and for codes of 32 bits: one line each says which key
 * of the metadata gives them, and none where the metadata speak.
 */
#include "hbdnn_sample.h"

enum { H = 32, W = 64 };

static int frames, codes; /* lines of the log that name the keys */

static void count(int level, const char *component, const char *line, void *user)
{
	(void)level, (void)component, (void)user;
	frames += strstr(line, "anynpu.input.x.pixel = nv12") != NULL && strstr(line, "anynpu metadata") != NULL;
	codes += strstr(line, "anynpu.outputs.codes = int32") != NULL;
}

/* Loads y = Relu(x) of so many rows and asks for all that a program looks at before it goes on. */
static void look_at(const char *key, const char *value, int channels, int rows, int type)
{
	const int64_t dims[] = {1, channels, rows, W};
	struct rknn_message model = rknn_relu(dims, 4);
	hbDNNHandle_t handle;
	hbDNNTensorProperties in, out;
	if (key != NULL)
		rknn_meta(&model, key, value);
	hbPackedDNNHandle_t pack = sample_load(&model, &handle);
	OK(hbDNNGetInputTensorProperties(&in, handle, 0));
	OK(hbDNNGetOutputTensorProperties(&out, handle, 0));
	CHECK(in.tensorType == type, "type %d", in.tensorType);
	OK(hbDNNRelease(pack));
}

static void look(const char *key, const char *value, int channels, int type)
{
	look_at(key, value, channels, H, type);
}

int main(void)
{
	host_begin();
	anynpu_set_log_callback(count, NULL);
	look("anynpu.input.x.pixel", "nv12", 3, HB_DNN_IMG_TYPE_NV12);
	look("anynpu.input.x.layout", "nchw", 3, HB_DNN_TENSOR_TYPE_F32);
	look(NULL, NULL, 4, HB_DNN_TENSOR_TYPE_F32);
	CHECK(frames == 0, "%d lines about NV12", frames);
	look(NULL, NULL, 3, HB_DNN_TENSOR_TYPE_F32);
	look(NULL, NULL, 3, HB_DNN_TENSOR_TYPE_F32);
	CHECK(frames == 1, "%d lines about NV12, want one", frames);
	CHECK(codes == 0, "%d lines about codes", codes);
	look("anynpu.outputs.codes", "int32", 64, HB_DNN_TENSOR_TYPE_F32);
	look("anynpu.output.y.layout", "nchw", 64, HB_DNN_TENSOR_TYPE_F32);
	CHECK(codes == 0, "%d lines about codes", codes);
	look(NULL, NULL, 64, HB_DNN_TENSOR_TYPE_F32);
	look(NULL, NULL, 64, HB_DNN_TENSOR_TYPE_F32);
	CHECK(codes == 1, "%d lines about codes, want one", codes);
	look_at(NULL, NULL, 1, H - 1, HB_DNN_TENSOR_TYPE_F32);
	look("anynpu.output.y.layout", "nchw", 1, HB_DNN_TENSOR_TYPE_F32);
	CHECK(codes == 1, "%d lines about codes, want one", codes);
	look(NULL, NULL, 1, HB_DNN_TENSOR_TYPE_F32);
	look(NULL, NULL, 1, HB_DNN_TENSOR_TYPE_F32);
	CHECK(codes == 2, "%d lines about codes, want one of a head and one of a map", codes);
	printf("hbdnn_frames: right\n");
	return host_end();
}
