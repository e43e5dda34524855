/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ANYNPU_HBDNN_ABI=VERSION hbdnn_generations VERSION
 *
 * A program built with older hbDNN headers, whose structs are smaller: properties and arrays of tensors end at a page
 * that cannot be touched, and hold what they should. The two forms of hbDNNGetInputDesc are served in one process, and
 * the helpers with the arguments of the version: what they read and write ends at such a page, too.
 */
#include <sys/mman.h>

#include "hbdnn_model.h"

/* What all generations have in common. */
#define COMMON                            \
	hbDNNTensorShape validShape;          \
	hbDNNTensorShape alignedShape;        \
	int32_t tensorLayout;                 \
	int32_t tensorType;                   \
	hbDNNQuantiShift shift;               \
	hbDNNQuantiScale scale;               \
	hbDNNQuantiType quantiType;

struct properties_1_9 {
	COMMON
	int32_t alignedByteSize;
};

struct properties_1_14 {
	COMMON
	int32_t quantizeAxis;
	int32_t alignedByteSize;
};

_Static_assert(sizeof(struct properties_1_9) == 136, "1.9");
_Static_assert(sizeof(struct properties_1_14) == 144, "1.14");
_Static_assert(sizeof(hbDNNTensorProperties) == 176, "1.18");

/* n bytes that end at a page which cannot be touched. */
static void *guarded(size_t n)
{
	size_t page = 4096, whole = (n + page - 1) / page * page;
	char *p = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED, "no memory");
	CHECK(!mprotect(p + whole, page, PROT_NONE), "mprotect");
	return p + whole - n;
}

static void unguard(void *p, size_t n)
{
	size_t page = 4096, whole = (n + page - 1) / page * page;
	munmap((char *)p + n - whole, whole + page);
}

typedef int32_t (*older_desc)(char const **desc, hbDNNHandle_t model, int32_t index);

/* The functions of 1.9, found as a program of that version finds them. */
static older_desc older_of(void *function)
{
	older_desc f;
	memcpy(&f, &function, sizeof f);
	return f;
}

typedef int32_t (*older_unquantize)(float *output, int32_t type, int32_t layout, hbDNNTensorShape shape,
	const float *scales, const void *input);
typedef int32_t (*older_part)(void *output, int32_t to, const void *input, int32_t from, int32_t type,
	hbDNNTensorShape shape, bool turn, hbDNNRoi box);
typedef int32_t (*older_element)(void *output, const void *input, int32_t from, int32_t type, hbDNNTensorShape shape,
	bool turn, hbDNNRoi box);

