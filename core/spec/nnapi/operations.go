package nnapi

import "strconv"

// Operations, by the numbers of OperationCode in NeuralNetworksTypes.h.
const (
	Add                        OperationCode = 0
	AveragePool2D              OperationCode = 1
	Concatenation              OperationCode = 2
	Conv2D                     OperationCode = 3
	DepthwiseConv2D            OperationCode = 4
	DepthToSpace               OperationCode = 5
	Dequantize                 OperationCode = 6
	EmbeddingLookup            OperationCode = 7
	Floor                      OperationCode = 8
	FullyConnected             OperationCode = 9
	HashtableLookup            OperationCode = 10
	L2Normalization            OperationCode = 11
	L2Pool2D                   OperationCode = 12
	LocalResponseNormalization OperationCode = 13
	Logistic                   OperationCode = 14
	LSHProjection              OperationCode = 15
	LSTM                       OperationCode = 16
	MaxPool2D                  OperationCode = 17
	Mul                        OperationCode = 18
	ReLU                       OperationCode = 19
	ReLU1                      OperationCode = 20
	ReLU6                      OperationCode = 21
	Reshape                    OperationCode = 22
	ResizeBilinear             OperationCode = 23
	RNN                        OperationCode = 24
	Softmax                    OperationCode = 25
	SpaceToDepth               OperationCode = 26
	SVDF                       OperationCode = 27
	Tanh                       OperationCode = 28
	BatchToSpaceND             OperationCode = 29
	Div                        OperationCode = 30
	Mean                       OperationCode = 31
	Pad                        OperationCode = 32
	SpaceToBatchND             OperationCode = 33
	Squeeze                    OperationCode = 34
	StridedSlice               OperationCode = 35
	Sub                        OperationCode = 36
	Transpose                  OperationCode = 37
	Abs                        OperationCode = 38
	ArgMax                     OperationCode = 39
	ArgMin                     OperationCode = 40
	AxisAlignedBBoxTransform   OperationCode = 41
	BidirectionalSequenceLSTM  OperationCode = 42
	BidirectionalSequenceRNN   OperationCode = 43
	BoxWithNMSLimit            OperationCode = 44
	Cast                       OperationCode = 45
	ChannelShuffle             OperationCode = 46
	DetectionPostprocessing    OperationCode = 47
	Equal                      OperationCode = 48
	Exp                        OperationCode = 49
	ExpandDims                 OperationCode = 50
	Gather                     OperationCode = 51
	GenerateProposals          OperationCode = 52
	Greater                    OperationCode = 53
	GreaterEqual               OperationCode = 54
	GroupedConv2D              OperationCode = 55
	HeatmapMaxKeypoint         OperationCode = 56
	InstanceNormalization      OperationCode = 57
	Less                       OperationCode = 58
	LessEqual                  OperationCode = 59
	Log                        OperationCode = 60
	LogicalAnd                 OperationCode = 61
	LogicalNot                 OperationCode = 62
	LogicalOr                  OperationCode = 63
	LogSoftmax                 OperationCode = 64
	Maximum                    OperationCode = 65
	Minimum                    OperationCode = 66
	Neg                        OperationCode = 67
	NotEqual                   OperationCode = 68
	PadV2                      OperationCode = 69
	Pow                        OperationCode = 70
	PReLU                      OperationCode = 71
	Quantize                   OperationCode = 72
	Quantized16BitLSTM         OperationCode = 73
	RandomMultinomial          OperationCode = 74
	ReduceAll                  OperationCode = 75
	ReduceAny                  OperationCode = 76
	ReduceMax                  OperationCode = 77
	ReduceMin                  OperationCode = 78
	ReduceProd                 OperationCode = 79
	ReduceSum                  OperationCode = 80
	ROIAlign                   OperationCode = 81
	ROIPooling                 OperationCode = 82
	Rsqrt                      OperationCode = 83
	Select                     OperationCode = 84
	Sin                        OperationCode = 85
	Slice                      OperationCode = 86
	Split                      OperationCode = 87
	Sqrt                       OperationCode = 88
	Tile                       OperationCode = 89
	TopKV2                     OperationCode = 90
	TransposeConv2D            OperationCode = 91
	UnidirectionalSequenceLSTM OperationCode = 92
	UnidirectionalSequenceRNN  OperationCode = 93
	ResizeNearestNeighbor      OperationCode = 94
	QuantizedLSTM              OperationCode = 95
	If                         OperationCode = 96
	While                      OperationCode = 97
	ELU                        OperationCode = 98
	HardSwish                  OperationCode = 99
	Fill                       OperationCode = 100
	Rank                       OperationCode = 101
	BatchMatMul                OperationCode = 102
	Pack                       OperationCode = 103
	MirrorPad                  OperationCode = 104
	Reverse                    OperationCode = 105

	OEMOperation OperationCode = 10000 // a vendor's own, older than extensions
)

