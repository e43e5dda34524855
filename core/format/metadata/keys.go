package metadata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

func (m *Metadata) setKey(key string, value json.RawMessage, source string) error {
	switch key {
	case "anynpu.schema":
		var v int
		if err := decode(value, &v); err != nil {
			return err
		}
		if v != Schema {
			return fault.New(fault.File, "schema %d, want %d", v, Schema)
		}
		return nil
	case "anynpu.name":
		return text(value, &m.Name)
	case "anynpu.custom_string":
		return text(value, &m.CustomString)
	case "anynpu.target":
		return text(value, &m.Target)
	case "anynpu.quantization":
		return oneOf(value, &m.Quantization, "scale", "shift")
	case "anynpu.filters":
		return oneOf(value, &m.Filters, "channel", "layer")
	case "anynpu.inputs":
		return names(value, &m.In)
	case "anynpu.outputs":
		return names(value, &m.Out)
	case "anynpu.outputs.codes":
		return codesOf(value, &m.Codes)
	case "anynpu.compiled":
		return m.setCompiled(value)
	}
	kind, rest, _ := strings.Cut(strings.TrimPrefix(key, "anynpu."), ".")
	dot := strings.LastIndexByte(rest, '.')
	switch {
	case kind == "dim" && rest != "":
		return m.setDim(rest, value)
	case kind == "input" && dot > 0 && slices.Contains(inputFields, rest[dot+1:]):
		return m.setInput(rest[:dot], rest[dot+1:], value)
	case kind == "output" && dot > 0 && slices.Contains(outputFields, rest[dot+1:]):
		return m.setOutput(rest[:dot], rest[dot+1:], value)
	case kind == "value" && dot > 0 && slices.Contains(valueFields, rest[dot+1:]):
		return m.setValue(rest[:dot], rest[dot+1:], value)
	}
	warning := source + ": unknown key " + key
	if near := Near(key); near != "" {
		warning += "; did you mean " + near + "?"
	}
	m.Warnings = append(m.Warnings, warning)
	return nil
}

// InputKeys are the keys about an input of a name, behind "anynpu.".
func InputKeys(name string) (keys []string) {
	for _, f := range inputFields {
		keys = append(keys, "input."+name+"."+f)
	}
	return keys
}

// The last parts of keys about inputs, outputs and values.
var (
	inputFields = []string{"mean", "std", "scale", "pixel", "planes", "ports", "range", "order", "bytes", "source",
		"layout", "shapes", "shape"}
	outputFields = []string{"max_shape", "codes", "layout", "native"}
	valueFields  = []string{"shape", "type", "stored", "partial"}
)

// Known reports whether key is one that is read.
func Known(key string) bool {
	m := &Metadata{Inputs: map[string]Input{}}
	_ = m.setKey(key, json.RawMessage("null"), "")
	return len(m.Warnings) == 0 && strings.HasPrefix(key, "anynpu.")
}

// setCompiled reads the list of compiled forms.
func (m *Metadata) setCompiled(value json.RawMessage) error {
	var list []Compiled
	if err := decodeKnown(value, &list); err != nil {
		return err
	}
	for i := range list {
		c := &list[i]
		c.SHA256 = strings.ToLower(c.SHA256)
		sum, err := hex.DecodeString(c.SHA256)
		switch {
		case c.Container == "":
			return fault.New(fault.File, "entry %d: container: want a file format, e.g. rknn", i)
		case !filepath.IsLocal(c.File):
			return fault.New(fault.File, "entry %d: file: %q: want a path in the model's folder or below it", i, c.File)
		case err != nil || len(sum) != sha256.Size:
			return fault.New(fault.File, "entry %d: sha256: %q: want 64 hexadecimal digits", i, c.SHA256)
		}
	}
	m.Compiled = list
	return nil
}

// decodeKnown is decode that refuses keys of objects that are not known.
func decodeKnown(value json.RawMessage, to any) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if d.Decode(to) != nil {
		return fault.New(fault.File, "want %s, without other keys", wanted(to))
	}
	return nil
}

func (m *Metadata) setDim(name string, value json.RawMessage) error {
	var n int64
	if err := decode(value, &n); err != nil {
		return err
	}
	if n < 1 {
		return fault.New(fault.File, "a size of %d", n)
	}
	if m.Dims == nil {
		m.Dims = map[string]int64{}
	}
	m.Dims[name] = n
	return nil
}

