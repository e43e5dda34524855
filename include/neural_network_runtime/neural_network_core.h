/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file neural_network_core.h
 * Devices, tensor descriptors, tensors, compilations and executors of the Neural Network Runtime C API.
 *
 * Rules that hold for every function of this header unless it says otherwise:
 * - A handle that is NULL, was destroyed, or is of another kind gives OH_NN_INVALID_PARAMETER, or NULL where a pointer
 *   is returned. So does a NULL pointer for any other argument.
 * - Destroy functions take the address of the caller's pointer and set the pointer to NULL.
 * - Strings and arrays passed in are copied during the call. Strings and arrays passed out belong to the library; the
 *   function says how long they stay valid. Where a pointer is passed out through a double pointer, the caller sets it
 *   to NULL first.
 * - Any function may be called from any thread. Runs of one executor follow one another; runs of different executors
 *   may overlap.
 * - Lengths are in bytes, counts in elements.
 */

#ifndef NEURAL_NETWORK_CORE_H
#define NEURAL_NETWORK_CORE_H

#include "neural_network_runtime_type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices. */

/**
 * Lists the devices. Since 9.
 *
 * @param allDevicesID Receives an array of device ids, NULL if there is none. *allDevicesID must be NULL on entry. The
 *        array belongs to the library and stays valid for the life of the process.
 * @param deviceCount Receives the number of ids.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNDevice_GetAllDevicesID(const size_t **allDevicesID, uint32_t *deviceCount);

/**
 * Gives the name of a device. Since 9.
 *
 * @param deviceID An id of OH_NNDevice_GetAllDevicesID; 0 means the first device.
 * @param name Receives the name; *name must be NULL on entry. The string stays valid for the life of the process.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_FAILED, with *name NULL, if there is no such device.
 */
OH_NN_ReturnCode OH_NNDevice_GetName(size_t deviceID, const char **name);

/**
 * Gives the kind of a device. Since 9.
 *
 * @param deviceID An id of OH_NNDevice_GetAllDevicesID; 0 means the first device.
 * @param deviceType Receives the kind.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also if there is no such device.
 */
OH_NN_ReturnCode OH_NNDevice_GetType(size_t deviceID, OH_NN_DeviceType *deviceType);

/* Tensor descriptors. All since 11. */

/**
 * Creates a descriptor: data type OH_NN_UNKNOWN, format OH_NN_FORMAT_NONE, no shape, empty name.
 *
 * @return The descriptor, to be destroyed by OH_NNTensorDesc_Destroy; NULL if memory is short.
 */
NN_TensorDesc *OH_NNTensorDesc_Create(void);

/**
 * Destroys a descriptor. Tensors and models made from it keep their copies.
 *
 * @param tensorDesc Address of the descriptor's pointer, which becomes NULL.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_Destroy(NN_TensorDesc **tensorDesc);

/**
 * Sets the name.
 *
 * @param tensorDesc The descriptor.
 * @param name A string, which may be empty; copied.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_SetName(NN_TensorDesc *tensorDesc, const char *name);

/**
 * Gives the name.
 *
 * @param tensorDesc The descriptor.
 * @param name Receives the name, "" if none was set; *name must be NULL on entry. Valid until the name is set again or
 *        the descriptor is destroyed.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_GetName(const NN_TensorDesc *tensorDesc, const char **name);

/**
 * Sets the data type.
 *
 * @param tensorDesc The descriptor.
 * @param dataType Any OH_NN_DataType, OH_NN_UNKNOWN included.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also for a value that is no OH_NN_DataType.
 */
OH_NN_ReturnCode OH_NNTensorDesc_SetDataType(NN_TensorDesc *tensorDesc, OH_NN_DataType dataType);

/**
 * Gives the data type.
 *
 * @param tensorDesc The descriptor.
 * @param dataType Receives the data type.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_GetDataType(const NN_TensorDesc *tensorDesc, OH_NN_DataType *dataType);

/**
 * Sets the shape. A scalar is a descriptor whose shape was never set.
 *
 * @param tensorDesc The descriptor.
 * @param shape The dimensions; -1 for one that is known only at run time. Copied; the values are judged later, where
 *        the descriptor is used.
 * @param shapeLength Number of dimensions, 1 to 10.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_SetShape(NN_TensorDesc *tensorDesc, const int32_t *shape, size_t shapeLength);

/**
 * Gives the shape.
 *
 * @param tensorDesc The descriptor.
 * @param shape Receives the dimensions, NULL if no shape was set; *shape must be NULL on entry. Valid until the shape
 *        is set again or the descriptor is destroyed.
 * @param shapeLength Receives the number of dimensions.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_GetShape(const NN_TensorDesc *tensorDesc, int32_t **shape, size_t *shapeLength);

/**
 * Sets the format.
 *
 * @param tensorDesc The descriptor.
 * @param format Any OH_NN_Format.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also for a value that is no OH_NN_Format.
 */
