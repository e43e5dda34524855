package hbdnn

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// dumped has what models compute written to a folder.
func dumped(t *testing.T) string {
	folder := t.TempDir()
	dumping = newDumper(folder)
	t.Cleanup(func() { dumping = nil })
	return folder
}

// dumpIndex is nodes.json.
type dumpIndex struct {
	Nodes   []dumpNode
	Tensors []dumpFile
}

func dumpOf(t *testing.T, folder string) (w dumpIndex) {
	text, err := os.ReadFile(filepath.Join(folder, "nodes.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &w))
	return w
}

func TestDump_everyNode(t *testing.T) {
	folder := dumped(t)
	o := ready(t, chain("a/b"))
	copy(o.in[0].data(), []byte{8, 12, 14})
	copy(o.in[0].data()[16:], []byte{16, 6, 20})
	require.NoError(t, os.Mkdir(filepath.Join(folder, "a_b_0"), 0o700)) // of an earlier process
	for range 2 {
		require.NoError(t, infer(t, o.m, o.in, o.out))
	}
	want := []float32{0, -1, -2, -3, 0, -5} // Neg(Relu((x - 10) / 2))
	for i, v := range o.out[0].floats() {
		require.EqualValues(t, want[i], v)
	}
	runs, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, runs, 3)
	run := filepath.Join(folder, "a_b_2")
	w := dumpOf(t, run)
	require.GreaterOrEqual(t, len(w.Nodes), 3, "the image is decoded, too")
	relu, neg := w.Nodes[len(w.Nodes)-2], w.Nodes[len(w.Nodes)-1]
	require.Equal(t, [4]string{"relu", "Relu_r", "neg", "Neg_y"},
		[4]string{relu.Operator, relu.Name, neg.Operator, neg.Name})
	require.Equal(t, relu.Outputs, neg.Inputs)
	types := map[string]dumpFile{}
	for _, f := range w.Tensors {
		types[f.File] = f
		data, err := os.ReadFile(filepath.Join(run, f.File))
		require.NoError(t, err)
		n := int64(map[string]int{"float32": 4, "uint8": 1}[f.Type])
		for _, d := range f.Shape {
			n *= d
		}
		require.EqualValues(t, n, len(data), "%+v", f)
		st, err := os.Stat(filepath.Join(run, f.File))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), st.Mode())
	}
	in := types[w.Nodes[0].Inputs[0].File]
	require.Equal(t, "uint8", in.Type)
	for file, want := range map[string][]float32{relu.Inputs[0].File: {-1, 1, 2, 3, -2, 5},
		relu.Outputs[0].File: {0, 1, 2, 3, 0, 5}, neg.Outputs[0].File: {0, -1, -2, -3, 0, -5}} {
		require.Equal(t, "float32", types[file].Type)
		require.Equal(t, []int64{1, 1, 2, 3}, types[file].Shape)
		data, err := os.ReadFile(filepath.Join(run, file))
		require.NoError(t, err)
		got := make([]float32, len(want))
		for i := range got {
			got[i] = float32At(data, i)
		}
		for i := range want {
			require.EqualValues(t, want[i], got[i], file)
		}
	}
	require.True(t, strings.HasSuffix(in.File, "_x.bin"), in.File)
}

func TestDump_constantsAndOutputsTwice(t *testing.T) {
	folder := dumped(t)
	o := ready(t, (&onnxtest.Model{}).Input("x", onnxtest.Float, 1, 2).Output("s", onnxtest.Float, 1, 2).
		Output("s", onnxtest.Float, 1, 2).Constant("c", onnxtest.Float, append(raw32(1), raw32(2)...), 1, 2).
		Node("Add", "s", "x", "c").Meta("anynpu.name", "..add"))
	copy(o.in[0].floats(), []float32{10, 20})
	require.NoError(t, infer(t, o.m, o.in, o.out))
	w := dumpOf(t, filepath.Join(folder, "_.add_0"))
	require.Equal(t, dumpNode{"Add_s", "add", []dumpValue{{"x", "input0_x.bin"}, {Name: "c"}},
		[]dumpValue{{"s", "node0000_output0_s.bin"}}}, w.Nodes[0], "a constant has no file")
	require.Equal(t, []float32{11, 22}, o.out[0].floats())
	require.Equal(t, []float32{11, 22}, o.out[1].floats())
}

func TestDump_cannotWrite(t *testing.T) {
	folder := dumped(t)
	o := ready(t, relu(1, 2))
	copy(o.in[0].floats(), []float32{-1, 3})
	require.NoError(t, os.RemoveAll(folder))
	for range 2 {
		require.NoError(t, infer(t, o.m, o.in, o.out), "the run goes on")
	}
	require.Equal(t, []float32{0, 3}, o.out[0].floats())
	require.True(t, dumping.Ended())
}

func TestFolderOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, bad := range []string{"", file, filepath.Join(file, "x"), "/nowhere"} {
		_, ok := folderOf("HB_DNN_DUMP_PATH", bad)
		require.False(t, ok, bad)
	}
	t.Chdir(filepath.Dir(file))
	got, ok := folderOf("HB_DNN_DUMP_PATH", ".")
	require.True(t, ok)
	require.Equal(t, filepath.Dir(file), got)
}

func float32At(data []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
}
