/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a fake driver of rknn computes, from models of its own that begin with 16 bytes, the first of them "RKNN": the
 * network of examples/digits/README.md, from what digits.weights has, or the sum of two float32 tensors x and y, from
 * "SUM1", the rank and four sizes. Its contexts are addresses, and it says who it is as drv_version.
 *
 * It multiplies float16 matrices to float32 (rknn_matmul_create), both as they are, of sizes that are multiples of 32.
 *
 * A program can have it block in its runs (fake_block), and change what queries ("query 1"), memory ("memory") and runs
 * ("code run") answer (fake_lie).
 *
 * As vendors' drivers do, it calls its own exports by names that whoever has them first may answer: while it loads a
 * model, as the last thing of a function, and from a thread of its own. Those calls must come back here: with a model
 * that AnyNPU would take for one of its own, or a context that is only known here.
 *
 * Of the operators that a program registers it keeps the last: each run calls its compute, every 1000th one on a thread
 * of the driver's, and a duplicate of the context calls its init. internal_ctx is the context then.
 */
#include "compute.h"

#include <rknn_api.h>
#include <rknn_custom_op.h>
#include <rknn_matmul_api.h>

#define NPU "fake-npu"
#define NPU_MEMORY 0x4e5055

#define NPU_LARGEST (1 << 20) /* elements of a tensor */

struct npu_context {
	uint32_t rank, dims[4];  /* of a sum, rank 0: the network */
	rknn_matmul_info product; /* of a product, M 0: none */
	struct network network;
	uint8_t ink[64];
	float out[10];
	rknn_tensor_mem *io[3]; /* inputs, then outputs */
	int runs;
	rknn_custom_op op; /* its functions are NULL: the program has registered none */
};

static int npu_living; /* contexts and memory */

/* The contexts and the memory that are not destroyed. */
int fake_live(void) { return __atomic_load_n(&npu_living, __ATOMIC_SEQ_CST); }

/* The living contexts. */
static _Atomic rknn_context npu_contexts[256];

static int npu_exchange(rknn_context before, rknn_context after)
{
	for (size_t k = 0; k < sizeof npu_contexts / sizeof *npu_contexts; k++) {
		rknn_context expected = before;
		if (__atomic_compare_exchange_n((rknn_context *)&npu_contexts[k], &expected, after, 0, __ATOMIC_SEQ_CST,
			__ATOMIC_SEQ_CST))
			return 1;
	}
	return 0;
}

