package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
)

// loaded is an imported model with its constants.
type loaded struct {
	*model.Model
	weights *mem.Weights
}

// load imports the model at path, or the one that ANYNPU_MODEL_MAP names in its place; the warnings go to stderr. Exit
// code 3.
func load(path string, devices []device.Device, stderr io.Writer) (*loaded, error) {
	return loadAs(path, model.Unknown, devices, stderr)
}

// loadAs is load that also takes a compiled model of a format, for which an ONNX model stands that computes with the
// file's codes.
func loadAs(path string, compiled model.Format, devices []device.Device, stderr io.Writer) (*loaded, error) {
	if err := wantModel(path, compiled, devices); err != nil {
		return nil, exit(exitModel, err)
	}
	w := mem.NewWeights()
	o := model.Options{Weights: w, Devices: devices, Map: model.Map(os.Getenv("ANYNPU_MODEL_MAP")),
		Images: model.ImageOptions{Regions: true}}
	if compiled == model.RKNN {
		o.Compiled, o.Quantize, o.Fix = compiled, os.Getenv("ANYNPU_RKNN_QUANTIZE") != "off", true
	}
	m, err := model.Load(model.Source{Path: path}, o)
	if err != nil {
		w.Release()
		return nil, exit(exitModel, err)
	}
	warn(stderr, "model-read-otherwise", m.Warnings...)
	warn(stderr, "model-metadata-no-effect", m.Meta.Warnings...)
	if m.MapError != nil {
		warn(stderr, "tool-map-not-used", fmt.Sprintf("ANYNPU_MODEL_MAP is not used: %v", m.MapError))
	}
	if m.Instead != nil {
		warn(stderr, "tool-map-instead", fmt.Sprintf("model %s: ANYNPU_MODEL_MAP has %s loaded in its place", path, m.Path))
	}
	return &loaded{m, w}, nil
}

// options adds the compiled forms of the model, and what the machine's settings are.
func (m *loaded) options(o compile.Options, on *machine, stderr io.Writer) compile.Options {
	o.Forms, _ = m.Forms()
	o.Strict = on.strict
	o.ByCost = true
	o.Warn = func(text string) { warn(stderr, "model-read-otherwise", text) }
	return o
}

// inputInfo returns the metadata of the input of that name.
func (m *loaded) inputInfo(name string) metadata.Input {
	for v := range m.Images {
		if m.Graph.Values[v].Name == name {
			return m.InputInfo(v)
		}
	}
	return m.Meta.Inputs[name]
}

// imageOf is the image that an input of the graph is, or is a plane of; nil for none.
func (m *loaded) imageOf(name string) *model.Image {
	for v, im := range m.Images {
		if m.Graph.Values[v].Name == name {
			return im
		}
	}
	return nil
}

// operator is the file's word for the operator of a node of the graph, or of a run: that of the model's node that it
// came from, followed by core's name where that node calls a function. An operator that comes from no node of the
// model, or is none of the graph's, keeps its name.
func (m *loaded) operator(origin int, name string) string {
	if m.Model.Model == nil || origin < 0 || origin >= len(m.Ops) || !slices.Contains(graph.OpNames(), name) {
		return name
	}
	if word := m.Ops[origin]; !strings.Contains(word, ".") || name == graph.NameOf(&op.Custom{}) {
		return word
	}
	return m.Ops[origin] + " (" + name + ")"
}

// cause leaves out what an error of the file system says of operation and path, where these are told already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// wantModel says what a file is that is no ONNX model, none of a format that is compiled, and that no device takes.
func wantModel(path string, compiled model.Format, devices []device.Device) error {
	f, err := model.Source{Path: path}.Open()
	if err != nil {
		return fault.Wrap(err, "model %s", path)
	}
	defer f.Close()
	if f.Format == model.ONNX || compiled != model.Unknown && f.Format == compiled ||
		model.Reader(devices, f.Container()) != nil {
		return nil
	}
	name, _ := model.Foreign(f.Head)
	what := ""
	switch {
	case name != "":
		what = " but " + name
	case f.Size == 0:
		what = ": the file is empty"
	case f.Format == model.JSON:
		what = " but JSON; inspect and check take pack lists, the other verbs one of their models"
	}
	return fault.New(fault.File, "model %s: not an ONNX model%s [tool-model-onnx-model]", path, what)
}
