package abi

import (
	"slices"
	"strings"
)

// HBUCP is the newest generation of Horizon's API, UCP, of versions 3.7 to 3.13: tasks and memory in libhbucp.so, and
// hbDNN with other structs than hbdnn's.
var HBUCP = &Facade{
	Name:    "hbucp",
	Version: "3.13.6",
	Since: "`since` is the vendor's version without its dots: 370 is 3.7.x or older. A process uses this API or `hbdnn`: " +
		"names that both have lead to the one that it uses.",
	Prefix:  "hb",
	Headers: []string{"hobot/dnn/hb_dnn.h", "hobot/dnn/hb_dnn_status.h"},
	Check:   "misuse_hbucp.h",
	Status:  "int32_t",
	Failed:  -200003, // HB_UCP_TASK_RUN_FAILED
	Forked:  -100002, // HB_UCP_API_USE_ERROR
	Starved: -400001, // HB_UCP_MEM_ALLOC_FAIL
	Handles: map[string]Handle{
		"hbDNNPackedHandle_t": {Go: "Packed", ByValue: true},
		"hbDNNHandle_t":       {Go: "Model", ByValue: true},
		"hbUCPTaskHandle_t":   {Go: "Task", ByValue: true},
	},
	Types: map[string]Type{
		"hbUCPSysMem":           {Go: "SysMem"},
		"hbUCPSchedParam":       {Go: "SchedParam"},
		"hbDNNTensorProperties": {Go: "TensorProperties"},
		"hbDNNTensor":           {Go: "Tensor"},
		"hbUCPTaskDoneCb":       {Func: true},
	},
	Named: map[string]Named{
		"result":     {Enums: []string{"hbUCPStatus", "hbDNNStatus"}},
		"errorCode":  {Enums: []string{"hbUCPStatus", "hbDNNStatus"}},
		"tensorType": {Enums: []string{"hbDNNDataType"}},
		"flag":       {Enums: []string{"hbUCPSysMemFlushFlag"}},
		"backend":    {Enums: []string{"int"}, Prefix: "HB_UCP_CORE_,HB_UCP_BPU_,HB_UCP_DSP_", Bits: true},
	},
	Lengths: map[string]string{
		"hbDNNTensorShape.dimensionSize": "numDimensions",
		"hbDNNTensorProperties.stride":   "validShape.numDimensions",
		"hbDNNQuantiScale.scaleData":     "scaleLen",
		"hbDNNQuantiScale.zeroPointData": "zeroPointLen",
	},
	HandlesFirst: true,
	Drivers:      true,
	Replaces:     "hbdnn",
	Sign:         Sign{Variable: "ANYNPU_HBDNN_ABI", Value: "ucp", Library: "libhbucp.so"},
	Stubs: []Library{{Soname: "libdnn.so", Version: "CONFIG"}, {Soname: "libhbucp.so", Version: "CONFIG"},
		{Soname: "libhbvp.so", Version: "CONFIG"}, {Soname: "libhbhpl.so", Version: "CONFIG"},
		{Soname: "libhbdsp_plugin.so", Version: "CONFIG"}},
	Rows: slices.Concat(hbucpTaskRows, hbucpModelRows, absent()),
}

var (
	inUCP = []string{"libhbucp.so"}
	inDNN = []string{"libdnn.so"}
)

