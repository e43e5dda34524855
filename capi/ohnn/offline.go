package ohnn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/modelmap"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// foreignFormats are the first bytes of models that only other software reads, for messages.
var foreignFormats = []struct{ start, name string }{
	{"RKNN", "a Rockchip RKNN model, which needs that vendor's device"},
	{"IMOD", "an offline model for Ascend or Kirin, which needs that vendor's device"},
	{"PK\x03\x04", "a ZIP archive"},
}

// loadOfflineFile is loadOffline of a file. An ONNX model may have external data beside it then.
func loadOfflineFile(d *npu, path string, o device.Options) (*compiled, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a FIFO must not hold the caller
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fault.New(fault.File, "it is %v, want a regular file", st.Mode().Type())
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if isONNX(head[:n]) {
		if file := mapped(f, st.Size(), path); file != "" {
			return loadMapped(d, path, file, o)
		}
		return loadONNX(d, o, func(w *mem.Weights) (*onnx.Model, error) {
			return onnx.ImportFile(path,
				onnx.Options{Weights: w})
		})
	}
	if !bytes.HasPrefix(head[:n], []byte(storedMagic)) {
		return nil, unknownModel(head[:n])
	}
	if size := storedSize(head[:n]); n >= storedHead && size != uint64(st.Size()) {
		return nil, fault.New(fault.File, "a compiled model of %d bytes that says that it has %d", st.Size(), size)
	}
	data, err := mem.Make[byte](int(st.Size()))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(f, data[copy(data, head[:n]):]); err != nil {
		return nil, err
	}
	return loadModel(d, data, o)
}

// isONNX reports whether data begins like an ONNX model and like nothing else that is known.
func isONNX(data []byte) bool {
	return !bytes.HasPrefix(data, []byte(storedMagic)) && foreign(data) == "" && onnx.Recognize(data)
}

// foreign says what a model is that only other software reads, "" when it is not known as one.
func foreign(data []byte) string {
	for _, f := range foreignFormats {
		if bytes.HasPrefix(data, []byte(f.start)) {
			return f.name
		}
	}
	if len(data) > 8 && string(data[4:7]) == "MSL" {
		return "a MindSpore Lite model, which its own engine has to build"
	}
	return ""
}

// loadOffline opens an offline model, told by its content whatever its name: a compiled model of this library, or an
// ONNX model, which is compiled now and cannot have external data.
func loadOffline(d *npu, data []byte, o device.Options) (*compiled, error) {
	if bytes.HasPrefix(data, []byte(storedMagic)) {
		return loadModel(d, data, o)
	}
	if isONNX(data) {
		if file := mapped(bytes.NewReader(data), int64(len(data)), ""); file != "" {
			return loadMapped(d, fmt.Sprintf("%d bytes", len(data)), file, o)
		}
		return loadONNX(d, o, func(w *mem.Weights) (*onnx.Model, error) {
			return onnx.Import(data,
				onnx.Options{Weights: w})
		})
	}
	return nil, unknownModel(data)
}

// mapped returns the file that the map of ANYNPU_MODEL_MAP names for an ONNX model, "" if none. A map that cannot be
// read is a warning: the model can be loaded as it is.
func mapped(r io.ReaderAt, size int64, path string) string {
	file, err := modelmap.Find(r, size, path)
	if err != nil {
		caution("the model map is not used", "error", err)
	}
	return file
}

// loadMapped loads the ONNX file that the map names for the one that messages call name.
func loadMapped(d *npu, name, file string, o device.Options) (*compiled, error) {
	c, err := loadONNX(d, o, func(w *mem.Weights) (*onnx.Model, error) {
		return onnx.ImportFile(file,
			onnx.Options{Weights: w})
	})
	if err != nil {
		return nil, fault.Wrap(err, "%s: %q, to be loaded instead", name, file)
	}
	boundary.Log(boundary.LevelInfo, "ohnn", "another ONNX file is loaded", "model", name, "onnx", file, "map",
		modelmap.Setting())
	return c, nil
}

// unknownModel refuses what is no offline model, by its first bytes.
func unknownModel(head []byte) error {
	what := foreign(head)
	if what == "" {
		what = "nothing known"
	}
	return fault.New(fault.File, "this is %s: want an ONNX model or what OH_NNCompilation_ExportCacheToBuffer wrote", what)
}

// loadONNX compiles an ONNX model, whose constants the program shares. Inputs and outputs keep its names, layouts and
// element types.
func loadONNX(d *npu, o device.Options, read func(*mem.Weights) (*onnx.Model, error)) (*compiled, error) {
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := read(weights)
	if err != nil {
		return nil, err
	}
	for _, w := range m.Warnings {
		warn("ONNX model", "what", w)
	}
	for _, w := range m.Meta.Warnings {
		caution("ONNX model: its metadata have no effect", "what", w)
	}
	c := &compiled{npu: d}
	if c.program, c.placement, err = compileGraph(context.Background(), d, m.Graph, weights, o); err != nil {
		return nil, err
	}
	in, out := c.program.Ports()
	if c.in, err = apiPorts(in); err == nil {
		c.out, err = apiPorts(out)
	}
	if err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// apiPorts describes ports of a program as the API can: kind fault.Unsupported for element types, ranks and sizes that
// it has no words for.
func apiPorts(ports []device.Port) ([]port, error) {
	out := make([]port, len(ports))
	for i, p := range ports {
		t := dataTypeOf(p.Type.DType)
		large := slices.ContainsFunc(p.Type.Shape.Dims, func(d tensor.Dim) bool { return d.Known() && d.N > math.MaxInt32 })
		if t == Unknown || !p.Type.Shape.Ranked || large {
			return nil, fault.New(fault.Unsupported, "%q is %v: the API has no such tensors", p.Name, p.Type)
		}
		out[i] = port{name: p.Name, dataType: t, format: FormatND, shape: apiDims(p.Type.Shape)}
	}
	return out, nil
}
