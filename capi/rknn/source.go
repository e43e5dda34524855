package rknn

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
)

// imported is a model as it was handed over.
type imported struct {
	*onnx.Model
	meta *metadata.Metadata
	size int64 // bytes of the model
}

// importBytes reads a model from memory, which is not kept.
func importBytes(data []byte, w *mem.Weights) (*imported, error) {
	if err := recognise("model", data, data); err != nil {
		return nil, err
	}
	m, err := onnx.Import(data, onnx.Options{Weights: w, Nodes: true})
	if err != nil {
		return nil, refuseFor(errModel, err, "model: %d bytes", len(data))
	}
	return describe(m, "", int64(len(data)))
}

// importFile reads a model from a file, with the file of metadata beside it.
func importFile(path string, w *mem.Weights) (*imported, error) {
	head, tail, size, err := ends(path)
	if err != nil {
		return nil, refuseFor(errModel, err, "model: %q", path)
	}
	if err := recognise("model: "+filepath.Base(path), head, tail); err != nil {
		return nil, err
	}
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w, Nodes: true})
	if err != nil {
		return nil, refuseFor(errModel, err, "model")
	}
	return describe(m, path, size)
}

func describe(m *onnx.Model, path string, size int64) (*imported, error) {
	meta, err := metadata.Read(m.Graph.Meta, path)
	if err != nil {
		return nil, refuseFor(errModel, err, "model")
	}
	for _, text := range append(m.Warnings, meta.Warnings...) {
		warn("model", "text", text)
	}
	return &imported{m, meta, size}, nil
}

// endBytes is how much of a file's beginning and end is looked at to recognise it.
const endBytes = 1 << 20

// ends reads the beginning and the end of a regular file.
func ends(path string) (head, tail []byte, size int64, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, 0, fault.New(fault.File, "it is %v, want a regular file", st.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, 0, err
	}
	defer f.Close()
	n := min(st.Size(), endBytes)
	head, tail = make([]byte, n), make([]byte, n)
	if _, err = f.ReadAt(head, 0); err == nil || err == io.EOF {
		_, err = f.ReadAt(tail, st.Size()-n)
	}
	if err == io.EOF {
		err = nil
	}
	return head, tail, st.Size(), err
}

var targetRE = regexp.MustCompile(`"target_platform"\s*:\s*\[?\s*"([A-Za-z0-9_,]{1,32})"`)

// recognise refuses what is no ONNX model and says what it is as far as that can be seen. A vendor's compiled model begins with "RKNN" and
// may name its target in a description at its end.
func recognise(where string, head, tail []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte("RKNN")):
		chip := "a Rockchip NPU"
		if m := targetRE.FindSubmatch(tail); m != nil {
			chip = "the NPU of " + string(m[1])
		}
		return refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere: pass the ONNX file that it was made from instead", where, chip)
	case len(head) == 0:
		return refuse(errModel, "%s: it is empty: want an ONNX model", where)
	case !onnx.Recognise(head):
		return refuse(errModel, "%s: it begins with %q, which is no ONNX model: export the network to ONNX and pass that file", where, head[:min(len(head), 8)])
	}
	return nil
}