func (m *Metadata) setInput(name, field string, value json.RawMessage) error {
	in := m.Inputs[name]
	var err error
	switch field {
	case "mean":
		in.Mean, err = perChannel(value)
	case "std":
		if in.Std, err = perChannel(value); err == nil && slices.Contains(in.Std, 0) {
			err = fault.New(fault.File, "a divisor of 0")
		}
	case "scale":
		if in.Scale, err = perChannel(value); err == nil && slices.Contains(in.Scale, 0) {
			err = fault.New(fault.File, "a factor of 0")
		}
	case "planes":
		if err = decode(value, &in.Planes); err == nil && in.Planes != 1 && in.Planes != 2 {
			err = fault.New(fault.File, "want 1 or 2")
		}
	case "ports":
		if err = decode(value, &in.Ports); err == nil {
			err = checkNames(in.Ports)
		}
	case "range":
		err = oneOf(value, &in.Range, "regular", "bt601_video")
	case "source":
		err = oneOf(value, &in.Source, "ddr", "resizer", "pyramid")
	case "bytes":
		err = oneOf(value, &in.Bytes, "unsigned", "signed")
	case "pixel":
		err = oneOf(value, &in.Pixel, "gray", "rgb", "bgr", "rgba", "nv12", "nv21", "yuv444")
	case "order":
		err = oneOf(value, &in.Order, "rgb", "bgr", "yuv444", "gray")
	case "layout":
		err = oneOf(value, &in.Layout, "nchw", "nhwc")
	case "shapes":
		if err = decode(value, &in.Shapes); err == nil {
			err = checkShapes(in.Shapes)
		}
	case "shape":
		if err = decode(value, &in.Shape); err == nil && in.Shape != nil {
			err = checkShapes([][]int64{in.Shape})
		}
	}
	m.Inputs[name] = in
	return err
}

func (m *Metadata) setValue(name, field string, value json.RawMessage) error {
	v := m.Values[name]
	var err error
	switch field {
	case "type":
		err = oneOf(value, &v.Type, typeNames()...)
	case "stored":
		v.Stored, err = storedOf(value)
	case "partial":
		if v.Partial, err = storedOf(value); err == nil && v.Partial.Scale == 0 {
			err = fault.New(fault.File, "type: want int8 or int16")
		}
	default:
		v.Shape, v.Like, err = shapeOf(value)
	}
	if m.Values == nil {
		m.Values = map[string]Value{}
	}
	m.Values[name] = v
	return err
}

// storedOf reads how a value is stored.
func storedOf(value json.RawMessage) (*Stored, error) {
	s := &Stored{}
	if err := decode(value, s); err != nil {
		return nil, err
	}
	if len(s.Dims) > 0 && slices.Min(s.Dims) < 1 {
		return nil, fault.New(fault.File, "dims of %v", s.Dims)
	}
	lo, hi := int32(math.MinInt8), int32(math.MaxInt8)
	switch s.Type {
	case "int16":
		lo, hi = math.MinInt16, math.MaxInt16
	case "int8":
	case "float16", "float32":
		if s.Scale != 0 || s.Zero != 0 {
			return nil, fault.New(fault.File, "%s has neither scale nor zero", s.Type)
		}
		return s, nil
	default:
		return nil, fault.New(fault.File, "type: want one of int8, int16, float16, float32")
	}
	switch {
	case !(s.Scale > 0) || math.IsInf(float64(s.Scale), 0):
		return nil, fault.New(fault.File, "a scale of %g", s.Scale)
	case s.Zero < lo || s.Zero > hi:
		return nil, fault.New(fault.File, "a zero of %d, want %d to %d", s.Zero, lo, hi)
	}
	return s, nil
}

func typeNames() (names []string) {
	for d := tensor.Invalid + 1; d.Valid(); d++ {
		names = append(names, d.String())
	}
	return names
}

