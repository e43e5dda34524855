// Package microsoft holds small models of the operators of com.microsoft, with inputs and the outputs that ONNX Runtime
// computes, models that must be refused, and networks that it quantized or saved: microsoft.zip.0.gz, which gen.py
// makes.
package microsoft

import (
	"embed"

	"github.com/anynpu/anynpu/conformance/onnx/packed"
)

//go:embed microsoft.zip.0.gz
var parts embed.FS

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = packed.Archive(parts, "microsoft.zip.0.gz")
