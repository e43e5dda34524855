package abi

// NNAPI is Android's Neural Networks API up to feature level 8. Since counts feature levels. Devices are no handles:
// programs get the address of a device once, and it stays the device's as long as the process lives.
var NNAPI = &Facade{
	Name:    "nnapi",
	Version: "feature level 8",
	Since:   "`since` is the feature level that introduced the function: 1 to 5 are Android's API levels 27 to 31.",
	Prefix:  "ANeuralNetworks",
	Headers: []string{"android/NeuralNetworks.h", "android/NeuralNetworksExtensions.h"},
	Check:   "misuse_nnapi.h",
	Status:  "int",
	Failed:  5, // ANEURALNETWORKS_OP_FAILED
	Forked:  9, // ANEURALNETWORKS_UNAVAILABLE_DEVICE
	Starved: 1, // ANEURALNETWORKS_OUT_OF_MEMORY
	Handles: map[string]Handle{
		"ANeuralNetworksMemory":      {Go: "Memory"},
		"ANeuralNetworksMemoryDesc":  {Go: "MemoryDesc"},
		"ANeuralNetworksModel":       {Go: "Model"},
		"ANeuralNetworksCompilation": {Go: "Compilation"},
		"ANeuralNetworksExecution":   {Go: "Execution"},
		"ANeuralNetworksBurst":       {Go: "Burst"},
		"ANeuralNetworksEvent":       {Go: "Event"},
	},
	Types: map[string]Type{
		"ANeuralNetworksDevice":                    {Go: "Device"},
		"AHardwareBuffer":                          {},
		"ANeuralNetworksOperandType":               {Go: "OperandType"},
		"ANeuralNetworksSymmPerChannelQuantParams": {Go: "ChannelScales"},
		"ANeuralNetworksOperationType":             {Go: "OperationType", Scalar: "int32_t"},
	},
	Named: map[string]Named{
		"result":                                 {Enums: []string{"ResultCode"}},
		"preference":                             {Enums: []string{"PreferenceCode"}},
		"priority":                               {Enums: []string{"PriorityCode"}},
		"durationCode":                           {Enums: []string{"DurationCode"}},
		"featureLevel":                           {Enums: []string{"FeatureLevelCode"}},
		"ANeuralNetworksDevice_getType.type":     {Enums: []string{"DeviceTypeCode"}},
		"ANeuralNetworksModel_addOperation.type": {Enums: []string{"OperationCode"}},
		"ANeuralNetworksOperandType.type":        {Enums: []string{"OperandCode"}},
	},
	Lengths: map[string]string{
		"ANeuralNetworksOperandType.dimensions":           "dimensionCount",
		"ANeuralNetworksSymmPerChannelQuantParams.scales": "scaleCount",
	},
	Drivers: true,
	Stubs:   []Library{{Soname: "libneuralnetworks.so"}},
	Rows: []Row{
		// Devices
		{C: "int ANeuralNetworks_getDeviceCount(uint32_t *numDevices)",
			Roles: "out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device)",
			Roles: "value, out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name)",
			Roles: "raw, out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type)",
			Roles: "raw, out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version)",
			Roles: "raw, out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *featureLevel)",
			Roles: "raw, out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device)",
			Roles: "raw", Since: 4, Owner: OwnerDriver},
		{C: "int64_t ANeuralNetworks_getRuntimeFeatureLevel(void)",
			Since: 5, Owner: OwnerDriver},
		{C: "int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model, const " +
			"ANeuralNetworksDevice *const *devices, uint32_t numDevices, bool *supportedOps)",
			Roles: "handle, raw, value, out", Since: 3, Owner: "model"},

		// Memory
		{C: "int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset, " +
			"ANeuralNetworksMemory **memory)",
			Roles: "value, value, value, value, new", Since: 1, Creates: true},
		{C: "int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb, ANeuralNetworksMemory " +
			"**memory)",
			Roles: "opaque, new", Since: 3, Creates: true},
		{C: "void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory)",
			Roles: "take?", Since: 1, Owner: "memory"},
		{C: "int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc)",
			Roles: "new", Since: 4, Creates: true},
		{C: "int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc, const " +
			"ANeuralNetworksCompilation *compilation, uint32_t index, float frequency)",
			Roles: "handle, handle, value, value", Since: 4, Owner: "desc"},
		{C: "int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc, const " +
			"ANeuralNetworksCompilation *compilation, uint32_t index, float frequency)",
			Roles: "handle, handle, value, value", Since: 4, Owner: "desc"},
		{C: "int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank, const " +
			"uint32_t *dimensions)",
			Roles: "handle, value, raw", Since: 4, Owner: "desc"},
		{C: "int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc)",
			Roles: "handle", Since: 4, Owner: "desc"},
		{C: "void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc)",
			Roles: "take?", Since: 4, Owner: "desc"},
		{C: "int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory " +
			"**memory)",
			Roles: "handle, new", Since: 4, Creates: true},
		{C: "int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)",
			Roles: "handle, handle", Since: 4, Owner: "src"},

		// Models
		{C: "int ANeuralNetworksModel_create(ANeuralNetworksModel **model)",
			Roles: "new", Since: 1, Creates: true},
		{C: "void ANeuralNetworksModel_free(ANeuralNetworksModel *model)",
			Roles: "take?", Since: 1, Owner: "model"},
		{C: "int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type)",
			Roles: "handle, in", Since: 1, Owner: "model"},
		{C: "int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer, " +
			"size_t length)",
			Roles: "handle, value, raw, value", Since: 1, Owner: "model"},
		{C: "int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index, const " +
			"ANeuralNetworksMemory *memory, size_t offset, size_t length)",
			Roles: "handle, value, handle, value, value", Since: 1, Owner: "model"},
		{C: "int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index, const " +
			"ANeuralNetworksModel *value)",
			Roles: "handle, value, handle", Since: 4, Owner: "model"},
		{C: "int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel *model, int32_t index, " +
			"const ANeuralNetworksSymmPerChannelQuantParams *channelQuant)",
			Roles: "handle, value, in", Since: 3, Owner: "model"},
		{C: "int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type, " +
			"uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs)",
			Roles: "handle, value, len, in[inputCount], len, in[outputCount]", Since: 1, Owner: "model"},
		{C: "int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount, " +
			"const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs)",
			Roles: "handle, len, in[inputCount], len, in[outputCount]", Since: 1, Owner: "model"},
		{C: "int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow)",
			Roles: "handle, value", Since: 2, Owner: "model"},
		{C: "int ANeuralNetworksModel_finish(ANeuralNetworksModel *model)",
			Roles: "handle", Since: 1, Owner: "model"},

		// Compilations
		{C: "int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation " +
			"**compilation)",
			Roles: "handle, new", Since: 1, Creates: true},
		{C: "int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model, const ANeuralNetworksDevice " +
			"*const *devices, uint32_t numDevices, ANeuralNetworksCompilation **compilation)",
			Roles: "handle, raw, value, new", Since: 3, Creates: true},
		{C: "void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation)",
			Roles: "take?", Since: 1, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference)",
			Roles: "handle, value", Since: 1, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *cacheDir, " +
			"const uint8_t *token)",
			Roles: "handle, string, in", Since: 3, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority)",
			Roles: "handle, value", Since: 4, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation, uint64_t duration)",
			Roles: "handle, value", Since: 4, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation)",
			Roles: "handle", Since: 1, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(const ANeuralNetworksCompilation " +
			"*compilation, uint32_t index, uint32_t *alignment)",
			Roles: "handle, value, out", Since: 5, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(const ANeuralNetworksCompilation " +
			"*compilation, uint32_t index, uint32_t *alignment)",
			Roles: "handle, value, out", Since: 5, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(const ANeuralNetworksCompilation " +
			"*compilation, uint32_t index, uint32_t *padding)",
			Roles: "handle, value, out", Since: 5, Owner: "compilation"},
		{C: "int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(const ANeuralNetworksCompilation " +
			"*compilation, uint32_t index, uint32_t *padding)",
			Roles: "handle, value, out", Since: 5, Owner: "compilation"},

		// Executions
		{C: "int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution " +
			"**execution)",
			Roles: "handle, new", Since: 1, Creates: true},
		{C: "void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution)",
			Roles: "take?", Since: 1, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index, const " +
			"ANeuralNetworksOperandType *type, const void *buffer, size_t length)",
			Roles: "handle, value, in?, raw, value", Since: 1, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index, " +
			"const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory, size_t offset, size_t length)",
			Roles: "handle, value, in?, handle, value, value", Since: 1, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index, const " +
			"ANeuralNetworksOperandType *type, void *buffer, size_t length)",
			Roles: "handle, value, in?, raw, value", Since: 1, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index, " +
			"const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory, size_t offset, size_t length)",
			Roles: "handle, value, in?, handle, value, value", Since: 1, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution, bool enable)",
			Roles: "handle, value", Since: 5, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable)",
			Roles: "handle, value", Since: 5, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure)",
			Roles: "handle, value", Since: 3, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration)",
			Roles: "handle, value", Since: 4, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration)",
			Roles: "handle, value", Since: 4, Owner: "execution"},
		{C: "uint64_t ANeuralNetworks_getDefaultLoopTimeout(void)",
			Since: 4, Owner: OwnerDriver},
		{C: "uint64_t ANeuralNetworks_getMaximumLoopTimeout(void)",
			Since: 4, Owner: OwnerDriver},
		{C: "int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution)",
			Roles: "handle", Since: 3, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent " +
			"**event)",
			Roles: "handle, new", Since: 1, Creates: true},
		{C: "int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst)",
			Roles: "handle, handle", Since: 3, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution, const " +
			"ANeuralNetworksEvent *const *dependencies, uint32_t numDependencies, uint64_t duration, ANeuralNetworksEvent " +
			"**event)",
			Roles: "handle, raw, value, value, new", Since: 4, Creates: true},
		{C: "int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution, int32_t index, " +
			"uint32_t *rank)",
			Roles: "handle, value, out", Since: 3, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution, int32_t " +
			"index, uint32_t *dimensions)",
			Roles: "handle, value, out", Since: 3, Owner: "execution"},
		{C: "int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t " +
			"durationCode, uint64_t *duration)",
			Roles: "handle, value, out", Since: 3, Owner: "execution"},
		{C: "int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst)",
			Roles: "handle, new", Since: 3, Creates: true},
		{C: "void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst)",
			Roles: "take?", Since: 3, Owner: "burst"},

		// Events
		{C: "int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)",
			Roles: "handle", Since: 1, Owner: "event"},
		{C: "void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event)",
			Roles: "take?", Since: 1, Owner: "event"},
		{C: "int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event)",
			Roles: "value, new", Since: 4, Creates: true},
		{C: "int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd)",
			Roles: "handle?, out", Since: 4, Owner: "event", Undo: "close(*a1)"},

		// Extensions
		{C: "int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device, const char " +
			"*extensionName, bool *isExtensionSupported)",
			Roles: "raw, string, out", Since: 3, Owner: OwnerDriver},
		{C: "int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model, const char *extensionName, " +
			"uint16_t operandCodeWithinExtension, int32_t *type)",
			Roles: "handle, string, value, out", Since: 3, Owner: "model"},
		{C: "int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model, const char " +
			"*extensionName, uint16_t operationCodeWithinExtension, ANeuralNetworksOperationType *type)",
			Roles: "handle, string, value, out", Since: 3, Owner: "model"},
		{C: "int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index, const void " +
			"*data, size_t length)",
			Roles: "handle, value, raw, value", Since: 3, Owner: "model"},
		{C: "int ANeuralNetworksCompilation_addExtensionAttribute(ANeuralNetworksCompilation *compilation, const char " +
			"*extensionName, uint16_t attributeCodeWithinExtension, const void *data, size_t length)",
			Roles: "handle, string, value, raw, value", Since: 8, Owner: "compilation"},
		{C: "int ANeuralNetworksExecution_addExtensionAttribute(ANeuralNetworksExecution *execution, const char " +
			"*extensionName, uint16_t attributeCodeWithinExtension, const void *data, size_t length)",
			Roles: "handle, string, value, raw, value", Since: 8, Owner: "execution"},
	},
}
