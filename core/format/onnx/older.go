package onnx

// sinceVersion is the opset version that gave an operator the definition that opset 7 has, for those defined earlier
// (the versions of the ONNX operator changelog).
var sinceVersion = map[string]int64{}

func init() {
	for version, ops := range map[int64][]string{
		1: {"ArgMax", "ArgMin", "Constant", "Conv", "ConvTranspose", "DepthToSpace", "Flatten", "Gather", "GlobalAveragePool",
			"GlobalMaxPool", "Hardmax",
			"Identity", "If", "LRN", "LogSoftmax", "Loop", "LpNormalization", "MatMul", "MaxPool", "MaxRoiPool", "Not",
			"RandomNormal", "RandomNormalLike",
			"RandomUniform", "RandomUniformLike", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
			"ReduceMean", "ReduceMin",
			"ReduceProd", "ReduceSum", "ReduceSumSquare", "Shape", "Size", "Slice", "Softmax", "Softplus", "Softsign",
			"SpaceToDepth", "Squeeze", "TopK",
			"Transpose", "Unsqueeze"},
		2: {"GlobalLpPool", "LpPool", "Pad", "Split"},
		4: {"Concat"},
		5: {"Reshape"},
		6: {"Abs", "Cast", "Ceil", "Clip", "Elu", "Exp", "Floor", "HardSigmoid", "InstanceNormalization", "LeakyRelu", "Log",
			"Max", "Mean", "Min", "Neg",
			"Reciprocal", "Relu", "Selu", "Sigmoid", "Sqrt", "Sum", "Tanh", "Tile"},
	} {
		for _, name := range ops {
			sinceVersion[name] = version
		}
	}
}

// older reports whether an operator of an opset below MinOpset means what it means in MinOpset.
func older(opType string, version int64) bool {
	since, ok := sinceVersion[opType]
	return ok && version >= since
}
