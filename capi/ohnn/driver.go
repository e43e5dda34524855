package ohnn

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/model"
)

// Objects of this API exist before a device is chosen, so that calls go to a driver all or none: its descriptions and
// tensors cannot be mixed with ours.
func init() { boundary.Choose("ohnn", func(string) bool { return true }, nil) }

// liftsFile says whether a file that a driver refuses as offline model is one for this library: an ONNX model, or what
// OH_NNCompilation_ExportCacheToBuffer of this library wrote.
func liftsFile(path unsafe.Pointer) bool {
	name, ok := boundary.ReadableText(path)
	return ok && name != "" && lifts(model.Source{Path: name})
}

// liftsBuffer is liftsFile of a model in memory.
func liftsBuffer(at unsafe.Pointer, size uint64) bool {
	if at == nil || size == 0 || size > math.MaxInt || !boundary.Readable(at, size) {
		return false
	}
	return lifts(model.Source{Data: unsafe.Slice((*byte)(at), int(size))})
}

func lifts(source model.Source) bool {
	f, err := source.Open()
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Format == model.ONNX || bytes.HasPrefix(f.Head, []byte(storedMagic))
}
