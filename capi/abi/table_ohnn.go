package abi

// OHNN is the OpenHarmony Neural Network Runtime. Since counts API levels. Upstream splits the functions over two
// libraries; both names carry all of them here, because programs of API 9 link the runtime library alone.
var OHNN = &Facade{
	Name:    "ohnn",
	Version: "API level 11",
	Since:   "`since` is the API level of OpenHarmony that introduced the function.",
	Prefix:  "OH_NN",
	Headers: []string{"neural_network_runtime/neural_network_runtime.h",
		"neural_network_runtime/neural_network_runtime_inner.h"},
	Check:   "misuse_ohnn.h",
	Status:  "OH_NN_ReturnCode",
	Failed:  1,  // OH_NN_FAILED
	Forked:  14, // OH_NN_UNAVAILABLE_DEVICE
	Starved: 3,  // OH_NN_MEMORY_ERROR
	Handles: map[string]Handle{
		"NN_TensorDesc":    {Go: "TensorDesc"},
		"NN_Tensor":        {Go: "Tensor"},
		"NN_QuantParam":    {Go: "QuantParam"},
		"OH_NNModel":       {Go: "Model"},
		"OH_NNCompilation": {Go: "Compilation"},
		"OH_NNExecutor":    {Go: "Executor"},
	},
	Types: map[string]Type{
		"OH_NN_ReturnCode":      {Go: "ReturnCode", Scalar: "uint32_t"},
		"OH_NN_DeviceType":      {Go: "DeviceType", Scalar: "uint32_t"},
		"OH_NN_DataType":        {Go: "DataType", Scalar: "uint32_t"},
		"OH_NN_Format":          {Go: "Format", Scalar: "uint32_t"},
		"OH_NN_TensorType":      {Go: "TensorType", Scalar: "uint32_t"},
		"OH_NN_OperationType":   {Go: "OperationType", Scalar: "uint32_t"},
		"OH_NN_PerformanceMode": {Go: "PerformanceMode", Scalar: "uint32_t"},
		"OH_NN_Priority":        {Go: "Priority", Scalar: "uint32_t"},
		"OH_NN_UInt32Array":     {Go: "UInt32Array"},
		"OH_NN_Tensor":          {Go: "TensorInfo9"},
		"OH_NN_Memory":          {Go: "Memory"},
		"OH_NN_TensorInfo":      {Go: "TensorInfo"},
		"OH_NN_Extension":       {Go: "Extension"},
		"NN_OnRunDone":          {Func: true},
		"NN_OnServiceDied":      {Func: true},
	},
	Named: map[string]Named{"result": {Enums: []string{"OH_NN_ReturnCode"}}},
	Lengths: map[string]string{
		"OH_NN_UInt32Array.data":      "size",
		"OH_NN_QuantParam.numBits":    "quantCount",
		"OH_NN_QuantParam.scale":      "quantCount",
		"OH_NN_QuantParam.zeroPoint":  "quantCount",
		"OH_NN_Tensor.dimensions":     "dimensionCount",
		"OH_NN_TensorInfo.dimensions": "dimensionCount",
	},
	Drivers: true,
	Stubs:   []Library{{Soname: "libneural_network_core.so"}, {Soname: "libneural_network_runtime.so"}},
	Rows: []Row{
		// Devices
		{C: "OH_NN_ReturnCode OH_NNDevice_GetAllDevicesID(const size_t **allDevicesID, uint32_t *deviceCount)",
			Roles: "out0, out", Since: 9, Owner: OwnerDriver},
		{C: "OH_NN_ReturnCode OH_NNDevice_GetName(size_t deviceID, const char **name)", Roles: "value, out0", Since: 9,
			Owner: OwnerDriver},
		{C: "OH_NN_ReturnCode OH_NNDevice_GetType(size_t deviceID, OH_NN_DeviceType *deviceType)", Roles: "value, out",
			Since: 9, Owner: OwnerDriver},

		// Tensor descriptors
		{C: "NN_TensorDesc *OH_NNTensorDesc_Create(void)", Since: 11, Creates: true},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_Destroy(NN_TensorDesc **tensorDesc)", Roles: "take", Since: 11,
			Owner: "*tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_SetName(NN_TensorDesc *tensorDesc, const char *name)", Roles: "handle, string",
			Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_GetName(const NN_TensorDesc *tensorDesc, const char **name)",
			Roles: "handle, out0", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_SetDataType(NN_TensorDesc *tensorDesc, OH_NN_DataType dataType)",
			Roles: "handle, value", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_GetDataType(const NN_TensorDesc *tensorDesc, OH_NN_DataType *dataType)",
			Roles: "handle, out", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_SetShape(NN_TensorDesc *tensorDesc, const int32_t *shape, size_t shapeLength)",
			Roles: "handle, in[shapeLength<=10], len", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_GetShape(const NN_TensorDesc *tensorDesc, int32_t **shape, size_t " +
			"*shapeLength)", Roles: "handle, out0, out", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_SetFormat(NN_TensorDesc *tensorDesc, OH_NN_Format format)",
			Roles: "handle, value", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_GetFormat(const NN_TensorDesc *tensorDesc, OH_NN_Format *format)",
			Roles: "handle, out", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_GetElementCount(const NN_TensorDesc *tensorDesc, size_t *elementCount)",
			Roles: "handle, out", Since: 11, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensorDesc_GetByteSize(const NN_TensorDesc *tensorDesc, size_t *byteSize)",
			Roles: "handle, out", Since: 11, Owner: "tensorDesc"},

		// Tensors
		{C: "NN_Tensor *OH_NNTensor_Create(size_t deviceID, NN_TensorDesc *tensorDesc)", Roles: "value, handle", Since: 11,
			Creates: true, Owner: "tensorDesc"},
		{C: "NN_Tensor *OH_NNTensor_CreateWithSize(size_t deviceID, NN_TensorDesc *tensorDesc, size_t size)",
			Roles: "value, handle, value", Since: 11, Creates: true, Owner: "tensorDesc"},
		{C: "NN_Tensor *OH_NNTensor_CreateWithFd(size_t deviceID, NN_TensorDesc *tensorDesc, int fd, size_t size, size_t " +
			"offset)", Roles: "value, handle, value, value, value", Since: 11, Creates: true, Owner: "tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNTensor_Destroy(NN_Tensor **tensor)", Roles: "take", Since: 11, Owner: "*tensor"},
		{C: "NN_TensorDesc *OH_NNTensor_GetTensorDesc(const NN_Tensor *tensor)", Roles: "handle", Since: 11,
			Owner: "tensor"},
		{C: "void *OH_NNTensor_GetDataBuffer(const NN_Tensor *tensor)", Roles: "handle", Since: 11, Owner: "tensor"},
		{C: "OH_NN_ReturnCode OH_NNTensor_GetFd(const NN_Tensor *tensor, int *fd)", Roles: "handle, out", Since: 11,
			Owner: "tensor"},
		{C: "OH_NN_ReturnCode OH_NNTensor_GetSize(const NN_Tensor *tensor, size_t *size)", Roles: "handle, out", Since: 11,
			Owner: "tensor"},
		{C: "OH_NN_ReturnCode OH_NNTensor_GetOffset(const NN_Tensor *tensor, size_t *offset)", Roles: "handle, out",
			Since: 11, Owner: "tensor"},

		// Quantization parameters
		{C: "NN_QuantParam *OH_NNQuantParam_Create(void)", Since: 11, Creates: true},
		{C: "OH_NN_ReturnCode OH_NNQuantParam_SetScales(NN_QuantParam *quantParams, const double *scales, size_t quantCount)",
			Roles: "handle, in[quantCount], len", Since: 11, Owner: "quantParams"},
		{C: "OH_NN_ReturnCode OH_NNQuantParam_SetZeroPoints(NN_QuantParam *quantParams, const int32_t *zeroPoints, size_t " +
			"quantCount)", Roles: "handle, in[quantCount], len", Since: 11, Owner: "quantParams"},
		{C: "OH_NN_ReturnCode OH_NNQuantParam_SetNumBits(NN_QuantParam *quantParams, const uint32_t *numBits, size_t " +
			"quantCount)", Roles: "handle, in[quantCount], len", Since: 11, Owner: "quantParams"},
		{C: "OH_NN_ReturnCode OH_NNQuantParam_Destroy(NN_QuantParam **quantParams)", Roles: "take", Since: 11,
			Owner: "*quantParams"},

		// Models
		{C: "OH_NNModel *OH_NNModel_Construct(void)", Since: 9, Creates: true},
		{C: "void OH_NNModel_Destroy(OH_NNModel **model)", Roles: "take?", Since: 9, Owner: "*model"},
		{C: "OH_NN_ReturnCode OH_NNModel_AddTensor(OH_NNModel *model, const OH_NN_Tensor *tensor)", Roles: "handle, in",
			Since: 9, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_AddTensorToModel(OH_NNModel *model, const NN_TensorDesc *tensorDesc)",
			Roles: "handle, handle", Since: 11, Owner: "model, tensorDesc"},
		{C: "OH_NN_ReturnCode OH_NNModel_SetTensorData(OH_NNModel *model, uint32_t index, const void *dataBuffer, size_t " +
			"length)", Roles: "handle, value, in[length], len", Since: 9, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_SetTensorQuantParams(OH_NNModel *model, uint32_t index, NN_QuantParam *quantParam)",
			Roles: "handle, value, handle", Since: 11, Owner: "model, quantParam"},
		{C: "OH_NN_ReturnCode OH_NNModel_SetTensorType(OH_NNModel *model, uint32_t index, OH_NN_TensorType tensorType)",
			Roles: "handle, value, value", Since: 11, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_AddOperation(OH_NNModel *model, OH_NN_OperationType op, const OH_NN_UInt32Array " +
			"*paramIndices, const OH_NN_UInt32Array *inputIndices, const OH_NN_UInt32Array *outputIndices)",
			Roles: "handle, value, in, in, in", Since: 9, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_SpecifyInputsAndOutputs(OH_NNModel *model, const OH_NN_UInt32Array *inputIndices, " +
			"const OH_NN_UInt32Array *outputIndices)", Roles: "handle, in, in", Since: 9, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_Finish(OH_NNModel *model)", Roles: "handle", Since: 9, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t deviceID, const bool " +
			"**isSupported, uint32_t *opCount)", Roles: "handle, value, out0, out", Since: 9, Owner: "model"},

		// Compilations
		{C: "OH_NNCompilation *OH_NNCompilation_Construct(const OH_NNModel *model)", Roles: "handle", Since: 9,
			Creates: true, Owner: "model"},
		{C: "OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelFile(const char *modelPath)", Roles: "string",
			Since: 11, Creates: true, Lifts: "liftsFile"},
		{C: "OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelBuffer(const void *modelBuffer, size_t modelSize)",
			Roles: "in[modelSize], len", Since: 11, Creates: true, Lifts: "liftsBuffer"},
		{C: "OH_NNCompilation *OH_NNCompilation_ConstructForCache(void)", Since: 11, Creates: true},
		{C: "OH_NN_ReturnCode OH_NNCompilation_ExportCacheToBuffer(OH_NNCompilation *compilation, const void *buffer, " +
			"size_t length, size_t *modelSize)", Roles: "handle, in[length], len, out", Since: 11, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_ImportCacheFromBuffer(OH_NNCompilation *compilation, const void *buffer, " +
			"size_t modelSize)", Roles: "handle, in[modelSize], len", Since: 11, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_AddExtensionConfig(OH_NNCompilation *compilation, const char *configName, " +
			"const void *configValue, const size_t configValueSize)", Roles: "handle, string, in[configValueSize], len",
			Since: 11, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_SetDevice(OH_NNCompilation *compilation, size_t deviceID)",
			Roles: "handle, value", Since: 9, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_SetCache(OH_NNCompilation *compilation, const char *cachePath, uint32_t " +
			"version)", Roles: "handle, string, value", Since: 9, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_SetPerformanceMode(OH_NNCompilation *compilation, OH_NN_PerformanceMode " +
			"performanceMode)", Roles: "handle, value", Since: 9, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_SetPriority(OH_NNCompilation *compilation, OH_NN_Priority priority)",
			Roles: "handle, value", Since: 9, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_EnableFloat16(OH_NNCompilation *compilation, bool enableFloat16)",
			Roles: "handle, value", Since: 9, Owner: "compilation"},
		{C: "OH_NN_ReturnCode OH_NNCompilation_Build(OH_NNCompilation *compilation)", Roles: "handle", Since: 9,
			Owner: "compilation"},
		{C: "void OH_NNCompilation_Destroy(OH_NNCompilation **compilation)", Roles: "take?", Since: 9,
			Owner: "*compilation"},

		// Executors
		{C: "OH_NNExecutor *OH_NNExecutor_Construct(OH_NNCompilation *compilation)", Roles: "handle", Since: 9,
			Creates: true, Owner: "compilation"},
		{C: "void OH_NNExecutor_Destroy(OH_NNExecutor **executor)", Roles: "take?", Since: 9, Owner: "*executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_GetInputCount(const OH_NNExecutor *executor, size_t *inputCount)",
			Roles: "handle, out", Since: 11, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_GetOutputCount(const OH_NNExecutor *executor, size_t *outputCount)",
			Roles: "handle, out", Since: 11, Owner: "executor"},
		{C: "NN_TensorDesc *OH_NNExecutor_CreateInputTensorDesc(const OH_NNExecutor *executor, size_t index)",
			Roles: "handle, value", Since: 11, Creates: true, Owner: "executor"},
		{C: "NN_TensorDesc *OH_NNExecutor_CreateOutputTensorDesc(const OH_NNExecutor *executor, size_t index)",
			Roles: "handle, value", Since: 11, Creates: true, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_GetOutputShape(OH_NNExecutor *executor, uint32_t outputIndex, int32_t **shape, " +
			"uint32_t *shapeLength)", Roles: "handle, value, out0, out", Since: 9, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_GetInputDimRange(const OH_NNExecutor *executor, size_t index, size_t " +
			"**minInputDims, size_t **maxInputDims, size_t *shapeLength)", Roles: "handle, value, out, out, out", Since: 11,
			Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_SetOnRunDone(OH_NNExecutor *executor, NN_OnRunDone onRunDone)",
			Roles: "handle, callback", Since: 11, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_SetOnServiceDied(OH_NNExecutor *executor, NN_OnServiceDied onServiceDied)",
			Roles: "handle, callback", Since: 11, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_RunSync(OH_NNExecutor *executor, NN_Tensor *inputTensor[], size_t inputCount, " +
			"NN_Tensor *outputTensor[], size_t outputCount)", Roles: "handle, handles[inputCount<=200:takesInputs], len, " +
			"handles[outputCount<=200:takesOutputs], len", Since: 11, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_RunAsync(OH_NNExecutor *executor, NN_Tensor *inputTensor[], size_t inputCount, " +
			"NN_Tensor *outputTensor[], size_t outputCount, int32_t timeout, void *userData)",
			Roles: "handle, raw, value, raw, value, value, opaque", Since: 11, Owner: "executor"},

		// Executors of API 9
		{C: "OH_NN_ReturnCode OH_NNExecutor_SetInput(OH_NNExecutor *executor, uint32_t inputIndex, const OH_NN_Tensor " +
			"*tensor, const void *dataBuffer, size_t length)", Roles: "handle, value, in, in[length], len", Since: 9,
			Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_SetOutput(OH_NNExecutor *executor, uint32_t outputIndex, void *dataBuffer, " +
			"size_t length)", Roles: "handle, value, out[length], len", Since: 9, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_Run(OH_NNExecutor *executor)", Roles: "handle", Since: 9, Owner: "executor"},
		{C: "OH_NN_Memory *OH_NNExecutor_AllocateInputMemory(OH_NNExecutor *executor, uint32_t inputIndex, size_t length)",
			Roles: "handle, value, value", Since: 9, Undo: "OH_NNExecutor_DestroyInputMemory(a0, a1, &r)", Owner: "executor"},
		{C: "OH_NN_Memory *OH_NNExecutor_AllocateOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex, size_t length)",
			Roles: "handle, value, value", Since: 9, Undo: "OH_NNExecutor_DestroyOutputMemory(a0, a1, &r)",
			Owner: "executor"},
		{C: "void OH_NNExecutor_DestroyInputMemory(OH_NNExecutor *executor, uint32_t inputIndex, OH_NN_Memory **memory)",
			Roles: "handle?, value, raw", Since: 9, Owner: "executor"},
		{C: "void OH_NNExecutor_DestroyOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex, OH_NN_Memory **memory)",
			Roles: "handle?, value, raw", Since: 9, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_SetInputWithMemory(OH_NNExecutor *executor, uint32_t inputIndex, const " +
			"OH_NN_Tensor *tensor, const OH_NN_Memory *memory)", Roles: "handle, value, in, in", Since: 9, Owner: "executor"},
		{C: "OH_NN_ReturnCode OH_NNExecutor_SetOutputWithMemory(OH_NNExecutor *executor, uint32_t outputIndex, const " +
			"OH_NN_Memory *memory)", Roles: "handle, value, in", Since: 9, Owner: "executor"},

		// Functions of the inner header
		{C: "OH_NN_ReturnCode OH_NNModel_BuildFromLiteGraph(OH_NNModel *model, const void *liteGraph, const " +
			"OH_NN_Extension *extensions, size_t extensionSize)", Roles: "handle, opaque, raw, value", Since: 9,
			Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_SetInputsAndOutputsInfo(OH_NNModel *model, const OH_NN_TensorInfo *inputsInfo, " +
			"size_t inputSize, const OH_NN_TensorInfo *outputsInfo, size_t outputSize)",
			Roles: "handle, in[inputSize], len, in[outputSize], len", Since: 10, Owner: "model"},
		{C: "OH_NN_ReturnCode OH_NNModel_BuildFromMetaGraph(OH_NNModel *model, const void *metaGraph, const " +
			"OH_NN_Extension *extensions, size_t extensionSize)", Roles: "handle, opaque, raw, value", Since: 10,
			Owner: "model"},
		{C: "bool OH_NNModel_HasCache(const char *cacheDir, const char *modelName, uint32_t version)",
			Roles: "string, string, value", Since: 11, Owner: OwnerDriver},
		{C: "OH_NN_ReturnCode OH_NN_GetDeviceID(char *nnrtDevice, size_t len)", Roles: "out[len], len", Since: 11,
			Owner: OwnerDriver},
		{C: "OH_NN_ReturnCode OH_NN_IsSupportAIPP(bool *support)", Roles: "out", Since: 11, CXX: "bool &",
			Owner: OwnerDriver},
		{C: "OH_NN_ReturnCode OH_NNExecutor_RunSyncWithAipp(OH_NNExecutor *executor, NN_Tensor *inputTensor[], size_t " +
			"inputCount, NN_Tensor *outputTensor[], size_t outputCount, const char *aippString)",
			Roles: "handle, handles[inputCount<=200:takesInputs], len, handles[outputCount<=200:takesOutputs], len, string",
			Since: 11, Owner: "executor"},
	},
}
