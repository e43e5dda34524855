/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fake driver of nnapi.h with the table in which a support library gives its functions. Its fields are those of
 * NnApiSLDriverImplFL8, in the order of NeuralNetworksSupportLibraryImpl.h of AOSP. A test may have it lie (told.h): of
 * the table's address, "table", and of what is in it, "table's content".
 */
#include <android/NeuralNetworksExtensions.h>

#include "nnapi.h"

#define OF(name) __typeof__(ANeuralNetworks##name) *name;
#define SL(name) void (*name)(void); /* which this driver does not have */

struct table {
	int64_t level;
	OF(Burst_create) OF(Burst_free)
	OF(Compilation_createForDevices) OF(Compilation_finish) OF(Compilation_free)
	OF(Compilation_getPreferredMemoryAlignmentForInput) OF(Compilation_getPreferredMemoryAlignmentForOutput)
	OF(Compilation_getPreferredMemoryPaddingForInput) OF(Compilation_getPreferredMemoryPaddingForOutput)
	OF(Compilation_setCaching) OF(Compilation_setPreference) OF(Compilation_setPriority) OF(Compilation_setTimeout)
	OF(Device_getExtensionSupport) OF(Device_getFeatureLevel) OF(Device_getName) OF(Device_getType) OF(Device_getVersion)
	OF(Device_wait)
	OF(Event_createFromSyncFenceFd) OF(Event_free) OF(Event_getSyncFenceFd) OF(Event_wait)
	OF(Execution_burstCompute) OF(Execution_compute) OF(Execution_create) OF(Execution_enableInputAndOutputPadding)
	OF(Execution_free) OF(Execution_getDuration) OF(Execution_getOutputOperandDimensions)
	OF(Execution_getOutputOperandRank) OF(Execution_setInput) OF(Execution_setInputFromMemory)
	OF(Execution_setLoopTimeout) OF(Execution_setMeasureTiming) OF(Execution_setOutput)
	OF(Execution_setOutputFromMemory) OF(Execution_setReusable) OF(Execution_setTimeout)
	OF(Execution_startComputeWithDependencies)
	OF(MemoryDesc_addInputRole) OF(MemoryDesc_addOutputRole) OF(MemoryDesc_create) OF(MemoryDesc_finish)
	OF(MemoryDesc_free) OF(MemoryDesc_setDimensions)
	OF(Memory_copy) OF(Memory_createFromAHardwareBuffer) OF(Memory_createFromDesc) OF(Memory_createFromFd)
	OF(Memory_free)
	OF(Model_addOperand) OF(Model_addOperation) OF(Model_create) OF(Model_finish) OF(Model_free)
	OF(Model_getExtensionOperandType) OF(Model_getExtensionOperationType) OF(Model_getSupportedOperationsForDevices)
	OF(Model_identifyInputsAndOutputs) OF(Model_relaxComputationFloat32toFloat16) OF(Model_setOperandExtensionData)
	OF(Model_setOperandSymmPerChannelQuantParams) OF(Model_setOperandValue) OF(Model_setOperandValueFromMemory)
	OF(Model_setOperandValueFromModel)
	OF(_getDefaultLoopTimeout) OF(_getDevice) OF(_getDeviceCount) OF(_getMaximumLoopTimeout)
	OF(_getRuntimeFeatureLevel)
	SL(Compilation_setCachingFromFds) SL(Device_getNumberOfCacheFilesNeeded) SL(Device_getPerformanceInfo)
	SL(Device_forEachOperandPerformanceInfo) SL(Device_getVendorExtensionCount) SL(Device_getVendorExtensionName)
	SL(Device_forEachVendorExtensionOperandTypeInformation)
	SL(CompilationInfo_getSessionId) SL(CompilationInfo_getNnApiVersion) SL(CompilationInfo_getModelArchHash)
	SL(CompilationInfo_getDeviceIds) SL(CompilationInfo_getErrorCode) SL(CompilationInfo_getInputDataClass)
	SL(CompilationInfo_getOutputDataClass) SL(CompilationInfo_getCompilationTimeNanos)
	SL(CompilationInfo_isCachingEnabled) SL(CompilationInfo_isControlFlowUsed) SL(CompilationInfo_areDynamicTensorsUsed)
	SL(ExecutionInfo_getSessionId) SL(ExecutionInfo_getNnApiVersion) SL(ExecutionInfo_getModelArchHash)
	SL(ExecutionInfo_getDeviceIds) SL(ExecutionInfo_getExecutionMode) SL(ExecutionInfo_getInputDataClass)
	SL(ExecutionInfo_getOutputDataClass) SL(ExecutionInfo_getErrorCode) SL(ExecutionInfo_getRuntimeExecutionTimeNanos)
	SL(ExecutionInfo_getDriverExecutionTimeNanos) SL(ExecutionInfo_getHardwareExecutionTimeNanos)
	SL(ExecutionInfo_isCachingEnabled) SL(ExecutionInfo_isControlFlowUsed) SL(ExecutionInfo_areDynamicTensorsUsed)
	SL(registerCallbacks)
	OF(Compilation_addExtensionAttribute) OF(Execution_addExtensionAttribute)
};

