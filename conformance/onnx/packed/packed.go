// Package packed reads the archives of ONNX models that packages embed: a zip file, compressed once more as a whole and
// cut into parts below what hosts of repositories take.
package packed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"sync"
)

// Archive returns a function that gives the archive whose parts follow one another in the order of their names. What
// is embedded is always whole, so that a damaged part panics.
func Archive(files fs.FS, pattern string) func() []byte {
	return sync.OnceValue(func() []byte {
		names, err := fs.Glob(files, pattern) // in their order: there are fewer than ten
		var compressed []byte
		for _, name := range names {
			part, e := fs.ReadFile(files, name)
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
}
