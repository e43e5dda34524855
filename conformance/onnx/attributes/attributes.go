// Package attributes holds small ONNX models that differ in attributes, optional inputs and opset versions, and graphs
// that may be computed in fewer steps, with inputs and expected outputs, and models that must be refused:
// attributes.zip.gz, which gen.py makes.
package attributes

import (
	"embed"

	"github.com/anynpu/anynpu/conformance/onnx/packed"
)

//go:embed attributes.zip.gz
var parts embed.FS

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = packed.Archive(parts, "attributes.zip.gz")
