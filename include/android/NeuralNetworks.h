/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file NeuralNetworks.h
 * The functions of Android's Neural Networks API, feature levels 1 to 8.
 *
 * They return a value of ResultCode unless it says otherwise: ANEURALNETWORKS_NO_ERROR, or the code of the first fault
 * found, NULL first, then calls that come at the wrong time (BAD_STATE), then values (BAD_DATA); the codes are named
 * without their prefix here. A call that fails changes nothing, and sets the variable for a new object to NULL. What is
 * wrong is told in one line of the log. Pointers to structs and arrays are read during the call only.
 */

#ifndef ANDROID_NEURAL_NETWORKS_H
#define ANDROID_NEURAL_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "NeuralNetworksTypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices */

/**
 * Gives the number of devices, at least 1: the processor itself comes last. UNEXPECTED_NULL. Since feature level 3.
 */
int ANeuralNetworks_getDeviceCount(uint32_t *numDevices);

/**
 * Gives device devIndex of those that ANeuralNetworks_getDeviceCount counts. It lives as long as the process, and the
 * same index gives the same pointer. BAD_DATA: no such index. Since feature level 3.
 */
int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device);

/**
 * Gives the name, which no other device has; "nnapi-reference" is the processor. The string lives as long as the
 * process. Since feature level 3.
 */
int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name);

/** Gives a value of DeviceTypeCode. Since feature level 3. */
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type);

/** Gives the version as text for people. The string lives as long as the process. Since feature level 3. */
int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version);

/**
 * Gives the highest feature level whose operations the device knows, at most that of the library.
 * Since feature level 3.
 */
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *featureLevel);

/** Waits until the device is ready. Since feature level 4. */
int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device);

/** Returns the feature level of the library, a value of FeatureLevelCode. Since feature level 5. */
int64_t ANeuralNetworks_getRuntimeFeatureLevel(void);

/**
 * Tells for each operation of a finished model, in the order of ANeuralNetworksModel_addOperation, whether one of the
 * devices computes it. supportedOps has an element per operation. BAD_DATA: no device, one twice, or one that is
 * none. BAD_STATE: the model is not finished, or is invalid. Since feature level 3.
 */
int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                        const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                        bool *supportedOps);

/* Memory */

/**
 * Makes memory of size bytes of a file from offset on. The descriptor is duplicated: the caller may close its own.
 * protect is PROT_NONE, or PROT_READ and PROT_WRITE as the bytes will be used. The file is mapped with the first use.
 * OP_FAILED: fd is no open descriptor. Since feature level 1.
 */
int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory **memory);

/** Refused with BAD_DATA: there are no hardware buffers off Android. Since feature level 3. */
int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb, ANeuralNetworksMemory **memory);

/**
 * Frees the memory. Nothing happens with NULL. What models and executions already hold of it stays theirs.
 * Since feature level 1.
 */
void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory);

/** Makes an empty description of memory that a device manages. Since feature level 4. */
int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc);

/**
 * Says that the memory will be input index of executions of a finished compilation. frequency, above 0 and at most 1,
 * says how often. BAD_DATA: the compilation is not finished, no such index, the role is there already, or operands of
 * the roles differ. BAD_STATE: the description is finished. Since feature level 4.
 */
int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation, uint32_t index,
                                           float frequency);

/** Is ANeuralNetworksMemoryDesc_addInputRole for an output. Since feature level 4. */
int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation, uint32_t index,
                                            float frequency);

/**
 * Sets dimensions that the roles leave open; 0 leaves one open. dimensions may be NULL with rank 0. BAD_DATA: they
 * contradict the roles. BAD_STATE: the description is finished. Since feature level 4.
 */
int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                            const uint32_t *dimensions);

/**
 * Ends the description, which needs a role. BAD_DATA: it has none. BAD_STATE: it is finished. Since feature level 4.
 */
int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc);

