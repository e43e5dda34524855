/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ohnn_sentences DIRECTORY
 *
 * Where other runtimes say one code for many mistakes, or nothing at all, the last error is one sentence that names the
 * argument, its value and what would fit. Each row is one such mistake with the words that must be there. DIRECTORY is
 * for a cache.
 */
#include <sys/stat.h>

#include "ohnn_host.h"

static int rows;

/* says checks that a call was refused with a code and that the last error holds every given text. */
static void says(const char *about, OH_NN_ReturnCode got, OH_NN_ReturnCode want, const char *a, const char *b,
	const char *c)
{
	const char *text = anynpu_last_error();
	CHECK(got == want, "%s: code %d, want %d: %s", about, (int)got, (int)want, text);
	const char *const parts[] = {a, b, c};
	for (int i = 0; i < 3; i++)
		CHECK(parts[i] == NULL || strstr(text, parts[i]) != NULL, "%s: \"%s\" is not in: %s", about, parts[i], text);
	if (getenv("SHOW"))
		printf("%-40s %s\n", about, text);
	rows++;
}

static OH_NNCompilation *compiled(OH_NNModel *m)
{
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	CHECK(c != NULL, "no compilation");
	return c;
}

/* One code stands for NULL, no room and the wrong time; the words tell them apart. */
static void exports(void)
{
	OH_NNModel *m = ohnn_sum(4);
	OH_NNCompilation *c = compiled(m);
	char room[16];
	size_t used = 0;
	says("export before build", OH_NNCompilation_ExportCacheToBuffer(c, room, sizeof room, &used), OH_NN_INVALID_PARAMETER,
	     "OH_NNCompilation_ExportCacheToBuffer", "compilation", "OH_NNCompilation_Build");
	OK(OH_NNCompilation_Build(c));
	says("export to NULL", OH_NNCompilation_ExportCacheToBuffer(c, NULL, sizeof room, &used), OH_NN_INVALID_PARAMETER,
		"buffer", "NULL", NULL);
	says("export of length 0", OH_NNCompilation_ExportCacheToBuffer(c, room, 0, &used), OH_NN_INVALID_PARAMETER,
		"length", "0", NULL);
	says("export to too little", OH_NNCompilation_ExportCacheToBuffer(c, room, sizeof room, &used),
		OH_NN_INVALID_PARAMETER, "length", "16", NULL);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
}

/* A chain that would run on wrong data stops with the operand's name and sizes. */
static void runs(void)
{
	OH_NNModel *m = ohnn_sum(4);
	OH_NNCompilation *c = compiled(m);
	OK(OH_NNCompilation_Build(c));
	OH_NNExecutor *e = OH_NNExecutor_Construct(c);
	NN_Tensor *in[] = {ohnn_tensor(1, 4, 1), ohnn_tensor(1, 4, 2)};
	NN_Tensor *out = ohnn_tensor(1, 4, 0), *wide = ohnn_tensor(1, 5, 0);
	says("one input of two", OH_NNExecutor_RunSync(e, in, 1, &out, 1), OH_NN_INVALID_PARAMETER, "OH_NNExecutor_RunSync",
		"2", "1");
	says("no inputs", OH_NNExecutor_RunSync(e, in, 0, &out, 1), OH_NN_INVALID_PARAMETER, "inputCount: 0",
		"want 1 to 200", "inputTensor");
	NN_Tensor *bad[] = {in[0], NULL};
	says("an input is NULL", OH_NNExecutor_RunSync(e, bad, 2, &out, 1), OH_NN_NULL_PTR, "inputTensor[1]", "NULL", NULL);
	bad[1] = wide;
	says("an input of another size", OH_NNExecutor_RunSync(e, bad, 2, &out, 1), OH_NN_INVALID_PARAMETER,
		"inputTensor[1]", "5", "4");
	for (int i = 0; i < 2; i++)
		OK(OH_NNTensor_Destroy(&in[i]));
	OK(OH_NNTensor_Destroy(&out));
	OK(OH_NNTensor_Destroy(&wide));
	OH_NNExecutor_Destroy(&e);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
}

/* One operator that a device lacks: which one, where, and on which device. */
static void lacking(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	for (int i = 0; i < 4; i++)
		ohnn_add_tensor(m, 1, 4);
	ohnn_add_op(m, OH_NN_OPS_ADD, 0, 1, 2);
	ohnn_add_op(m, OH_NN_OPS_MUL, 0, 2, 3);
	ohnn_finish(m, 0, 1, 3);
	const size_t *ids = NULL;
	uint32_t n = 0;
	OK(OH_NNDevice_GetAllDevicesID(&ids, &n));
	CHECK(n == 2, "%u devices", n);
	size_t second = ids[1];
	OH_NNCompilation *c = compiled(m);
	OK(OH_NNCompilation_SetDevice(c, second));
	OH_NN_ReturnCode got = OH_NNCompilation_Build(c);
	says("an operator is missing", got, OH_NN_FAILED, "OH_NN_OPS_MUL", "lesser", "1");
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
}

