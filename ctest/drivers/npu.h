/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a fake driver of rknn computes: the network of examples/digits/README.md, from a model of its own, 16 bytes that
 * begin with "RKNN" before what digits.weights has. Its contexts are addresses, and it says who it is as drv_version.
 *
 * As vendors' drivers do, it calls its own exports by names that whoever has them first may answer: while it loads a
 * model, as the last thing of a function, and from a thread of its own. Those calls must come back here: with a model
 * that AnyNPU would take for one of its own, or a context that is only known here.
 */
#include <math.h>
#include <pthread.h>
#include <rknn_api.h>

#define NPU "fake-npu"
#define NPU_MEMORY 0x4e5055

struct npu_context {
	float weights[6][10 * 512];
	uint8_t ink[64];
	float out[10];
	int runs;
};

/* The living contexts. */
static _Atomic rknn_context npu_contexts[256];

static int npu_exchange(rknn_context before, rknn_context after)
{
	for (size_t k = 0; k < sizeof npu_contexts / sizeof *npu_contexts; k++) {
		rknn_context expected = before;
		if (__atomic_compare_exchange_n((rknn_context *)&npu_contexts[k], &expected, after, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return 1;
	}
	return 0;
}

static int npu_made(struct npu_context *c, rknn_context *context)
{
	if (!npu_exchange(0, (rknn_context)(uintptr_t)c))
		return free(c), RKNN_ERR_MALLOC_FAIL;
	*context = (rknn_context)(uintptr_t)c;
	return 0;
}

static int is_npu(rknn_context context)
{
	for (size_t k = 0; context && k < sizeof npu_contexts / sizeof *npu_contexts; k++)
		if (npu_contexts[k] == context)
			return 1;
	return 0;
}

/* 3x3, padding SAME, ReLU; [side,side,in] to [side,side,out]. */
static void npu_convolve(const float *x, int side, int in, const float *w, const float *bias, int out, float *y)
{
	for (int at = 0; at < side * side; at++)
		for (int o = 0; o < out; o++) {
			float sum = bias[o];
			for (int k = 0; k < 9; k++) {
				int row = at / side + k / 3 - 1, column = at % side + k % 3 - 1;
				if (row < 0 || row >= side || column < 0 || column >= side)
					continue;
				for (int i = 0; i < in; i++)
					sum += x[(row * side + column) * in + i] * w[(o * 9 + k) * in + i];
			}
			y[at * out + o] = sum > 0 ? sum : 0;
		}
}

static void npu_recognize(struct npu_context *c)
{
	static const int sides[] = {8, 4};
	float x[64], first[64 * 16], pooled[16 * 16], second[16 * 32], sum = 0;
	for (int i = 0; i < 64; i++)
		x[i] = (float)c->ink[i] / 16;
	npu_convolve(x, sides[0], 1, c->weights[0], c->weights[1], 16, first);
	for (int at = 0; at < 16; at++)
		for (int k = 0; k < 16; k++) {
			float most = 0; /* behind a ReLU */
			for (int j = 0; j < 4; j++) {
				float v = first[((at / 4 * 2 + j / 2) * 8 + at % 4 * 2 + j % 2) * 16 + k];
				most = v > most ? v : most;
			}
			pooled[at * 16 + k] = most;
		}
	npu_convolve(pooled, sides[1], 16, c->weights[2], c->weights[3], 32, second);
	for (int o = 0; o < 10; o++) {
		double logit = c->weights[5][o];
		for (int i = 0; i < 512; i++)
			logit += (double)second[i] * c->weights[4][o * 512 + i];
		sum += c->out[o] = expf((float)logit);
	}
	for (int o = 0; o < 10; o++)
		c->out[o] /= sum;
}

static int npu_weights(struct npu_context *c, const char *at, const char *end)
{
	if (end - at < 12 || memcmp(at, "DIGITSW1", 8) != 0)
		return RKNN_ERR_MODEL_INVALID;
	at += 12;
	for (int i = 0; i < 6; i++) {
		uint32_t dims[4], size = sizeof(float);
		if (end - at < 36)
			return RKNN_ERR_MODEL_INVALID;
		memcpy(dims, at + 20, sizeof dims);
		for (int k = 0; k < 4; k++)
			size *= dims[k];
		at += 36;
		if (size > sizeof c->weights[i] || end - at < (long)size)
			return RKNN_ERR_MODEL_INVALID;
		memcpy(c->weights[i], at, size);
		at += size;
	}
	return 0;
}

static const char npu_inner[] = "{the driver's own model}"; /* which a program would get AnyNPU's answer for */

static int npu_init(rknn_context *context, const void *model, uint32_t size)
{
	static char file[1 << 17];
	static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
	struct npu_context *c = calloc(1, sizeof *c);
	int code = RKNN_ERR_MODEL_INVALID;
	if (size == sizeof npu_inner && memcmp(model, npu_inner, size) == 0) {
		return npu_made(c, context);
	}
	pthread_mutex_lock(&reading);
	if (size == 0) {
		FILE *f = fopen(model, "rb");
		size = f ? (uint32_t)fread(file, 1, sizeof file, f) : 0;
		model = file;
		if (f)
			fclose(f);
	}
	if (size > 16 && memcmp(model, "RKNN", 4) == 0)
		code = npu_weights(c, (const char *)model + 16, (const char *)model + size);
	pthread_mutex_unlock(&reading);
	if (code == 0) {
		rknn_context inner = 0; /* by the export, and not as the last thing */
		code = rknn_init(&inner, (void *)npu_inner, sizeof npu_inner, 0, NULL);
		if (code == 0 && (!is_npu(inner) || rknn_destroy(inner) != 0))
			code = RKNN_ERR_FAIL;
	}
	*context = 0;
	return code != 0 ? free(c), code : npu_made(c, context);
}

static int npu_query(rknn_context context, rknn_query_cmd cmd, void *info)
{
	rknn_tensor_attr *a = info;
	switch (cmd) {
	case RKNN_QUERY_SDK_VERSION:
		strcpy(((rknn_sdk_version *)info)->drv_version, NPU);
		return 0;
	case RKNN_QUERY_IN_OUT_NUM:
		*(rknn_input_output_num *)info = (rknn_input_output_num){1, 1};
		return 0;
	case RKNN_QUERY_INPUT_ATTR:
		*a = (rknn_tensor_attr){.n_dims = 4, .dims = {1, 8, 8, 1}, .name = "image", .n_elems = 64, .size = 64,
			.fmt = RKNN_TENSOR_NHWC, .type = RKNN_TENSOR_UINT8, .size_with_stride = 64, .w_stride = 8, .h_stride = 8};
		return 0;
	case RKNN_QUERY_OUTPUT_ATTR:
		*a = (rknn_tensor_attr){.n_dims = 2, .dims = {1, 10}, .name = "probabilities", .n_elems = 10, .size = 40,
			.type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED, .size_with_stride = 40};
		return 0;
	default:
		return (void)context, RKNN_ERR_PARAM_INVALID;
	}
}

/* From a thread of the driver's: every 1000th run. */
static void *npu_thread(void *context)
{
	rknn_sdk_version v = {0};
	int code = rknn_query((rknn_context)(uintptr_t)context, RKNN_QUERY_SDK_VERSION, &v, sizeof v);
	return (void *)(intptr_t)(code == 0 && strcmp(v.drv_version, NPU) == 0 ? 0 : RKNN_ERR_FAIL);
}

static int npu_run(struct npu_context *c)
{
	void *code = NULL;
	pthread_t thread;
	npu_recognize(c);
	if (c->runs++ % 1000 == 0 && pthread_create(&thread, NULL, npu_thread, c) == 0)
		pthread_join(thread, &code);
	return (int)(intptr_t)code;
}

static rknn_tensor_mem *npu_memory(uint32_t size)
{
	rknn_tensor_mem *m = calloc(1, sizeof *m);
	m->virt_addr = calloc(1, size ? size : 1);
	m->size = size;
	m->flags = NPU_MEMORY;
	m->fd = -1;
	return m;
}

static int npu_free(rknn_tensor_mem *m)
{
	if (!m || m->flags != NPU_MEMORY)
		return RKNN_ERR_PARAM_INVALID;
	m->flags = 0;
	free(m->virt_addr);
	free(m);
	return 0;
}

#define ARGUMENT(type, i) (*(type const *)args[i])

static int compute(const struct call *c, const void *const *args, uint64_t *result)
{
	const char *f = c->name + strlen("rknn_");
	if (strcmp(f, "init") == 0) {
		*result = (uint64_t)npu_init(ARGUMENT(rknn_context *, 0), ARGUMENT(void *, 1), ARGUMENT(uint32_t, 2));
		return 1;
	}
	static const char *const known[] = {"destroy", "query", "inputs_set", "run", "outputs_get", "outputs_release",
		"create_mem", "set_core_mask", "dup_context"};
	size_t k = 0;
	while (k < sizeof known / sizeof *known && strcmp(f, known[k]) != 0)
		k++;
	if (strcmp(f, "destroy_mem") == 0) {
		*result = (uint64_t)npu_free(ARGUMENT(rknn_tensor_mem *, 1));
		return 1;
	}
	if (strcmp(f, "destory_mem") == 0) { /* the last thing of a function: it returns to the program */
		rknn_context context = ARGUMENT(rknn_context, 0);
		*result = (uint64_t)rknn_destroy_mem(context, ARGUMENT(rknn_tensor_mem *, 1));
		return 1;
	}
	if (k == sizeof known / sizeof *known) {
		int of_context = c->params[0].kind == VALUE && c->params[0].size == sizeof(rknn_context);
		if (of_context && c->result == sizeof(int) && !is_npu(ARGUMENT(rknn_context, 0)))
			*result = (uint64_t)RKNN_ERR_CTX_INVALID;
		return *result != 0;
	}
	rknn_context context = k == 8 ? *ARGUMENT(rknn_context *, 0) : ARGUMENT(rknn_context, 0);
	if (!is_npu(context)) {
		*result = k == 6 ? 0 : (uint64_t)RKNN_ERR_CTX_INVALID;
		return 1;
	}
	struct npu_context *at = (struct npu_context *)(uintptr_t)context, *copy;
	switch (k) {
	case 0:
		if (npu_exchange(context, 0))
			free(at);
		break;
	case 1:
		*result = (uint64_t)npu_query(context, ARGUMENT(rknn_query_cmd, 1), ARGUMENT(void *, 2));
		break;
	case 2:
		memcpy(at->ink, ARGUMENT(rknn_input *, 2)->buf, sizeof at->ink);
		break;
	case 3:
		*result = (uint64_t)npu_run(at);
		break;
	case 4:
		ARGUMENT(rknn_output *, 2)->buf = at->out;
		ARGUMENT(rknn_output *, 2)->size = sizeof at->out;
		break;
	case 6:
		*result = (uint64_t)(uintptr_t)npu_memory(ARGUMENT(uint32_t, 1));
		break;
	case 8:
		copy = malloc(sizeof *copy);
		*copy = *at;
		*result = (uint64_t)npu_made(copy, ARGUMENT(rknn_context *, 1));
		break;
	}
	return 1;
}