// absent are the functions of the vendor's other libraries for UCP, of which names alone are public (section 8).
func absent() (rows []Row) {
	for _, l := range []struct{ library, prefix, names, why string }{
		{"libhbvp.so", "hbVP", "BilateralFilter BoxFilter Canny CornerHarris CvtColor Dilate EqualizeHist Erode Filter2D Flip " +
			"GaussianBlur HBDemosaicing ISP Integral LaplacianFilter MedianBlur OpticalFlowPyrLK PyrDown PyrUp Remap Resize " +
			"RoiResize Rotate SepFilter2D Sobel Stitch Threshold Transpose WarpAffine WarpPerspective CreateAlphaBlendLut " +
			"ReleaseAlphaBlendLut CreateISPContext ReleaseISPContext GetISPOutputBuffer CreateMapWrap ReleaseMapWrap",
			"this library runs models: images are not processed, which libraries such as OpenCV do"},
		{"libhbvp.so", "hbVP", "JPEGDecode JPEGEncode VideoDecode VideoEncode CreateJPEGDecContext ReleaseJPEGDecContext " +
			"CreateJPEGEncContext ReleaseJPEGEncContext CreateVideoDecContext ReleaseVideoDecContext CreateVideoEncContext " +
			"ReleaseVideoEncContext GetJPEGDecOutputBuffer GetJPEGEncOutputBuffer GetVideoDecOutputBuffer " +
			"GetVideoEncOutputBuffer GetDefaultVideoDecParam GetDefaultVideoEncParam",
			"this library runs models: images and videos are not encoded or decoded, which libraries such as FFmpeg do"},
		{"libhbhpl.so", "hb", "FFT1D FFT2D IFFT1D IFFT2D",
			"this library runs models: Fourier transforms are not served, which libraries such as FFTW do"},
		{"libhbdsp_plugin.so", "hbDSP", "AddrMap AddrUnmap RpcV2",
			"this library runs models: there is no DSP that takes the program's code"},
	} {
		for _, name := range strings.Fields(l.names) {
			rows = append(rows, Row{C: "int32_t " + l.prefix + name + "(void)", Since: 370, Stubs: []string{l.library},
				Mangled: true, Refused: l.why, Owner: OwnerDriver})
		}
	}
	return rows
}

// hbucpTaskRows are the functions of hb_ucp.h, hb_ucp_sys.h and hb_ucp_status.h.
var hbucpTaskRows = []Row{
	// Tasks
	{C: "char const *hbUCPGetVersion(void)",
		Roles: "", Since: 370, Stubs: inUCP, Owner: OwnerDriver},
	{C: "char const *hbUCPGetSocName(void)",
		Roles: "", Since: 370, Stubs: inUCP, Owner: OwnerDriver},
	{C: "int32_t hbUCPSubmitTask(hbUCPTaskHandle_t taskHandle, hbUCPSchedParam *schedParam)",
		Roles: "handle, in", Since: 370, Stubs: inUCP, Owner: "taskHandle"},
	{C: "int32_t hbUCPWaitTaskDone(hbUCPTaskHandle_t taskHandle, int32_t timeout)",
		Roles: "handle, value", Since: 370, Stubs: inUCP, Owner: "taskHandle"},
	{C: "int32_t hbUCPSetTaskDoneCb(hbUCPTaskHandle_t taskHandle, hbUCPTaskDoneCb taskDoneCb, void *userdata)",
		Roles: "raw, callback, opaque?", Since: 370, Stubs: inUCP, Owner: "taskHandle"},
	{C: "int32_t hbUCPReleaseTask(hbUCPTaskHandle_t taskHandle)",
		Roles: "raw", Since: 370, Stubs: inUCP, Owner: "taskHandle"},
	{C: "char const *hbUCPGetErrorDesc(int32_t errorCode)",
		Roles: "value", Since: 370, Stubs: inUCP, Owner: OwnerDriver},

	// Memory
	{C: "int32_t hbUCPMalloc(hbUCPSysMem *mem, uint64_t size, int32_t deviceId)",
		Roles: "out, value, value", Since: 370, Stubs: inUCP, Undo: "hbUCPFree(a0)", Owner: OwnerDriver},
	{C: "int32_t hbUCPMallocCached(hbUCPSysMem *mem, uint64_t size, int32_t deviceId)",
		Roles: "out, value, value", Since: 370, Stubs: inUCP, Undo: "hbUCPFree(a0)", Owner: OwnerDriver},
	{C: "int32_t hbUCPMemFlush(hbUCPSysMem const *mem, int32_t flag)",
		Roles: "in, value", Since: 370, Stubs: inUCP, Owner: OwnerDriver},
	{C: "int32_t hbUCPFree(hbUCPSysMem *mem)",
		Roles: "inout", Since: 370, Stubs: inUCP, Owner: OwnerDriver},
}

