// Package opsets holds small ONNX models of opsets 24 to 28 and 1 to 6, with inputs and expected outputs, and models
// that must be refused: opsets.zip.0.gz, which gen.py makes.
package opsets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed opsets.zip.0.gz
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