/* The helpers whose arguments changed after 1.9, on a tensor of 1 x 2 x 2 x 3, N, H, W, C. */
static void helpers(bool oldest)
{
	static const int8_t planes[12] = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51};
	static const float by_channel[3] = {1, 10, 100};
	hbDNNTensorShape nchw = {{1, 3, 2, 2}, 4}, nhwc = {{1, 2, 2, 3}, 4}, coord = {{0, 1, 0, 0}, 4},
		size = {{1, 1, 2, 3}, 4};
	hbDNNRoi row = {.left = 0, .top = 1, .right = 1, .bottom = 1};
	int8_t *in = guarded(12), *part = guarded(6), *one = guarded(1);
	float *scales = guarded(12), *floats = guarded(48);
	memcpy(in, planes, 12);
	memcpy(scales, by_channel, 12);
	if (oldest) {
		older_unquantize unquantize;
		older_part turn;
		older_element element;
		void *function = (void *)hbDNNUnquantizeByScale;
		memcpy(&unquantize, &function, sizeof unquantize);
		function = (void *)hbDNNConvertLayoutRoi;
		memcpy(&turn, &function, sizeof turn);
		function = (void *)hbDNNConvertLayoutToNative1111;
		memcpy(&element, &function, sizeof element);
		OK(unquantize(floats, HB_DNN_TENSOR_TYPE_S8, HB_DNN_LAYOUT_NCHW, nchw, scales, in));
		for (int i = 0; i < 12; i++)
			CHECK(floats[i] == (float)planes[i] * by_channel[i / 4], "element %d is %g", i, (double)floats[i]);
		OK(turn(part, HB_DNN_LAYOUT_NHWC, in, HB_DNN_LAYOUT_NCHW, HB_DNN_TENSOR_TYPE_S8, nchw, false, row));
		OK(element(one, in, HB_DNN_LAYOUT_NCHW, HB_DNN_TENSOR_TYPE_S8, nchw, false, row));
		row.bottom = 2;
		CHECK(turn(part, HB_DNN_LAYOUT_NHWC, in, HB_DNN_LAYOUT_NCHW, HB_DNN_TENSOR_TYPE_S8, nchw, false,
			row) == HB_DNN_INVALID_ARGUMENT, "row 2 of 2");
	} else {
		OK(hbDNNUnquantizeByScale(floats, HB_DNN_TENSOR_TYPE_S8, nhwc, scales, in));
		for (int i = 0; i < 12; i++)
			CHECK(floats[i] == (float)planes[i] * by_channel[i % 3], "element %d is %g", i, (double)floats[i]);
		OK(hbDNNConvertLayoutRoi(part, HB_DNN_LAYOUT_NHWC, in, HB_DNN_LAYOUT_NCHW, HB_DNN_TENSOR_TYPE_S8, nchw, false, coord,
			size));
		OK(hbDNNConvertLayoutToNative1111(one, in, HB_DNN_LAYOUT_NCHW, HB_DNN_TENSOR_TYPE_S8, nchw, false, coord));
	}
	static const int8_t second_row[6] = {10, 30, 50, 11, 31, 51};
	CHECK(!memcmp(part, second_row, 6) && *one == 10, "%d, %d, %d ..., %d", part[0], part[1], part[2], *one);
	unguard(in, 12);
	unguard(part, 6);
	unguard(one, 1);
	unguard(scales, 12);
	unguard(floats, 48);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *version;
		size_t size, bytes;
	} generations[] = {{"1.9", "1.9.7", 136, 132}, {"1.12", "1.12.3", 136, 132}, {"1.14", "1.14.1", 144, 136},
		{"1.18", "1.18.6", 176, 136}, {"1.23", "1.24.5", 176, 136}};
	static const int64_t size = 6;
	hbDNNHandle_t model;
	int g = 0;
	host_begin();
	CHECK(argc == 2, "usage: hbdnn_generations VERSION");
	while (g < 5 && strcmp(generations[g].name, argv[1]))
		g++;
	CHECK(g < 5, "no version %s", argv[1]);
	CHECK(!strcmp(hbDNNGetVersion(), generations[g].version), "version %s", hbDNNGetVersion());
	size_t own = generations[g].size, tensor = 96 + own;
	hbPackedDNNHandle_t pack = relu_pack(&size, 1, &model);

	/* The structs are as long as the generation has them, at the end of memory. */
	char *properties = guarded(own), *in = guarded(tensor), *out = guarded(tensor);
	memset(properties, 0xa5, own);
	OK(hbDNNGetInputTensorProperties((hbDNNTensorProperties *)(void *)properties, model, 0));
	hbDNNTensorProperties common;
	memcpy(&common, properties, 136);
	CHECK(common.validShape.dimensionSize[1] == size && common.tensorType == HB_DNN_TENSOR_TYPE_F32 &&
		common.quantiType == NONE, "properties");
	int32_t bytes;
	memcpy(&bytes, properties + generations[g].bytes, sizeof bytes);
	CHECK(bytes == size * 4, "%d bytes", bytes);

	float data[2][6] = {{1, -2, 3, -4, 5, -6}};
	hbSysMem memory[2] = {{(uintptr_t)data[0], data[0], sizeof data[0]}, {(uintptr_t)data[1], data[1], sizeof data[1]}};
	memcpy(in, &memory[0], sizeof memory[0]);
	memcpy(out, &memory[1], sizeof memory[1]);
	memcpy(in + 96, properties, own);
	OK(hbDNNGetOutputTensorProperties((hbDNNTensorProperties *)(void *)(out + 96), model, 0));
	hbDNNTaskHandle_t task = NULL;
	hbDNNTensor *outputs = (hbDNNTensor *)(void *)out;
	hbDNNInferCtrlParam control;
	HB_DNN_INITIALIZE_INFER_CTRL_PARAM(&control);
	OK(hbDNNInfer(&task, &outputs, (hbDNNTensor *)(void *)in, model, &control));
	OK(hbDNNWaitTaskDone(task, 0));
	OK(hbDNNReleaseTask(task));
	for (int i = 0; i < 6; i++)
		CHECK(data[1][i] == (data[0][i] > 0 ? data[0][i] : 0), "element %d is %g", i, (double)data[1][i]);

	/* Both forms of one function. */
	char const *newer = NULL, *older = NULL;
	uint32_t length;
	int32_t type;
	OK(hbDNNGetInputDesc(&newer, &length, &type, model, 0));
	OK(older_of((void *)hbDNNGetInputDesc)(&older, model, 0));
	CHECK(newer && newer == older && strlen(newer) == length && type == HB_DNN_DESC_TYPE_STRING, "%s, %s", newer, older);
	CHECK(older_of((void *)hbDNNGetOutputDesc)(&older, model, 1) == HB_DNN_INVALID_ARGUMENT && !older, "index 1 is taken");

	helpers(g == 0);
	OK(hbDNNRelease(pack));
	unguard(properties, own);
	unguard(in, tensor);
	unguard(out, tensor);
	return host_end();
}
