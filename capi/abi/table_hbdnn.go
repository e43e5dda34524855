package abi

import "slices"

// HBDNN is Horizon's hbDNN and hbSys API, of versions 1.18 to 1.24.
var HBDNN = &Facade{
	Name:      "hbdnn",
	Version:   "1.24.5",
	Since:     "`since` is the vendor's version without its dots: 190 is 1.9.x or older, 1180 is 1.18.x.",
	Prefix:    "hb",
	Also:      []string{"_Z25hbDNN", "_Z27hbDNN"},
	Headers:   []string{"stdbool.h", "dnn/hb_dnn_ext.h", "dnn/hb_dnn_status.h"},
	Check:     "misuse_hbdnn.h",
	Status:    "int32_t",
	Failed:    -6000012,                              // HB_DNN_RUN_TASK_FAILED
	Forked:    -6000015,                              // HB_DNN_API_USE_ERROR
	Starved:   -6000007,                              // HB_DNN_OUT_OF_MEMORY
	StarvedBy: map[string]int{"sysStatus": -6000130}, // HB_SYS_OUT_OF_MEMORY
	Handles: map[string]Handle{
		"hbPackedDNNHandle_t": {Go: "Packed", ByValue: true},
		"hbDNNHandle_t":       {Go: "Model", ByValue: true},
		"hbDNNTaskHandle_t":   {Go: "Task", ByValue: true},
	},
	Types: map[string]Type{
		"hbSysMem":              {Go: "SysMem"},
		"hbDNNTensorShape":      {Go: "TensorShape"},
		"hbDNNTensorProperties": {Go: "TensorProperties"},
		"hbDNNTensor":           {Go: "Tensor"},
		"hbDNNRoi":              {Go: "Roi"},
		"hbDNNInferCtrlParam":   {Go: "InferCtrlParam"},
		"hbDNNResizeCtrlParam":  {Go: "ResizeCtrlParam"},
		"hbDNNTaskDoneCb":       {Func: true},
		"hbDNNLayerCreator":     {Func: true},
	},
	Named: map[string]Named{
		"result":           {Enums: []string{"hbDNNStatus", "hbSysStatus"}},
		"sysStatus.result": {Enums: []string{"hbSysStatus", "hbDNNStatus"}},
		"errorCode":        {Enums: []string{"hbDNNStatus", "hbSysStatus"}},
		"tensorLayout":     hbdnnLayout,
		"layout":           hbdnnLayout,
		"inputLayout":      hbdnnLayout,
		"outputLayout":     hbdnnLayout,
		"tensorType":       {Enums: []string{"hbDNNDataType"}},
		"dataType":         {Enums: []string{"hbDNNDataType"}},
		"flag":             {Enums: []string{"hbSysMemFlushFlag"}},
		"bpuCoreId":        {Enums: []string{"hbBPUCore"}},
		"dspCoreId":        {Enums: []string{"hbDSPCore"}},
		"inputSource":      {Enums: []string{"hbDNNInputSource"}},
		"operatorType":     {Enums: []string{"hbDNNOutputOperatorType"}},
	},
	Lengths: map[string]string{
		"hbDNNTensorShape.dimensionSize": "numDimensions",
		"hbDNNTensorProperties.stride":   "validShape.numDimensions",
		"hbDNNQuantiShift.shiftData":     "shiftLen",
		"hbDNNQuantiScale.scaleData":     "scaleLen",
		"hbDNNQuantiScale.zeroPointData": "zeroPointLen",
	},
	HandlesFirst: true,
	Drivers:      true,
	Stubs:        []Library{{Soname: "libdnn.so", Version: "CONFIG"}},
	Rows:         slices.Concat(hbdnnModelRows, hbsysRows, hbdnnExtRows),
}

// hbdnnLayout names layouts of tensors.
var hbdnnLayout = Named{Enums: []string{"hbDNNTensorLayout", "hbDNNExtraTensorLayout"}}