// hbucpModelRows are the functions of dnn/hb_dnn.h and dnn/hb_dnn_status.h.
var hbucpModelRows = []Row{
	// Models
	{C: "char const *hbDNNGetVersion(void)",
		Roles: "", Since: 370, Stubs: inDNN, Owner: OwnerDriver},
	{C: "int32_t hbDNNInitializeFromFiles(hbDNNPackedHandle_t *dnnPackedHandle, char const **modelFileNames, int32_t " +
		"modelFileCount)",
		Roles: "new, in[modelFileCount], len", Since: 370, Creates: true, Stubs: inDNN},
	{C: "int32_t hbDNNInitializeFromDDR(hbDNNPackedHandle_t *dnnPackedHandle, const void **modelData, int32_t " +
		"*modelDataLengths, int32_t modelDataCount)",
		Roles: "new, in[modelDataCount], in[modelDataCount], len", Since: 370, Creates: true, Stubs: inDNN},
	{C: "int32_t hbDNNRelease(hbDNNPackedHandle_t dnnPackedHandle)",
		Roles: "raw", Since: 370, Stubs: inDNN, Owner: "dnnPackedHandle"},
	{C: "int32_t hbDNNGetModelNameList(char const ***modelNameList, int32_t *modelNameCount, hbDNNPackedHandle_t " +
		"dnnPackedHandle)",
		Roles: "out, out, handle", Since: 370, Stubs: inDNN, Owner: "dnnPackedHandle"},
	{C: "int32_t hbDNNGetModelHandle(hbDNNHandle_t *dnnHandle, hbDNNPackedHandle_t dnnPackedHandle, char const *modelName)",
		Roles: "new, handle, string", Since: 370, Stubs: inDNN, Owner: "dnnPackedHandle"},
	{C: "int32_t hbDNNGetInputCount(int32_t *inputCount, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetInputName(char const **name, hbDNNHandle_t dnnHandle, int32_t inputIndex)",
		Roles: "out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetInputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t " +
		"inputIndex)",
		Roles: "out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputCount(int32_t *outputCount, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputName(char const **name, hbDNNHandle_t dnnHandle, int32_t outputIndex)",
		Roles: "out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t " +
		"outputIndex)",
		Roles: "out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetInputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle, int32_t " +
		"inputIndex)",
		Roles: "out, out, out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetOutputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle, int32_t " +
		"outputIndex)",
		Roles: "out, out, out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetModelDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle)",
		Roles: "out, out, out, handle", Since: 370, Stubs: inDNN, Owner: "dnnHandle"},
	{C: "int32_t hbDNNGetHBMDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNPackedHandle_t dnnPackedHandle, " +
		"int32_t index)",
		Roles: "out, out, out, handle, value", Since: 370, Stubs: inDNN, Owner: "dnnPackedHandle"},
	{C: "int32_t hbDNNGetCompileBpuCoreNum(int32_t *bpuCoreNum, hbDNNHandle_t dnnHandle)",
		Roles: "out, handle", Since: 3120, Stubs: inDNN, Owner: "dnnHandle"},

	// Running them
	{C: "int32_t hbDNNInferV2(hbUCPTaskHandle_t *taskHandle, hbDNNTensor *output, hbDNNTensor const *input, hbDNNHandle_t " +
		"dnnHandle)",
		Roles: "in?, in, in, handle", Since: 370, Creates: true, Stubs: inDNN, Owner: "dnnHandle, *taskHandle"},
	{C: "int32_t hbDNNGetTaskOutputTensorProperties(hbDNNTensorProperties *properties, hbUCPTaskHandle_t taskHandle, " +
		"int32_t subTaskIndex, int32_t outputIndex)",
		Roles: "out, handle, value, value", Since: 370, Stubs: inDNN, Owner: "taskHandle"},
	{C: "char const *hbDNNGetErrorDesc(int32_t errorCode)",
		Roles: "value", Since: 370, Stubs: inDNN, Owner: OwnerDriver},
}
