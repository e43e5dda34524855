package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
)

// loaded is an imported model with what it says of itself.
type loaded struct {
	*onnx.Model
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
	warn(stderr, slices.Concat(m.Warnings, m.Meta.Warnings))
	return &loaded{m, w}, nil
}

func warn(stderr io.Writer, warnings []string) {
	for _, s := range warnings {
		printf(stderr, "anynpu: warning: %s\n", s)
	}
}

// headOf returns the first bytes of the regular file at path.
func headOf(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fault.New(fault.File, "model %s: %v", path, cause(err))
	}
	if !st.Mode().IsRegular() {
		return nil, fault.New(fault.File, "model %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.File, "model %s: %v", path, cause(err))
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if n == 0 && err != nil && err != io.EOF {
		return nil, fault.New(fault.File, "model %s: %v", path, cause(err))
	}
	return head[:n], nil
}

// cause leaves out what an error of the file system says of operation and path, where these are told already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// wantONNX says what a file is that is no ONNX model.
func wantONNX(path string) error {
	head, err := headOf(path)
	if err != nil {
		return err
	}
	if !onnx.Recognize(head) {
		return fault.New(fault.File, "model %s: not an ONNX model%s", path, what(head))
	}
	return nil
}

func what(head []byte) string {
	for magic, name := range map[string]string{"RKNN": "an RKNN container", "\x7fELF": "an ELF file",
		"PK\x03\x04": "a ZIP archive", "\x93NUMPY": "a .npy file"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return " but " + name
		}
	}
	switch {
	case len(head) == 0:
		return ": the file is empty"
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		return " but JSON; inspect and check take pack lists, the other verbs one of their models"
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