// hbdnnModelRows are the functions of hb_dnn.h.
var hbdnnModelRows = []Row{
	// Models
	{C: "char const *hbDNNGetVersion(void)",
		Roles: "", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNInitializeFromFiles(hbPackedDNNHandle_t *packedDNNHandle, char const **modelFileNames, int32_t " +
		"modelFileCount)",
		Roles: "new, in[modelFileCount], len", Since: 190, Creates: true},
	{C: "int32_t hbDNNInitializeFromDDR(hbPackedDNNHandle_t *packedDNNHandle, const void **modelData, int32_t " +
		"*modelDataLengths, int32_t modelDataCount)",
		Roles: "new, in[modelDataCount], in[modelDataCount], len", Since: 190, Creates: true},
	{C: "int32_t hbDNNRelease(hbPackedDNNHandle_t packedDNNHandle)",
		Roles: "raw", Since: 190, Owner: "packedDNNHandle"},
	{C: "int32_t hbDNNGetModelNameList(char const ***modelNameList, int32_t *modelNameCount, hbPackedDNNHandle_t " +
		"packedDNNHandle)",
		Roles: "out, out, handle", Since: 190, Owner: "packedDNNHandle"},
	{C: "int32_t hbDNNGetModelHandle(hbDNNHandle_t *dnnHandle, hbPackedDNNHandle_t packedDNNHandle, char const " +
		"*modelName)",
		Roles: "new, handle, string", Since: 190, Owner: "packedDNNHandle"},
	{C: "int32_t hbDNNGetInputCount(int32_t *inputCount, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetInputName(char const **name, hbDNNHandle_t dnnHandle, int32_t inputIndex)",
		Roles: "out, handle, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetInputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t " +
		"inputIndex)",
		Roles: "out, handle, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputCount(int32_t *outputCount, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputName(char const **name, hbDNNHandle_t dnnHandle, int32_t outputIndex)",
		Roles: "out, handle, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t " +
		"outputIndex)",
		Roles: "out, handle, value", Since: 190, Owner: "dnnHandle"},

	// Tasks
	{C: "int32_t hbDNNInfer(hbDNNTaskHandle_t *taskHandle, hbDNNTensor **output, hbDNNTensor const *input, " +
		"hbDNNHandle_t dnnHandle, hbDNNInferCtrlParam *inferCtrlParam)",
		Roles: "inout, in, in, handle, in", Since: 190, Creates: true, Owner: "dnnHandle, *taskHandle"},
	{C: "int32_t hbDNNRoiInfer(hbDNNTaskHandle_t *taskHandle, hbDNNTensor **output, hbDNNTensor const *input, hbDNNRoi " +
		"*rois, int32_t roiCount, hbDNNHandle_t dnnHandle, hbDNNInferCtrlParam *inferCtrlParam)",
		Roles: "inout, in, in, in, value, handle, in", Since: 190, Creates: true, Owner: "dnnHandle, *taskHandle"},
	{C: "int32_t hbDNNResize(hbDNNTaskHandle_t *taskHandle, hbDNNTensor *output, hbDNNTensor const *input, hbDNNRoi " +
		"const *roi, hbDNNResizeCtrlParam *resizeCtrlParam)",
		Roles: "out, in, in, in?, in", Since: 190, Creates: true},
	{C: "int32_t hbDNNSetTaskDoneCb(hbDNNTaskHandle_t taskHandle, hbDNNTaskDoneCb cb, void *userdata)",
		Roles: "raw, callback?, opaque?", Since: 1180, Owner: "taskHandle"},
	{C: "int32_t hbDNNWaitTaskDone(hbDNNTaskHandle_t taskHandle, int32_t timeout)",
		Roles: "handle, value", Since: 190, Owner: "taskHandle"},
	{C: "int32_t hbDNNReleaseTask(hbDNNTaskHandle_t taskHandle)",
		Roles: "raw", Since: 190, Owner: "taskHandle"},
}

// hbsysRows are the functions of hb_sys.h. They have codes of their own.
var hbsysRows = []Row{
	// Memory
	{C: "int32_t hbSysAllocMem(hbSysMem *mem, uint32_t size)",
		Roles: "out, value", Since: 190, Undo: "hbSysFreeMem(a0)", Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysAllocCachedMem(hbSysMem *mem, uint32_t size)",
		Roles: "out, value", Since: 190, Undo: "hbSysFreeMem(a0)", Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysFlushMem(hbSysMem *mem, int32_t flag)",
		Roles: "in, value", Since: 190, Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysWriteMem(hbSysMem *dest, char *src, uint32_t size)",
		Roles: "in, in[size], len", Since: 190, Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysReadMem(char *dest, hbSysMem *src, uint32_t size)",
		Roles: "out[size], in, len", Since: 190, Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysFreeMem(hbSysMem *mem)",
		Roles: "inout", Since: 190, Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysRegisterMem(hbSysMem *mem)",
		Roles: "inout", Since: 190, Codes: "sysStatus", Owner: OwnerDriver},
	{C: "int32_t hbSysUnregisterMem(hbSysMem *mem)",
		Roles: "in", Since: 190, Codes: "sysStatus", Owner: OwnerDriver},
}

// hbdnnExtRows are the functions of hb_dnn_ext.h, and those that C++ programs register layers with.
var hbdnnExtRows = []Row{
	// More about models and tasks
	{C: "int32_t hbDNNGetInputSource(int32_t *inputSource, hbDNNHandle_t dnnHandle, int32_t inputIndex)",
		Roles: "out, handle, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetInputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle, int32_t " +
		"inputIndex)",
		Roles: "raw, raw, raw, raw, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle, int32_t " +
		"outputIndex)",
		Roles: "raw, raw, raw, raw, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetModelDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle)",
		Roles: "out, out, out, handle", Since: 1120, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetModelTag(char const **tag, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputOperatorType(int32_t *operatorType, hbDNNHandle_t dnnHandle, int32_t outputIndex)",
		Roles: "out, handle, value", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetEstimateLatency(int32_t *estimateLatency, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 190, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetTaskEstimateTime(int32_t *estimateTime, hbDNNTaskHandle_t taskHandle)",
		Roles: "out, handle", Since: 190, Owner: "taskHandle"},
	{C: "int32_t hbDNNGetTaskEstimateStartTime(int32_t *estimateStartTime, hbDNNInferCtrlParam *inferCtrlParam)",
		Roles: "out, in", Since: 1120, Owner: OwnerDriver},
	{C: "char const *hbDNNGetErrorDesc(int32_t errorCode)",
		Roles: "value", Since: 1190, Owner: OwnerDriver},
	{C: "int32_t hbDNNGetLayoutName(char const **name, int32_t layout)",
		Roles: "out, value", Since: 190, Owner: OwnerDriver},

	// Conversions
	{C: "int32_t hbDNNUnquantizeByScale(float *output, int32_t dataType, hbDNNTensorShape inputShape, const float " +
		"*scales, const void *input)",
		Roles: "raw, value, in, raw, raw",
		Former: "float *output, int32_t dataType, int32_t layout, hbDNNTensorShape inputShape, const float *scales, " +
			"const void *input",
		FormerRoles: "raw, value, value, in, raw, raw", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNConvertLayout(void *output, int32_t outputLayout, const void *input, int32_t inputLayout, int32_t " +
		"dataType, hbDNNTensorShape inputShape, bool convertEndianness)",
		Roles: "opaque, value, opaque, value, value, in, value", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNConvertLayoutRoi(void *output, int32_t outputLayout, const void *input, int32_t inputLayout, " +
		"int32_t dataType, hbDNNTensorShape inputShape, bool convertEndianness, hbDNNTensorShape coord, " +
		"hbDNNTensorShape size)",
		Roles: "opaque, value, opaque, value, value, in, value, in, in",
		Former: "void *output, int32_t outputLayout, const void *input, int32_t inputLayout, int32_t dataType, " +
			"hbDNNTensorShape inputShape, bool convertEndianness, hbDNNRoi box",
		FormerRoles: "opaque, value, opaque, value, value, in, value, in", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNConvertLayoutToNative1HW1(void *output, const void *input, int32_t inputLayout, int32_t dataType, " +
		"hbDNNTensorShape inputShape, bool convertEndianness, uint32_t nIndex, uint32_t cIndex)",
		Roles: "opaque, opaque, value, value, in, value, value, value", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNConvertLayoutToNative111C(void *output, const void *input, int32_t inputLayout, int32_t dataType, " +
		"hbDNNTensorShape inputShape, bool convertEndianness, uint32_t nIndex, uint32_t hIndex, uint32_t wIndex)",
		Roles: "opaque, opaque, value, value, in, value, value, value, value", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNConvertLayoutToNative1111(void *output, const void *input, int32_t inputLayout, int32_t dataType, " +
		"hbDNNTensorShape inputShape, bool convertEndianness, hbDNNTensorShape coord)",
		Roles: "opaque, opaque, value, value, in, value, in",
		Former: "void *output, const void *input, int32_t inputLayout, int32_t dataType, hbDNNTensorShape inputShape, " +
			"bool convertEndianness, hbDNNRoi box",
		FormerRoles: "opaque, opaque, value, value, in, value, in", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNAddPadding(void *output, hbDNNTensorShape outputShape, void const *input, hbDNNTensorShape " +
		"inputShape, int32_t dataType)",
		Roles: "opaque, in, opaque, in, value", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNRemovePadding(void *output, hbDNNTensorShape outputShape, void const *input, hbDNNTensorShape " +
		"inputShape, int32_t dataType)",
		Roles: "opaque, in, opaque, in, value", Since: 190, Owner: OwnerDriver},
	{C: "int32_t hbDNNAddPaddingWithStride(void *output, void const *input, uint32_t dimNum, const uint32_t *dim, const " +
		"int32_t *stride, uint32_t elementSize)",
		Roles: "opaque, opaque, len, in[dimNum<=8], in[dimNum<=8], value", Since: 1180, Owner: OwnerDriver},
	{C: "int32_t hbDNNRemovePaddingWithStride(void *output, void const *input, uint32_t dimNum, const uint32_t *dim, " +
		"const int32_t *stride, uint32_t elementSize)",
		Roles: "opaque, opaque, len, in[dimNum<=8], in[dimNum<=8], value", Since: 1180, Owner: OwnerDriver},
	{C: "int32_t hbDNNConvertEndianness(void *output, const void *input, uint32_t size)",
		Roles: "out[size], in[size], len", Since: 190, Owner: OwnerDriver},

	// Layers of C++ programs
	{C: "int32_t _Z25hbDNNRegisterLayerCreatorPKcPFPN5hobot3dnn5LayerEvE(char const *layerType, hbDNNLayerCreator " +
		"layerCreator)", Roles: "raw, raw", Since: 190, Mangled: true, Owner: OwnerDriver},
	{C: "int32_t _Z27hbDNNUnregisterLayerCreatorPKc(char const *layerType)", Roles: "raw", Since: 190, Mangled: true,
		Owner: OwnerDriver},
}
