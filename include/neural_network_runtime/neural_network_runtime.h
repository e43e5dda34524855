/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file neural_network_runtime.h
 * Models, quantization parameters and the older executor calls of the Neural Network Runtime C API.
 *
 * The rules at the head of neural_network_core.h hold here too. A model is open until OH_NNModel_Finish succeeds; calls
 * that change a finished model return OH_NN_OPERATION_FORBIDDEN. At most 200 indices are allowed in one list.
 */

#ifndef NEURAL_NETWORK_RUNTIME_H
#define NEURAL_NETWORK_RUNTIME_H

#include "neural_network_core.h"
#include "neural_network_runtime_type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quantization parameters. All since 11. The three lists must be of one length when they are given to a tensor. */

/**
 * Creates empty quantization parameters.
 *
 * @return The parameters, to be destroyed by OH_NNQuantParam_Destroy; NULL if memory is short.
 */
NN_QuantParam *OH_NNQuantParam_Create(void);

/**
 * Sets the scales: real = (quantized - zero point) * scale.
 *
 * @param quantParams The parameters.
 * @param scales One scale for the whole tensor, or one per channel; copied.
 * @param quantCount Number of scales, not 0.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNQuantParam_SetScales(NN_QuantParam *quantParams, const double *scales, size_t quantCount);

/**
 * Sets the zero points.
 *
 * @param quantParams The parameters.
 * @param zeroPoints The quantized values that stand for 0; copied.
 * @param quantCount Number of zero points, not 0.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNQuantParam_SetZeroPoints(NN_QuantParam *quantParams, const int32_t *zeroPoints,
                                               size_t quantCount);

/**
 * Sets the widths of quantized values.
 *
 * @param quantParams The parameters.
 * @param numBits Widths in bits; copied. Only 8 is accepted when the parameters are given to a tensor.
 * @param quantCount Number of widths, not 0.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNQuantParam_SetNumBits(NN_QuantParam *quantParams, const uint32_t *numBits, size_t quantCount);

/**
 * Destroys quantization parameters. Tensors they were given to keep their copies.
 *
 * @param quantParams Address of the parameters' pointer, which becomes NULL.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNQuantParam_Destroy(NN_QuantParam **quantParams);

/* Models. Tensors are numbered 0, 1, 2, ... in the order in which they are added. */

/**
 * Creates an empty model. Since 9.
 *
 * @return The model, to be destroyed by OH_NNModel_Destroy; NULL if memory is short.
 */
OH_NNModel *OH_NNModel_Construct(void);

/**
 * Adds a tensor for data (OH_NN_TENSOR); OH_NNModel_SetTensorType makes a parameter of it. Since 11.
 *
 * @param model An open model.
 * @param tensorDesc Data type and shape; copied. No shape set: a scalar. -1: a dimension known only at run time. Name
 *        and format are not used.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also for a dimension of 0 or below -1 or more than 4294967295 bytes;
 *         OH_NN_OPERATION_FORBIDDEN.
 */
OH_NN_ReturnCode OH_NNModel_AddTensorToModel(OH_NNModel *model, const NN_TensorDesc *tensorDesc);

/**
 * Gives a tensor constant data: weights, or the value of a parameter. Since 9.
 *
 * @param model An open model.
 * @param index Number of the tensor; it has no data yet and its shape is complete.
 * @param dataBuffer The data; copied.
 * @param length Bytes of the data: exactly the size of the tensor.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN, also for a shape with unknown dimensions.
 */
OH_NN_ReturnCode OH_NNModel_SetTensorData(OH_NNModel *model, uint32_t index, const void *dataBuffer, size_t length);

/**
 * Gives a tensor quantization parameters. Since 11.
 *
 * @param model An open model.
 * @param index Number of the tensor.
 * @param quantParam The parameters; copied.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also for lists of different lengths or a width other than 8;
 *         OH_NN_OPERATION_FORBIDDEN.
 */
OH_NN_ReturnCode OH_NNModel_SetTensorQuantParams(OH_NNModel *model, uint32_t index, NN_QuantParam *quantParam);

