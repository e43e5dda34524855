package ohnn

import (
	"bytes"
	"context"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
)

// foreignFormats are the first bytes of models that only other software reads, for messages.
var foreignFormats = []struct{ start, name string }{
	{"RKNN", "a Rockchip RKNN model, which needs that vendor's device"},
	{"IMOD", "an offline model for Ascend or Kirin, which needs that vendor's device"},
	{"PK\x03\x04", "a ZIP archive"},
}

// loadOffline opens an offline model, told by its content whatever its name: a compiled model of this library, or an ONNX file, which is
// compiled now. folder is where an ONNX model's external data lie, "" for a model in memory, which cannot have any.
func loadOffline(d *npu, data []byte, folder string, o device.Options) (*compiled, error) {
	if bytes.HasPrefix(data, []byte(storedMagic)) {
		return loadModel(d, data, o)
	}
	what := ""
	for _, f := range foreignFormats {
		if bytes.HasPrefix(data, []byte(f.start)) {
			what = f.name
		}
	}
	if len(data) > 8 && string(data[4:7]) == "MSL" {
		what = "a MindSpore Lite model, which its own engine has to build"
	}
	if what == "" && onnx.Recognise(data) {
		return loadONNX(d, data, folder, o)
	}
	if what == "" {
		what = "nothing known"
	}
	return nil, fault.New(fault.File, "this is %s: want an ONNX model or what OH_NNCompilation_ExportCacheToBuffer wrote", what)
}

// loadONNX compiles an ONNX model. Inputs and outputs keep its names, layouts and element types.
func loadONNX(d *npu, data []byte, folder string, o device.Options) (*compiled, error) {
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := onnx.Import(data, onnx.Options{Weights: weights, Folder: folder})
	if err != nil {
		return nil, err
	}
	for _, w := range m.Warnings {
		warn("ONNX model", "what", w)
	}
	c := &compiled{npu: d}
	if c.program, c.placement, err = compileGraph(context.Background(), d, m.Graph, o); err != nil {
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

// apiPorts describes ports of a program as the API can: kind fault.Unsupported for element types and ranks that it has no words for.
func apiPorts(ports []device.Port) ([]port, error) {
	out := make([]port, len(ports))
	for i, p := range ports {
		t := dataTypeOf(p.Type.DType)
		if t == Unknown || !p.Type.Shape.Ranked {
			return nil, fault.New(fault.Unsupported, "%q is %v: the API has no such tensors", p.Name, p.Type)
		}
		out[i] = port{name: p.Name, dataType: t, format: FormatND, shape: apiDims(p.Type.Shape)}
	}
	return out, nil
}
