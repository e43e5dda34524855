package hbdnn

import (
	_ "embed"

	rknn "github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/models"
)

// free are the cases that need no model.
//
//go:embed zfree.txt
var free string

// Handover says how programs of hbDNN hand models over, in either generation of the API. free are the cases that need
// none, extensions those of the converter's files.
func Handover(free string, extensions ...string) *suite.Models {
	c := &models.Converter{
		Extensions: extensions,
		Keys: map[string]bool{"name": true, "mean": true, "std": true, "scale": true, "pixel": true, "planes": true,
			"range": true, "order": true, "bytes": true, "source": true, "input.*.layout": true, "shape": true,
			"dim.*": true, "target": true,
			"schema": true},
		Options: options,
	}
	return &suite.Models{
		Converter: c,
		Calls: map[string]func(*suite.Handover){
			"hbDNNInitializeFromDDR":   func(h *suite.Handover) { fromMemory(h, c) },
			"hbDNNInitializeFromFiles": func(h *suite.Handover) { fromFiles(h, c) },
		},
		Loads: func(l *suite.Library) bool {
			data := (&rknn.Model{}).Input("x", rknn.ONNXFloat, 1, 4).Output("y", rknn.ONNXFloat, 1, 4).
				Node("Relu", "y", "x").Bytes()
			pack := new(uintptr)
			if l.Code("DNNInitializeFromDDR", pack, []uintptr{cmem.First(data)}, []int32{int32(len(data))}, 1) != Success {
				return false
			}
			l.Call("DNNRelease", *pack)
			return true
		},
		Free: free,
	}
}

// counted is the number of models of a call whose last argument says it, 0 if the lists are not that long.
func counted[E any](h *suite.Handover, n uintptr, list []E) int {
	if k := int(int32(n)); k > 0 && k <= len(list) {
		return k
	}
	return 0
}

// fromMemory exchanges the models of hbDNNInitializeFromDDR(pack, data, lengths, count).
func fromMemory(h *suite.Handover, c *models.Converter) {
	data, _ := h.Args[1].([]uintptr)
	lengths, _ := h.Args[2].([]int32)
	n := counted(h, h.Values[3], data)
	if n > len(lengths) {
		return
	}
	pointers, sizes, keep := make([]uintptr, n), make([]int32, n), make([][]byte, n)
	changed := false
	for i := range n {
		pointers[i], sizes[i] = data[i], lengths[i]
		if data[i] == 0 || lengths[i] <= 0 || lengths[i] > 1<<28 {
			continue
		}
		to, name := h.Bytes(c, cmem.Span[byte](data[i], int(lengths[i])))
		if name != "" {
			changed = true
			keep[i], pointers[i], sizes[i] = to, cmem.First(to), int32(len(to))
		}
	}
	if changed {
		h.On(1, cmem.First(pointers), []any{pointers, keep})
		h.On(2, cmem.First(sizes), sizes)
	}
}

// fromFiles exchanges the models of hbDNNInitializeFromFiles(pack, paths, count).
func fromFiles(h *suite.Handover, c *models.Converter) {
	list, _ := h.Args[1].([]uintptr)
	n := counted(h, h.Values[2], list)
	paths, texts := make([]uintptr, n), make([][]byte, n)
	changed := false
	for i := range n {
		if paths[i] = list[i]; list[i] == 0 {
			continue
		}
		path := cmem.Text(list[i])
		if to := h.File(c, path); to != path {
			changed = true
			texts[i] = append([]byte(to), 0)
			paths[i] = cmem.First(texts[i])
		}
	}
	if changed {
		h.On(1, cmem.First(paths), []any{paths, texts})
	}
}

// words are the names that the converter's configuration has for those of metadata.
var words = map[string]map[string]string{
	"pixel":  {"gray": "gray", "rgb": "rgb", "bgr": "bgr", "nv12": "nv12", "yuv444": "yuv444"},
	"order":  {"gray": "gray", "rgb": "rgb", "bgr": "bgr", "yuv444": "yuv444"},
	"layout": {"nchw": "NCHW", "nhwc": "NHWC"},
}

// options are those of the configuration file of Horizon's model converter, for each input.
func options(m *models.ONNX, said models.Said) map[string]any {
	var inputs []map[string]any
	for _, in := range m.Inputs {
		o := map[string]any{"input_name": in.Name, "input_type_rt": "featuremap", "input_type_train": "featuremap"}
		n := in.Channels()
		if said.Of("input", in.Name, "mean") != nil {
			o["mean_value"] = said.Numbers(in.Name, "mean", n, 0)
		}
		if said.Of("input", in.Name, "scale") != nil {
			o["scale_value"] = said.Numbers(in.Name, "scale", n, 1)
		}
		if said.Of("input", in.Name, "std") != nil {
			o["scale_value"] = said.Inverse(in.Name, "std", n)
		}
		for word, option := range map[string]string{"pixel": "input_type_rt", "order": "input_type_train",
			"layout": "input_layout_rt", "source": "input_source", "range": "input_range", "bytes": "input_bytes",
			"planes": "input_planes"} {
			raw := said.Of("input", in.Name, word)
			if raw == nil {
				continue
			}
			o[option] = raw
			if name, ok := words[word][said.Text("input."+in.Name+"."+word)]; ok {
				o[option] = name
			}
		}
		if shape, ok := said.Sizes(&in); ok {
			o["input_shape"] = shape
		}
		inputs = append(inputs, o)
	}
	model := map[string]any{"output_model_file_prefix": "model"}
	if said["name"] != nil {
		model["output_model_file_prefix"] = said.Text("name")
	}
	if said["target"] != nil {
		model["march"] = said.Text("target")
	}
	return map[string]any{"model_parameters": model, "input_parameters": inputs}
}
