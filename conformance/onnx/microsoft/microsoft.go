// Package microsoft holds small models of the operators of com.microsoft, with inputs and the outputs that ONNX Runtime
// computes, models that must be refused, and networks that it quantized or saved: microsoft.zip.0.gz, which gen.py makes.
package microsoft

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed microsoft.zip.0.gz
var compressed []byte

// Archive is a zip file as that of package imports.
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
