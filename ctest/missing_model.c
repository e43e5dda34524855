/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The path of a compiled model that a program has built in, and that nobody has away from a board: NAME.onnx beside it
 * is loaded by every API that takes a path, or the file that ANYNPU_MODEL_MAP names for it. Without one, a sentence
 * says what was looked for. ARGV: a folder that exists.
 */
#include <dnn/hb_dnn.h>
#include <dnn/hb_dnn_status.h>
#include <neural_network_runtime/neural_network_core.h>
#include <rknn_api.h>

#include "host.h"
#include "rknn_model.h"

enum { N = 5 };

static char folder[4096];

static const char *at(const char *name)
{
	static char path[8192];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void save(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(at(name), "wb");
	CHECK(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0, "%s", name);
}

static void says(const char *what, const char *a, const char *b)
{
	const char *got = anynpu_last_error();
	CHECK(strstr(got, a) != NULL && strstr(got, b) != NULL, "%s: %s", what, got);
}

static void by_hbdnn(const char *name, bool there)
{
	const char *path = at(name), **names;
	hbPackedDNNHandle_t pack = NULL;
	hbDNNHandle_t model = NULL;
	hbDNNTensorProperties p;
	int32_t count = 0, code = hbDNNInitializeFromFiles(&pack, &path, 1);
	if (!there) {
		CHECK(code == HB_DNN_CAN_NOT_OPEN_FILE && pack == NULL, "code %d", code);
		says("hbdnn", name, "gone.onnx");
		return;
	}
	CHECK(code == 0, "%s: %s", name, anynpu_last_error());
	CHECK(hbDNNGetModelNameList(&names, &count, pack) == 0 && count == 1, "%d models", count);
	CHECK(hbDNNGetModelHandle(&model, pack, names[0]) == 0, "%s", names[0]);
	CHECK(hbDNNGetOutputTensorProperties(&p, model, 0) == 0 && p.validShape.dimensionSize[1] == N, "another model");
	CHECK(hbDNNRelease(pack) == 0, "release");
}

static void by_rknn(const char *name, bool there)
{
	char path[8192];
	rknn_context ctx = 0;
	strcpy(path, at(name));
	int code = rknn_init(&ctx, path, 0, 0, NULL);
	if (!there) {
		CHECK(code == RKNN_ERR_MODEL_INVALID, "code %d", code);
		says("rknn", name, "gone.onnx");
		return;
	}
	rknn_tensor_attr attr = {.index = 0};
	CHECK(code == RKNN_SUCC, "%s: %s", name, anynpu_last_error());
	CHECK(rknn_query(ctx, RKNN_QUERY_OUTPUT_ATTR, &attr, sizeof attr) == 0 && attr.n_elems == N, "%u elements",
		attr.n_elems);
	CHECK(rknn_destroy(ctx) == 0, "destroy");
}

static void by_ohnn(const char *name, bool there)
{
	OH_NNCompilation *c = OH_NNCompilation_ConstructWithOfflineModelFile(at(name));
	CHECK(c != NULL, "no compilation");
	OH_NN_ReturnCode code = OH_NNCompilation_Build(c);
	CHECK((code == OH_NN_SUCCESS) == there, "%s: code %d: %s", name, code, anynpu_last_error());
	if (!there)
		says("ohnn", name, "gone.onnx");
	OH_NNCompilation_Destroy(&c);
}

static void each(const char *name, bool there)
{
	by_hbdnn(name, there);
	by_rknn(name, there);
	by_ohnn(name, there);
}

int main(int argc, char **argv)
{
	host_begin();
	CHECK(argc == 2, "usage: missing_model FOLDER");
	snprintf(folder, sizeof folder, "%s/missing_model.XXXXXX", argv[1]);
	CHECK(mkdtemp(folder) != NULL, "%s", folder);
	const int64_t dims[] = {1, N};
	struct rknn_message model = rknn_relu(dims, 2);
	save("net.onnx", model.bytes, model.size);
	save("other.onnx", model.bytes, model.size);
	each("net.bin", true);
	each("net.hbm", true);
	each("net.rknn", true);
	each("gone.rknn", false);
	save("map", "gone.bin -> other.onnx\n", 23);
	CHECK(setenv("ANYNPU_MODEL_MAP", at("map"), 1) == 0, "setenv");
	each("gone.bin", true);
	each("gone.hbm", false);
	for (int i = 0; i < 3; i++)
		CHECK(remove(at(((const char *[]){"net.onnx", "other.onnx", "map"})[i])) == 0, "remove");
	CHECK(rmdir(folder) == 0, "rmdir");
	return host_end();
}