/**
 * Says which parameter a tensor is. Since 11.
 *
 * @param model An open model.
 * @param index Number of the tensor.
 * @param tensorType The parameter, or OH_NN_TENSOR for data.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN.
 */
OH_NN_ReturnCode OH_NNModel_SetTensorType(OH_NNModel *model, uint32_t index, OH_NN_TensorType tensorType);

/**
 * Adds an operation. Since 9.
 *
 * Number, types and values of the parameters are checked here, as is the number of inputs and outputs; shapes are
 * checked by OH_NNCompilation_Build.
 *
 * @param model An open model.
 * @param op The operator.
 * @param paramIndices Parameter tensors in any order, with their data; {NULL, 0} if there is none.
 * @param inputIndices Input tensors in the operator's order.
 * @param outputIndices Output tensors in the operator's order.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN. A failed call adds no operation.
 */
OH_NN_ReturnCode OH_NNModel_AddOperation(OH_NNModel *model, OH_NN_OperationType op,
                                         const OH_NN_UInt32Array *paramIndices, const OH_NN_UInt32Array *inputIndices,
                                         const OH_NN_UInt32Array *outputIndices);

/**
 * Names the model's inputs and outputs, once. Their order is the order of an executor's inputs and outputs. Since 9.
 *
 * @param model An open model.
 * @param inputIndices Tensors the caller will supply.
 * @param outputIndices Tensors the caller will read.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN, also when called again.
 */
OH_NN_ReturnCode OH_NNModel_SpecifyInputsAndOutputs(OH_NNModel *model, const OH_NN_UInt32Array *inputIndices,
                                                    const OH_NN_UInt32Array *outputIndices);

/**
 * Ends the construction. Since 9.
 *
 * @param model An open model with tensors, operations, inputs and outputs.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if something is missing or the model was
 *         finished before; OH_NN_FAILED if an operation lacks a parameter it must have.
 */
OH_NN_ReturnCode OH_NNModel_Finish(OH_NNModel *model);

/**
 * Asks a device which operations of a finished model it can run. Since 9.
 *
 * @param model A finished model.
 * @param deviceID An id of OH_NNDevice_GetAllDevicesID; 0 means the first device.
 * @param isSupported Receives one flag per operation, in the order of OH_NNModel_AddOperation; *isSupported must be
 *        NULL on entry. The array belongs to the model and is valid until the next call of this function or its end.
 * @param opCount Receives the number of flags.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if the model is not finished; OH_NN_FAILED
 *         if there is no such device or it failed.
 */
OH_NN_ReturnCode OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t deviceID, const bool **isSupported,
                                                   uint32_t *opCount);

/**
 * Destroys a model. Compilations made from it keep what they need. Since 9.
 *
 * @param model Address of the model's pointer, which becomes NULL. NULL or the address of NULL: no effect.
 */
void OH_NNModel_Destroy(OH_NNModel **model);

/* Deprecated since 11. These calls work as before; each names its successor. */

