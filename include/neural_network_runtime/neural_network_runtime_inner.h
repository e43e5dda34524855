/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file neural_network_runtime_inner.h
 * Functions for OpenHarmony's own inference engine. Programs use the public headers; these are here so that binaries
 * which call them load and get an answer. The rules at the head of neural_network_core.h hold.
 */

#ifndef NEURAL_NETWORK_RUNTIME_INNER_H
#define NEURAL_NETWORK_RUNTIME_INNER_H

#include "neural_network_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a name in the two structs below, the final 0 included. */
#define ANYNPU_OHNN_NAME_SIZE 128

/** Describes an input or output of a graph. Since 10. */
typedef struct OH_NN_TensorInfo {
    char name[ANYNPU_OHNN_NAME_SIZE]; /**< Name. */
    OH_NN_DataType dataType;          /**< Type of the elements. */
    uint32_t dimensionCount;          /**< Number of dimensions. */
    const int32_t *dimensions;        /**< The dimensions. */
    OH_NN_Format format;              /**< Meaning of the dimensions. */
} OH_NN_TensorInfo;

/** A named setting: QuantBuffer, ModelName, isProfiling, opLayout, InputDims, DynamicDims, NPU_FM_SHARED or AIPP. */
typedef struct OH_NN_Extension {
    char name[ANYNPU_OHNN_NAME_SIZE]; /**< Name. */
    char *value;                      /**< Value. */
    size_t valueSize;                 /**< Bytes of the value. */
} OH_NN_Extension;

/**
 * Takes over a MindSpore LiteGraph as the model. Since 9.
 *
 * @param model An empty model.
 * @param liteGraph The graph.
 * @param extensions Settings.
 * @param extensionSize Number of settings, at most 200.
 * @return OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if the model is not empty; else OH_NN_UNSUPPORTED, since a
 *         LiteGraph can only be read by the engine it belongs to.
 */
OH_NN_ReturnCode OH_NNModel_BuildFromLiteGraph(OH_NNModel *model, const void *liteGraph,
                                               const OH_NN_Extension *extensions, size_t extensionSize);

/**
 * Takes over a MindSpore MetaGraph as the model. Since 10.
 *
 * @param model A model whose inputs and outputs OH_NNModel_SetInputsAndOutputsInfo has described.
 * @param metaGraph The graph.
 * @param extensions Settings.
 * @param extensionSize Number of settings, at most 200.
 * @return OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if inputs and outputs are not described or the model is
 *         finished; else OH_NN_UNSUPPORTED, since a MetaGraph can only be read by the engine it belongs to.
 */
OH_NN_ReturnCode OH_NNModel_BuildFromMetaGraph(OH_NNModel *model, const void *metaGraph,
                                               const OH_NN_Extension *extensions, size_t extensionSize);

/**
 * Describes the inputs and outputs of a model that OH_NNModel_BuildFromMetaGraph will fill. Since 10.
 *
 * @param model An empty model.
 * @param inputsInfo The inputs; copied.
 * @param inputSize Number of inputs, not 0.
 * @param outputsInfo The outputs; copied.
 * @param outputSize Number of outputs, not 0.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if the model is not empty.
 */
OH_NN_ReturnCode OH_NNModel_SetInputsAndOutputsInfo(OH_NNModel *model, const OH_NN_TensorInfo *inputsInfo,
                                                    size_t inputSize, const OH_NN_TensorInfo *outputsInfo,
                                                    size_t outputSize);

/**
 * Tells whether a directory holds a complete cache of a model. Since 11.
 *
 * @param cacheDir The directory given to OH_NNCompilation_SetCache.
 * @param modelName The ModelName setting the cache was made with.
 * @param version The version given to OH_NNCompilation_SetCache.
 * @return Whether the cache is there, undamaged, for this device and of this version; false for a NULL argument.
 */
bool OH_NNModel_HasCache(const char *cacheDir, const char *modelName, uint32_t version);

/**
 * Gives the name of the accelerator the system is configured for. Since 11.
 *
 * @param nnrtDevice Receives a string.
 * @param len Bytes of nnrtDevice.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_FAILED if the name does not fit.
 */
OH_NN_ReturnCode OH_NN_GetDeviceID(char *nnrtDevice, size_t len);

/**
 * Tells whether the accelerator preprocesses images. Since 11. In C++ the argument is a reference, which is passed like
 * the pointer that C programs give.
 *
 * @param support Receives true on success; untouched otherwise.
 * @return OH_NN_SUCCESS if it does; OH_NN_FAILED if not.
 */
#ifdef __cplusplus
OH_NN_ReturnCode OH_NN_IsSupportAIPP(bool &support);
#else
OH_NN_ReturnCode OH_NN_IsSupportAIPP(bool *support);
#endif

/**
 * OH_NNExecutor_RunSync with image preprocessing, which no device here offers. Since 11.
 *
 * @param executor The executor. @param inputTensor Tensors with the inputs, in order. @param inputCount Their number,
 * that of the model. @param outputTensor Tensors for the outputs, in order. @param outputCount Their number, that of
 * the model. @param aippString The preprocessing, not empty. @return OH_NN_INVALID_PARAMETER for a NULL or empty
 * aippString; the codes of OH_NNExecutor_RunSync for arguments that it
 *         refuses; else OH_NN_UNSUPPORTED: no device of this library preprocesses images.
 */
OH_NN_ReturnCode OH_NNExecutor_RunSyncWithAipp(OH_NNExecutor *executor, NN_Tensor *inputTensor[], size_t inputCount,
                                               NN_Tensor *outputTensor[], size_t outputCount, const char *aippString);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_RUNTIME_INNER_H */
