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

#endif