/** Frees the description; memories made from it live on. Nothing happens with NULL. Since feature level 4. */
void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc);

/**
 * Makes memory by a finished description. It holds nothing until an execution or ANeuralNetworksMemory_copy has
 * written it. It is used with offset 0 and length 0 in its roles alone. BAD_STATE: the description is not finished.
 * OP_FAILED: its size is open, or there is no memory. Since feature level 4.
 */
int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory);

/**
 * Copies all of src to dst, which takes over the dimensions of src. BAD_DATA: src holds nothing, or the sizes or
 * dimensions differ. UNMAPPABLE: one of them cannot be reached. Since feature level 4.
 */
int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst);

/* Models */

/** Makes an empty model. Calls that build it come from one thread at a time. Since feature level 1. */
int ANeuralNetworksModel_create(ANeuralNetworksModel **model);

/** Frees the model. Compilations of it live on. Nothing happens with NULL. Since feature level 1. */
void ANeuralNetworksModel_free(ANeuralNetworksModel *model);

/**
 * Adds an operand; the first one has index 0. Dimensions of 0 and a tensor without dimensions are open until an
 * execution. BAD_DATA: no such type, or the dimensions, the scale or the zero point are not those of the type.
 * BAD_STATE: the model is finished. Since feature level 1.
 */
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type);

/**
 * Makes the operand a constant. Up to 128 bytes are copied at once, more when the model is finished: until then the
 * buffer must stay as it is. NULL with length 0 leaves an optional operand out. BAD_DATA: no such index, dimensions
 * that are open, or another length than the operand takes. Since feature level 1.
 */
int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer,
                                         size_t length);

/**
 * Makes length bytes of memory from offset on the constant value of the operand. They must not change until the model
 * is finished. BAD_DATA: as ANeuralNetworksModel_setOperandValue, a range that is not inside the memory, or memory
 * that a device manages. Since feature level 1.
 */
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
                                                   const ANeuralNetworksMemory *memory, size_t offset, size_t length);

/**
 * Makes a finished model the value of an operand of type MODEL, for IF and WHILE. BAD_STATE: value is not finished,
 * or is invalid. Since feature level 4.
 */
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
                                                  const ANeuralNetworksModel *value);

/**
 * Sets the scales of an operand of type TENSOR_QUANT8_SYMM_PER_CHANNEL, which are copied. BAD_DATA: another type, no
 * such dimension, another number of scales than the dimension has, or a scale that is not above 0.
 * Since feature level 3.
 */
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel *model, int32_t index,
                                        const ANeuralNetworksSymmPerChannelQuantParams *channelQuant);

/**
 * Adds an operation. BAD_DATA: no such operation, no such operand, or operands that the operation does not take, at
 * the feature level of the library. BAD_STATE: the model is finished. Since feature level 1.
 */
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                      uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs);

/**
 * Says which operands are the inputs and outputs; their order is that of the indices of executions. BAD_DATA: an
 * operand that is a constant, or is an input or output already. Since feature level 1.
 */
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs);

/**
 * Permits float32 to be computed with the range and the precision of float16. false by default.
 * Since feature level 2.
 */
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow);

/**
 * Ends and judges the model, which never changes afterwards. BAD_DATA: it is not a whole: an operand that nothing
 * writes, or that two things write, a circle, no operation. It is of no use then. BAD_STATE: it is finished.
 * Since feature level 1.
 */
int ANeuralNetworksModel_finish(ANeuralNetworksModel *model);

/* Compilations */

/**
 * Makes a compilation of a finished model for all devices. BAD_STATE: the model is not finished, or is invalid.
 * Since feature level 1.
 */
int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation);

/**
 * Makes a compilation of a finished model for these devices and no other. BAD_DATA: no device, one twice, or one that
 * is none. BAD_STATE: the model is not finished, or is invalid. Since feature level 3.
 */
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation);

/** Frees the compilation; executions of it live on. Nothing happens with NULL. Since feature level 1. */
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation);

