package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Schema names the form of a Sheet.
const Schema = "anynpu.conformance.model/1"

// Sheet tells a vendor's converter what to do with a model.
type Sheet struct {
	Schema       string         `json:"schema"` // "anynpu.conformance.model/1"
	API          string         `json:"api"`
	Model        string         `json:"model"` // file name of the ONNX model
	Want         []string       `json:"want"`  // file names of which one is to lie beside it
	Name         string         `json:"name"`  // of the model in the converted file
	Inputs       []Port         `json:"inputs"`
	Outputs      []Port         `json:"outputs"`
	Operators    []string       `json:"operators"`
	Opset        int64          `json:"opset"`
	Quantization string         `json:"quantization"`
	Converter    map[string]any `json:"converter"`        // options besides, in the converter's own words
	Reason       string         `json:"reason,omitempty"` // why no converter can make it; its cases are skipped
	Cases        []string       `json:"cases"`            // SUITE CASE
}

// Converter describes how a vendor's converter is told what metadata of a model say.
type Converter struct {
	Extensions []string                                 // of its files, the preferred one first
	Keys       map[string]bool                          // words of metadata that it has options for
	Options    func(m *ONNX, said Said) map[string]any  // in its own words
	Refuses    func(m *ONNX, said Said) (reason string) // what else it cannot do; nil: nothing
}

// Said is what the metadata of a model say: values by their key without "anynpu.".
type Said map[string]json.RawMessage

// Of is what is said of an input or output, such as said.Of("input", "x", "mean"); nil: nothing.
func (s Said) Of(kind, name, word string) json.RawMessage { return s[kind+"."+name+"."+word] }

// Numbers are the numbers said of an input, a single one n times; without any they are n times other.
func (s Said) Numbers(input, word string, n int, other float64) []float64 {
	var out []float64
	raw := s.Of("input", input, word)
	if raw == nil || json.Unmarshal(raw, &out) != nil {
		one := other
		if raw != nil {
			json.Unmarshal(raw, &one) //nolint:errcheck // then it is not a number, which the case wants refused
		}
		out = []float64{one}
	}
	if len(out) == 1 && n > 1 {
		out = slices.Repeat(out, n)
	}
	return out
}

// Sizes is the shape of an input with the sizes that metadata give its open dimensions, and whether they do so.
func (s Said) Sizes(p *Port) (shape []int64, said bool) {
	if raw := s.Of("input", p.Name, "shape"); raw != nil {
		return shape, json.Unmarshal(raw, &shape) == nil
	}
	shape = slices.Clone(p.Shape)
	for i := range p.Open {
		if raw := s["dim."+p.Open[i]]; p.Open[i] != "" && raw != nil && json.Unmarshal(raw, &shape[i]) == nil {
			said = true
		}
	}
	return shape, said
}

// Inverse are the inverses of the numbers said of an input, 0 for 0.
func (s Said) Inverse(input, word string, n int) []float64 {
	out := s.Numbers(input, word, n, 1)
	for i, v := range out {
		if v != 0 {
			out[i] = 1 / v
		}
	}
	return out
}

// Text is a string said under a key, "" for none.
func (s Said) Text(key string) string {
	text := ""
	if json.Unmarshal(s[key], &text) != nil {
		return string(s[key])
	}
	return text
}

// said is what a model's metadata say.
func (m *ONNX) said() Said {
	out := Said{}
	for key, value := range m.Metadata {
		if word, ok := strings.CutPrefix(key, "anynpu."); ok {
			raw := json.RawMessage(value)
			if !json.Valid(raw) {
				raw, _ = json.Marshal(value) //nolint:errcheck // a string can be shown
			}
			out[word] = raw
		}
	}
	return out
}

// Channels is how many channels an input has in the order of the model, 1 where it does not say.
func (p *Port) Channels() int {
	if len(p.Shape) == 4 && p.Shape[1] > 0 {
		return int(p.Shape[1])
	}
	return 1
}

// Reason says why a converter cannot make a model, "" if it may.
func (c *Converter) Reason(m *ONNX) string {
	said := m.said()
	for _, key := range slices.Sorted(maps.Keys(said)) {
		word := key[strings.LastIndexByte(key, '.')+1:]
		kind, _, _ := strings.Cut(key, ".")
		if !c.Keys[word] && !c.Keys[kind+".*."+word] && !c.Keys[kind+".*"] {
			return fmt.Sprintf("the model has the metadata anynpu.%s, for which the converter has no option", key)
		}
	}
	for _, in := range m.Inputs {
		for _, word := range []string{"std", "scale"} {
			if slices.ContainsFunc(said.Numbers(in.Name, word, 1, 1), func(v float64) bool { return v == 0 }) {
				return fmt.Sprintf("the metadata anynpu.input.%s.%s divide by 0, which is to be refused", in.Name, word)
			}
		}
	}
	switch {
	case m.External:
		return "the model's weights are in other files"
	case c.Refuses != nil:
		return c.Refuses(m, said)
	}
	return ""
}

// Sheet describes a model that an API's converter is to make.
func (c *Converter) Sheet(api string, data []byte, cases []string) (*Sheet, error) {
	m, err := Read(data)
	if err != nil {
		return nil, err
	}
	name, said := Name(data), m.said()
	s := &Sheet{Schema: Schema, API: api, Model: name + ".onnx", Name: "model", Inputs: m.Inputs, Outputs: m.Outputs,
		Operators: m.Operators, Opset: m.Opset, Reason: c.Reason(m), Cases: cases,
		Quantization: "none: real numbers stay real, in the precision that the device has"}
	if m.Quantized {
		s.Quantization = "the model's own: scales and zero points of QuantizeLinear and DequantizeLinear"
	}
	if said["name"] != nil {
		s.Name = said.Text("name")
	}
	for _, e := range c.Extensions {
		s.Want = append(s.Want, name+e)
	}
	s.Converter = c.Options(m, said)
	return s, nil
}
