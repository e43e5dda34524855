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
	Main = 6      // rk35xx
	Mini = 0x1004 // rv1103, rv1106: the FlatBuffer lies behind its length, at the end of the section
)

var typeNumbers = map[string]byte{"float32": 1, "int8": 3, "int16": 5, "int32": 6, "int64": 7, "float16": 10}

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
	fields := map[int]any{
		3: Dictionary(
			f,
		), 8: strings.Join(f.Targets, ","), 9: f.Framework, 11: f.Custom, 12: ports(f.Inputs), 13: ports(f.Outputs),
		15: f.SharedWeights,
	}
	if f.Compiler != "" {
		var a, b, c uint32
		if n, _ := fmt.Sscanf(f.Compiler, "%d.%d.%d", &a, &b, &c); n == 3 {
			fields[6] = 10000*a + 100*b + c
		}
		fields[7] = f.Compiler
	}
	if f.Batch > 0 {
		fields[14] = fmt.Sprint(f.Batch)
	}
	var graphs []func(w *builder, at int)
	for i := range f.Graphs {
		graphs = append(graphs, func(w *builder, at int) { writeGraph(w, at, &f.Graphs[i]) })
	}
	fields[2] = graphs
	w.table(0, 16, fields)
	return w.b
}

func writeGraph(w *builder, at int, g *rknn.Graph) {
	var tensors, nodes []func(w *builder, at int)
	for i := range g.Tensors {
		tensors = append(tensors, func(w *builder, at int) { writeTensor(w, at, &g.Tensors[i]) })
	}
	for _, n := range g.Nodes {
		nodes = append(nodes, func(w *builder, at int) { w.table(at, 2, map[int]any{0: n.Op, 1: n.Name}) })
	}
	w.table(at, 4, map[int]any{0: tensors, 1: nodes, 2: numbers(g.Inputs), 3: numbers(g.Outputs)})
}

func writeTensor(w *builder, at int, t *rknn.Tensor) {
	layout := byte(0)
	if t.Native {
		layout = 0x40
	}
	w.table(at, 12, map[int]any{
		0: typeNumbers[t.Type], 1: layout, 2: byte(t.Kind), 3: numbers(t.Shape), 4: numbers(t.Dims), 5: t.Name,
		8: bits(t.Min), 9: bits(t.Max), 10: bits(t.Scale), 11: numbers(t.Zero),
	})
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
	var parts []string
	if f.Preprocess != nil {
		var inputs []string
		for _, name := range sortedKeys(f.Preprocess) {
			p := f.Preprocess[name]
			inputs = append(inputs, fmt.Sprintf("%s: {'mean': [%s], 'std': %s, 'rgb2bgr': %s}",
				quoted(name), floats(p.Mean), floats(p.Std), truth(p.RGB2BGR)))
		}
		parts = append(parts, "'attrs': {"+strings.Join(inputs, ", ")+"}")
	}
	if f.Ranges != nil {
		var tensors []string
		for i, name := range sortedKeys(f.Ranges) {
			r := f.Ranges[name]
			if i%2 == 0 {
				tensors = append(tensors, fmt.Sprintf("%s: [%s, %s]", quoted(name), number(r[0]), number(r[1])))
			} else {
				tensors = append(tensors, fmt.Sprintf("%s: {'min': array([%s], dtype=float32), 'max': (%s,)}",
					quoted(name), number(r[0]), number(r[1])))
			}
		}
		parts = append(parts, "'quant_tab': {"+strings.Join(tensors, ", ")+"}")
	}
	if f.DynamicShapes != nil {
		parts = append(parts, "'dynamic_shapes': "+strings.ReplaceAll(fmt.Sprint(f.DynamicShapes), " ", ", "))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

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
