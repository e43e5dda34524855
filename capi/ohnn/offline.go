package ohnn

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

func modelMap() model.Map { return model.Map(boundary.Getenv("ANYNPU_MODEL_MAP")) }

// loadOfflineFile is loadOffline of a file. An ONNX model may have external data beside it then.
func loadOfflineFile(d *npu, path string, o device.Options) (*compiled, error) {
	source := model.Source{Path: path}
	_, instead, err := source.Locate(modelMap())
	if err != nil {
		return nil, err
	}
	if instead != nil {
		return loadONNX(d, source, o)
	}
	f, err := source.Open()
	if err != nil {
		return nil, fault.Wrap(err, "%q", path)
	}
	defer f.Close()
	if !bytes.HasPrefix(f.Head, []byte(storedMagic)) {
		return loadForeign(d, source, f, o)
	}
	if size := storedSize(f.Head); len(f.Head) >= storedHead && size != uint64(f.Size) {
		return nil, fault.New(fault.File, "a compiled model of %d bytes that says that it has %d "+
			"[ohnn-compiled-model-bytes]", f.Size, size)
	}
	data, err := mem.Make[byte](int(f.Size))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, f.Size), data); err != nil {
		return nil, err
	}
	return loadModel(d, data, o)
}

// loadOffline opens an offline model, told by its content whatever its name: a compiled model of this library, or an
// ONNX model, which is compiled now and cannot have external data.
func loadOffline(d *npu, data []byte, o device.Options) (*compiled, error) {
	if bytes.HasPrefix(data, []byte(storedMagic)) {
		return loadModel(d, data, o)
	}
	source := model.Source{Data: data}
	f, err := source.Open()
	if err != nil {
		return nil, err
	}
	return loadForeign(d, source, f, o)
}

// loadForeign opens a model that this library did not write.
func loadForeign(d *npu, source model.Source, f *model.File, o device.Options) (*compiled, error) {
	if f.Format == model.ONNX || model.Reader(d.preference(), f.Container()) != nil {
		return loadONNX(d, source, o)
	}
	what, needs := model.Foreign(f.Head)
	switch {
	case what == "":
		what = "data of an unknown format"
	case needs != "":
		what += ", which needs " + needs
	}
	return nil, fault.New(fault.File, "this is %s: want an ONNX model or the bytes of "+
		"OH_NNCompilation_ExportCacheToBuffer [ohnn-onnx-model-compilation]",
		what)
}

// loadONNX compiles an ONNX model, a vendor's compiled model that a device takes, or the one that the map of
// ANYNPU_MODEL_MAP names for it. The program shares the constants. Inputs and outputs keep their names, layouts and
// element types, but for inputs that the metadata call images.
func loadONNX(d *npu, source model.Source, o device.Options) (*compiled, error) {
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := model.Load(source, model.Options{Weights: weights, Map: modelMap(), Absent: true,
		Devices: d.preference(), Images: model.ImageOptions{Regions: true}})
	if err != nil {
		return nil, err
	}
	tellLoaded(m)
	forms, why := m.Forms()
	if why != "" {
		caution("ONNX model [ohnn-onnx-model]", "what", why)
	}
	c := &compiled{npu: d}
	if c.program, c.placement, err = compileGraph(context.Background(), d, m.Graph, weights, forms, o); err != nil {
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

// tellLoaded tells what was understood otherwise, what the metadata and the map say in vain, and which file was read.
func tellLoaded(m *model.Model) {
	if m.MapError != nil {
		caution("the model map is not used [ohnn-model-map-used]", "error", m.MapError)
	}
	for _, w := range m.Warnings {
		warn("ONNX model [ohnn-onnx-model]", "what", w)
	}
	for _, w := range m.Meta.Warnings {
		caution("ONNX model: its metadata have no effect [ohnn-onnx-model-metadata]", "what", w)
	}
	if m.Instead != nil {
		boundary.Log(boundary.LevelInfo, "ohnn", "another ONNX file is loaded", "model", m.Instead.Name, "onnx", m.Path,
			"map", m.Instead.Map)
	}
}

// apiPorts describes ports of a program as the API can: kind fault.Unsupported for element types, ranks and sizes that
// it has no words for.
func apiPorts(ports []device.Port) ([]port, error) {
	out := make([]port, len(ports))
	for i, p := range ports {
		t := spec.DataTypeOf(p.Type.DType)
		large := slices.ContainsFunc(p.Type.Shape.Dims, func(d tensor.Dim) bool { return d.Known() && d.N > math.MaxInt32 })
		if !p.Type.Shape.Ranked {
			return nil, fault.New(fault.Unsupported, "%q is %v: its number of dimensions is not known before a run, and the "+
				"API "+
				"needs it: declare its shape in the model [ohnn-number-dimensions-known]", p.Name, p.Type)
		}
		if t == spec.Unknown || large {
			return nil, fault.New(fault.Unsupported, "%q is %v: the API has no such tensors "+
				"[ohnn-api-no-tensors]", p.Name, p.Type)
		}
		out[i] = port{name: p.Name, dataType: t, format: FormatND, shape: apiDims(p.Type.Shape)}
	}
	return out, nil
}
