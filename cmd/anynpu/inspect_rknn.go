package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/model"
)

// rknnInspection is the JSON form of inspect of an .rknn file. Absent members are not in the file.
type rknnInspection struct {
	Schema     string                     `json:"schema"` // "anynpu.inspect-rknn/2"
	File       string                     `json:"file"`
	Bytes      int64                      `json:"bytes"`
	Version    uint64                     `json:"version"` // of the container
	Targets    []string                   `json:"targets"`
	Compiler   string                     `json:"compiler,omitempty"`
	Framework  string                     `json:"framework,omitempty"`
	Custom     string                     `json:"custom_string,omitempty"`
	Batch      int                        `json:"batch,omitempty"`
	Inputs     []rknnPort                 `json:"inputs"`
	Outputs    []rknnPort                 `json:"outputs"`
	Preprocess map[string]rknn.Preprocess `json:"preprocess,omitempty"`
	Shapes     map[string][][]int64       `json:"dynamic_shapes,omitempty"`
	Operators  map[string]int             `json:"operators,omitempty"`
	Tensors    []rknn.Tensor              `json:"tensors,omitempty"` // of the first graph
	Ranges     map[string][2]float64      `json:"ranges,omitempty"`
	Shared     []string                   `json:"shared_weights,omitempty"`
	Unread     []string                   `json:"unread,omitempty"`
}

// rknnPort is an input or output of an .rknn file with the facts of its tensor.
type rknnPort struct {
	Name   string    `json:"name"`
	Type   string    `json:"type,omitempty"`
	Layout string    `json:"layout,omitempty"`
	Sizes  []int64   `json:"sizes,omitempty"`
	Native []int64   `json:"native_sizes,omitempty"`
	Scale  []float32 `json:"scale,omitempty"`
	Zero   []int64   `json:"zero_point,omitempty"`
}

// inspectRKNN describes an .rknn file; ok is false when path is none.
func inspectRKNN(path string, stdout io.Writer, asJSON, nodes bool) (ok bool, err error) {
	f, err := model.Source{Path: path}.Open()
	if err != nil {
		return false, nil // what it is, others tell
	}
	defer f.Close()
	if f.Format != model.RKNN {
		return false, nil
	}
	if nodes {
		return true, usage("inspect: --nodes lists the nodes of ONNX models; of %s, an .rknn file, inspect shows the "+
			"operators, "+
			"and --json the tensors [tool-inspect-nodes-lists]", path)
	}
	file, err := rknn.Read(f, f.Size)
	if err != nil {
		return true, exit(exitModel, fmt.Errorf("model %s: %w", path, err))
	}
	i := describeRKNN(path, file)
	if asJSON {
		return true, writeJSON(stdout, i)
	}
	i.write(stdout)
	return true, nil
}

func describeRKNN(path string, f *rknn.File) *rknnInspection {
	i := &rknnInspection{
		Schema: "anynpu.inspect-rknn/2", File: path, Bytes: f.Size, Version: f.Version,
		Targets:  append([]string{}, f.Targets...),
		Compiler: f.Compiler, Framework: f.Framework, Custom: f.Custom, Batch: f.Batch,
		Inputs: rknnPorts(f, f.Inputs), Outputs: rknnPorts(f, f.Outputs),
		Preprocess: f.Preprocess, Shapes: f.DynamicShapes, Ranges: f.Ranges, Shared: f.SharedWeights, Unread: f.Unread,
	}
	if len(f.Graphs) > 0 {
		i.Tensors, i.Operators = f.Graphs[0].Tensors, map[string]int{}
		for _, n := range f.Graphs[0].Nodes {
			i.Operators[n.Op]++
		}
	}
	return i
}

// rknnPorts joins ports with the tensors of the same names.
func rknnPorts(f *rknn.File, ports []rknn.Port) []rknnPort {
	out := []rknnPort{}
	for _, p := range ports {
		q := rknnPort{Name: p.Name, Type: p.Type, Layout: p.Layout, Sizes: p.Dims}
		for g := range f.Graphs[:min(len(f.Graphs), 1)] {
			if t := f.Graphs[g].Port(p.Name); t != nil {
				q.Native, q.Scale, q.Zero = t.Shape, t.Scale, t.Zero
			}
		}
		out = append(out, q)
	}
	return out
}

func (i *rknnInspection) write(w io.Writer) {
	printf(w, "rknn        container version %#x, %d bytes\n", i.Version, i.Bytes)
	line := func(what, text string) {
		if text != "" {
			printf(w, "%-11s %s\n", what, text)
		}
	}
	line("target", strings.Join(i.Targets, ", "))
	line("compiler", i.Compiler)
	line("framework", i.Framework)
	line("custom", i.Custom)
	if i.Batch > 0 {
		line("batch", fmt.Sprint(i.Batch))
	}
	for _, side := range []struct {
		name  string
		ports []rknnPort
	}{{"inputs", i.Inputs}, {"outputs", i.Outputs}} {
		printf(w, "%s\n", side.name)
		for _, p := range side.ports {
			printf(w, "  %-24s %s\n", p.Name, p.text())
		}
	}
	for _, name := range sorted(i.Preprocess) {
		p := i.Preprocess[name]
		line("preprocess", fmt.Sprintf("%s: mean %v, std %v, rgb2bgr %v", name, p.Mean, p.Std, p.RGB2BGR))
	}
	for _, name := range sorted(i.Shapes) {
		line("shapes", fmt.Sprintf("%s: %v", name, i.Shapes[name]))
	}
	total := 0
	for _, n := range i.Operators {
		total += n
	}
	if total > 0 {
		printf(w, "operators   %d\n", total)
		for _, op := range byCount(i.Operators) {
			printf(w, "  %-24s %d\n", op, i.Operators[op])
		}
	}
	line("weights", strings.Join(i.Shared, ", "))
	for _, s := range i.Unread {
		line("not read", s)
	}
}

// text describes a port: "int8[1,3,32,32] nchw, scale 0.0039, zero point -128, native [1 32 32 3]".
func (p *rknnPort) text() string {
	sizes := make([]string, len(p.Sizes))
	for i, n := range p.Sizes {
		sizes[i] = fmt.Sprint(n)
	}
	parts := []string{strings.TrimSpace(orUnknown(p.Type) + "[" + strings.Join(sizes, ",") + "] " + p.Layout)}
	if len(p.Scale) == 1 {
		parts = append(parts, fmt.Sprintf("scale %g", p.Scale[0]))
	}
	if len(p.Zero) == 1 {
		parts = append(parts, fmt.Sprintf("zero point %d", p.Zero[0]))
	}
	if len(p.Native) > 0 {
		parts = append(parts, fmt.Sprintf("native %v", p.Native))
	}
	return strings.Join(parts, ", ")
}
