package rknn_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
)

// detector describes an int8 network with two outputs.
func detector() *rknn.File {
	tensors := []rknn.Tensor{
		{
			Name:  "images",
			Type:  "int8",
			Kind:  rknn.Input,
			Dims:  []int64{1, 3, 32, 32},
			Shape: []int64{1, 32, 32, 3},
			Min:   []float32{0},
			Max:   []float32{1},
			Scale: []float32{0.00392157},
			Zero:  []int64{-128},
		},
		{
			Name:   "/model/act",
			Type:   "int8",
			Kind:   rknn.Intermediate,
			Native: true,
			Dims:   []int64{1, 16, 16, 16},
			Shape:  []int64{1, 1, 16, 16, 16},
			Scale:  []float32{0.5},
			Zero:   []int64{3},
		},
		{
			Name:   "boxes",
			Type:   "int8",
			Kind:   rknn.Output,
			Native: true,
			Dims:   []int64{1, 4, 16, 16},
			Shape:  []int64{1, 2, 16, 16, 16},
			Scale:  []float32{0.25},
			Zero:   []int64{-7},
		},
		{
			Name: "weights", Type: "int8", Kind: rknn.Other, Dims: []int64{27, 48, 1, 1},
			Shape: []int64{1, 1, 1, 1, 16, 32, 1, 1, 1, 1, 16, 16, 1, 1, 1, 1, 11, 32, 1, 1, 1, 1, 11, 16},
		},
		{Name: "counts", Type: "int64", Kind: rknn.Output, Dims: []int64{1}, Shape: []int64{1}},
	}
	return &rknn.File{
		Version: rknntest.Main, Targets: []string{"rk3588"}, Compiler: "2.3.2", Framework: "ONNX",
		Custom: "labels: it's \"four\"\n\\", Batch: 4,
		Inputs: []rknn.Port{{Name: "images", Type: "int8", Layout: "nchw", Dims: []int64{1, 3, 32, 32}}},
		Outputs: []rknn.Port{
			{
				Name:   "boxes",
				Type:   "int8",
				Layout: "nchw",
				Dims:   []int64{1, 4, 16, 16},
			}, {Name: "counts", Type: "int64", Layout: "undefined", Dims: []int64{1}},
		},
		Graphs: []rknn.Graph{
			{
				Tensors: tensors,
				Nodes:   []rknn.Node{{Op: "Conv", Name: "Conv:/model/conv"}, {Op: "exSwish", Name: "exSwish:/model/act"}},
				Inputs:  []int{0},
				Outputs: []int{2, 4},
			},
		},
		Preprocess: map[string]rknn.Preprocess{
			"images": {Mean: []float64{123.675, 116.28, 103.53}, Std: []float64{58.395, 57.12, 57.375}, RGB2BGR: true},
		},
		Ranges:        map[string][2]float64{"images": {0, 1}, "/model/act": {-0.25, 6}, "it's": {-1e-7, 1}},
		SharedWeights: []string{"conv.weight", "conv.bias"},
	}
}

// fixtures are descriptions of every kind.
func fixtures() map[string]*rknn.File {
	mini := detector()
	mini.Version, mini.Targets, mini.Compiler = rknntest.Mini, []string{"rv1106"}, "2.2.0"
	mini.Batch, mini.SharedWeights = 0, nil // the container has no fields for them, nor for ranges of tensors and layouts
	for i := range mini.Graphs[0].Tensors {
		mini.Graphs[0].Tensors[i].Min, mini.Graphs[0].Tensors[i].Max = nil, nil
	}
	for _, p := range [][]rknn.Port{mini.Inputs, mini.Outputs} {
		for i := range p {
			p[i].Layout = ""
		}
	}
	half := detector()
	half.Inputs[0].Type, half.Outputs[0].Type, half.Graphs[0].Tensors[0].Type = "float16", "float16", "float16"
	half.Ranges, half.Batch = nil, 0
	dynamic := detector()
	dynamic.DynamicShapes = map[string][][]int64{"images": {{1, 3, 32, 32}, {1, 3, 64, 64}},
		"boxes": {{1, 4, 16, 16}, {1, 4, 32, 32}}}
	dynamic.Graphs = append(dynamic.Graphs, dynamic.Graphs[0])
	half.Preprocess["images"] = rknn.Preprocess{Std: []float64{2}}
	plain := &rknn.File{Version: rknntest.Main, Targets: []string{"rk3566", "rk3568"}}
	return map[string]*rknn.File{"int8": detector(), "mini": mini, "float16": half, "dynamic": dynamic, "plain": plain}
}