_Static_assert(offsetof(struct table, Compilation_addExtensionAttribute) == 840, "NnApiSLDriverImplFL5");
_Static_assert(sizeof(struct table) == 856, "NnApiSLDriverImplFL8");

#define IS(name) .name = ANeuralNetworks##name

static const struct table whole = {
	.level = ANEURALNETWORKS_FEATURE_LEVEL_8,
	IS(_getDeviceCount), IS(_getDevice), IS(_getRuntimeFeatureLevel), IS(_getDefaultLoopTimeout),
	IS(_getMaximumLoopTimeout),
	IS(Device_getName), IS(Device_getType), IS(Device_getVersion), IS(Device_getFeatureLevel), IS(Device_wait),
	IS(Device_getExtensionSupport),
	IS(Memory_createFromFd), IS(Memory_createFromAHardwareBuffer), IS(Memory_createFromDesc), IS(Memory_copy),
	IS(Memory_free),
	IS(MemoryDesc_create), IS(MemoryDesc_addInputRole), IS(MemoryDesc_addOutputRole), IS(MemoryDesc_setDimensions),
	IS(MemoryDesc_finish), IS(MemoryDesc_free),
	IS(Model_create), IS(Model_free), IS(Model_addOperand), IS(Model_setOperandValue), IS(Model_setOperandValueFromMemory),
	IS(Model_setOperandValueFromModel), IS(Model_setOperandSymmPerChannelQuantParams), IS(Model_setOperandExtensionData),
	IS(Model_addOperation), IS(Model_identifyInputsAndOutputs), IS(Model_relaxComputationFloat32toFloat16),
	IS(Model_finish),
	IS(Model_getSupportedOperationsForDevices), IS(Model_getExtensionOperandType), IS(Model_getExtensionOperationType),
	IS(Compilation_createForDevices), IS(Compilation_free), IS(Compilation_setPreference), IS(Compilation_setCaching),
	IS(Compilation_setPriority), IS(Compilation_setTimeout), IS(Compilation_finish), IS(Compilation_addExtensionAttribute),
	IS(Compilation_getPreferredMemoryAlignmentForInput), IS(Compilation_getPreferredMemoryAlignmentForOutput),
	IS(Compilation_getPreferredMemoryPaddingForInput), IS(Compilation_getPreferredMemoryPaddingForOutput),
	IS(Execution_create), IS(Execution_free), IS(Execution_setInput), IS(Execution_setInputFromMemory),
	IS(Execution_setOutput), IS(Execution_setOutputFromMemory), IS(Execution_compute), IS(Execution_burstCompute),
	IS(Execution_startComputeWithDependencies), IS(Execution_setMeasureTiming), IS(Execution_getDuration),
	IS(Execution_setTimeout), IS(Execution_setLoopTimeout), IS(Execution_setReusable),
	IS(Execution_enableInputAndOutputPadding), IS(Execution_getOutputOperandRank),
	IS(Execution_getOutputOperandDimensions), IS(Execution_addExtensionAttribute),
	IS(Burst_create), IS(Burst_free),
	IS(Event_createFromSyncFenceFd), IS(Event_getSyncFenceFd), IS(Event_wait), IS(Event_free),
};

void *ANeuralNetworks_getSLDriverImpl(void);

void *ANeuralNetworks_getSLDriverImpl(void)
{
	static struct table given;
	void *at = &given;
	given = whole;
	tell_lies("table's content", &given, sizeof given);
	tell_lies("table", &at, sizeof at);
	return at;
}