/**
 * Sets a value of PreferenceCode; FAST_SINGLE_ANSWER by default. BAD_STATE: the compilation is finished.
 * Since feature level 1.
 */
int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference);

/**
 * Names a directory that compiled models are kept in, and 32 bytes that tell the model apart from others. A cache
 * that does not fit is never used, and none that cannot be written fails the compilation. BAD_STATE: the compilation
 * is finished. Since feature level 3.
 */
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *cacheDir,
                                          const uint8_t *token);

/**
 * Sets a value of PriorityCode. BAD_DATA: it is none. BAD_STATE: the compilation is finished. Since feature level 4.
 */
int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority);

/**
 * Sets how many nanoseconds compiling may take; 0 is no limit. BAD_DATA: the compilation is not for exactly one
 * device. BAD_STATE: it is finished. Since feature level 4.
 */
int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation, uint64_t duration);

/**
 * Compiles. BAD_DATA: the devices do not compute an operation. MISSED_DEADLINE_TRANSIENT: it took too long.
 * BAD_STATE: it was called before. Since feature level 1.
 */
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation);

/**
 * Gives the alignment of an input, in bytes, that suits the device best. BAD_STATE: the compilation is not finished.
 * BAD_DATA: no such index. Since feature level 5.
 */
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(const ANeuralNetworksCompilation *compilation,
                                        uint32_t index, uint32_t *alignment);

/** Is ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput for an output. Since feature level 5. */
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(const ANeuralNetworksCompilation *compilation,
                                        uint32_t index, uint32_t *alignment);

/**
 * Gives the number of bytes that the length of the memory of an input should be a multiple of. BAD_STATE: the
 * compilation is not finished. BAD_DATA: no such index. Since feature level 5.
 */
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(const ANeuralNetworksCompilation *compilation,
                                        uint32_t index, uint32_t *padding);

/** Is ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput for an output. Since feature level 5. */
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(const ANeuralNetworksCompilation *compilation,
                                        uint32_t index, uint32_t *padding);

/* Executions */

/**
 * Makes an execution of a finished compilation. One thread at a time uses it. BAD_STATE: the compilation is not
 * finished, or has failed. Since feature level 1.
 */
int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution);

/**
 * Frees the execution. A computation under way goes on to its end, which its event tells. Nothing happens with NULL.
 * Since feature level 1.
 */
void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution);

/**
 * Binds memory of the caller to input index, which is read until the computation has ended. type gives dimensions
 * that the operand leaves open, and may be NULL. NULL with length 0 leaves an optional input out. BAD_DATA: no such
 * index, dimensions that are open or differ, or another length than they take. BAD_STATE: the input is bound, or the
 * computation has begun. Since feature level 1.
 */
int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length);

/**
 * Binds length bytes of memory from offset on to input index. Memory by a description is bound with offset 0 and
 * length 0. BAD_DATA and BAD_STATE: as ANeuralNetworksExecution_setInput, and a range that is not inside the memory.
 * Since feature level 1.
 */
int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length);

/**
 * Binds memory of the caller to output index. Where the dimensions are open, length is how many bytes there are.
 * BAD_DATA and BAD_STATE: as ANeuralNetworksExecution_setInput. Since feature level 1.
 */
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer, size_t length);

/**
 * Binds length bytes of memory from offset on to output index, as ANeuralNetworksExecution_setInputFromMemory.
 * Since feature level 1.
 */
int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t length);

/**
 * Permits lengths above what the dimensions take. BAD_STATE: an input or output is bound, or the computation has
 * begun. Since feature level 5.
 */
int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution, bool enable);

/**
 * Permits more than one computation, one after the other. BAD_STATE: a computation has begun. Since feature level 5.
 */
int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable);

/**
 * Asks for the durations of the computation. BAD_DATA: the compilation is not for exactly one device. BAD_STATE: the
 * computation has begun. Since feature level 3.
 */
