// Package attributes holds small ONNX models that differ in attributes, optional inputs and opset versions, and graphs
// that may be computed in fewer steps, with inputs and expected outputs, and models that must be refused:
// attributes.zip.gz, which gen.py makes.
package attributes

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed attributes.zip.gz
var compressed []byte

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = sync.OnceValue(func() []byte {
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return b
})
