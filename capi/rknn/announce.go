package rknn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/anynpu"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/model"
)

// tellInstead logs which file was loaded in place of the program's, and how it differs from a compiled model.
func (m *sharedModel) tellInstead(im *model.Model) {
	if im.Instead == nil {
		return
	}
	c := im.Instead.Compiled
	if c == nil {
		boundary.Log(boundary.LevelInfo, "rknn", "another ONNX file is loaded", "model", im.Instead.Name, "onnx", im.Path,
			"map", im.Instead.Map)
		return
	}
	for _, text := range im.Overruled {
		caution("the ONNX model's own metadata hold, the .rknn says otherwise "+
			"[rknn-onnx-model-metadata]", "onnx", im.Path, "text", text)
	}
	differs, serious := "nothing that can be read", false
	if len(c.Inputs)+len(c.Outputs) == 0 {
		differs = "not known: the .rknn does not describe its inputs and outputs"
	} else if list := m.differences(im); len(list) > 0 {
		differs, serious = strings.Join(list, "; "), true
	}
	pairs := []any{"rknn", im.Instead.Name, "target", strings.Join(c.Targets, ","), "onnx", im.Path, "computes",
		computes(im), "differs", differs}
	if lost := lostOf(c); lost != "" {
		serious = true
		pairs = append(pairs, "lost", lost)
	}
	if len(c.Unread) > 0 {
		pairs = append(pairs, "unread", strings.Join(c.Unread, "; "))
	}
	if im.Instead.Map != "" {
		pairs = append(pairs, "map", im.Instead.Map)
	}
	if serious {
		caution("an ONNX file is loaded instead of an .rknn [rknn-onnx-instead]", pairs...)
	} else {
		warn("an ONNX file is loaded instead of an .rknn [rknn-onnx-instead]", pairs...)
	}
}

// lostOf says what of a compiled model is not known because a part of its file cannot be read, empty for nothing.
func lostOf(c *rknn.File) string {
	if !c.Lost {
		return ""
	}
	var list []string
	if len(c.Preprocess) == 0 {
		list = append(list, "mean and std")
	}
	switch {
	case len(c.Graphs) == 0:
		list = append(list, "types, scales and native shapes")
	case len(list) == 0:
		list = append(list, "a part of its types, scales and shapes")
	}
	return strings.Join(list, ", ") + " of the .rknn are not known: the ONNX model's own hold, and what its metadata say"
}

// computes says whether a model that stands for a compiled one is quantized as that is.
func computes(im *model.Model) string {
	d := im.Instead.Described
	switch {
	case len(im.Instead.Compiled.Graphs) == 0:
		return "with real numbers: the .rknn does not tell of its tensors"
	case d == nil || d.Codes == 0:
		return "with real numbers, as the .rknn does"
	case !quantizes():
		return "with real numbers: ANYNPU_RKNN_QUANTIZE=off"
	case im.Coded == 0:
		return "as the ONNX model says: it quantizes by itself, or has none of the tensors"
	}
	return fmt.Sprintf("quantized as the .rknn at %d of its %d tensors; ANYNPU_RKNN_QUANTIZE=off leaves it real", im.Coded,
		d.Codes)
}

// differences says how the model differs from the compiled one that it is loaded for.
func (m *sharedModel) differences(im *model.Model) []string {
	ports := func(list []*port) (out []*model.Port) {
		for _, p := range list {
			out = append(out, p.Port)
		}
		return out
	}
	c := im.Instead.Compiled
	list := model.Differences(c, ports(m.in), ports(m.out), m.shapes, !quantizes())
	if d := im.Instead.Described; d != nil {
		list = append(list, d.Skipped...)
	}
	if len(c.Targets) > 0 && !slices.ContainsFunc(c.Targets, func(t string) bool {
		return strings.EqualFold(t, m.board.name)
	}) {
		list = append(list, fmt.Sprintf("the .rknn is for %s, the board here is %s (ANYNPU_RKNN_TARGET)",
			strings.Join(c.Targets, ", "), m.board.name))
	}
	return list
}

// announce writes what was loaded and what becomes of inputs, as information.
func (m *sharedModel) announce(im *model.Model) {
	if !boundary.LogEnabled(boundary.LevelInfo, "rknn") {
		return
	}
	name, shapes := im.Path, "static"
	if name == "" {
		name = fmt.Sprintf("%d bytes", im.Size)
	}
	if m.dynamic {
		shapes = fmt.Sprintf("%d listed shapes", len(m.shapes))
	}
	placement, driver := m.run.program.Placement(), "none, the CPU computes"
	for _, p := range placement.Parts {
		if p.Device != "cpu" {
			driver = p.Device
			break
		}
	}
	boundary.Log(boundary.LevelInfo, "rknn", "model loaded", "version", anynpu.Version, "driver", driver, "model", name,
		"opset", im.Opset, "producer", im.Producer, "target", m.board.name, "inputs", len(m.in), "outputs", len(m.out),
		"shapes", shapes, "placement", placement.Summary())
	for i, p := range m.in {
		dims := m.shapes[m.largest].In[i]
		boundary.Log(boundary.LevelInfo, "rknn", "input", "index", i, "name", p.Name, "shape", dims, "type", p.kind, "fmt",
			p.format(true), "formula", p.formula())
	}
}

// formula says what an element of an input becomes.
func (p *port) formula() string {
	v := "x"
	if p.Normalized() {
		list := func(v []float32, none string) string {
			switch len(v) {
			case 0:
				return none
			case 1:
				return fmt.Sprint(v[0])
			}
			return fmt.Sprint(v)
		}
		v = fmt.Sprintf("(x - %s) / %s", list(p.Mean, "0"), list(p.Std, "1"))
	}
	if p.Quant == nil {
		return "value = " + v
	}
	if v != "x" {
		v = "(" + v + ")"
	}
	return fmt.Sprintf("q = round(%s / %g) + %d", v, p.Quant.Scale, p.Quant.Zero)
}