int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure);

/**
 * Sets how many nanoseconds a computation may take; 0 is no limit. BAD_DATA: the compilation is not for exactly one
 * device. BAD_STATE: the computation has begun. Since feature level 4.
 */
int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration);

/**
 * Sets how many nanoseconds each WHILE may take, at most ANeuralNetworks_getMaximumLoopTimeout. BAD_STATE: the
 * computation has begun. Since feature level 4.
 */
int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration);

/** Returns the nanoseconds that a WHILE may take unless they are set. Since feature level 4. */
uint64_t ANeuralNetworks_getDefaultLoopTimeout(void);

/** Returns the most nanoseconds that a WHILE may be given. Since feature level 4. */
uint64_t ANeuralNetworks_getMaximumLoopTimeout(void);

/**
 * Computes, and returns when the outputs are written. BAD_DATA: an input or output is not bound.
 * OUTPUT_INSUFFICIENT_SIZE: an output is too small; its dimensions can be asked for. OP_FAILED: an operation cannot
 * be computed with these values. MISSED_DEADLINE_TRANSIENT: it took too long. BAD_STATE: it was computed before and
 * is not reusable, or is being computed. Since feature level 3.
 */
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution);

/**
 * Begins to compute and gives an event of the end. The codes of ANeuralNetworksExecution_compute that concern the
 * call are returned, the others are those of the event. Since feature level 1.
 */
int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event);

/**
 * Is ANeuralNetworksExecution_compute in a sequence of computations, which may be quicker. BAD_DATA: the burst is one
 * of another compilation. BAD_STATE: the burst is computing. Since feature level 3.
 */
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst);

/**
 * Begins to compute when all events have come, and gives an event of the end. duration, 0 or the nanoseconds that it
 * may take from then on, is for compilations for exactly one device. An event that ends with an error ends the
 * computation with OP_FAILED. BAD_DATA: dimensions of an output are open. Since feature level 4.
 */
int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                        const ANeuralNetworksEvent *const *dependencies, uint32_t numDependencies,
                                        uint64_t duration, ANeuralNetworksEvent **event);

/**
 * Gives the rank of an output after a computation; 0 is a scalar. OUTPUT_INSUFFICIENT_SIZE: the output was too small,
 * and the rank is given. BAD_STATE: nothing was computed. BAD_DATA: no such index. Since feature level 3.
 */
int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution, int32_t index, uint32_t *rank);

/**
 * Gives the dimensions of an output after a computation, as many as its rank. BAD_DATA: no such index, or a scalar.
 * Others as ANeuralNetworksExecution_getOutputOperandRank. Since feature level 3.
 */
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution, int32_t index,
                                                        uint32_t *dimensions);

/**
 * Gives how many nanoseconds the last computation took, by DurationCode; UINT64_MAX where that is not known.
 * BAD_DATA: no such code. BAD_STATE: nothing was computed, or it was not asked for. Since feature level 3.
 */
int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                         uint64_t *duration);

/**
 * Makes a burst of a finished compilation. BAD_STATE: the compilation is not finished, or has failed.
 * Since feature level 3.
 */
int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst);

/** Frees the burst. Nothing happens with NULL. Since feature level 3. */
void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst);

/* Events */

/**
 * Waits for the end of the computation, or for the fence, and returns its code, as often as it is called.
 * Since feature level 1.
 */
int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event);

/** Waits for the end and frees the event. Nothing happens with NULL. Since feature level 1. */
void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event);

/**
 * Makes an event of a sync fence. The descriptor is duplicated: the caller may close its own. BAD_DATA: it is 0,
 * negative or not open. Since feature level 4.
 */
int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event);

/**
 * Gives a duplicate of the descriptor of a fence, which the caller closes. BAD_DATA, and -1: the event has none, as
 * that of a computation. Since feature level 4.
 */
int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd);

#ifdef __cplusplus
}
#endif

#endif
