/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Models that are small as files and large in meaning, under a limit on address space. Each gets a process of its own
 * for each API, which must live: the model is refused, or it is built, and the run of one named run_*.onnx ends with
 * the API's error of memory.
 *
 *     bombs KILOBYTES FILE...    0: no limit, for ANYNPU_MEMORY_LIMIT in its place
 */
#include <libgen.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ohnn_host.h"
#include "rknn_api.h"

enum { LONGEST = 120 }; /* seconds of the processor: a loaded machine takes many more of the clock */

static void by_rknn(const char *path, int run)
{
	static char model[4096];
	FILE *f = fopen(path, "rb");
	CHECK(f != NULL, "open");
	size_t size = fread(model, 1, sizeof model, f);
	fclose(f);
	rknn_context ctx = 0;
	int code = rknn_init(&ctx, model, (uint32_t)size, 0, NULL);
	if (code != RKNN_SUCC) {
		CHECK(code == RKNN_ERR_MALLOC_FAIL || code == RKNN_ERR_MODEL_INVALID, "rknn_init: %d", code);
		return;
	}
	rknn_input_output_num n;
	CHECK(rknn_query(ctx, RKNN_QUERY_IN_OUT_NUM, &n, sizeof n) == RKNN_SUCC, "query");
	float one[16] = {1, 1, 1, 1};
	for (uint32_t i = 0; run && i < n.n_input; i++) {
		rknn_tensor_attr attr = {.index = i};
		CHECK(rknn_query(ctx, RKNN_QUERY_INPUT_ATTR, &attr, sizeof attr) == RKNN_SUCC, "query");
		CHECK(attr.n_elems <= 16, "%u elements", attr.n_elems);
		rknn_input in = {.index = i, .buf = one, .size = attr.n_elems * (uint32_t)sizeof *one, .type = RKNN_TENSOR_FLOAT32,
			.fmt = attr.fmt};
		CHECK((code = rknn_inputs_set(ctx, 1, &in)) == RKNN_SUCC, "rknn_inputs_set: %d", code);
	}
	if (run)
		CHECK((code = rknn_run(ctx, NULL)) == RKNN_ERR_MALLOC_FAIL, "rknn_run: %d", code);
	CHECK(rknn_destroy(ctx) == RKNN_SUCC, "destroy");
}

static void by_ohnn(const char *path, int run)
{
	OH_NNCompilation *c = OH_NNCompilation_ConstructWithOfflineModelFile(path);
	CHECK(c != NULL, "no compilation");
	OH_NN_ReturnCode code = OH_NNCompilation_Build(c);
	if (code != OH_NN_SUCCESS) {
		CHECK(code == OH_NN_MEMORY_ERROR || code == OH_NN_FAILED || code == OH_NN_INVALID_FILE, "Build: %d", code);
		OH_NNCompilation_Destroy(&c);
		return;
	}
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	CHECK(e != NULL, "no executor");
	OH_NNCompilation_Destroy(&c);
	size_t inputs = 0;
	OK(OH_NNExecutor_GetInputCount(e, &inputs));
	CHECK(inputs <= 1, "%zu inputs", inputs);
	NN_Tensor *in = NULL, *out = NULL;
	NN_TensorDesc *desc = NULL;
	if (inputs == 1) {
		desc = OH_NNExecutor_CreateInputTensorDesc(e, 0);
		CHECK(desc != NULL && (in = OH_NNTensor_Create(0, desc)) != NULL, "no input");
		*(float *)OH_NNTensor_GetDataBuffer(in) = 1;
		OH_NNTensorDesc_Destroy(&desc);
	}
	desc = OH_NNExecutor_CreateOutputTensorDesc(e, 0);
	CHECK(desc != NULL, "no output");
	size_t size = 0;
	int known = OH_NNTensorDesc_GetByteSize(desc, &size) == OH_NN_SUCCESS && size > 0;
	out = known ? OH_NNTensor_Create(0, desc) : OH_NNTensor_CreateWithSize(0, desc, 1 << 12);
	OH_NNTensorDesc_Destroy(&desc);
	/* the API runs no model without inputs; without memory for the result there is no run */
	if (run && inputs > 0 && out != NULL)
		CHECK((code = OH_NNExecutor_RunSync(e, &in, inputs, &out, 1)) == OH_NN_MEMORY_ERROR, "RunSync: %d", code);
	if (in != NULL)
		OK(OH_NNTensor_Destroy(&in));
	if (out != NULL)
		OK(OH_NNTensor_Destroy(&out));
	OH_NNExecutor_Destroy(&e);
}

static int one(char *path, rlim_t bytes, void (*try)(const char *, int), const char *api)
{
	fflush(stdout);
	pid_t child = fork(); /* before the first call */
	CHECK(child >= 0, "fork");
	if (child == 0) {
		struct rlimit space = {bytes, bytes};
		CHECK(bytes == 0 || setrlimit(RLIMIT_AS, &space) == 0, "setrlimit");
		struct rlimit time = {LONGEST, LONGEST};
		CHECK(setrlimit(RLIMIT_CPU, &time) == 0, "setrlimit");
		alarm(10 * LONGEST); /* a hang that waits */
		host_begin();
		try(path, strncmp(basename(path), "run_", 4) == 0);
		exit(host_end());
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child, "wait");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	printf("%s by %s: %s %d\n", path, api, WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 1;
}

int main(int argc, char **argv)
{
	CHECK(argc > 2, "usage: bombs KILOBYTES FILE...");
	rlim_t bytes = (rlim_t)strtoull(argv[1], NULL, 10) << 10;
	int failed = 0;
	for (int i = 2; i < argc; i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s", argv[i]);
		failed |= one(path, bytes, by_rknn, "RKNN");
		failed |= one(path, bytes, by_ohnn, "OH_NN");
	}
	return failed;
}