func read(t *testing.T, data []byte) *rknn.File {
	f, err := rknn.Read(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	return f
}

func TestRead_everyField(t *testing.T) {
	for name, want := range fixtures() {
		data := rknntest.Write(want)
		want.Size = int64(len(data))
		assert.Equal(t, want, read(t, data), name)
	}
}

func TestRead_largeFile(t *testing.T) {
	want := detector()
	for i := range 5000 {
		want.Graphs[0].Nodes = append(want.Graphs[0].Nodes, rknn.Node{Op: "Conv", Name: strings.Repeat("n", i%50)})
	}
	want.Custom = strings.Repeat("custom ", 100_000)
	data := rknntest.Write(want)
	want.Size = int64(len(data))
	assert.Equal(t, want, read(t, data))
}

func TestRead_refused(t *testing.T) {
	for text, says := range map[string]string{
		"": `it begins with ""`, "RK": "is not an .rknn file", "\x08\x07onnx....": "is not an .rknn file",
		"RKCE\x00\x00\x00\x00": "encrypted", "CYPTRKNN....": "encrypted",
	} {
		_, err := rknn.Read(strings.NewReader(text), int64(len(text)))
		assert.Equal(t, fault.File, fault.KindOf(err), text)
		assert.ErrorContains(t, err, says)
	}
}

// Parts that cannot be read are named, and the others are there.
func TestRead_unreadParts(t *testing.T) {
	whole := rknntest.Write(detector())
	section := int(binary.LittleEndian.Uint64(whole[16:]))
	changed := func(f func(b []byte) []byte) *rknn.File { return read(t, f(bytes.Clone(whole))) }

	f := changed(func(b []byte) []byte { return b[:64+section] })
	assert.Equal(t, []string{"JSON: the file ends before it"}, f.Unread)
	assert.Equal(t, "2.3.2", f.Compiler)
	assert.Equal(t, []string{"rk3588"}, f.Targets)

	f = changed(func(b []byte) []byte { b[8] = 9; return b })
	assert.Equal(t, []string{"flatbuffer: container version 0x9 is not known"}, f.Unread)
	assert.Equal(t, "images", f.Inputs[0].Name)

	f = changed(func(b []byte) []byte { b[68] = 'X'; return b })
	assert.Equal(t, []string{"flatbuffer: there is none with the identifier RKNN"}, f.Unread)
	assert.Len(t, f.Outputs, 2)

	f = changed(func(b []byte) []byte { binary.LittleEndian.PutUint64(b[16:], math.MaxUint64); return b })
	assert.Contains(t, f.Unread[0], "container: a section of 18446744073709551615 bytes")

	f = changed(func(b []byte) []byte { return append(b[:64+section+8], "[1,"...) })
	assert.Len(t, f.Unread, 1)
	assert.Contains(t, f.Unread[0], "JSON: ")
	assert.Len(t, f.Graphs, 1)

	want := detector()
	want.Preprocess["images"] = rknn.Preprocess{Std: []float64{1, 0, 1}}
	want.Ranges["nan"] = [2]float64{math.NaN(), 1}
	want.DynamicShapes = map[string][][]int64{"images": {{1, 3, 0, 32}}}
	f = read(t, rknntest.Write(want))
	assert.ElementsMatch(t, []string{
		`preprocessing: input "images": mean or std are no finite numbers, or a std is 0`,
		`ranges: tensor "nan": no smallest and largest value`,
		`dynamic shapes: shape 0 of tensor "images" is no list of sizes`,
	}, f.Unread)
	assert.Len(t, f.Ranges, 3)
}

// A name of a million bytes, and a graph that is in the list a thousand times.
func TestRead_takesNoMoreThanItMay(t *testing.T) {
	want := detector()
	want.Graphs[0].Tensors[0].Name = strings.Repeat("x", 1<<20)
	f := read(t, rknntest.Write(want))
	assert.Equal(t, []string{`graph 0: the name of tensor 0, ""`}, f.Unread)
	assert.True(t, f.Lost)
	assert.Equal(t, "ONNX", f.Framework)
	assert.Len(t, f.Graphs[0].Tensors, 5)
	assert.Equal(t, []float32{0.00392157}, f.Graphs[0].Tensors[0].Scale, "the fields beside it")
}

// One field that cannot be read costs that field, and is told as lost unless it is one of a constant.
func TestRead_oneField(t *testing.T) {
	want := detector()
	want.Graphs[0].Tensors[3].Shape = make([]int64, 5000)
	want.Graphs[0].Inputs = []int{0, 77}
	want.Graphs[0].Nodes[1].Op = strings.Repeat("x", 5000)
	f := read(t, rknntest.Write(want))
	assert.Equal(t, []string{`graph 0: the native shape of tensor 3, "weights"`, "graph 0: operator or name of node 1",
		"graph 0: its inputs name tensor 77 of 5"}, f.Unread)
	assert.True(t, f.Lost, "the input")
	got, whole := f.Graphs[0], detector().Graphs[0]
	whole.Tensors[3].Shape, whole.Nodes[1].Op = nil, ""
	assert.Equal(t, whole, got)

	want = detector()
	want.Graphs[0].Tensors[3].Shape = make([]int64, 5000)
	assert.False(t, read(t, rknntest.Write(want)).Lost, "a constant's native shape")
}

// Inputs and outputs are those of the graph's lists: an output that is also read inside has another kind.
func TestRead_outputReadInside(t *testing.T) {
	want := detector()
	want.Graphs[0].Tensors[2].Kind = rknn.Intermediate
	f := read(t, rknntest.Write(want))
	assert.Equal(t, rknn.Output, f.Graphs[0].Tensors[2].Kind)
	assert.Equal(t, []float32{0.25}, f.Graphs[0].Port("boxes").Scale)
	assert.Nil(t, f.Graphs[0].Port("/model/act"))

	want = detector()
	want.Graphs[0].Inputs, want.Graphs[0].Outputs = nil, nil
	f = read(t, rknntest.Write(want))
	assert.Equal(t, [][]int{{0}, {2, 4}}, [][]int{f.Graphs[0].Inputs, f.Graphs[0].Outputs},
		"without lists the kinds count")
}

// Without its JSON text a file tells its inputs and outputs by its tensors.
func TestRead_portsOfTheGraph(t *testing.T) {
	whole := rknntest.Write(detector())
	f := read(t, whole[:64+binary.LittleEndian.Uint64(whole[16:])])
	assert.Equal(t, []rknn.Port{{Name: "images", Type: "int8", Layout: "nchw", Dims: []int64{1, 3, 32, 32}}}, f.Inputs)
	assert.Len(t, f.Outputs, 2)
}

// What converters write where nothing is set is nothing.
func TestRead_quiet(t *testing.T) {
	want := detector()
	want.Batch, want.DynamicShapes, want.Ranges = 0, nil, nil
	f := read(t, rknntest.Write(want))
	assert.Empty(t, f.Unread)
	assert.False(t, f.Lost)
	assert.Equal(t, []string{"images"}, slices.Collect(maps.Keys(f.Preprocess)), "not the outputs")
	assert.Nil(t, f.DynamicShapes)
}

// Each byte of a file is changed; nothing but the first four decides whether the file is read at all.
func TestRead_changedBytes(t *testing.T) {
	for name, f := range fixtures() {
		data := rknntest.Write(f)
		for i := range data {
			bits := []byte{1, 0x80, 0xff}[i%3]
			data[i] ^= bits
			_, err := rknn.Read(bytes.NewReader(data), int64(len(data)))
			if i >= 4 {
				require.NoError(t, err, "%s, byte %d", name, i)
			}
			data[i] ^= bits
		}
		for n := range data {
			_, err := rknn.Read(bytes.NewReader(data[:n]), int64(n))
			if n >= 4 {
				require.NoError(t, err, "%s, %d bytes", name, n)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, x := range fixtures() {
		f.Add(rknntest.Write(x))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := rknn.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			assert.Equal(t, fault.File, fault.KindOf(err))
			return
		}
		inBounds(t, file)
	})
}

// flipsEnv names the variable that says how many bytes TestRead_flips changes.
const flipsEnv = "ANYNPU_RKNN_FLIPS"

// One byte of a file at a time becomes another at random; what is read of it stays within the file's bounds.
func TestRead_flips(t *testing.T) {
	flips := 2_000
	if n, err := strconv.Atoi(os.Getenv(flipsEnv)); err == nil {
		flips = n
	}
	random := rand.New(rand.NewPCG(18, 1))
	var files [][]byte
	for _, name := range slices.Sorted(maps.Keys(fixtures())) {
		files = append(files, rknntest.Write(fixtures()[name]))
	}
	for i := range flips {
		data := files[i%len(files)]
		at, by := random.IntN(len(data)), byte(1+random.IntN(255))
		data[at] ^= by
		f, err := rknn.Read(bytes.NewReader(data), int64(len(data)))
		data[at] ^= by
		if err != nil {
			require.Less(t, at, 4, "flip %d", i)
			continue
		}
		inBounds(t, f)
	}
	t.Logf("%d single-byte flips", flips)
}

// inBounds checks what users of a file rely on.
func inBounds(t *testing.T, f *rknn.File) {
	ok := true
	for _, g := range f.Graphs {
		for _, list := range [][]int{g.Inputs, g.Outputs} {
			for _, i := range list {
				ok = ok && i >= 0 && i < len(g.Tensors)
			}
		}
	}
	for _, p := range f.Preprocess {
		ok = ok && !slices.Contains(p.Std, 0)
	}
	for _, shapes := range f.DynamicShapes {
		for _, shape := range shapes {
			ok = ok && slices.Min(append(shape, 1)) > 0
		}
	}
	if !ok {
		t.Fatalf("out of bounds: %+v", f)
	}
}
