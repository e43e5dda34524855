package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
)

// Described are the metadata that a compiled model's file gives to the ONNX model that stands for it.
type Described struct {
	Entries map[string]string
	Codes   int      // tensors that the file stores as codes
	Missing int      // of them, those that the ONNX model does not have
	Skipped []string // what does not fit the ONNX model, one sentence each
}

// Describe makes metadata of the facts in a compiled model's file, for an ONNX model with these names. Ports belong
// together by name, or by place where both have as many.
func Describe(c *rknn.File, n *onnx.Names) *Described {
	d := &describer{Described: Described{Entries: map[string]string{}}, file: c, names: map[string]string{}}
	d.inner = map[string]bool{}
	for _, name := range n.Inner {
		d.inner[name] = true
	}
	inputs := d.images(n.In)
	in := d.match("inputs", inputs, n.In)
	d.match("outputs", c.Outputs, n.Out)
	if c.Custom != "" {
		d.Entries["anynpu.custom_string"] = asText(c.Custom)
	}
	if len(c.Targets) > 0 {
		d.Entries["anynpu.target"] = asText(c.Targets[0])
	}
	for i, p := range inputs {
		if k := slices.IndexFunc(in, func(o onnx.Port) bool { return o.Name == d.names[p.Name] }); k >= 0 {
			d.input(&inputs[i], in[k])
		}
	}
	d.stored(n)
	return &d.Described
}

// describer makes metadata.
type describer struct {
	Described
	file  *rknn.File
	names map[string]string // of ports of the file: what the ONNX model calls them
	inner map[string]bool   // results of the ONNX model's nodes

	planes []string // inputs of the file that are luma or chroma of an image
}

func (d *describer) skip(format string, args ...any) {
	d.Skipped = append(d.Skipped, fmt.Sprintf(format, args...))
}

func (d *describer) set(key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		d.skip("%s: %v", key, err)
		return
	}
	d.Entries[key] = string(text)
}

// asText is a text as an entry: quoted where it would be read as another JSON value.
func asText(s string) string {
	if json.Valid([]byte(s)) {
		text, _ := json.Marshal(s) // a string always has a JSON form
		return string(text)
	}
	return s
}

// match notes which port of the ONNX model each port of the file is, and returns the ports that the model then has.
// Where the file has other values of the model as its inputs or outputs, or fewer of them, the model is cut there.
func (d *describer) match(side string, there []rknn.Port, here []onnx.Port) []onnx.Port {
	own := map[string]onnx.Port{}
	for _, p := range here {
		own[p.Name] = p
	}
	var names []string
	var ports []onnx.Port
	for _, p := range there {
		q, ok := own[p.Name]
		if !ok && d.inner[p.Name] {
			q, ok = onnx.Port{Name: p.Name}, true
			if side == "inputs" {
				q.Dims = slices.Repeat([]string{""}, len(p.Dims))
			}
		}
		if ok && !slices.Contains(names, p.Name) {
			names, ports = append(names, p.Name), append(ports, q)
		}
	}
	if len(names) > 0 && len(names) == len(there) {
		for _, name := range names {
			d.names[name] = name
		}
		if !slices.EqualFunc(names, here, func(name string, p onnx.Port) bool { return name == p.Name }) {
			d.set("anynpu."+side, names)
		}
		return ports
	}
	for i, p := range there {
		_, has := own[p.Name]
		switch {
		case has:
			d.names[p.Name] = p.Name
		case len(there) == len(here) && !slices.ContainsFunc(there, func(q rknn.Port) bool { return q.Name == here[i].Name }):
			d.names[p.Name] = here[i].Name
		}
	}
	return here
}

// input makes the entries of an input of the file, which is the port p.
func (d *describer) input(there *rknn.Port, p onnx.Port) {
	key := "anynpu.input." + p.Name
	if pre, ok := d.file.Preprocess[there.Name]; ok {
		d.preprocess(key, p, &pre)
	}
	if list := d.file.DynamicShapes[there.Name]; list != nil {
		d.shapes(list, key, p)
		return
	}
	shape := d.batched(there.Dims)
	if len(shape) == 4 && len(p.Dims) == 4 && shape[1] < 0 { // an image of two planes
		shape[1] = 3
		if n, err := strconv.ParseInt(p.Dims[1], 10, 64); err == nil {
			shape[1] = n
		}
	}
	if !slices.Equal(texts(shape), p.Dims) && fitsDims(shape, p.Dims) { // where it does not fit, Differences says so
		d.set(key+".shape", shape)
	}
	if t := d.tensor(there.Name); t != nil && !t.Native && len(t.Dims) == 4 &&
		slices.Equal(t.Shape, t.Dims) && t.Dims[1] != t.Dims[3] {
		d.Entries[key+".layout"] = "nchw"
	}
}

