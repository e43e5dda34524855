/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * OH_NN without memory (starve.h). The large model is z = mean(x + y) of a row and a column: small inputs, a small
 * output, and an intermediate result of more than WISH bytes.
 */
#include <neural_network_runtime/neural_network_runtime_inner.h>
#include <semaphore.h>

#include "ohnn_host.h"

#include "starve.h"

#define SIDE 9400 /* SIDE * SIDE floats are more than WISH bytes */
#define FLOATS ((int)(WISH / 4))

static const struct starve_function starve_functions[] = {
#define FUNCTION(name, status) {#name, status},
#include "zfunctions_ohnn.h"
};

static OH_NNModel *wide(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	const int32_t two[] = {2};
	const int64_t both[] = {0, 1};
	const bool keep = true;
	ohnn_add_tensor(m, 1, SIDE);
	ohnn_add_tensor(m, SIDE, 1);
	ohnn_add_tensor(m, SIDE, SIDE);
	NN_TensorDesc *axes = OH_NNTensorDesc_Create(), *flag = OH_NNTensorDesc_Create();
	OK(OH_NNTensorDesc_SetDataType(axes, OH_NN_INT64));
	OK(OH_NNTensorDesc_SetShape(axes, two, 1));
	OK(OH_NNModel_AddTensorToModel(m, axes));
	OK(OH_NNModel_SetTensorData(m, 3, both, sizeof both));
	OK(OH_NNTensorDesc_SetDataType(flag, OH_NN_BOOL));
	OK(OH_NNModel_AddTensorToModel(m, flag));
	OK(OH_NNModel_SetTensorType(m, 4, OH_NN_REDUCE_MEAN_KEEP_DIMS));
	OK(OH_NNModel_SetTensorData(m, 4, &keep, sizeof keep));
	ohnn_add_tensor(m, 1, 1);
	ohnn_add_op(m, OH_NN_OPS_ADD, 0, 1, 2);
	uint32_t in[] = {2, 3}, out[] = {5}, param[] = {4};
	OH_NN_UInt32Array params = ohnn_list(param, 1), inputs = ohnn_list(in, 2), outputs = ohnn_list(out, 1);
	OK(OH_NNModel_AddOperation(m, OH_NN_OPS_REDUCE_MEAN, &params, &inputs, &outputs));
	ohnn_finish(m, 0, 1, 5);
	return m;
}

static NN_TensorDesc *long_desc(void) { return ohnn_desc(1, FLOATS); }

static int set_name(void)
{
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	const char *name = starve_text();
	starve();
	return (int)OH_NNTensorDesc_SetName(d, name);
}

static int get_name(void)
{
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	const char *name = NULL;
	OK(OH_NNTensorDesc_SetName(d, starve_text()));
	starve();
	return (int)OH_NNTensorDesc_GetName(d, &name);
}

static int tensor_create(void)
{
	NN_TensorDesc *d = long_desc();
	starve();
	return starve_null(OH_NNTensor_Create(0, d));
}

static int tensor_with_size(void)
{
	NN_TensorDesc *d = ohnn_desc(1, 1);
	starve();
	return starve_null(OH_NNTensor_CreateWithSize(0, d, WISH));
}

static int tensor_with_fd(void)
{
	NN_TensorDesc *d = long_desc();
	int fd = memfd_create("wish", MFD_CLOEXEC);
	DEMAND(fd >= 0 && ftruncate(fd, WISH) == 0);
	starve();
	return starve_null(OH_NNTensor_CreateWithFd(0, d, fd, WISH, 0));
}

static int set_tensor_data(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	ohnn_add_tensor(m, 1, FLOATS);
	const void *data = starve_bytes(0);
	starve();
	return (int)OH_NNModel_SetTensorData(m, 0, data, WISH);
}

static int offline_file(void)
{
	const char *path = starve_text();
	starve();
	return starve_null(OH_NNCompilation_ConstructWithOfflineModelFile(path));
}

static OH_NNCompilation *open_compilation(void)
{
	OH_NNCompilation *c = OH_NNCompilation_Construct(ohnn_sum(4));
	CHECK(c != NULL, "no compilation");
	return c;
}

static int extension_config(void)
{
	OH_NNCompilation *c = open_compilation();
	const void *value = starve_bytes(1);
	starve();
	return (int)OH_NNCompilation_AddExtensionConfig(c, "x", value, WISH);
}

static int set_cache(void)
{
	OH_NNCompilation *c = open_compilation();
	const char *path = starve_text();
	starve();
	return (int)OH_NNCompilation_SetCache(c, path, 1);
}

