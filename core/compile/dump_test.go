package compile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// files are the names of a folder's files.
func files(t *testing.T, dir string) (list []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// computed runs the model in a file.
func computed(t *testing.T, path string, in ...tensor.Tensor) []tensor.Tensor {
	w := mem.NewWeights()
	defer w.Release()
	m, err := onnx.ImportFile(path, onnx.Options{Weights: w})
	require.NoError(t, err)
	out, err := ref.Run(context.Background(), m.Graph, in)
	require.NoError(t, err)
	return out
}

func dumpedGraph(t *testing.T) *graph.Graph {
	b := graph.NewBuilder("a/net")
	x := b.Input("x", tensor.T(tensor.Float32, 2))
	b.Output(b.Add(&op.Abs{}, b.Add(&op.Mul{}, x, b.Const("w", tensor.T(tensor.Float32, 2), tensor.Float32s(2, -3)))))
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func TestDumps_numberedFilesThatCompute(t *testing.T) {
	dir := t.TempDir()
	var told []string
	d := NewDumps(dir, func(text string) { told = append(told, text) })
	g := dumpedGraph(t)
	d.Graph(g)
	d.Graph(g)
	assert.Equal(t, []string{"0001-a_net.onnx", "0002-a_net.onnx"}, files(t, dir))
	again := NewDumps(dir, nil)
	pl := &placed{graph: g, owner: []int{0, 1}, report: &device.Placement{Model: "net", Nodes: []device.NodePlacement{
		{Op: "mul", Device: "toy"}, {Op: "abs", Device: "toy"}}}}
	toys := []device.Device{&namedDevice{id: "one"}, &namedDevice{id: "two/2"}}
	again.dump(pl, [][]int{{0}, {1}}, toys)
	assert.Equal(t, []string{"0001-a_net.onnx", "0002-a_net.onnx", "0003-a_net.onnx", "0003-a_net.part0-one.onnx",
		"0003-a_net.part1-two_2.onnx"}, files(t, dir))
	assert.Empty(t, told)
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{2}, Data: tensor.Float32s(5, 7)}
	assert.Equal(t, tensor.Float32s(10, 21), computed(t, filepath.Join(dir, "0003-a_net.onnx"), x)[0].Data)
	s, err := onnx.SurveyFile(filepath.Join(dir, "0003-a_net.onnx"))
	require.NoError(t, err)
	assert.Contains(t, s.Meta[describedMeta], `"device":"two/2"`)
}

// A folder of many files costs one look at it and not one for each file.
func TestDumps_fullFolder(t *testing.T) {
	dir := t.TempDir()
	const full = 300
	for i := 1; i <= full; i++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d-old.onnx", i)), nil, 0o600))
	}
	for _, other := range []string{"0302", "x-0301", "0303-part"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, other), nil, 0o600))
	}
	looks := 0
	d := NewDumps(dir, func(text string) { t.Error(text) })
	d.list = func(folder string) ([]os.DirEntry, error) {
		looks++
		return os.ReadDir(folder)
	}
	d.Graph(dumpedGraph(t))
	d.Graph(dumpedGraph(t))
	d.Graph(dumpedGraph(t))
	for _, want := range []string{"0301-a_net.onnx", "0302-a_net.onnx", "0304-a_net.onnx"} {
		assert.FileExists(t, filepath.Join(dir, want))
	}
	assert.Equal(t, 3, looks)
}

// namedDevice is a device of which only the name is asked.
type namedDevice struct {
	device.Device
	id string
}

func (d *namedDevice) Info() device.Info { return device.Info{ID: d.id} }

// Neither a folder that is not there, nor a graph that ONNX cannot express, stops a compilation.
func TestDumps_neverFail(t *testing.T) {
	var told []string
	tell := func(text string) { told = append(told, text) }
	d := NewDumps(filepath.Join(t.TempDir(), "missing"), tell)
	d.Graph(dumpedGraph(t))
	d.Graph(dumpedGraph(t))
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "no such file or directory")

	told = nil
	b := graph.NewBuilder("")
	b.Output(b.Add(&op.Assert{}, b.Input("c", tensor.T(tensor.Bool, 1))))
	g, err := b.Graph()
	require.NoError(t, err)
	_, err = export.Of(g, export.Options{})
	assert.ErrorContains(t, err, "ONNX cannot express 1 of the graph's nodes: assert: a run fails")
	dir := t.TempDir()
	NewDumps(dir, tell).Graph(g)
	assert.Empty(t, told)
	s, err := onnx.SurveyFile(filepath.Join(dir, "0001-graph.onnx"))
	require.NoError(t, err)
	assert.Equal(t, "c", s.In[0].Name)
}

func TestProgram_givesItsGraphBack(t *testing.T) {
	w := mem.NewWeights()
	defer w.Release()
	_, err := newProgram().Graph(w)
	assert.ErrorContains(t, err, "loaded in compiled form")
}
