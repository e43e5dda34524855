package rules

import "github.com/anynpu/anynpu/conformance/rknn"

// The structs of the API, as cases name them.
type (
	attr         = rknn.MatmulAttr
	customOp     = rknn.CustomOp
	inOutNum     = rknn.InOutNum
	info         = rknn.MatmulInfo
	initExtend   = rknn.InitExtend
	input        = rknn.Input
	inputRange   = rknn.InputRange
	ioAttr       = rknn.MatmulIOAttr
	memSize      = rknn.MemSize
	model        = rknn.Model
	object       = rknn.Product
	opAttr       = rknn.OpAttr
	opContext    = rknn.OpContext
	opTensor     = rknn.OpTensor
	output       = rknn.Output
	outputExtend = rknn.OutputExtend
	params       = rknn.QuantParams
	perfDetail   = rknn.PerfDetail
	runExtend    = rknn.RunExtend
	sdkVersion   = rknn.SDKVersion
	shape        = rknn.MatmulShape
	tensorAttr   = rknn.TensorAttr
	tensorMem    = rknn.TensorMem
)

// The enumerators of the API, as cases name them.
const (
	bfloat16T          = rknn.BFloat16
	boolT              = rknn.Bool
	flagAsync          = rknn.FlagAsync
	flagFenceIn        = rknn.FlagFenceIn
	flagFenceOut       = rknn.FlagFenceOut
	flagInfoOnly       = rknn.FlagInfoOnly
	flagInternal       = rknn.FlagInternal
	flagOutside        = rknn.FlagOutside
	flagPerf           = rknn.FlagPerf
	flagShareWeight    = rknn.FlagShareWeight
	flagZeroCopyModel  = rknn.FlagZeroCopyModel
	float16T           = rknn.Float16
	float32T           = rknn.Float32
	int16T             = rknn.Int16
	int32T             = rknn.Int32
	int4T              = rknn.Int4
	int64T             = rknn.Int64
	int8T              = rknn.Int8
	memFlagNoContext   = rknn.MemNoContext
	nc1hwc2            = rknn.NC1HWC2
	nchw               = rknn.NCHW
	nhwc               = rknn.NHWC
	onnxBool           = rknn.ONNXBool
	onnxFloat          = rknn.ONNXFloat
	onnxHalf           = rknn.ONNXHalf
	onnxInt16          = rknn.ONNXInt16
	onnxInt32          = rknn.ONNXInt32
	onnxInt64          = rknn.ONNXInt64
	onnxInt8           = rknn.ONNXInt8
	onnxUint8          = rknn.ONNXUint8
	qntAffine          = rknn.QntAffine
	qntNone            = rknn.QntNone
	queryCurrentInput  = rknn.QueryCurrentInput
	queryCurrentNatOut = rknn.QueryCurrentNatOut
	queryCurrentOutput = rknn.QueryCurrentOutput
	queryDeviceMem     = rknn.QueryDeviceMem
	queryInOutNum      = rknn.QueryInOutNum
	queryInput         = rknn.QueryInput
	queryMemSize       = rknn.QueryMemSize
	queryNHWCInput     = rknn.QueryNHWCInput
	queryNHWCOutput    = rknn.QueryNHWCOutput
	queryNativeInput   = rknn.QueryNativeInput
	queryNativeOutput  = rknn.QueryNativeOutput
	queryOutput        = rknn.QueryOutput
	queryPerfDetail    = rknn.QueryPerfDetail
	queryPerfRun       = rknn.QueryPerfRun
	queryRange         = rknn.QueryRange
	queryString        = rknn.QueryString
	queryVersion       = rknn.QueryVersion
	structSizeMem      = rknn.SizeMem
	structSizeMemSize  = rknn.SizeMemSize
	structSizeRange    = rknn.SizeRange
	structSizeVersion  = rknn.SizeVersion
	uint16T            = rknn.Uint16
	uint32T            = rknn.Uint32
	uint8T             = rknn.Uint8
	undefined          = rknn.Undefined
)

// The return codes, as cases name them.
const (
	success    = rknn.Success
	failed     = rknn.Fail
	badParam   = rknn.ParamInvalid
	badModel   = rknn.ModelInvalid
	badContext = rknn.CtxInvalid
	badInput   = rknn.InputInvalid
	badOutput  = rknn.OutputInvalid
	skipOp     = rknn.SkipCompute
)