/* The words of a cache that does not fit hold both versions. */
static void caches(const char *folder)
{
	char path[512];
	snprintf(path, sizeof path, "%s/sentences_cache", folder);
	mkdir(path, 0700);
	OH_NNModel *m = ohnn_sum(4);
	OH_NNCompilation *c = compiled(m);
	OK(OH_NNCompilation_SetCache(c, path, 7));
	OK(OH_NNCompilation_Build(c));
	OH_NNCompilation_Destroy(&c);
	c = OH_NNCompilation_ConstructForCache();
	CHECK(c != NULL, "no compilation");
	OK(OH_NNCompilation_SetCache(c, path, 6));
	says("a cache of a later version", OH_NNCompilation_Build(c), OH_NN_OPERATION_FORBIDDEN, "7", "6", NULL);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
}

/* Mistakes while a model is made name what they are about. */
static void models(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	ohnn_add_tensor(m, 1, 4);
	uint32_t far[] = {0, 9}, y[] = {0};
	OH_NN_UInt32Array none = ohnn_list(NULL, 0), in = ohnn_list(far, 2), out = ohnn_list(y, 1);
	says("a tensor that is not there", OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &none, &in, &out),
		OH_NN_INVALID_PARAMETER, "9",
	     "inputIndices", NULL);
	ohnn_add_tensor(m, 1, 4);
	far[1] = 0;
	y[0] = 1;
	says("an operator that is not there", OH_NNModel_AddOperation(m, (OH_NN_OperationType)5000, &none, &in, &out),
		OH_NN_INVALID_PARAMETER, "5000",
	     NULL, NULL);
	says("finish without operators", OH_NNModel_Finish(m), OH_NN_OPERATION_FORBIDDEN, "OH_NNModel_Finish", "no operation",
	     "OH_NNModel_AddOperation");
	OH_NNModel *gone = m;
	OH_NNModel_Destroy(&m);
	says("a model that is gone", OH_NNModel_Finish(gone), OH_NN_INVALID_PARAMETER, "OH_NNModel_Finish", "model", NULL);
}

/* forbids checks that the last error does not hold a text. */
static void forbids(const char *about, const char *text)
{
	CHECK(strstr(anynpu_last_error(), text) == NULL, "%s: \"%s\" is in: %s", about, text, anynpu_last_error());
}

/* Memory that cannot be destroyed here: whose it is. */
static void memories(void)
{
	OH_NNModel *m = ohnn_sum(4);
	OH_NNCompilation *c = compiled(m);
	OK(OH_NNCompilation_Build(c));
	OH_NNExecutor *e = OH_NNExecutor_Construct(c), *other = OH_NNExecutor_Construct(c);
	OH_NN_Memory *x = OH_NNExecutor_AllocateInputMemory(e, 1, 16), *keep = x;
	CHECK(x != NULL, "no memory");
	OH_NNExecutor_DestroyInputMemory(e, 0, &x);
	says("memory of another index", OH_NN_SUCCESS, OH_NN_SUCCESS, "OH_NNExecutor_DestroyInputMemory", "inputIndex: 0",
		"input 1");
	OH_NNExecutor_DestroyInputMemory(e, 7, &x);
	says("memory of an index that is not there", OH_NN_SUCCESS, OH_NN_SUCCESS, "inputIndex: 7", "2 inputs", NULL);
	OH_NNExecutor_DestroyOutputMemory(e, 0, &x);
	says("memory of an input as that of an output", OH_NN_SUCCESS, OH_NN_SUCCESS, "input 1",
		"OH_NNExecutor_DestroyInputMemory", NULL);
	OH_NNExecutor_DestroyInputMemory(other, 1, &x);
	says("memory of another executor", OH_NN_SUCCESS, OH_NN_SUCCESS, "another executor", NULL, NULL);
	CHECK(x == keep, "the pointer has changed");
	OH_NNExecutor_DestroyInputMemory(e, 1, &x);
	CHECK(x == NULL, "the memory is still there");
	OH_NNExecutor_DestroyInputMemory(e, 1, &keep);
	says("memory twice", OH_NN_SUCCESS, OH_NN_SUCCESS, "OH_NNExecutor_AllocateInputMemory", "destroyed", NULL);
	OH_NNExecutor_Destroy(&e);
	OH_NNExecutor_Destroy(&other);
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
}

