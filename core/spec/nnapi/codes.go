package nnapi

import "strconv"

// FeatureLevel is a feature level of the API: 27 to 31 as Android's own levels, then 1000006 and on.
type FeatureLevel int64

// Feature levels.
const (
	Level1 FeatureLevel = 27
	Level2 FeatureLevel = 28
	Level3 FeatureLevel = 29
	Level4 FeatureLevel = 30
	Level5 FeatureLevel = 31
	Level6 FeatureLevel = 1000006
	Level7 FeatureLevel = 1000007
	Level8 FeatureLevel = 1000008
)

// Levels are all feature levels in order.
var Levels = []FeatureLevel{Level1, Level2, Level3, Level4, Level5, Level6, Level7, Level8}

// String returns the level's number in the API's constants and its value: "feature level 3 (29)".
func (l FeatureLevel) String() string {
	return "feature level " + strconv.Itoa(l.Number()) + " (" + strconv.FormatInt(int64(l), 10) + ")"
}

// Number returns 1 for Level1 and so on: of the highest level that l includes, 0 below Level1.
func (l FeatureLevel) Number() int {
	n := 0
	for n < len(Levels) && l >= Levels[n] {
		n++
	}
	return n
}

// Fused activations, the values of the INT32 scalar that many operations end with.
const (
	FusedNone  = 0
	FusedReLU  = 1
	FusedReLU1 = 2
	FusedReLU6 = 3
)

// Activations of the LSTM operations, which count otherwise than the fused ones.
const (
	LSTMNone    = 0
	LSTMReLU    = 1
	LSTMReLU6   = 3
	LSTMTanh    = 4
	LSTMSigmoid = 6
)

// Implicit padding schemes.
const (
	PaddingSame  = 1
	PaddingValid = 2
)

// Types of LSH_PROJECTION.
const (
	LSHSparseDeprecated = 1
	LSHDense            = 2
	LSHSparse           = 3
)

// Modes of MIRROR_PAD.
const (
	MirrorReflect   = 0
	MirrorSymmetric = 1
)

// Kernels of BOX_WITH_NMS_LIMIT.
const (
	NMSHard     = 0
	NMSLinear   = 1
	NMSGaussian = 2
)

// ResultCode is a value of ResultCode in NeuralNetworksTypes.h.
type ResultCode int32

// Result codes.
const (
	NoError                     ResultCode = 0
	OutOfMemory                 ResultCode = 1
	Incomplete                  ResultCode = 2
	UnexpectedNull              ResultCode = 3
	BadData                     ResultCode = 4
	OpFailed                    ResultCode = 5
	BadState                    ResultCode = 6
	Unmappable                  ResultCode = 7
	OutputInsufficientSize      ResultCode = 8
	UnavailableDevice           ResultCode = 9
	MissedDeadlineTransient     ResultCode = 10
	MissedDeadlinePersistent    ResultCode = 11
	ResourceExhaustedTransient  ResultCode = 12
	ResourceExhaustedPersistent ResultCode = 13
	DeadObject                  ResultCode = 14
)

// Preferences of a compilation: PreferenceCode.
const (
	PreferLowPower  = 0
	PreferFast      = 1
	PreferSustained = 2
)

// Priorities of a compilation: PriorityCode.
const (
	PriorityLow    = 90
	PriorityMedium = 100
	PriorityHigh   = 110
)

// Kinds of devices: DeviceTypeCode.
const (
	DeviceUnknown     = 0
	DeviceOther       = 1
	DeviceCPU         = 2
	DeviceGPU         = 3
	DeviceAccelerator = 4
)

// CopiedAtOnce is ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES: ANeuralNetworksModel_setOperandValue keeps the
// address of a value of more bytes.
const CopiedAtOnce = 128