// images returns the inputs of the source model as the file tells them. Those of which it has luma and chroma become
// images of NV12 where the ONNX model takes an image of that size.
func (d *describer) images(here []onnx.Port) []rknn.Port {
	whole, names := rknn.Images(d.file.Inputs)
	for _, name := range names {
		of := whole[slices.IndexFunc(whole, func(p rknn.Port) bool { return p.Name == name })]
		if !slices.ContainsFunc(here, func(p onnx.Port) bool { return p.Name == name && imageOf(p.Dims, of.Dims) }) {
			d.skip("inputs %q and %q are luma and chroma, and there is no input %q here that takes an image of %d x %d",
				name+rknn.LumaSuffix, name+rknn.ChromaSuffix, name, of.Dims[2], of.Dims[3])
			return d.file.Inputs
		}
	}
	for _, name := range names {
		d.Entries["anynpu.input."+name+".pixel"], d.Entries["anynpu.input."+name+".planes"] = "nv12", "2"
		d.planes = append(d.planes, name+rknn.LumaSuffix, name+rknn.ChromaSuffix)
	}
	return whole
}

func (d *describer) preprocess(key string, p onnx.Port, pre *rknn.Preprocess) {
	mean, std := slices.Clone(pre.Mean), slices.Clone(pre.Std)
	if len(mean) == 0 {
		mean = []float64{0}
	}
	if len(std) == 0 {
		std = []float64{1}
	}
	for _, list := range []struct {
		what string
		v    []float64
	}{{"mean", mean}, {"std", std}} {
		v := slices.Compact(slices.Clone(list.v))
		if len(v) > 1 {
			v = list.v
		}
		if n := strconv.Itoa(len(v)); len(v) > 1 && (len(p.Dims) != 4 || !open(p.Dims[1]) && p.Dims[1] != n &&
			p.Dims[3] != n) {
			d.skip("%s of input %q has %d numbers, its shape here is [%s]", list.what, p.Name, len(v), strings.Join(p.Dims, ","))
			continue
		}
		if slices.ContainsFunc(v, func(x float64) bool {
			return math.Abs(x) > math.MaxFloat32 || list.what == "std" && float32(x) == 0
		}) {
			d.skip("%s of input %q is %v", list.what, p.Name, v)
			continue
		}
		d.set(key+"."+list.what, v)
	}
}

// shapes lists the shapes that an input of the file may have.
func (d *describer) shapes(there [][]int64, key string, p onnx.Port) {
	var list [][]int64
	for _, s := range there {
		shape := d.batched(s)
		if !fitsDims(shape, p.Dims) {
			d.skip("input %q may have the shape %v there, it has [%s] here", p.Name, shape, strings.Join(p.Dims, ","))
			return
		}
		list = append(list, shape)
	}
	d.set(key+".shapes", list)
}

// batched is a shape with the file's batch, which it does not have.
func (d *describer) batched(shape []int64) []int64 {
	shape = slices.Clone(shape)
	if len(shape) > 0 && shape[0] == 1 && d.file.Batch > 1 {
		shape[0] = int64(d.file.Batch)
	}
	return shape
}

// tensor finds the tensor of an input or output in the first graph of the file.
func (d *describer) tensor(name string) *rknn.Tensor {
	if len(d.file.Graphs) == 0 {
		return nil
	}
	return d.file.Graphs[0].Port(name)
}

// stored says of each tensor that both have how the board stores it.
func (d *describer) stored(n *onnx.Names) {
	if len(d.file.Graphs) == 0 {
		return
	}
	have := maps.Clone(d.inner)
	for _, p := range n.In {
		have[p.Name] = true
	}
	for _, name := range d.planes {
		have[name] = true
	}
	list := d.file.Graphs[0].Tensors
	own := map[string]bool{}
	for i := range list {
		own[list[i].Name] = true
	}
	nodes := map[string]bool{}
	for _, name := range n.Nodes {
		nodes[name] = true
	}
	for i := range list {
		t := &list[i]
		if t.Kind == rknn.Other || t.Name == "" {
			continue
		}
		name := t.Name
		if t.Kind == rknn.Intermediate && !have[name] {
			if d.partial(t, have, nodes) {
				continue
			}
			// the tensor itself is not in the file: one with the same values stands for it
			if base := same(name, have); base != "" && !own[base] {
				if name = summed(t, base, n.Biased[base], list, have); name == "" {
					continue
				}
			}
		}
		if port, ok := d.names[name]; ok && t.Kind != rknn.Intermediate {
			name = port
		}
		codes := t.Type == "int8" || t.Type == "int16"
		key := "anynpu.value." + name + ".stored"
		if d.Entries[key] != "" { // twice: the first one counts
			continue
		}
		if codes {
			d.Codes++
		}
		if !have[name] {
			if codes {
				d.Missing++
			}
			continue
		}
		s := metadata.Stored{Type: t.Type}
		switch {
		case codes && (len(t.Scale) != 1 || len(t.Zero) > 1 || !usable(t)):
			d.skip("tensor %q: its scale %v and zero point %v are none of %s", name, t.Scale, t.Zero, t.Type)
			continue
		case codes:
			s.Scale = t.Scale[0]
			if len(t.Zero) == 1 {
				s.Zero = int32(t.Zero[0])
			}
		case t.Kind == rknn.Intermediate || t.Type != "float16" && t.Type != "float32":
			continue
		}
		if t.Kind != rknn.Intermediate {
			s.Native = nativeShapes(d.file, t.Name)
			s.Dims = d.shown(name, t, n)
		}
		d.set(key, s)
	}
}

