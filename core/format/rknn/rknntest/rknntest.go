// Package rknntest writes .rknn files for tests, after the same facts that package rknn reads them by. They hold no
// weights and no commands: they describe a model that nothing can run.
package rknntest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/format/rknn"
)

// Versions of the container.
const (
	Main = 6 // rk35xx
	// rv1103, rv1106, b variants, mini_rknn: the FlatBuffer lies behind its length, at the end of the section
	Mini = 0x1004
)

var typeNumbers = map[string]byte{"none": 0, "float32": 1, "int8": 3, "int16": 5, "int32": 6, "int64": 7, "float16": 10,
	"raw": 13}

// Write returns an .rknn file that says what f says; Size and Unread are not looked at. Ports of real values have no
// type in the JSON text, as in files of the vendor's converter.
func Write(f *rknn.File) []byte {
	buffer := flatbuffer(f)
	section := buffer
	if f.Version == Mini {
		section = binary.LittleEndian.AppendUint32(nil, uint32(len(buffer)))
		section = append(append(section, make([]byte, 40)...), buffer...)
	}
	out := make([]byte, 64)
	if f.Version == Mini {
		copy(out[24:], "what the memory held before")
	}
	copy(out, "RKNN")
	binary.LittleEndian.PutUint64(out[8:], f.Version)
	binary.LittleEndian.PutUint64(out[16:], uint64(len(section)))
	out = append(out, section...)
	text := description(f)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(text)))
	return append(out, text...)
}

// description is the JSON text.
func description(f *rknn.File) []byte {
	type object = map[string]any
	var edges, tensors []object
	add := func(side string, ports []rknn.Port) {
		for i, p := range ports {
			kind := p.Type
			if strings.HasPrefix(kind, "float") {
				kind = ""
			}
			id := len(tensors)
			edges = append(edges, object{"left": side, "left_tensor_id": i, "right": "norm_tensor", "right_tensor_id": id})
			tensors = append(tensors, object{"tensor_id": id, "url": p.Name, "size": p.Dims, "dtype": object{"vx_type": kind}})
		}
	}
	add("input", f.Inputs)
	add("output", f.Outputs)
	text, err := json.Marshal(object{"target_platform": f.Targets, "graph": edges, "norm_tensor": tensors})
	if err != nil {
		panic("rknntest: " + err.Error())
	}
	return text
}

// ports is the JSON text of inputs or outputs in the FlatBuffer.
func ports(list []rknn.Port) string {
	m := map[string]map[string]string{}
	for _, p := range list {
		m[p.Name] = map[string]string{"dtype": p.Type, "layout": p.Layout}
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic("rknntest: " + err.Error())
	}
	return string(text)
}

// flatbuffer returns the FlatBuffer.
func flatbuffer(f *rknn.File) []byte {
	w := &builder{b: append(make([]byte, 4), "RKNN"...)}
	fields, compiler := map[int]any{0: uint32(6), 1: "RKNPU v2", 3: Dictionary(f)}, 6
	if f.Version == Mini {
		compiler = 4
	} else {
		fields[12], fields[13], fields[14], fields[16] = ports(f.Inputs), ports(f.Outputs), fmt.Sprint(f.Batch),
			"static_shape"
		fields[15] = f.SharedWeights
		if f.DynamicShapes != nil {
			fields[16] = "dynamic_shape"
		}
	}
	if f.Compiler != "" {
		var a, b, c uint32
		if n, _ := fmt.Sscanf(f.Compiler, "%d.%d.%d", &a, &b, &c); n == 3 {
			fields[compiler] = 10000*a + 100*b + c
		}
		fields[compiler+1] = f.Compiler
	}
	fields[compiler+2], fields[compiler+3] = strings.Join(f.Targets, ","), f.Framework
	if f.Version == Mini {
		fields[8] = f.Custom
	} else {
		fields[11] = f.Custom
	}
	var graphs []func(w *builder, at int)
	for i := range f.Graphs {
		graphs = append(graphs, func(w *builder, at int) { writeGraph(w, at, &f.Graphs[i], f.Version == Mini) })
	}
	fields[2] = graphs
	w.table(0, 17, fields)
	return w.b
}