/**
 * Adds a tensor described by a struct. Since 9, deprecated since 11: OH_NNModel_AddTensorToModel.
 *
 * @param model An open model.
 * @param tensor The tensor with its role and quantization parameters; copied.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNModel_AddTensorToModel")
OH_NN_ReturnCode OH_NNModel_AddTensor(OH_NNModel *model, const OH_NN_Tensor *tensor);

/**
 * Sets the data of an input. Since 9, deprecated since 11: OH_NNExecutor_RunSync.
 *
 * @param executor The executor.
 * @param inputIndex Number of the input.
 * @param tensor Description with the real shape; in all else like the tensor of the model.
 * @param dataBuffer The data; copied, so it may be changed after the call.
 * @param length Bytes of dataBuffer, at least the tensor's size.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNExecutor_RunSync")
OH_NN_ReturnCode OH_NNExecutor_SetInput(OH_NNExecutor *executor, uint32_t inputIndex, const OH_NN_Tensor *tensor,
                                        const void *dataBuffer, size_t length);

/**
 * Says where an output goes; called before OH_NNExecutor_Run. Since 9, deprecated since 11: OH_NNExecutor_RunSync.
 *
 * @param executor The executor.
 * @param outputIndex Number of the output.
 * @param dataBuffer Memory that stays valid through the runs that write it.
 * @param length Bytes of dataBuffer, at least the output's size.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNExecutor_RunSync")
OH_NN_ReturnCode OH_NNExecutor_SetOutput(OH_NNExecutor *executor, uint32_t outputIndex, void *dataBuffer,
                                         size_t length);

/**
 * Runs with the inputs and outputs set before. May be repeated. Since 9, deprecated since 11: OH_NNExecutor_RunSync.
 *
 * @param executor The executor.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also if an input or output is not set or an output's memory is too
 *         small; OH_NN_UNAVAILABLE_DEVICE if the device failed.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNExecutor_RunSync")
OH_NN_ReturnCode OH_NNExecutor_Run(OH_NNExecutor *executor);

/**
 * Allocates memory for an input that the device reads in place. Since 9, deprecated since 11:
 * OH_NNTensor_CreateWithSize.
 *
 * @param executor The executor.
 * @param inputIndex Number of the input.
 * @param length Bytes, 1 to 1 GiB.
 * @return The memory, to be freed by OH_NNExecutor_DestroyInputMemory before the executor; NULL on failure.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNTensor_CreateWithSize")
OH_NN_Memory *OH_NNExecutor_AllocateInputMemory(OH_NNExecutor *executor, uint32_t inputIndex, size_t length);

/**
 * Allocates memory for an output that the device writes in place. Since 9, deprecated since 11:
 * OH_NNTensor_CreateWithSize.
 *
 * @param executor The executor.
 * @param outputIndex Number of the output.
 * @param length Bytes, 1 to 1 GiB.
 * @return The memory, to be freed by OH_NNExecutor_DestroyOutputMemory before the executor; NULL on failure.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNTensor_CreateWithSize")
OH_NN_Memory *OH_NNExecutor_AllocateOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex, size_t length);

/**
 * Frees memory of OH_NNExecutor_AllocateInputMemory. Since 9, deprecated since 11: OH_NNTensor_Destroy.
 *
 * @param executor The executor the memory was allocated from.
 * @param inputIndex The number it was allocated for. With another executor or number nothing happens.
 * @param memory Address of the memory's pointer, which becomes NULL.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNTensor_Destroy")
void OH_NNExecutor_DestroyInputMemory(OH_NNExecutor *executor, uint32_t inputIndex, OH_NN_Memory **memory);

/**
 * Frees memory of OH_NNExecutor_AllocateOutputMemory. Since 9, deprecated since 11: OH_NNTensor_Destroy.
 *
 * @param executor The executor the memory was allocated from.
 * @param outputIndex The number it was allocated for. With another executor or number nothing happens.
 * @param memory Address of the memory's pointer, which becomes NULL.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNTensor_Destroy")
void OH_NNExecutor_DestroyOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex, OH_NN_Memory **memory);

/**
 * Makes allocated memory an input. Its content is read by OH_NNExecutor_Run, not before. Since 9, deprecated since 11:
 * OH_NNExecutor_RunSync.
 *
 * @param executor The executor.
 * @param inputIndex Number of the input.
 * @param tensor Description with the real shape; in all else like the tensor of the model.
 * @param memory Memory of OH_NNExecutor_AllocateInputMemory, at least of the tensor's size.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNExecutor_RunSync")
OH_NN_ReturnCode OH_NNExecutor_SetInputWithMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                  const OH_NN_Tensor *tensor, const OH_NN_Memory *memory);

/**
 * Makes allocated memory an output, written by OH_NNExecutor_Run. Since 9, deprecated since 11: OH_NNExecutor_RunSync.
 *
 * @param executor The executor.
 * @param outputIndex Number of the output.
 * @param memory Memory of OH_NNExecutor_AllocateOutputMemory, at least of the output's size.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
ANYNPU_OHNN_DEPRECATED("OH_NNExecutor_RunSync")
OH_NN_ReturnCode OH_NNExecutor_SetOutputWithMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                   const OH_NN_Memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_RUNTIME_H */
