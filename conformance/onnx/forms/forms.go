// Package forms holds small ONNX models that have, or nearly have, the form of a function that implementations compute in
// one step, that have sizes around blocks, axes at every rank, bodies and functions, with inputs and expected outputs:
// forms.zip.0.gz and so on, which gen.py makes.
package forms

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"io"
	"io/fs"
	"sync"
)

// parts are one gzip file when they follow one another.
//
//go:embed forms.zip.*.gz
var parts embed.FS

// Archive is a zip file with a folder per case: model.onnx, and a TensorProto for each input and output, input_0.pb and
// so on.
var Archive = sync.OnceValue(func() []byte {
	names, err := fs.Glob(parts, "forms.zip.*.gz") // in their order: there are fewer than ten
	var compressed []byte
	for _, name := range names {
		part, e := parts.ReadFile(name)
		compressed, err = append(compressed, part...), errors.Join(err, e)
	}
	z, e := gzip.NewReader(bytes.NewReader(compressed))
	if err = errors.Join(err, e); err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return b
})