/* A product whose weights are packed for the kernels. */
static int build(void)
{
	OH_NNModel *m = OH_NNModel_Construct();
	ohnn_add_tensor(m, 8, SIDE);
	ohnn_add_tensor(m, SIDE, SIDE);
	ohnn_add_tensor(m, 8, SIDE);
	const size_t size = 4ul * SIDE * SIDE;
	void *weights = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OK(OH_NNModel_SetTensorData(m, 1, weights, size));
	ohnn_add_op(m, OH_NN_OPS_MATMUL, 0, 1, 2);
	uint32_t in[] = {0}, out[] = {2};
	OH_NN_UInt32Array inputs = ohnn_list(in, 1), outputs = ohnn_list(out, 1);
	OK(OH_NNModel_SpecifyInputsAndOutputs(m, &inputs, &outputs));
	OK(OH_NNModel_Finish(m));
	OH_NNCompilation *c = OH_NNCompilation_Construct(m);
	starve();
	return (int)OH_NNCompilation_Build(c);
}

struct wide_run {
	OH_NNExecutor *executor;
	NN_Tensor *in[2], *out[1];
};

static struct wide_run wide_run(void)
{
	struct wide_run r = {ohnn_executor(wide()), {ohnn_tensor(1, SIDE, 1), ohnn_tensor(SIDE, 1, 1)},
		{ohnn_tensor(1, 1, 0)}};
	return r;
}

static int run_sync(void)
{
	struct wide_run r = wide_run();
	starve();
	return (int)OH_NNExecutor_RunSync(r.executor, r.in, 2, r.out, 1);
}

static int run_sync_aipp(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(4));
	NN_Tensor *in[] = {ohnn_tensor(1, 4, 1), ohnn_tensor(1, 4, 1)}, *out[] = {ohnn_tensor(1, 4, 1)};
	const char *text = starve_text();
	starve();
	return (int)OH_NNExecutor_RunSyncWithAipp(e, in, 2, out, 1, text);
}

static sem_t done;
static int done_code;

static void on_done(void *user, OH_NN_ReturnCode code, void *outputs[], int32_t count)
{
	(void)user, (void)outputs, (void)count;
	done_code = (int)code;
	sem_post(&done);
}

static int run_async(void)
{
	struct wide_run r = wide_run();
	sem_init(&done, 0, 0);
	OK(OH_NNExecutor_SetOnRunDone(r.executor, on_done));
	starve();
	OH_NN_ReturnCode code = OH_NNExecutor_RunAsync(r.executor, r.in, 2, r.out, 1, 60000, &done);
	if (code == OH_NN_SUCCESS) {
		sem_wait(&done);
		code = (OH_NN_ReturnCode)done_code;
	}
	return (int)code;
}

static OH_NN_Tensor legacy_tensor(const int32_t dims[2])
{
	OH_NN_Tensor t = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
	return t;
}

static int set_input(void)
{
	const int32_t dims[] = {1, FLOATS};
	OH_NN_Tensor t = legacy_tensor(dims);
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(FLOATS));
	const void *data = starve_bytes(0);
	starve();
	return (int)OH_NNExecutor_SetInput(e, 0, &t, data, WISH);
}

static int legacy_run(void)
{
	static float x[SIDE], z;
	const int32_t row[] = {1, SIDE}, column[] = {SIDE, 1};
	OH_NN_Tensor a = legacy_tensor(row), b = legacy_tensor(column);
	OH_NNExecutor *e = ohnn_executor(wide());
	OK(OH_NNExecutor_SetInput(e, 0, &a, x, sizeof x));
	OK(OH_NNExecutor_SetInput(e, 1, &b, x, sizeof x));
	OK(OH_NNExecutor_SetOutput(e, 0, &z, sizeof z));
	starve();
	return (int)OH_NNExecutor_Run(e);
}

static int input_memory(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(4));
	starve();
	return starve_null(OH_NNExecutor_AllocateInputMemory(e, 0, WISH));
}

static int output_memory(void)
{
	OH_NNExecutor *e = ohnn_executor(ohnn_sum(4));
	starve();
	return starve_null(OH_NNExecutor_AllocateOutputMemory(e, 0, WISH));
}

#define ENDS "ends an object"
#define SMALL "makes an object whose size does not depend on the program"
#define LATER "notes what is asked for: the build or the run takes the memory"
#define TELLS "tells what is known"
#define BOUND "a list has a bound"
#define PROGRAMS "the memory is the program's"

#define NONE(name, why) {"OH_NN" name, NULL, why}
#define STARVED(name, call) {"OH_NN" name, call, NULL}

