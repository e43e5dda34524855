// Package forms holds small ONNX models that have, or nearly have, the form of a function that implementations compute in
// one step, that have sizes around blocks, axes at every rank, bodies and functions, with inputs and expected outputs:
// forms.zip.gz, which gen.py makes.
package forms

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed forms.zip.gz
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
