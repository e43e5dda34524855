/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A good handle of every OH_NN kind, for the generated misuse test. Each drop takes what make returned.
 */
#ifndef MISUSE_OHNN_H
#define MISUSE_OHNN_H

static inline NN_TensorDesc *make_NN_TensorDesc(void)
{
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	const int32_t shape[] = {2, 3};
	OH_NNTensorDesc_SetShape(desc, shape, 2);
	OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32);
	return desc;
}

static inline void drop_NN_TensorDesc(NN_TensorDesc *desc) { OH_NNTensorDesc_Destroy(&desc); }

static inline NN_QuantParam *make_NN_QuantParam(void) { return OH_NNQuantParam_Create(); }

static inline void drop_NN_QuantParam(NN_QuantParam *quant) { OH_NNQuantParam_Destroy(&quant); }

static inline NN_Tensor *make_NN_Tensor(void)
{
	NN_TensorDesc *desc = make_NN_TensorDesc();
	NN_Tensor *tensor = OH_NNTensor_Create(0, desc);
	drop_NN_TensorDesc(desc);
	return tensor;
}

static inline void drop_NN_Tensor(NN_Tensor *tensor) { OH_NNTensor_Destroy(&tensor); }

/* A model with four tensors, of which ADD makes 2 from 0 and 1; open, so that functions that change it can be tried. */
static inline OH_NNModel *make_OH_NNModel(void)
{
	OH_NNModel *model = OH_NNModel_Construct();
	NN_TensorDesc *desc = make_NN_TensorDesc(), *scalar = OH_NNTensorDesc_Create();
	for (int i = 0; i < 3; i++)
		OH_NNModel_AddTensorToModel(model, desc);
	OH_NNTensorDesc_SetDataType(scalar, OH_NN_INT8);
	OH_NNModel_AddTensorToModel(model, scalar);
	OH_NNModel_SetTensorType(model, 3, OH_NN_ADD_ACTIVATIONTYPE);
	const int8_t none = OH_NN_FUSED_NONE;
	OH_NNModel_SetTensorData(model, 3, &none, sizeof none);
	uint32_t inputs[] = {0, 1}, outputs[] = {2}, params[] = {3};
	const OH_NN_UInt32Array in = {inputs, 2}, out = {outputs, 1}, param = {params, 1};
	OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &param, &in, &out);
	drop_NN_TensorDesc(desc);
	drop_NN_TensorDesc(scalar);
	return model;
}

static inline void drop_OH_NNModel(OH_NNModel *model) { OH_NNModel_Destroy(&model); }

/* A compilation of a finished model, not built. */
static inline OH_NNCompilation *make_OH_NNCompilation(void)
{
	OH_NNModel *model = make_OH_NNModel();
	uint32_t inputs[] = {0, 1}, outputs[] = {2};
	const OH_NN_UInt32Array in = {inputs, 2}, out = {outputs, 1};
	OH_NNModel_SpecifyInputsAndOutputs(model, &in, &out);
	OH_NNModel_Finish(model);
	OH_NNCompilation *compilation = OH_NNCompilation_Construct(model);
	drop_OH_NNModel(model);
	return compilation;
}

static inline void drop_OH_NNCompilation(OH_NNCompilation *compilation) { OH_NNCompilation_Destroy(&compilation); }

static inline OH_NNExecutor *make_OH_NNExecutor(void)
{
	OH_NNCompilation *compilation = make_OH_NNCompilation();
	OH_NNCompilation_Build(compilation);
	OH_NNExecutor *executor = OH_NNExecutor_Construct(compilation);
	drop_OH_NNCompilation(compilation);
	return executor;
}

static inline void drop_OH_NNExecutor(OH_NNExecutor *executor) { OH_NNExecutor_Destroy(&executor); }

#endif