// shapeOf reads a list of sizes and names of dimensions, or "as input N"; like is N + 1.
func shapeOf(value json.RawMessage) (shape []Dim, like int, err error) {
	var s string
	if json.Unmarshal(value, &s) == nil {
		n, e := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(s, "as input")), 10, 16)
		if e != nil || !strings.HasPrefix(s, "as input ") {
			return nil, 0, fault.New(fault.File, `want a list of sizes and names of dimensions, or "as input 0"`)
		}
		return nil, int(n) + 1, nil
	}
	var list []json.RawMessage
	if err := decode(value, &list); err != nil {
		return nil, 0, err
	}
	shape = make([]Dim, len(list))
	for i, item := range list {
		d := &shape[i]
		if json.Unmarshal(item, &d.Name) == nil && d.Name != "" {
			continue
		}
		if json.Unmarshal(item, &d.Size) != nil || d.Size < 1 {
			return nil, 0, fault.New(fault.File, "%s is neither a size nor the name of a dimension", item)
		}
	}
	return shape, 0, nil
}

// perChannel reads one number for all channels, or a list.
func perChannel(value json.RawMessage) (list []float32, err error) {
	var one *float32 // nil for null
	if json.Unmarshal(value, &one) == nil && one != nil {
		return []float32{*one}, nil
	}
	err = decode(value, &list)
	return list, err
}

// decode reads a value; a list of numbers may be text without brackets, as 1,2,3.
func decode(value json.RawMessage, to any) error {
	if json.Unmarshal(value, to) == nil {
		return nil
	}
	var s string
	if json.Unmarshal(value, &s) == nil && strings.Contains(s, ",") {
		for _, form := range []string{s, "[" + s + "]"} {
			if json.Unmarshal([]byte(form), to) == nil {
				return nil
			}
		}
	}
	return fault.New(fault.File, "want %s", wanted(to))
}

// wanted says how a value is written.
func wanted(to any) string {
	switch to.(type) {
	case *string:
		return "text"
	case *int, *int64:
		return "a whole number, as 4"
	case *[]float32:
		return "a number, or numbers as [1.5, 2, 3]"
	case *[]int64:
		return "a list of sizes, as [1, 3, 224, 224]"
	case *[][]int64:
		return "a list of shapes, as [[1, 3, 224, 224]]"
	case *[]json.RawMessage:
		return `a list of sizes and names of dimensions, as [1, "N"]`
	case *codes:
		return `int32, int16, int8, or an object, as {"type": "int32", "scale": [0.5, 0.25], "axis": 3}`
	case *Stored:
		return `an object, as {"type": "int8", "scale": 0.5, "zero": 3}`
	case *[]Compiled:
		return `a list of objects, as [{"container": "rknn", "file": "net.rknn", "sha256": "..."}]`
	}
	return "another one"
}

// text reads a string; a number or list in its place is taken as its own spelling.
func text(value json.RawMessage, to *string) error {
	if json.Unmarshal(value, to) != nil {
		*to = string(value)
	}
	return nil
}

// names reads a list of names, each once.
func names(value json.RawMessage, to *[]string) error {
	var list []string
	if err := decode(value, &list); err != nil {
		return err
	}
	for i, name := range list {
		if name == "" || slices.Contains(list[:i], name) {
			return fault.New(fault.File, "name %d is empty or there twice", i)
		}
	}
	if len(list) == 0 {
		return fault.New(fault.File, "want at least one name")
	}
	*to = list
	return nil
}

func oneOf(value json.RawMessage, to *string, allowed ...string) error {
	var s string
	if err := decode(value, &s); err != nil {
		return err
	}
	if s = strings.ToLower(s); !slices.Contains(allowed, s) {
		return fault.New(fault.File, "want one of %s", strings.Join(allowed, ", "))
	}
	*to = s
	return nil
}

// checkNames refuses names that programs could not tell apart.
func checkNames(names []string) error {
	for i, n := range names {
		if n == "" || strings.ContainsRune(n, 0) || slices.Contains(names[:i], n) {
			return fault.New(fault.File, "name %d is %q: want names that differ, none of them empty", i, n)
		}
	}
	return nil
}

func checkShapes(shapes [][]int64) error {
	for _, s := range shapes {
		if len(s) == 0 || len(s) != len(shapes[0]) {
			return fault.New(fault.File, "shapes of different ranks")
		}
		for _, d := range s {
			if d < 1 {
				return fault.New(fault.File, "a dimension of %d", d)
			}
		}
	}
	return nil
}
