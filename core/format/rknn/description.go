package rknn

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// parseDescription reads the JSON text behind the section: the names, sizes and integer types of inputs and outputs,
// and the target. A dynamic model has the sizes of its first shape there, and the batch is always 1.
func (f *File) parseDescription(text []byte) {
	type edge struct {
		Left        string `json:"left"`
		LeftTensor  int    `json:"left_tensor_id"`
		Right       string `json:"right"`
		RightTensor int    `json:"right_tensor_id"`
	}
	var d struct {
		Targets json.RawMessage `json:"target_platform"`
		Graph   []edge          `json:"graph"`
		Tensors []struct {
			ID    int     `json:"tensor_id"`
			Name  string  `json:"url"`
			Dims  []int64 `json:"size"`
			DType struct {
				Kind  string `json:"vx_type"`
				Quant string `json:"qnt_type"`
			} `json:"dtype"`
		} `json:"norm_tensor"`
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		f.lose("JSON", "%v", err)
		return
	}
	f.parseTargets(d.Targets)
	byID := map[int]int{}
	for i, t := range d.Tensors {
		if _, twice := byID[t.ID]; !twice {
			byID[t.ID] = i
		}
	}
	slices.SortStableFunc(d.Graph, func(a, b edge) int { return cmp.Compare(a.LeftTensor, b.LeftTensor) })
	for _, e := range d.Graph {
		var p Port
		if i, known := byID[e.RightTensor]; known && e.Right == "norm_tensor" {
			t := &d.Tensors[i]
			kind := cmp.Or(t.DType.Kind, t.DType.Quant)
			p = Port{Name: t.Name, Type: typeWord(kind), Dims: t.Dims}
		}
		switch e.Left {
		case "input":
			f.Inputs = append(f.Inputs, p)
		case "output":
			f.Outputs = append(f.Outputs, p)
		}
	}
}

// parseTargets reads a name or a list of names.
func (f *File) parseTargets(text json.RawMessage) {
	var one string
	var list []string
	switch {
	case len(text) == 0:
	case json.Unmarshal(text, &one) == nil:
		f.Targets = splitTargets(one)
	case json.Unmarshal(text, &list) == nil:
		for _, t := range list {
			f.Targets = append(f.Targets, splitTargets(t)...)
		}
	default:
		f.skip("target", "%s is neither a name nor a list of names", clip(string(text)))
	}
}

// typeWord returns the plain name of a type that may be written with a prefix: "VSI_NN_TYPE_INT8" is "int8". "vdata"
// says nothing.
func typeWord(s string) string {
	s = strings.ToLower(s[strings.LastIndexByte(s, '_')+1:])
	if s == "vdata" {
		return ""
	}
	return s
}

// parsePorts completes ports by the JSON text of the FlatBuffer: types, also of real values, and layouts. The text is
// an object with a member for each port, by name, or a list of objects that bear their names.
func (f *File) parsePorts(what, text string, ports []Port) {
	if text == "" {
		return
	}
	type entry struct {
		Name   string          `json:"name"`
		URL    string          `json:"url"`
		DType  json.RawMessage `json:"dtype"`
		Layout string          `json:"layout"`
	}
	byName := map[string]entry{}
	var list []entry
	if json.Unmarshal([]byte(text), &byName) != nil {
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			f.lose(what, "%v", err)
			return
		}
	}
	for i, e := range list {
		name := cmp.Or(e.Name, e.URL)
		if name == "" && i < len(ports) {
			name = ports[i].Name
		}
		byName[name] = e
	}
	for i := range ports {
		e, ok := byName[ports[i].Name]
		if !ok {
			continue
		}
		if kind := dtypeWord(e.DType); kind != "" {
			ports[i].Type = kind
		}
		if e.Layout != "" {
			ports[i].Layout = strings.ToLower(e.Layout)
		}
	}
}

// dtypeWord reads a type that is a name or an object like those of the description.
func dtypeWord(text json.RawMessage) string {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return typeWord(name)
	}
	var object struct {
		Kind  string `json:"vx_type"`
		Quant string `json:"qnt_type"`
	}
	if json.Unmarshal(text, &object) == nil {
		return typeWord(cmp.Or(object.Kind, object.Quant))
	}
	return ""
}