OH_NN_ReturnCode OH_NNTensorDesc_SetFormat(NN_TensorDesc *tensorDesc, OH_NN_Format format);

/**
 * Gives the format.
 *
 * @param tensorDesc The descriptor.
 * @param format Receives the format.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensorDesc_GetFormat(const NN_TensorDesc *tensorDesc, OH_NN_Format *format);

/**
 * Counts the elements.
 *
 * @param tensorDesc The descriptor.
 * @param elementCount Receives the product of the dimensions, 0 if one of them is not positive.
 * @return OH_NN_SUCCESS; OH_NN_DYNAMIC_SHAPE if a dimension is not positive; OH_NN_INVALID_PARAMETER, also if no shape
 *         was set or the product does not fit.
 */
OH_NN_ReturnCode OH_NNTensorDesc_GetElementCount(const NN_TensorDesc *tensorDesc, size_t *elementCount);

/**
 * Gives the size of the data.
 *
 * @param tensorDesc The descriptor.
 * @param byteSize Receives the bytes; 0 after an error and for a shape with a dimension that is not positive, so a
 *        program tests for 0 whatever code it gets.
 * @return OH_NN_SUCCESS; OH_NN_DYNAMIC_SHAPE for an unknown dimension, unless the reference behaviour is asked for;
 *         OH_NN_INVALID_PARAMETER, also if no shape was set, the data type is OH_NN_UNKNOWN, or the size does not fit.
 */
OH_NN_ReturnCode OH_NNTensorDesc_GetByteSize(const NN_TensorDesc *tensorDesc, size_t *byteSize);

/* Tensors. All since 11. Each holds a copy of its descriptor. */

/**
 * Creates a tensor with memory of its descriptor's size.
 *
 * @param deviceID The device that will use it; 0 means the first.
 * @param tensorDesc Data type and complete shape; copied.
 * @return The tensor, to be destroyed by OH_NNTensor_Destroy. NULL for an unknown device, a data type of OH_NN_UNKNOWN,
 *         a shape that is not set or not complete, a size above 1 GiB, or if memory is short.
 */
NN_Tensor *OH_NNTensor_Create(size_t deviceID, NN_TensorDesc *tensorDesc);

/**
 * Creates a tensor with memory of a given size. Here the shape may have dimensions of -1.
 *
 * @param deviceID The device that will use it; 0 means the first.
 * @param tensorDesc Data type and shape; copied.
 * @param size Bytes to allocate: at least the descriptor's size, at most 1 GiB.
 * @return The tensor, to be destroyed by OH_NNTensor_Destroy; NULL for the reasons of OH_NNTensor_Create, or if the
 *         size is out of range.
 */
NN_Tensor *OH_NNTensor_CreateWithSize(size_t deviceID, NN_TensorDesc *tensorDesc, size_t size);

/**
 * Creates a tensor on memory that a file descriptor stands for. The usable bytes are size - offset, counted from the
 * address OH_NNTensor_GetDataBuffer returns.
 *
 * @param deviceID The device that will use it; 0 means the first.
 * @param tensorDesc Data type and shape; copied.
 * @param fd Shared memory, mapped for reading and writing. It stays the caller's and must stay open until the tensor is
 *        destroyed.
 * @param size Bytes of the shared memory, the offset included.
 * @param offset Where the data begins: a multiple of the page size.
 * @return The tensor, to be destroyed by OH_NNTensor_Destroy. NULL for an unknown device, a data type of OH_NN_UNKNOWN,
 *         a shape that is not set, usable bytes fewer than the descriptor's size, or if the memory cannot be mapped.
 */
NN_Tensor *OH_NNTensor_CreateWithFd(size_t deviceID, NN_TensorDesc *tensorDesc, int fd, size_t size, size_t offset);

/**
 * Destroys a tensor: its memory is unmapped and, unless it came with a file descriptor, freed.
 *
 * @param tensor Address of the tensor's pointer, which becomes NULL.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensor_Destroy(NN_Tensor **tensor);

/**
 * Gives the tensor's own descriptor. After a run the descriptor of an output tensor holds the real shape.
 *
 * @param tensor The tensor.
 * @return The descriptor, which belongs to the tensor and must not be destroyed; NULL for a bad handle.
 */