static int npu_made(struct npu_context *c, rknn_context *context)
{
	if (!npu_exchange(0, (rknn_context)(uintptr_t)c))
		return free(c), RKNN_ERR_MALLOC_FAIL;
	__atomic_fetch_add(&npu_living, 1, __ATOMIC_SEQ_CST);
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

/* Memory as the driver has it, whatever it is made to say of it. */
struct npu_memory {
	rknn_tensor_mem shown;
	char *bytes;
	uint32_t size;
	int own;
};

/* The bytes of memory, NULL if they are fewer. */
static void *npu_bytes(const rknn_tensor_mem *m, size_t count)
{
	const struct npu_memory *known = (const struct npu_memory *)m;
	return known && known->size >= count ? known->bytes : NULL;
}

static void npu_recognize(struct npu_context *c)
{
	const void *ink = npu_bytes(c->io[0], sizeof c->ink);
	if (ink)
		memcpy(c->ink, ink, sizeof c->ink);
	network_run(&c->network, c->ink, c->out);
	void *out = npu_bytes(c->io[2], sizeof c->out);
	if (out)
		memcpy(out, c->out, sizeof c->out);
}

static float npu_half(uint16_t h)
{
	int exponent = h >> 10 & 31, mantissa = h & 1023;
	float v = exponent == 0 ? ldexpf((float)mantissa, -24)
		: exponent == 31 ? (mantissa ? NAN : INFINITY) : ldexpf((float)(mantissa + 1024), exponent - 25);
	return h >> 15 ? -v : v;
}

static int npu_multiply(struct npu_context *c)
{
	int lie = 0;
	tell_lies("code matmul_run", &lie, sizeof lie);
	const size_t rows = (size_t)c->product.M, inner = (size_t)c->product.K, columns = (size_t)c->product.N;
	const uint16_t *a = npu_bytes(c->io[0], 2 * rows * inner), *b = npu_bytes(c->io[1], 2 * inner * columns);
	float *y = npu_bytes(c->io[2], 4 * rows * columns);
	if (lie != 0 || !a || !b || !y)
		return lie ? lie : RKNN_ERR_FAIL;
	pass_gate();
	for (int m = 0; m < c->product.M; m++)
		for (int n = 0; n < c->product.N; n++) {
			float sum = 0;
			for (int k = 0; k < c->product.K; k++)
				sum += npu_half(a[m * c->product.K + k]) * npu_half(b[k * c->product.N + n]);
			y[m * c->product.N + n] = sum;
		}
	return 0;
}

static void npu_add(struct npu_context *c)
{
	uint32_t count = 1;
	for (uint32_t k = 0; k < c->rank; k++)
		count *= c->dims[k];
	const float *x = npu_bytes(c->io[0], 4 * count), *y = npu_bytes(c->io[1], 4 * count);
	float *z = npu_bytes(c->io[2], 4 * count);
	for (uint32_t k = 0; x && y && z && k < count; k++)
		z[k] = x[k] + y[k];
}

static int npu_product(rknn_context *context, const rknn_matmul_info *info, rknn_matmul_io_attr *io)
{
	const uint32_t m = (uint32_t)info->M, k = (uint32_t)info->K, n = (uint32_t)info->N;
	if (info->type != RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32 || info->B_layout != 0 || info->AC_layout != 0 || m < 1 ||
		k < 1 || n < 1 || k % 32 != 0 || n % 32 != 0)
		return RKNN_ERR_PARAM_INVALID;
	struct npu_context *c = calloc(1, sizeof *c);
	c->product = *info;
	*io = (rknn_matmul_io_attr){.A = {"A", 2, {m, k}, 2 * m * k, RKNN_TENSOR_FLOAT16}, .B = {"B", 2, {k, n}, 2 * k * n, RKNN_TENSOR_FLOAT16},
		.C = {"C", 2, {m, n}, 4 * m * n, RKNN_TENSOR_FLOAT32}};
	tell_lies("matmul", io, sizeof *io);
	return npu_made(c, context);
}

static int npu_sum_of(struct npu_context *c, const char *at, const char *end)
{
	uint64_t count = 1;
	if (end - at != 24 || memcmp(at, "SUM1", 4) != 0)
		return RKNN_ERR_MODEL_INVALID;
	memcpy(&c->rank, at + 4, sizeof c->rank);
	memcpy(c->dims, at + 8, sizeof c->dims);
	for (uint32_t k = 0; k < 4; k++) {
		int used = k < c->rank && c->rank <= 4;
		if (used ? c->dims[k] == 0 || c->dims[k] > NPU_LARGEST : c->dims[k] != 0)
			return RKNN_ERR_MODEL_INVALID;
		count *= used ? c->dims[k] : 1;
		if (count > NPU_LARGEST)
			return RKNN_ERR_MODEL_INVALID;
	}
	return c->rank == 0 || c->rank > 4 ? RKNN_ERR_MODEL_INVALID : 0;
}

static const char npu_inner[] = "{the driver's own model}"; /* which a program would get AnyNPU's answer for */

static int npu_make_inner(void)
{
	rknn_context inner = 0; /* by the export, and not as the last thing */
	int code = rknn_init(&inner, (void *)npu_inner, sizeof npu_inner, 0, NULL);
	return code == 0 && (!is_npu(inner) || rknn_destroy(inner) != 0) ? RKNN_ERR_FAIL : code;
}

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
	if (size > 16 && memcmp(model, "RKNN", 4) == 0) {
		code = npu_sum_of(c, (const char *)model + 16, (const char *)model + size);
		if (code != 0) {
			c->rank = 0;
			code = network_read(&c->network, (const char *)model + 16, (const char *)model + size) ? 0 : RKNN_ERR_MODEL_INVALID;
		}
	}
	pthread_mutex_unlock(&reading);
	if (code == 0)
		code = npu_make_inner();
	*context = 0;
	return code != 0 ? free(c), code : npu_made(c, context);
}