// Operations counts the operations of the API's feature levels: OperationCode 0 to Operations-1.
const Operations = 106

var operationNames = [Operations]string{
	"ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE",
	"EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP", "L2_NORMALIZATION", "L2_POOL_2D",
	"LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION", "LSTM", "MAX_POOL_2D", "MUL", "RELU", "RELU1",
	"RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN", "SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH",
	"BATCH_TO_SPACE_ND", "DIV", "MEAN", "PAD", "SPACE_TO_BATCH_ND", "SQUEEZE", "STRIDED_SLICE", "SUB",
	"TRANSPOSE", "ABS", "ARGMAX", "ARGMIN", "AXIS_ALIGNED_BBOX_TRANSFORM", "BIDIRECTIONAL_SEQUENCE_LSTM",
	"BIDIRECTIONAL_SEQUENCE_RNN", "BOX_WITH_NMS_LIMIT", "CAST", "CHANNEL_SHUFFLE", "DETECTION_POSTPROCESSING",
	"EQUAL", "EXP", "EXPAND_DIMS", "GATHER", "GENERATE_PROPOSALS", "GREATER", "GREATER_EQUAL", "GROUPED_CONV_2D",
	"HEATMAP_MAX_KEYPOINT", "INSTANCE_NORMALIZATION", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT",
	"LOGICAL_OR", "LOG_SOFTMAX", "MAXIMUM", "MINIMUM", "NEG", "NOT_EQUAL", "PAD_V2", "POW", "PRELU", "QUANTIZE",
	"QUANTIZED_16BIT_LSTM", "RANDOM_MULTINOMIAL", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN",
	"REDUCE_PROD", "REDUCE_SUM", "ROI_ALIGN", "ROI_POOLING", "RSQRT", "SELECT", "SIN", "SLICE", "SPLIT", "SQRT",
	"TILE", "TOPK_V2", "TRANSPOSE_CONV_2D", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
	"RESIZE_NEAREST_NEIGHBOR", "QUANTIZED_LSTM", "IF", "WHILE", "ELU", "HARD_SWISH", "FILL", "RANK",
	"BATCH_MATMUL", "PACK", "MIRROR_PAD", "REVERSE",
}

// String returns the operation's name in the API without its prefix, "CONV_2D".
func (c OperationCode) String() string {
	switch {
	case c >= 0 && int(c) < len(operationNames):
		return operationNames[c]
	case c == OEMOperation:
		return "OEM_OPERATION"
	case c.IsExtension():
		return "extension operation " + prefixAndCode(int32(c))
	}
	return "operation code " + strconv.Itoa(int(c))
}

// IsExtension reports whether the upper 16 bits name an extension.
func (c OperationCode) IsExtension() bool { return uint32(c)>>16 != 0 }

// Known reports whether c is an operation of the API's own feature levels.
func (c OperationCode) Known() bool { return c >= 0 && c < Operations }

func prefixAndCode(c int32) string {
	return strconv.Itoa(int(uint32(c)>>16)) + ":" + strconv.Itoa(int(uint32(c)&0xffff))
}