NN_TensorDesc *OH_NNTensor_GetTensorDesc(const NN_Tensor *tensor);

/**
 * Gives the address of the data.
 *
 * @param tensor The tensor.
 * @return The first byte, valid until the tensor is destroyed; NULL for a bad handle.
 */
void *OH_NNTensor_GetDataBuffer(const NN_Tensor *tensor);

/**
 * Gives the file descriptor of the tensor's memory. Every tensor has one.
 *
 * @param tensor The tensor.
 * @param fd Receives the descriptor, which the caller must not close.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensor_GetFd(const NN_Tensor *tensor, int *fd);

/**
 * Gives the size of the tensor's memory, which may exceed that of its data.
 *
 * @param tensor The tensor.
 * @param size Receives the bytes allocated, or the size given to OH_NNTensor_CreateWithFd.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensor_GetSize(const NN_Tensor *tensor, size_t *size);

/**
 * Gives the offset of the data in the shared memory.
 *
 * @param tensor The tensor.
 * @param offset Receives the offset given to OH_NNTensor_CreateWithFd in bytes; 0 for other tensors.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNTensor_GetOffset(const NN_Tensor *tensor, size_t *offset);

/* Compilations. The settings are judged by OH_NNCompilation_Build, so the setters accept any value before it. */

/**
 * Creates a compilation of a model. Since 9.
 *
 * @param model The model, to be finished before OH_NNCompilation_Build. It may be destroyed right after this call.
 * @return The compilation, to be destroyed by OH_NNCompilation_Destroy; NULL for a bad handle.
 */
OH_NNCompilation *OH_NNCompilation_Construct(const OH_NNModel *model);

/**
 * Creates a compilation of a model in a file. Since 11.
 *
 * OH_NNCompilation_Build tells by the content what it is: an ONNX model, or what OH_NNCompilation_ExportCacheToBuffer
 * wrote on this device. Inputs and outputs of an ONNX model have its names, and OH_NN_FORMAT_ND.
 *
 * @param modelPath Path of the file, which is opened by OH_NNCompilation_Build.
 * @return The compilation, to be destroyed by OH_NNCompilation_Destroy; NULL if modelPath is NULL.
 */
OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelFile(const char *modelPath);

/**
 * Creates a compilation of a model in memory: the content of a file for OH_NNCompilation_ConstructWithOfflineModelFile.
 * Since 11.
 *
 * @param modelBuffer The model, which must stay valid until OH_NNCompilation_Build has returned.
 * @param modelSize Bytes of the model.
 * @return The compilation, to be destroyed by OH_NNCompilation_Destroy; NULL if modelBuffer is NULL or modelSize is 0.
 */
OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelBuffer(const void *modelBuffer, size_t modelSize);

/**
 * Creates a compilation without a model, to be filled from a cache: OH_NNCompilation_SetCache or
 * OH_NNCompilation_ImportCacheFromBuffer. Since 11.
 *
 * @return The compilation, to be destroyed by OH_NNCompilation_Destroy; NULL if memory is short.
 */
OH_NNCompilation *OH_NNCompilation_ConstructForCache(void);

/**
 * Writes the compiled model to memory. Since 11.
 *
 * @param compilation A built compilation.
 * @param buffer Where to write.
 * @param length Bytes of the buffer.
 * @param modelSize Receives the bytes written.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER, also if the compilation is not built or the buffer is too small;
 *         OH_NN_UNSUPPORTED if the device cannot store its compiled models.
 */
OH_NN_ReturnCode OH_NNCompilation_ExportCacheToBuffer(OH_NNCompilation *compilation, const void *buffer, size_t length,
                                                      size_t *modelSize);

