// Package cases holds small ONNX models with inputs and expected outputs, cases.zip, which gen.py makes.
package cases

import _ "embed"

// Archive has a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and so on.
//
//go:embed cases.zip
var Archive []byte