// summed is the ONNX model's name of a tensor that has the values of base, or has the bias of an Add, whose result is
// sum, in them too: a product that the board rounds after that. Empty: sum has an entry of its own, and base is not
// rounded.
func summed(t *rknn.Tensor, base, sum string, list []rknn.Tensor, have map[string]bool) string {
	if sum == "" || !have[sum] || !biased(t) {
		return base
	}
	switch u := like(list, sum); {
	case u == nil:
		return sum
	case sameCodes(t, u):
		return ""
	}
	return base
}

// biased reports whether a tensor is a product that may have the bias of an Add in it.
func biased(t *rknn.Tensor) bool {
	for name := t.Name; ; {
		if strings.HasSuffix(name, "_mm") {
			return true
		}
		base, ok := rknn.Same(name)
		if !ok {
			return false
		}
		name = base
	}
}

// like finds the tensor that has the values of the ONNX model's tensor name, nil if none has.
func like(list []rknn.Tensor, name string) *rknn.Tensor {
	is := map[string]bool{name: true}
	for i := range list {
		if t := &list[i]; t.Kind != rknn.Other && (t.Name == name || same(t.Name, is) != "") {
			return t
		}
	}
	return nil
}

func sameCodes(a, b *rknn.Tensor) bool {
	return a.Type == b.Type && slices.Equal(a.Scale, b.Scale) && slices.Equal(a.Zero, b.Zero)
}

// same lists the ONNX model's names for the values of a tensor of the file that are copied, reshaped or transposed
// there, empty for nothing.
func same(name string, have map[string]bool) string {
	for {
		base, ok := rknn.Same(name)
		if !ok {
			return ""
		}
		if name = base; have[name] {
			return name
		}
	}
}

// partial says of a tensor between the steps of an operator that it has codes; ok is false if it is no such tensor.
func (d *describer) partial(t *rknn.Tensor, have, nodes map[string]bool) (ok bool) {
	name, mean := strings.CutSuffix(t.Name, "_2conv0")
	known := func(s string) bool { return have[s] }
	switch base, sum := strings.CutSuffix(name, "_conv"); {
	case mean && !nodes[name]:
		if name, ok = strings.CutSuffix(name, "_gavg"); !ok {
			return false
		}
	case mean:
		known = func(s string) bool { return nodes[s] }
	case !sum:
		return false
	case have[base]:
		name = base
	default:
		name = same(base, have)
	}
	if !known(name) || t.Type != "int8" || len(t.Scale) != 1 || len(t.Zero) > 1 || !usable(t) {
		return false
	}
	s := metadata.Stored{Type: t.Type, Scale: t.Scale[0]}
	if len(t.Zero) == 1 {
		s.Zero = int32(t.Zero[0])
	}
	d.set("anynpu.value."+name+".partial", s)
	d.Codes++
	return true
}

// shown is the shape of a port of the file that the ONNX model may have with another number of dimensions, nil where
// both have as many.
func (d *describer) shown(name string, t *rknn.Tensor, n *onnx.Names) []int64 {
	if len(t.Dims) == 0 || len(d.file.DynamicShapes) > 0 || slices.Min(t.Dims) < 1 {
		return nil
	}
	for _, p := range slices.Concat(n.In, n.Out) {
		if p.Name == name && len(p.Dims) == len(t.Dims) {
			return nil
		}
	}
	return d.batched(t.Dims)
}

// usable reports whether codes of the tensor's type can have its scale and zero point.
func usable(t *rknn.Tensor) bool {
	s := t.Scale[0]
	bound := int64(1) << 7
	if t.Type == "int16" {
		bound = 1 << 15
	}
	return s > 0 && s <= math.MaxFloat32 && (len(t.Zero) == 0 || t.Zero[0] >= -bound && t.Zero[0] < bound)
}

// nativeShapes are the native shapes of a port in all graphs of a file, nil if one is not known.
func nativeShapes(c *rknn.File, name string) (list [][]int64) {
	for g := range c.Graphs {
		x := c.Graphs[g].Port(name)
		if x == nil || len(x.Shape) == 0 {
			return nil
		}
		list = append(list, x.Shape)
	}
	return list
}
