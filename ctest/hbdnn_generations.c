/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ANYNPU_HBDNN_ABI=VERSION hbdnn_generations VERSION
 *
 * A program built with older hbDNN headers, whose structs are smaller: properties and arrays of tensors end at a page
 * that cannot be touched, and hold what they should. The two forms of hbDNNGetInputDesc are served in one process.
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
	CHECK(common.validShape.dimensionSize[1] == size && common.tensorType == HB_DNN_TENSOR_TYPE_F32 && common.quantiType == NONE, "properties");
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

	/* What changed its arguments after 1.9 is refused there before anything is read. */
	float result = 7;
	hbDNNTensorShape one = {{1, 1, 1, 1}, 4};
	int32_t code = hbDNNUnquantizeByScale(&result, HB_DNN_TENSOR_TYPE_S8, one, &data[0][2], "\x02");
	CHECK(g == 0 ? code == HB_DNN_API_USE_ERROR && result == 7 : code == HB_DNN_SUCCESS && result == 6, "code %d, %g", code, (double)result);
	OK(hbDNNRelease(pack));
	unguard(properties, own);
	unguard(in, tensor);
	unguard(out, tensor);
	return host_end();
}
