package rknn

import (
	"math"

	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// Codes of rknn_init that say that the model is at fault, not the driver.
var modelCodes = map[spec.Code]string{spec.ErrModel: "RKNN_ERR_MODEL_INVALID",
	spec.ErrDeviceUnmatch:            "RKNN_ERR_DEVICE_UNMATCH",
	spec.ErrIncompatiblePreCompile:   "RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL",
	spec.ErrIncompatibleOptimization: "RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION",
	spec.ErrTargetMisfit:             "RKNN_ERR_TARGET_PLATFORM_UNMATCH"}

// number is a scale that can be one.
func number(f float32) bool {
	return f > 0 && !math.IsInf(float64(f), 0)
}