static void npu_attr(struct npu_context *c, int input, rknn_tensor_attr *a)
{
	static const char *const names[] = {"x", "y", "z"};
	uint32_t index = a->index;
	if (c->rank == 0 && input)
		*a = (rknn_tensor_attr){.n_dims = 4, .dims = {1, 8, 8, 1}, .name = "image", .n_elems = 64, .size = 64,
			.fmt = RKNN_TENSOR_NHWC, .type = RKNN_TENSOR_UINT8, .size_with_stride = 64, .w_stride = 8, .h_stride = 8};
	else if (c->rank == 0)
		*a = (rknn_tensor_attr){.n_dims = 2, .dims = {1, 10}, .name = "probabilities", .n_elems = 10, .size = 40,
			.type = RKNN_TENSOR_FLOAT32, .fmt = RKNN_TENSOR_UNDEFINED, .size_with_stride = 40};
	else {
		*a = (rknn_tensor_attr){.n_dims = c->rank, .n_elems = 1, .type = RKNN_TENSOR_FLOAT32,
			.fmt = RKNN_TENSOR_UNDEFINED};
		strcpy(a->name, names[input ? index % 2 : 2]);
		for (uint32_t k = 0; k < c->rank; k++) {
			a->dims[k] = c->dims[k];
			a->n_elems *= c->dims[k];
		}
		a->size = a->size_with_stride = 4 * a->n_elems;
	}
	a->index = index;
}

static int npu_query(rknn_context context, rknn_query_cmd cmd, void *info, uint32_t size)
{
	struct npu_context *c = (struct npu_context *)(uintptr_t)context;
	char what[32];
	switch (cmd) {
	case RKNN_QUERY_SDK_VERSION:
		strcpy(((rknn_sdk_version *)info)->drv_version, NPU);
		break;
	case RKNN_QUERY_IN_OUT_NUM:
		*(rknn_input_output_num *)info = (rknn_input_output_num){c->rank ? 2 : 1, 1};
		break;
	case RKNN_QUERY_PERF_RUN:
		*(rknn_perf_run *)info = (rknn_perf_run){1};
		break;
	case RKNN_QUERY_INPUT_ATTR:
	case RKNN_QUERY_OUTPUT_ATTR:
		npu_attr(c, cmd == RKNN_QUERY_INPUT_ATTR, info);
		break;
	default:
		return RKNN_ERR_PARAM_INVALID;
	}
	snprintf(what, sizeof what, "query %d", (int)cmd);
	tell_lies(what, info, size);
	return 0;
}

/* Calls a function of the program's. */
static int npu_call_back(struct npu_context *c, int (*f)(rknn_custom_op_context *, rknn_custom_op_tensor *, uint32_t,
	rknn_custom_op_tensor *, uint32_t))
{
	rknn_custom_op_context op = {.target = c->op.target, .internal_ctx = (rknn_custom_op_interal_context)(uintptr_t)c};
	return f ? f(&op, NULL, 0, NULL, 0) : 0;
}

/* From a thread of the driver's. */
static void *npu_thread(void *context)
{
	rknn_sdk_version v = {0};
	int code = rknn_query((rknn_context)(uintptr_t)context, RKNN_QUERY_SDK_VERSION, &v, sizeof v);
	if (code == 0)
		code = strcmp(v.drv_version, NPU) == 0 ? npu_make_inner() : RKNN_ERR_FAIL;
	if (code == 0)
		code = npu_call_back(context, ((struct npu_context *)context)->op.compute);
	return (void *)(intptr_t)code;
}

static int npu_run(struct npu_context *c)
{
	void *code = NULL;
	int lie = 0;
	pthread_t thread;
	pass_gate();
	tell_lies("code run", &lie, sizeof lie);
	if (lie != 0)
		return lie;
	if (c->rank != 0)
		npu_add(c);
	else
		npu_recognize(c);
	if (c->runs++ % 1000 != 0)
		return npu_call_back(c, c->op.compute);
	if (pthread_create(&thread, NULL, npu_thread, c) == 0)
		pthread_join(thread, &code);
	return (int)(intptr_t)code;
}

static rknn_tensor_mem *npu_memory(void *at, int fd, uint32_t size, int offset)
{
	struct npu_memory *m = calloc(1, sizeof *m);
	m->shown.virt_addr = at ? at : calloc(1, size ? size : 1);
	m->shown.size = size;
	m->shown.flags = at ? NPU_MEMORY + 1 : NPU_MEMORY;
	m->shown.fd = fd;
	m->shown.offset = offset;
	m->bytes = (char *)m->shown.virt_addr + offset;
	m->size = size;
	m->own = !at;
	__atomic_fetch_add(&npu_living, 1, __ATOMIC_SEQ_CST);
	tell_lies("memory", &m->shown, sizeof m->shown);
	return &m->shown;
}

