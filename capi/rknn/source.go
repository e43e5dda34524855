package rknn

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/modelmap"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
)

// imported is a model as it was handed over.
type imported struct {
	*onnx.Model
	path string // of the ONNX file, empty for bytes
	size int64  // bytes of the model that was handed over

	// Set when path is loaded instead of a compiled model.
	instead   *container
	insteadOf string
	from      string // the map file, empty: path lies beside it
}

// importBytes reads a model from memory, which is not kept.
func importBytes(data []byte, w *mem.Weights) (*imported, error) {
	if isContainer(data) {
		r := bytes.NewReader(data)
		c := readContainer(r, int64(len(data)))
		return importInstead(r, "", fmt.Sprintf("%d bytes", len(data)), c, w)
	}
	if err := recognize("model", data); err != nil {
		return nil, err
	}
	if file := mapped(bytes.NewReader(data), int64(len(data)), ""); file != "" {
		return importMapped(fmt.Sprintf("%d bytes", len(data)), int64(len(data)), file, w)
	}
	m, err := onnx.Import(data, onnx.Options{Weights: w, Nodes: true})
	if err != nil {
		return nil, refuseFor(errModel, err, "model: %d bytes", len(data))
	}
	return described(m, "", int64(len(data))), nil
}

// importFile reads a model from a file, with the file of metadata beside it.
func importFile(path string, w *mem.Weights) (*imported, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, refuseFor(errModel, err, "model: %q", path)
	}
	defer f.Close()
	head := make([]byte, min(size, endBytes))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, refuseFor(errModel, err, "model: %q", path)
	}
	if isContainer(head) {
		return importInstead(f, path, path, readContainer(f, size), w)
	}
	if file := mapped(f, size, path); file != "" {
		return importMapped(path, size, file, w)
	}
	return importONNX(path, head, size, w)
}

// importMapped loads the ONNX file that the map names for another one of size bytes, which messages call name.
func importMapped(name string, size int64, file string, w *mem.Weights) (*imported, error) {
	im, err := importOther(name, file, w)
	if err != nil {
		return nil, err
	}
	boundary.Log(boundary.LevelInfo, "rknn", "another ONNX file is loaded", "model", name, "onnx", file, "map",
		modelmap.Setting())
	im.size = size
	return im, nil
}

func importONNX(path string, head []byte, size int64, w *mem.Weights) (*imported, error) {
	if err := recognize("model: "+filepath.Base(path), head); err != nil {
		return nil, err
	}
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w, Nodes: true})
	if err != nil {
		return nil, refuseFor(errModel, err, "model")
	}
	return described(m, path, size), nil
}

// importInstead loads the ONNX file that stands for a compiled model, which messages call name.
func importInstead(r readerAt, path, name string, c *container, w *mem.Weights) (*imported, error) {
	other, from, err := substitute(r, path, c)
	if err != nil {
		return nil, err
	}
	im, err := importOther(name, other, w)
	if err != nil {
		return nil, err
	}
	im.size, im.instead, im.insteadOf, im.from = c.size, c, name, from
	return im, nil
}

// importOther reads the ONNX file at other, which is loaded instead of the model called name.
func importOther(name, other string, w *mem.Weights) (*imported, error) {
	f, size, err := openRegular(other)
	if err != nil {
		return nil, refuseFor(errModel, err, "model: %s: %q, to be loaded instead", name, other)
	}
	defer f.Close()
	head := make([]byte, min(size, endBytes))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, refuseFor(errModel, err, "model: %s: %q, to be loaded instead", name, other)
	}
	if isContainer(head) {
		return nil, refuse(errModel, "model: %s: %q, to be loaded instead, is an .rknn file too: want an ONNX model", name,
			other)
	}
	im, err := importONNX(other, head, size, w)
	if err != nil {
		return nil, refuseFor(errModel, err, "model: %s: %q, to be loaded instead", name, other)
	}
	return im, nil
}

// described notes where a model comes from, and tells what its metadata say in vain.
func described(m *onnx.Model, path string, size int64) *imported {
	for _, text := range m.Warnings {
		warn("model", "text", text)
	}
	for _, text := range m.Meta.Warnings {
		caution("model: its metadata have no effect", "text", text)
	}
	return &imported{Model: m, path: path, size: size}
}

// openRegular opens a regular file and returns its size.
func openRegular(path string) (*os.File, int64, error) {
	st, err := os.Stat(path) // before it is opened, which a pipe would block
	if err != nil {
		return nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fault.New(fault.File, "it is %v, want a regular file", st.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if st, err = f.Stat(); err == nil && !st.Mode().IsRegular() {
		err = fault.New(fault.File, "it is %v, want a regular file", st.Mode().Type())
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// recognize refuses what is no ONNX model and says how it begins.
func recognize(where string, head []byte) error {
	switch {
	case len(head) == 0:
		return refuse(errModel, "%s: it is empty: want an ONNX model", where)
	case !onnx.Recognize(head):
		return refuse(errModel, "%s: it begins with %q, which is no ONNX model: export the network to ONNX and pass that "+
			"file", where, head[:min(len(head), 8)])
	}
	return nil
}
