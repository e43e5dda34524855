package hb

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
)

// Load reads the model of a source.
func (a *API) Load(s model.Source, w *mem.Weights, o model.Options) (*model.Model, error) {
	files := model.Map(boundary.Getenv("ANYNPU_MODEL_MAP"))
	all, err := devices.List()
	if err != nil {
		return nil, err
	}
	s, beside := a.standIn(s, files, all)
	o.Weights, o.Map, o.Wide, o.Fix, o.Absent, o.Devices = w, files, true, true, true, all
	im, err := model.Load(s, o)
	if err != nil && beside != "" {
		err = RefuseFor(a.Compiled, err, "beside it is no %s, and ANYNPU_MODEL_MAP names none "+
			"[hb-beside-no-model]", filepath.Base(beside))
	}
	if err != nil {
		return nil, err
	}
	im.Warn(a.Warn, a.Caution)
	if im.Instead != nil {
		a.Warn("another ONNX file is loaded "+
			"[hb-another-onnx-file]", "model", im.Instead.Name, "onnx", im.Path, "map", im.Instead.Map)
	}
	return im, nil
}

// Warn writes a warning of this API.
func (a *API) Warn(message string, pairs ...any) {
	boundary.Log(boundary.LevelWarn, a.Component, message, pairs...)
}

// Caution writes a warning on which it depends whether results are right.
func (a *API) Caution(message string, pairs ...any) { boundary.Caution(a.Component, message, pairs...) }

// Sizes decides the sizes of the inputs of a model, which are fixed from then on, and of its outputs.
func (a *API) Sizes(im *model.Model, in []*model.Port) (dims, results [][]int64, err error) {
	meant, err := model.ShapesOf(in)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range meant.Opened {
		a.Warn("the open first dimension is taken as 1: anynpu.input.NAME.shape in the model's metadata gives "+
			"another [hb-open-dimension-taken]",
			"input", p.Name, "shape", p.Declared)
	}
	dims = meant.Sets[0]
	if len(meant.Sets) > 1 {
		a.Warn("the model runs with the first of its listed shapes: the API has fixed shapes "+
			"[hb-model-runs-listed]", "shapes", dims)
	}
	model.SetSizes(im.Graph, dims)
	sized, err := model.WithSizes(im.Graph, dims)
	if err != nil {
		return nil, nil, err
	}
	results, err = im.OutputDims(sized)
	return dims, results, err
}

// Compile makes the program of a model. exposed says that its graph has more outputs than the model.
func (m *Model) Compile(a *API, im *model.Model, w *mem.Weights, exposed bool) error {
	forms, why := im.Forms()
	if why != "" {
		a.Caution("model [hb-forms-not-used]", "text", why)
	}
	if exposed {
		forms = nil // they have the model's outputs alone
	}
	all, err := devices.List()
	if err != nil {
		return err
	}
	m.Execs.Program, err = compile.Compile(context.Background(), im.Graph, all, compile.Options{Weights: w, Consume: true,
		Strict: devices.Strict(), ByCost: true, Forms: forms, Warn: func(text string) { a.Caution(text) }})
	return err
}

// standIn returns the ONNX file that is loaded for a model compiled for a board that no device takes: NAME.onnx beside
// NAME.bin or NAME.hbm, unless the map forbids that or names a file. Without one, beside is where it was looked for.
func (a *API) standIn(s model.Source, files model.Map, all []device.Device) (_ model.Source, beside string) {
	ext := filepath.Ext(s.Path)
	if ext != ".bin" && ext != ".hbm" {
		return s, ""
	}
	f, err := s.Open()
	if err != nil {
		return s, ""
	}
	defer f.Close()
	if f.Format != model.Unknown || model.Reader(all, f.Container()) != nil {
		return s, ""
	}
	if file, err := files.Find(f, f.Size, s.Path); file != "" && err == nil {
		return s, ""
	}
	beside = strings.TrimSuffix(s.Path, ext) + ".onnx"
	if st, err := os.Stat(beside); err != nil || !st.Mode().IsRegular() || files == model.Off {
		return s, beside
	}
	a.Warn("an ONNX file is loaded instead of a compiled model [hb-onnx-file-loaded]", "model", s.Path, "onnx", beside)
	return model.Source{Path: beside}, ""
}

// NameOf is the name that a model says it has, else that of its file.
func NameOf(im *model.Model, s model.Source) string {
	if im.Meta.Name != "" {
		return im.Meta.Name
	}
	if base := filepath.Base(s.Path); s.Path != "" {
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	return "model"
}

// ImageOptions have the graph decode all images, of which it gets bytes as programs have them.
func (a *API) ImageOptions() model.ImageOptions {
	o := model.ImageOptions{All: true, Interleaved: true, TwoPlanes: true}
	switch v := boundary.Getenv("ANYNPU_HBDNN_BYTES"); v {
	case "signed":
		o.Signed = true
	case "", "unsigned":
	default:
		a.Caution("value ignored [hb-value-ignored]", "ANYNPU_HBDNN_BYTES", v, "want", "signed, unsigned")
	}
	return o
}
