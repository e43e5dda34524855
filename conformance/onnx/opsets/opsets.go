// Package opsets holds small ONNX models of opsets 24 to 28 and 1 to 6, with inputs and expected outputs, and models
// that must be refused: opsets.zip.0.gz, which gen.py makes.
package opsets

import (
	"embed"

	"github.com/anynpu/anynpu/conformance/onnx/packed"
)

//go:embed opsets.zip.0.gz
var parts embed.FS

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = packed.Archive(parts, "opsets.zip.0.gz")
