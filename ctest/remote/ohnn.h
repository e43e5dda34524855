/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * network.c with OH_NN: an ONNX file as an offline model.
 */
#include "ohnn_host.h"

struct runner {
	OH_NNExecutor *executor;
	NN_Tensor *in, *out;
	size_t in_count, out_count;
};

static OH_NNCompilation *compilation;

static void load(const char *model)
{
	compilation = OH_NNCompilation_ConstructWithOfflineModelFile(model);
	CHECK(compilation != NULL, "%s", anynpu_last_error());
	CHECK(OH_NNCompilation_Build(compilation) == OH_NN_SUCCESS, "%s", anynpu_last_error());
}

static void unload(void) { OH_NNCompilation_Destroy(&compilation); }

static NN_Tensor *tensor(NN_TensorDesc *d, size_t *count)
{
	OH_NN_DataType type;
	NN_Tensor *t = OH_NNTensor_Create(0, d);
	CHECK(t != NULL, "%s", anynpu_last_error());
	OK(OH_NNTensorDesc_GetDataType(d, &type));
	OK(OH_NNTensorDesc_GetElementCount(d, count));
	CHECK(type == OH_NN_FLOAT32, "type %d", (int)type);
	OK(OH_NNTensorDesc_Destroy(&d));
	return t;
}

static void begin_runner(struct runner *r)
{
	r->executor = OH_NNExecutor_Construct(compilation);
	CHECK(r->executor != NULL, "%s", anynpu_last_error());
	r->in = tensor(OH_NNExecutor_CreateInputTensorDesc(r->executor, 0), &r->in_count);
	r->out = tensor(OH_NNExecutor_CreateOutputTensorDesc(r->executor, 0), &r->out_count);
}

static int run(struct runner *r, int input, struct values *v)
{
	fill(OH_NNTensor_GetDataBuffer(r->in), F32, r->in_count, input, 1, 0);
	OH_NN_ReturnCode code = OH_NNExecutor_RunSync(r->executor, &r->in, 1, &r->out, 1);
	if (code == OH_NN_SUCCESS)
		take(v, OH_NNTensor_GetDataBuffer(r->out), F32, r->out_count);
	return (int)code;
}

static void end_runner(struct runner *r)
{
	OK(OH_NNTensor_Destroy(&r->in));
	OK(OH_NNTensor_Destroy(&r->out));
	OH_NNExecutor_Destroy(&r->executor);
}
