package rknn

import (
	_ "embed"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/models"
)

// free are the cases that need no model.
//
//go:embed zfree.txt
var free string

var converter = &models.Converter{
	Extensions: []string{".rknn"},
	Keys: map[string]bool{"name": true, "mean": true, "std": true, "scale": true, "shapes": true, "shape": true,
		"dim.*":         true,
		"custom_string": true, "target": true, "schema": true},
	Options: options,
}

var handover = &suite.Models{
	Converter: converter,
	Calls:     map[string]func(*suite.Handover){"rknn_init": handed},
	Loads: func(l *suite.Library) bool {
		data := (&Model{}).Input("x", ONNXFloat, 1, 4).Output("y", ONNXFloat, 1, 4).Node("Relu", "y", "x").Bytes()
		ctx := new(uintptr)
		if l.Code("init", ctx, data, len(data), 0, nil) != Success {
			return false
		}
		l.Call("destroy", *ctx)
		return true
	},
	Free: free,
}

// handed exchanges the model of rknn_init(context, model, size, flag, extend).
func handed(h *suite.Handover) {
	c := converter
	size := int(uint32(h.Values[2]))
	data, isBytes := h.Args[1].([]byte)
	switch {
	case h.Values[1] == 0:
	case uint32(h.Values[3])&FlagZeroCopyModel != 0:
		h.Beyond("the case lays the model out in memory")
	case size == 0:
		path := cmem.Text(h.Values[1])
		if to := h.File(c, path); to != path {
			h.String(1, to)
		}
	case isBytes && size <= len(data):
		if to, name := h.Bytes(c, data[:size]); name != "" {
			h.On(1, cmem.First(to), to)
			h.Values[2] = uintptr(len(to))
		}
	}
}

// options are those of rknn.config and rknn.build of rknn-toolkit2.
func options(m *models.ONNX, said models.Said) map[string]any {
	config := map[string]any{}
	var mean, std [][]float64
	normalized := false
	var dynamic []any
	for _, in := range m.Inputs {
		n := in.Channels()
		normalized = normalized || said.Of("input", in.Name, "mean") != nil || said.Of("input", in.Name, "std") != nil ||
			said.Of("input", in.Name, "scale") != nil
		mean = append(mean, said.Numbers(in.Name, "mean", n, 0))
		deviation := said.Numbers(in.Name, "std", n, 1)
		if said.Of("input", in.Name, "scale") != nil {
			deviation = said.Inverse(in.Name, "scale", n)
		}
		std = append(std, deviation)
		if shapes := said.Of("input", in.Name, "shapes"); shapes != nil {
			dynamic = append(dynamic, shapes)
		}
	}
	if normalized {
		config["mean_values"], config["std_values"] = mean, std
	}
	if len(dynamic) > 0 {
		config["dynamic_input"] = dynamic // one list of shapes per input; the toolkit wants one list of inputs per shape
	}
	if said["custom_string"] != nil {
		config["custom_string"] = said.Text("custom_string")
	}
	config["target_platform"] = Boards[0]
	if said["target"] != nil {
		config["target_platform"] = said.Text("target")
	}
	var names []string
	var shapes []any
	for _, in := range m.Inputs {
		if shape, ok := said.Sizes(&in); ok {
			names, shapes = append(names, in.Name), append(shapes, shape)
		}
	}
	load := map[string]any{}
	if names != nil {
		load["inputs"], load["input_size_list"] = names, shapes
	}
	return map[string]any{"rknn.config": config, "rknn.load_onnx": load,
		"rknn.build": map[string]any{"do_quantization": false}}
}