static int npu_free(rknn_tensor_mem *shown)
{
	struct npu_memory *m = (struct npu_memory *)shown;
	if (!m || (shown->flags != NPU_MEMORY && shown->flags != NPU_MEMORY + 1))
		return RKNN_ERR_PARAM_INVALID;
	if (m->own)
		free(m->bytes);
	shown->flags = 0;
	free(m);
	__atomic_fetch_sub(&npu_living, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int npu_set_memory(struct npu_context *c, rknn_tensor_mem *m, const rknn_tensor_attr *a)
{
	static const char *const names[] = {"x", "y", "z", "image", "", "probabilities"};
	for (int k = 0; k < 6; k++)
		if (strcmp(a->name, names[k]) == 0 && (k >= 3) == (c->rank == 0)) {
			c->io[k % 3] = m;
			return 0;
		}
	return RKNN_ERR_PARAM_INVALID;
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
		"create_mem", "set_core_mask", "dup_context", "create_mem_from_fd", "set_io_mem", "mem_sync",
		"matmul_set_io_mem", "matmul_run", "matmul_destroy", "register_custom_ops"};
	size_t k = 0;
	while (k < sizeof known / sizeof *known && strcmp(f, known[k]) != 0)
		k++;
	if (strcmp(f, "destroy_mem") == 0) {
		*result = (uint64_t)npu_free(ARGUMENT(rknn_tensor_mem *, 1));
		return 1;
	}
	if (strcmp(f, "matmul_create") == 0) {
		*result = (uint64_t)npu_product(ARGUMENT(rknn_context *, 0), ARGUMENT(rknn_matmul_info *, 1), ARGUMENT(rknn_matmul_io_attr *, 2));
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
		*result = k == 6 || k == 9 ? 0 : (uint64_t)RKNN_ERR_CTX_INVALID;
		return 1;
	}
	struct npu_context *at = (struct npu_context *)(uintptr_t)context, *copy;
	switch (k) {
	case 12: {
		const char *name = ARGUMENT(rknn_matmul_tensor_attr *, 2)->name;
		if (name[0] < 'A' || name[0] > 'C' || name[1] != 0)
			*result = (uint64_t)RKNN_ERR_PARAM_INVALID;
		else
			at->io[name[0] - 'A'] = ARGUMENT(rknn_tensor_mem *, 1);
		break;
	}
	case 13:
		*result = (uint64_t)npu_multiply(at);
		break;
	case 15:
		at->op = ARGUMENT(rknn_custom_op *, 1)[ARGUMENT(uint32_t, 2) - 1];
		break;
	case 14:
	case 0:
		if (npu_exchange(context, 0)) {
			free(at);
			__atomic_fetch_sub(&npu_living, 1, __ATOMIC_SEQ_CST);
		}
		break;
	case 1:
		*result = (uint64_t)npu_query(context, ARGUMENT(rknn_query_cmd, 1), ARGUMENT(void *, 2), ARGUMENT(uint32_t, 3));
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
		*result = (uint64_t)(uintptr_t)npu_memory(NULL, -1, ARGUMENT(uint32_t, 1), 0);
		break;
	case 9:
		*result = (uint64_t)(uintptr_t)npu_memory(ARGUMENT(void *, 2), ARGUMENT(int32_t, 1), ARGUMENT(uint32_t, 3),
			ARGUMENT(int32_t, 4));
		break;
	case 10:
		*result = (uint64_t)npu_set_memory(at, ARGUMENT(rknn_tensor_mem *, 1), ARGUMENT(rknn_tensor_attr *, 2));
		break;
	case 8:
		copy = malloc(sizeof *copy);
		*copy = *at;
		memset(copy->io, 0, sizeof copy->io);
		*result = (uint64_t)npu_made(copy, ARGUMENT(rknn_context *, 1));
		if (*result == 0)
			*result = (uint64_t)npu_call_back(copy, copy->op.init);
		break;
	}
	return 1;
}