static const struct starve_case starve_cases[] = {
	NONE("Device_GetAllDevicesID", TELLS),
	NONE("Device_GetName", TELLS),
	NONE("Device_GetType", TELLS),
	NONE("TensorDesc_Create", SMALL),
	NONE("TensorDesc_Destroy", ENDS),
	STARVED("TensorDesc_SetName", set_name),
	STARVED("TensorDesc_GetName", get_name),
	NONE("TensorDesc_SetDataType", LATER),
	NONE("TensorDesc_GetDataType", TELLS),
	NONE("TensorDesc_SetShape", BOUND),
	NONE("TensorDesc_GetShape", BOUND),
	NONE("TensorDesc_SetFormat", LATER),
	NONE("TensorDesc_GetFormat", TELLS),
	NONE("TensorDesc_GetElementCount", TELLS),
	NONE("TensorDesc_GetByteSize", TELLS),
	STARVED("Tensor_Create", tensor_create),
	STARVED("Tensor_CreateWithSize", tensor_with_size),
	STARVED("Tensor_CreateWithFd", tensor_with_fd),
	NONE("Tensor_Destroy", ENDS),
	NONE("Tensor_GetTensorDesc", TELLS),
	NONE("Tensor_GetDataBuffer", TELLS),
	NONE("Tensor_GetFd", "the memory that is there gets a file"),
	NONE("Tensor_GetSize", TELLS),
	NONE("Tensor_GetOffset", TELLS),
	NONE("QuantParam_Create", SMALL),
	NONE("QuantParam_SetScales", BOUND),
	NONE("QuantParam_SetZeroPoints", BOUND),
	NONE("QuantParam_SetNumBits", BOUND),
	NONE("QuantParam_Destroy", ENDS),
	NONE("Model_Construct", SMALL),
	NONE("Model_Destroy", ENDS),
	NONE("Model_AddTensor", BOUND),
	NONE("Model_AddTensorToModel", BOUND),
	STARVED("Model_SetTensorData", set_tensor_data),
	NONE("Model_SetTensorQuantParams", BOUND),
	NONE("Model_SetTensorType", LATER),
	NONE("Model_AddOperation", BOUND),
	NONE("Model_SpecifyInputsAndOutputs", BOUND),
	NONE("Model_Finish", LATER),
	NONE("Model_GetAvailableOperations", "lists operations, which the model has already"),
	NONE("Compilation_Construct", LATER),
	STARVED("Compilation_ConstructWithOfflineModelFile", offline_file),
	NONE("Compilation_ConstructWithOfflineModelBuffer", "keeps a pointer"),
	NONE("Compilation_ConstructForCache", SMALL),
	NONE("Compilation_ExportCacheToBuffer", PROGRAMS),
	NONE("Compilation_ImportCacheFromBuffer", "keeps a pointer"),
	STARVED("Compilation_AddExtensionConfig", extension_config),
	NONE("Compilation_SetDevice", LATER),
	STARVED("Compilation_SetCache", set_cache),
	NONE("Compilation_SetPerformanceMode", LATER),
	NONE("Compilation_SetPriority", LATER),
	NONE("Compilation_EnableFloat16", LATER),
	STARVED("Compilation_Build", build),
	NONE("Compilation_Destroy", ENDS),
	NONE("Executor_Construct", LATER),
	NONE("Executor_Destroy", ENDS),
	NONE("Executor_GetInputCount", TELLS),
	NONE("Executor_GetOutputCount", TELLS),
	NONE("Executor_CreateInputTensorDesc", TELLS),
	NONE("Executor_CreateOutputTensorDesc", TELLS),
	NONE("Executor_GetOutputShape", TELLS),
	NONE("Executor_GetInputDimRange", TELLS),
	NONE("Executor_SetOnRunDone", LATER),
	NONE("Executor_SetOnServiceDied", LATER),
	STARVED("Executor_RunSync", run_sync),
	STARVED("Executor_RunAsync", run_async),
	STARVED("Executor_SetInput", set_input),
	NONE("Executor_SetOutput", "keeps a pointer"),
	STARVED("Executor_Run", legacy_run),
	STARVED("Executor_AllocateInputMemory", input_memory),
	STARVED("Executor_AllocateOutputMemory", output_memory),
	NONE("Executor_DestroyInputMemory", ENDS),
	NONE("Executor_DestroyOutputMemory", ENDS),
	NONE("Executor_SetInputWithMemory", PROGRAMS),
	NONE("Executor_SetOutputWithMemory", PROGRAMS),
	NONE("Model_BuildFromLiteGraph", BOUND),
	NONE("Model_SetInputsAndOutputsInfo", BOUND),
	NONE("Model_BuildFromMetaGraph", BOUND),
	NONE("Model_HasCache", "returns no code: without memory there is no cache"),
	NONE("_GetDeviceID", PROGRAMS),
	NONE("_IsSupportAIPP", TELLS),
	STARVED("Executor_RunSyncWithAipp", run_sync_aipp),
};

STARVE_MAIN("ohnn", OH_NN_MEMORY_ERROR)
