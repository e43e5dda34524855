// Package imports holds small ONNX models that show how an importer reads what models have rarely, with inputs and
// expected outputs, and models that must be refused: imports.zip.0.gz, which gen.py makes.
package imports

import (
	"embed"

	"github.com/anynpu/anynpu/conformance/onnx/packed"
)

//go:embed imports.zip.0.gz
var parts embed.FS

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = packed.Archive(parts, "imports.zip.0.gz")
