// Package attributes holds small ONNX models that differ in attributes, optional inputs and opset versions, and graphs
// that may be computed in fewer steps, with inputs and expected outputs, attributes.zip, which gen.py makes.
package attributes

import _ "embed"

// Archive has a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and so on.
//
//go:embed attributes.zip
var Archive []byte