func writeGraph(w *builder, at int, g *rknn.Graph, mini bool) {
	var tensors, nodes []func(w *builder, at int)
	for i := range g.Tensors {
		tensors = append(tensors, func(w *builder, at int) { writeTensor(w, at, &g.Tensors[i], mini) })
	}
	for _, n := range g.Nodes {
		nodes = append(nodes, func(w *builder, at int) { w.table(at, 4, map[int]any{1: n.Op, 2: n.Name, 3: byte(2)}) })
	}
	w.table(at, 4, map[int]any{0: tensors, 1: nodes, 2: numbers(g.Inputs), 3: numbers(g.Outputs)})
}

func writeTensor(w *builder, at int, t *rknn.Tensor, mini bool) {
	layout := byte(0)
	if t.Native {
		layout = 0x40
	}
	fields := map[int]any{0: typeNumbers[t.Type], 1: layout, 2: byte(t.Kind), 3: numbers(t.Shape), 4: numbers(t.Dims),
		5: t.Name}
	if mini {
		fields[6], fields[7] = bits(t.Scale), numbers(t.Zero)
	} else {
		fields[8], fields[9], fields[10], fields[11] = bits(t.Min), bits(t.Max), bits(t.Scale), numbers(t.Zero)
	}
	w.table(at, 12, fields)
}

func numbers[T int | int64](v []T) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(int32(x))
	}
	return out
}

func bits(v []float32) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = math.Float32bits(x)
	}
	return out
}

// Dictionary returns the converter's Python dictionary as text.
func Dictionary(f *rknn.File) string {
	var attrs, ranges []string
	for _, name := range sortedKeys(f.Preprocess) {
		p := f.Preprocess[name]
		attrs = append(attrs, fmt.Sprintf("%s: {'layout': 'nchw', 'is_output': False, 'range': [0, 1], 'mean': [%s], "+
			"'std': %s, 'rgb2bgr': %s}", quoted(name), floats(p.Mean), floats(p.Std), truth(p.RGB2BGR)))
	}
	for i, p := range f.Outputs {
		attrs = append(attrs, fmt.Sprintf("%s: {'idx': %d, 'shape': %s, 'layout': 'nchw', 'is_output': True}",
			quoted(p.Name), i, list(p.Dims)))
	}
	for i, name := range sortedKeys(f.Ranges) {
		r := f.Ranges[name]
		if i%2 == 0 {
			ranges = append(ranges, fmt.Sprintf("%s: [%s, %s]", quoted(name), number(r[0]), number(r[1])))
		} else {
			ranges = append(ranges, fmt.Sprintf("%s: {'qtype': 'asym', 'min': array([%s], dtype=float32), 'max': (%s,), "+
				"'scale': [], 'zero_point': []}", quoted(name), number(r[0]), number(r[1])))
		}
	}
	for _, p := range append(slices.Clone(f.Inputs), f.Outputs...) {
		if _, has := f.Ranges[p.Name]; !has {
			ranges = append(ranges, fmt.Sprintf("%s: {'qmethod': '', 'qtype': '', 'min': [], 'max': [], 'scale': [], "+
				"'zero_point': []}", quoted(p.Name)))
		}
	}
	var shapes []string
	for _, name := range sortedKeys(f.DynamicShapes) {
		var all []string
		for _, s := range f.DynamicShapes[name] {
			all = append(all, list(s))
		}
		shapes = append(shapes, fmt.Sprintf("%s: [%s]", quoted(name), strings.Join(all, ", ")))
	}
	return fmt.Sprintf("{'attrs': {%s}, 'quant_tab': {%s}, 'dynamic_shapes': {%s}}", strings.Join(attrs, ", "),
		strings.Join(ranges, ", "), strings.Join(shapes, ", "))
}

// list is a list of sizes as Python writes it.
func list(v []int64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }

func quoted(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }

// number is a number as Python writes it.
func number(v float64) string {
	return strings.NewReplacer("NaN", "nan", "+Inf", "inf", "-Inf", "-inf").Replace(fmt.Sprint(v))
}

func floats(v []float64) string {
	if v == nil {
		return "None"
	}
	text := make([]string, len(v))
	for i, x := range v {
		text[i] = number(x)
	}
	return "[" + strings.Join(text, ", ") + "]"
}

func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