/**
 * Gives a compilation a compiled model from memory, as OH_NNCompilation_ExportCacheToBuffer wrote it. Since 11.
 *
 * @param compilation A compilation that is not built yet.
 * @param buffer The stored model, which must stay valid until OH_NNCompilation_Build has returned.
 * @param modelSize Bytes of the stored model.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_ImportCacheFromBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                        size_t modelSize);

/**
 * Passes a named setting to the device. Names the device does not know have no effect. Since 11.
 *
 * @param compilation The compilation.
 * @param configName Name of the setting, not empty; copied.
 * @param configValue Value; copied.
 * @param configValueSize Bytes of the value, not 0.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_AddExtensionConfig(OH_NNCompilation *compilation, const char *configName,
                                                     const void *configValue, const size_t configValueSize);

/**
 * Chooses the device. Since 9.
 *
 * @param compilation The compilation.
 * @param deviceID An id of OH_NNDevice_GetAllDevicesID; 0, the default, means the first device.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_SetDevice(OH_NNCompilation *compilation, size_t deviceID);

/**
 * Turns the cache on: OH_NNCompilation_Build reads the compiled model from the directory, or writes it there. Since 9.
 *
 * @param compilation The compilation. @param cachePath An existing directory, best one per model; copied. "" turns the
 * cache off. Its files get the mode 0600.
 *        Nothing is written into a directory that another process keeps locked (flock); a warning says so.
 * @param version Version of the caller's model, 0 to 4294967294. A cache of a lower version is replaced, one of a
 *        higher version makes OH_NNCompilation_Build return OH_NN_OPERATION_FORBIDDEN.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_SetCache(OH_NNCompilation *compilation, const char *cachePath, uint32_t version);

/**
 * Sets the preference between speed and power. Since 9.
 *
 * @param compilation The compilation.
 * @param performanceMode The preference; OH_NN_PERFORMANCE_NONE by default.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_SetPerformanceMode(OH_NNCompilation *compilation,
                                                     OH_NN_PerformanceMode performanceMode);

/**
 * Sets the priority of the model's runs. Since 9.
 *
 * @param compilation The compilation.
 * @param priority The priority; OH_NN_PRIORITY_NONE by default.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_SetPriority(OH_NNCompilation *compilation, OH_NN_Priority priority);

/**
 * Allows float32 models to be computed in float16. Since 9.
 *
 * @param compilation The compilation.
 * @param enableFloat16 Whether float16 is allowed; false by default.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNCompilation_EnableFloat16(OH_NNCompilation *compilation, bool enableFloat16);

/**
 * Compiles. Afterwards executors can be made. Since 9.
 *
 * @param compilation The compilation, with exactly one source: a model, a stored model, or a cache.
 * @return OH_NN_SUCCESS;
 *         OH_NN_INVALID_PARAMETER for none or several sources, an unfinished model, an earlier call of this function, a
 *         mode or priority out of range, or a cache directory that does not exist;
 *         OH_NN_FAILED for an unknown device, an operation the device does not support, or a failure to compile;
 *         OH_NN_OPERATION_FORBIDDEN for a setting the device does not support, or a cache of a higher version;
 *         OH_NN_SAVE_CACHE_EXCEPTION if the model is compiled but its cache could not be written;
 *         OH_NN_UNAVAILABLE_DEVICE if the device failed.
 */
OH_NN_ReturnCode OH_NNCompilation_Build(OH_NNCompilation *compilation);

/**
 * Destroys a compilation. Executors made from it go on working. Since 9.
 *
 * @param compilation Address of the compilation's pointer, which becomes NULL. NULL or the address of NULL: no effect.
 */
void OH_NNCompilation_Destroy(OH_NNCompilation **compilation);

/* Executors. Inputs and outputs are numbered from 0 in the order of OH_NNModel_SpecifyInputsAndOutputs. */

/**
 * Creates an executor. Several may be made from one compilation. Since 9.
 *
 * @param compilation A built compilation; it may be destroyed after this call.
 * @return The executor, to be destroyed by OH_NNExecutor_Destroy; NULL if the compilation is not built.
 */
OH_NNExecutor *OH_NNExecutor_Construct(OH_NNCompilation *compilation);

/**
 * Destroys an executor. The caller frees memory of OH_NNExecutor_AllocateInputMemory and its like before. Since 9.
 *
 * @param executor Address of the executor's pointer, which becomes NULL. NULL or the address of NULL: no effect.
 */
void OH_NNExecutor_Destroy(OH_NNExecutor **executor);

/**
 * Gives the shape of an output: after a run the real one, before it the declared one, in which -1 may occur. Since 9.
 *
 * @param executor The executor.
 * @param outputIndex Number of the output.
 * @param shape Receives the dimensions; *shape must be NULL on entry. Valid until the next run or the executor's end.
 * @param shapeLength Receives the number of dimensions.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNExecutor_GetOutputShape(OH_NNExecutor *executor, uint32_t outputIndex, int32_t **shape,
                                              uint32_t *shapeLength);

/**
 * Gives the number of inputs. Since 11.
 *
 * @param executor The executor.
 * @param inputCount Receives the number.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNExecutor_GetInputCount(const OH_NNExecutor *executor, size_t *inputCount);

/**
 * Gives the number of outputs. Since 11.
 *
 * @param executor The executor.
 * @param outputCount Receives the number.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER.
 */
OH_NN_ReturnCode OH_NNExecutor_GetOutputCount(const OH_NNExecutor *executor, size_t *outputCount);

