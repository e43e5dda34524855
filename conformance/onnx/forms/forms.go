// Package forms holds small ONNX models that have, or nearly have, the form of a function that implementations compute
// in one step, that have sizes around blocks, axes at every rank, bodies and functions, with inputs and expected
// outputs: forms.zip.0.gz and so on, which gen.py makes.
package forms

import (
	"embed"

	"github.com/anynpu/anynpu/conformance/onnx/packed"
)

//go:embed forms.zip.*.gz
var parts embed.FS

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = packed.Archive(parts, "forms.zip.*.gz")
