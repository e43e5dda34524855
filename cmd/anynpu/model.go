package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// loaded is an imported model with what it says of itself.
type loaded struct {
	*onnx.Model
	meta    *metadata.Metadata
	weights *mem.Weights
}

// load imports the model at path; the warnings go to stderr. Exit code 3.
func load(path string, stderr io.Writer) (*loaded, error) {
	if err := wantONNX(path); err != nil {
		return nil, exit(exitModel, err)
	}
	w := mem.NewWeights()
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w})
	if err != nil {
		w.Release()
		return nil, exit(exitModel, err)
	}
	meta, err := metadata.Read(m.Graph.Meta, path)
	if err != nil {
		w.Release()
		return nil, exit(exitModel, err)
	}
	for _, s := range append(m.Warnings, meta.Warnings...) {
		fmt.Fprintln(stderr, "anynpu: warning:", s)
	}
	return &loaded{m, meta, w}, nil
}

// wantONNX says what a file is that is no ONNX model.
func wantONNX(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fault.As(fault.File, err, "model")
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if n == 0 && err != nil && err != io.EOF {
		return fault.As(fault.File, err, "model %s", path)
	}
	if !onnx.Recognise(head[:n]) {
		return fault.New(fault.File, "model %s: not an ONNX model%s", path, what(head[:n]))
	}
	return nil
}

func what(head []byte) string {
	for magic, name := range map[string]string{"RKNN": "an RKNN container", "\x7fELF": "an ELF file", "PK\x03\x04": "a ZIP archive", "\x93NUMPY": "a .npy file"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return " but " + name
		}
	}
	return ""
}

// devices returns the device named id. Exit code 4 when there is none.
func devices(id string) ([]device.Device, error) { return devicesWith(id, cpu.Config{}) }

func devicesWith(id string, c cpu.Config) ([]device.Device, error) {
	if id != "cpu" {
		return nil, exit(exitDevice, fault.New(fault.Device, "no device %q; there is: cpu", id))
	}
	d, err := cpu.New(c)
	if err != nil {
		return nil, exit(exitDevice, err)
	}
	return []device.Device{d}, nil
}

// shapeText returns sizes with the names that the model gives open ones.
func shapeText(s tensor.Shape, symbols []string) string {
	if !s.Ranked {
		return "[...]"
	}
	parts := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		parts[i] = d.String()
		if !d.Known() && d.Sym != tensor.Unknown && int(d.Sym) <= len(symbols) {
			parts[i] = symbols[d.Sym-1]
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// writeJSON writes v as one indented JSON object.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