/**
 * Creates a descriptor of an input: data type, declared shape (-1 where it is open), OH_NN_FORMAT_NHWC. Since 11.
 *
 * @param executor The executor.
 * @param index Number of the input.
 * @return The descriptor, to be destroyed by OH_NNTensorDesc_Destroy; NULL for a bad handle or number.
 */
NN_TensorDesc *OH_NNExecutor_CreateInputTensorDesc(const OH_NNExecutor *executor, size_t index);

/**
 * Creates a descriptor of an output: data type, declared shape (-1 where it is open), OH_NN_FORMAT_NHWC. Since 11.
 *
 * @param executor The executor.
 * @param index Number of the output.
 * @return The descriptor, to be destroyed by OH_NNTensorDesc_Destroy; NULL for a bad handle or number.
 */
NN_TensorDesc *OH_NNExecutor_CreateOutputTensorDesc(const OH_NNExecutor *executor, size_t index);

/**
 * Gives the least and the greatest shape an input may have. Since 11.
 *
 * @param executor The executor.
 * @param index Number of the input.
 * @param minInputDims Receives the least dimensions. The array belongs to the executor and lives as long.
 * @param maxInputDims Receives the greatest dimensions, on the same terms.
 * @param shapeLength Receives the number of dimensions.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if the device does not say.
 */
OH_NN_ReturnCode OH_NNExecutor_GetInputDimRange(const OH_NNExecutor *executor, size_t index, size_t **minInputDims,
                                                size_t **maxInputDims, size_t *shapeLength);

/**
 * Sets the function called when a run of OH_NNExecutor_RunAsync ends. Since 11.
 *
 * @param executor The executor.
 * @param onRunDone The function.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if asynchronous runs are turned off.
 */
OH_NN_ReturnCode OH_NNExecutor_SetOnRunDone(OH_NNExecutor *executor, NN_OnRunDone onRunDone);

/**
 * Sets the function called when the device's service dies during a run of OH_NNExecutor_RunAsync. Since 11.
 *
 * @param executor The executor.
 * @param onServiceDied The function.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if asynchronous runs are turned off.
 */
OH_NN_ReturnCode OH_NNExecutor_SetOnServiceDied(OH_NNExecutor *executor, NN_OnServiceDied onServiceDied);

/**
 * Runs the model and returns when the outputs are written. Since 11.
 *
 * The descriptor of each input tensor gives the real shape; its memory must hold that many bytes. After the call the
 * descriptors of the output tensors and OH_NNExecutor_GetOutputShape tell the real shapes of the outputs.
 *
 * @param executor The executor.
 * @param inputTensor Tensors with the inputs, in order.
 * @param inputCount Their number, that of the model.
 * @param outputTensor Tensors for the outputs, in order.
 * @param outputCount Their number, that of the model.
 * @return OH_NN_SUCCESS; OH_NN_INVALID_PARAMETER for bad handles, counts or input shapes; OH_NN_NULL_PTR for an input
 *         that is NULL; OH_NN_FAILED if a tensor's memory is smaller than its shape needs; OH_NN_UNAVAILABLE_DEVICE if
 *         the device failed.
 */
OH_NN_ReturnCode OH_NNExecutor_RunSync(OH_NNExecutor *executor, NN_Tensor *inputTensor[], size_t inputCount,
                                       NN_Tensor *outputTensor[], size_t outputCount);

/**
 * Starts a run and returns at once. When it has ended, the function set by OH_NNExecutor_SetOnRunDone is called.
 * Since 11.
 *
 * The array of outputs must stay valid until that call; a tensor of either array cannot be destroyed before it. Runs of
 * one executor follow one another in the order in which they were started.
 *
 * @param executor The executor.
 * @param inputTensor Tensors with the inputs, in order.
 * @param inputCount Their number, that of the model.
 * @param outputTensor Tensors for the outputs, in order.
 * @param outputCount Their number, that of the model.
 * @param timeout Milliseconds from this call after which the run is ended with OH_NN_TIMEOUT; 0 for no limit.
 * @param userData Any pointer but NULL; handed to the callbacks.
 * @return OH_NN_SUCCESS if the run was started; OH_NN_INVALID_PARAMETER; OH_NN_OPERATION_FORBIDDEN if no callback was
 *         set or asynchronous runs are turned off.
 */
OH_NN_ReturnCode OH_NNExecutor_RunAsync(OH_NNExecutor *executor, NN_Tensor *inputTensor[], size_t inputCount,
                                        NN_Tensor *outputTensor[], size_t outputCount, int32_t timeout,
                                        void *userData);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_CORE_H */