/* Shapes that no tensor can have, and those that a run decides. */
static void shapes(void)
{
	int32_t shape[] = {2, -5};
	NN_TensorDesc *d = ohnn_desc(2, 2);
	says("a shape without dimensions", OH_NNTensorDesc_SetShape(d, shape, 0), OH_NN_INVALID_PARAMETER, "shapeLength: 0",
		"want 1 to 10", "shape");
	OK(OH_NNTensorDesc_SetShape(d, shape, 2));
	CHECK(OH_NNTensor_Create(0, d) == NULL, "a tensor");
	says("a negative size", OH_NN_SUCCESS, OH_NN_SUCCESS, "OH_NNTensor_Create", "[2 -5]", "1 or more");
	forbids("a negative size", "CreateWithSize");
	shape[1] = -1;
	OK(OH_NNTensorDesc_SetShape(d, shape, 2));
	CHECK(OH_NNTensor_Create(0, d) == NULL, "a tensor");
	says("an open dimension", OH_NN_SUCCESS, OH_NN_SUCCESS, "OH_NNTensor_Create", "[2 -1]", "OH_NNTensor_CreateWithSize");
	OK(OH_NNTensorDesc_Destroy(&d));
}

/*
 * An operator of one input whose axis is not there: the message names the parameter, and no input that the operator
 * does not have.
 */
static void parameters(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	ohnn_add_tensor(m, 2, 4);
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	const int32_t one = 1;
	const int64_t axis = 2;
	OK(OH_NNTensorDesc_SetDataType(d, OH_NN_INT64));
	OK(OH_NNTensorDesc_SetShape(d, &one, 1));
	OK(OH_NNModel_AddTensorToModel(m, d));
	OK(OH_NNTensorDesc_Destroy(&d));
	OK(OH_NNModel_SetTensorType(m, 1, OH_NN_L2_NORMALIZE_AXIS));
	OK(OH_NNModel_SetTensorData(m, 1, &axis, sizeof axis));
	ohnn_add_tensor(m, 2, 4);
	uint32_t x[] = {0}, p[] = {1}, y[] = {2};
	OH_NN_UInt32Array in = ohnn_list(x, 1), params = ohnn_list(p, 1), out = ohnn_list(y, 1);
	OK(OH_NNModel_AddOperation(m, OH_NN_OPS_L2_NORMALIZE, &params, &in, &out));
	OK(OH_NNModel_SpecifyInputsAndOutputs(m, &in, &out));
	OK(OH_NNModel_Finish(m));
	OH_NNCompilation *c = compiled(m);
	says("an axis that is not there", OH_NNCompilation_Build(c), OH_NN_FAILED, "OH_NN_OPS_L2_NORMALIZE", "AXIS: axis 2",
		"want -2 to 1");
	forbids("an axis that is not there", "input 1");
	forbids("an axis that is not there", "l2_normalize");
	OH_NNCompilation_Destroy(&c);
	OH_NNModel_Destroy(&m);
}

static char told[512];
static int lines;

static void take(int level, const char *component, const char *message, void *user)
{
	(void)component, (void)user;
	CHECK(level == ANYNPU_LOG_WARNING, "level %d: %s", level, message);
	snprintf(told, sizeof told, "%s", message);
	lines++;
}

/*
 * A tensor of another type than the model's is a warning that is shown by default, once for a model: its bytes are
 * taken as the model's.
 */
static void types(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(4));
	NN_TensorDesc *d = ohnn_desc(1, 4);
	OK(OH_NNTensorDesc_SetDataType(d, OH_NN_INT32));
	NN_Tensor *in[] = {ohnn_tensor(1, 4, 1), OH_NNTensor_Create(0, d)}, *out = ohnn_tensor(1, 4, 0);
	CHECK(in[1] != NULL, "no tensor");
	anynpu_set_log_callback(take, NULL);
	for (int i = 0; i < 3; i++)
		OK(OH_NNExecutor_RunSync(e, in, 2, &out, 1));
	anynpu_set_log_callback(NULL, NULL);
	CHECK(lines == 1 && strstr(told, "data type differs") && strstr(told, "inputTensor[1]"), "%d lines: %s", lines, told);
	OK(OH_NNTensor_Destroy(&in[0]));
	OK(OH_NNTensor_Destroy(&in[1]));
	OK(OH_NNTensor_Destroy(&out));
	OK(OH_NNTensorDesc_Destroy(&d));
	OH_NNExecutor_Destroy(&e);
}

int main(int argc, char **argv)
{
	setenv("ANYNPU_OHNN_DEVICES", "whole,lesser:no-MUL", 1);
	CHECK(argc == 2, "want DIRECTORY");
	host_begin();
	models();
	exports();
	runs();
	memories();
	shapes();
	parameters();
	lacking();
	caches(argv[1]);
	types();
	printf("ohnn_sentences: %d mistakes told\n", rows);
	return host_end();
}
