package model

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
)

// chain is a network of convolutions of 1 x 1 and Relus: layers of a width, whose names have a prefix.
type chain struct {
	prefix        string
	layers, width int
	size          int64
}

func message(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func integer(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

func (c *chain) tensor(i int, op string) string {
	return fmt.Sprintf("/%s.%d/%s_output_0", c.prefix, i, op)
}

// onnx is the model, with weights of zeros.
func (c *chain) onnx() []byte {
	var g []byte
	value := func(n protowire.Number, name string) {
		var shape []byte
		for _, d := range []int64{1, int64(c.width), c.size, c.size} {
			shape = message(shape, 1, integer(nil, 1, d))
		}
		tensor := message(integer(nil, 1, 1), 2, shape)
		g = message(g, n, message(message(nil, 1, []byte(name)), 2, message(nil, 1, tensor)))
	}
	node := func(op, out string, in ...string) {
		var n []byte
		for _, i := range in {
			n = message(n, 1, []byte(i))
		}
		g = message(g, 1, message(message(n, 2, []byte(out)), 4, []byte(op)))
	}
	at := "images"
	for i := range c.layers {
		w := fmt.Sprintf("%s.%d.weight", c.prefix, i)
		node("Conv", c.tensor(i, "conv"), at, w)
		next := c.tensor(i, "act")
		if i == c.layers-1 {
			next = "output0"
		}
		node("Relu", next, c.tensor(i, "conv"))
		at = next
		t := []byte(nil)
		for _, d := range []int64{int64(c.width), int64(c.width), 1, 1} {
			t = integer(t, 1, d)
		}
		g = message(g, 5, message(message(integer(t, 2, 1), 8, []byte(w)), 9, make([]byte, 4*c.width*c.width)))
	}
	value(11, "images")
	value(12, "output0")
	return message(message(integer(nil, 1, 8), 7, message(g, 2, []byte("g"))), 8, integer(nil, 2, 17))
}

// rknn is a file of it, in which each convolution is one with its Relu.
func (c *chain) rknn() []byte {
	dims := []int64{1, int64(c.width), c.size, c.size}
	f := &rknn.File{Version: rknntest.Main, Targets: []string{"rk3588"},
		Inputs:  []rknn.Port{{Name: "images", Type: "int8", Dims: dims}},
		Outputs: []rknn.Port{{Name: "output0", Type: "int8", Dims: dims}}, Graphs: make([]rknn.Graph, 1)}
	for i := range c.layers - 1 {
		f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, rknn.Tensor{Name: c.tensor(i, "act"), Kind: rknn.Intermediate,
			Type: "int8", Dims: dims, Scale: []float32{1}, Zero: []int64{0}})
	}
	for i := range c.layers {
		f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, rknn.Tensor{Name: fmt.Sprintf("%s.%d.weight", c.prefix, i),
			Type: "int8", Dims: []int64{int64(c.width), int64(c.width), 1, 1}})
	}
	return rknntest.Write(f)
}

// zoo are 50 networks of five families: deeper ones, wider ones, and those for larger images.
func zoo() (all []*chain) {
	for _, prefix := range []string{"model", "backbone", "features", "layer", "net"} {
		for i := range 5 {
			all = append(all, &chain{prefix, 4 + i, 8, 16}, &chain{prefix, 4 + i, 16, 16})
		}
	}
	return all
}

func TestMap_searchesAFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	dir, others := t.TempDir(), t.TempDir()
	for i, c := range zoo() {
		write(t, filepath.Join(dir, fmt.Sprint(i%7), fmt.Sprintf("%s%d.onnx", c.prefix, i)), c.onnx())
	}
	write(t, filepath.Join(dir, "text.onnx"), []byte("no model"))
	write(t, filepath.Join(dir, "notes.txt"), []byte("no model"))
	var first, later time.Duration
	lookups := 0
	for round := range 2 {
		for i, c := range zoo() {
			path := write(t, filepath.Join(others, fmt.Sprintf("m%d.rknn", i)), c.rknn())
			for _, s := range []Source{{Path: path}, {Data: c.rknn()}} {
				f, err := s.Open()
				require.NoError(t, err)
				file, err := rknn.Read(f, f.Size)
				require.NoError(t, err)
				begin := time.Now()
				got, by, err := standIn(s, f, file, Map(dir))
				if took := time.Since(begin); first == 0 {
					first = took
				} else {
					later, lookups = later+took, lookups+1
				}
				f.Close()
				require.NoError(t, err, "%v, round %d", *c, round)
				assert.Equal(t, fmt.Sprintf("%s%d.onnx", c.prefix, i), filepath.Base(got))
				assert.Equal(t, Map(dir), by)
			}
		}
	}
	t.Logf("the first look-up takes %v, the others %v each", first, later/time.Duration(lookups))
	for i := range 10 {
		c := &chain{fmt.Sprintf("stranger%d", i), 4 + i, 8, 16}
		_, err := loaded(t, Source{Data: c.rknn()}, Map(dir))
		assert.Equal(t, fault.File, fault.KindOf(err))
		assert.ErrorContains(t, err, "no ONNX file in this folder has the names")
		assert.Equal(t, 2, strings.Count(err.Error(), ".onnx\" ("), "the two nearest: %v", err)
	}
}

func TestMap_searchRefuses(t *testing.T) {
	dir := t.TempDir()
	search := func(c *chain) (string, error) {
		data := c.rknn()
		f, err := rknn.Read(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		file, _, err := Map(dir).Search(f)
		return file, err
	}
	c := &chain{"model", 4, 8, 16}
	_, err := search(c)
	assert.ErrorContains(t, err, "there is no ONNX file in this folder")
	path := write(t, filepath.Join(dir, "a.onnx"), c.onnx())
	got, err := search(c)
	require.NoError(t, err)
	assert.Equal(t, path, got)
	write(t, filepath.Join(dir, "b.onnx"), c.onnx())
	got, err = search(c)
	require.NoError(t, err, "the same bytes twice are no tie")
	assert.Equal(t, path, got)
	other := c.onnx()
	other[bytes.LastIndex(other, make([]byte, 64))] = 1
	write(t, filepath.Join(dir, "b.onnx"), other)
	_, err = search(c)
	assert.ErrorContains(t, err, `two ONNX files agree alike`)
	assert.ErrorContains(t, err, "they have the same names and sizes and other numbers")
	assert.ErrorContains(t, err, `"a.onnx"`)
	assert.ErrorContains(t, err, `"b.onnx"`)
	// A file that is replaced is read again.
	write(t, path, (&chain{"other", 4, 8, 16}).onnx())
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
	got, err = search(c)
	require.NoError(t, err)
	assert.Equal(t, "b.onnx", filepath.Base(got))
	_, _, err = Map(dir).Search(&rknn.File{})
	assert.ErrorContains(t, err, "does not tell the names")
	// NAME.onnx beside NAME.rknn needs no search.
	net := write(t, filepath.Join(t.TempDir(), "net.rknn"), (&chain{"unknown", 4, 8, 16}).rknn())
	write(t, Beside(net), c.onnx())
	m, err := loaded(t, Source{Path: net}, Map(dir))
	require.NoError(t, err)
	assert.Equal(t, Beside(net), m.Path)
}

// renamed is a file of c in which the converter has named inner tensors by its own rules.
func (c *chain) renamed(endings ...string) []byte {
	data := c.rknn()
	f, err := rknn.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(err)
	}
	g := &f.Graphs[0]
	for i := range g.Tensors {
		if x := &g.Tensors[i]; x.Kind == rknn.Intermediate {
			x.Name += endings[i%len(endings)]
		}
	}
	g.Tensors = append(g.Tensors, rknn.Tensor{Name: "Pool_9_2conv0", Kind: rknn.Intermediate, Type: "int8"},
		rknn.Tensor{Name: "x_compute_zone", Kind: rknn.Intermediate, Type: "int8"})
	return rknntest.Write(f)
}

// Twelve networks of one folder are found by bytes although all their inner tensors are renamed, and twenty of other
// networks with the same inputs and outputs are refused.
func TestMap_searchUndoesRenaming(t *testing.T) {
	dir := t.TempDir()
	endings := [][]string{{"_exSecondary"}, {"-rs", "_tp"}, {"_mm"}, {"_mm_exSecondary0", "_mm__float16"}, {"-rs_tp"},
		{"_sw", "_rs", "-rs_exSecondary"}, {"__int8"}, {"_tp_rs"}, {"", "_mm__float16_exSecondary"}, {"_sdpa"}, {"_2ln"},
		{""}}
	var all []*chain
	for i := range endings {
		all = append(all, &chain{[]string{"model", "backbone", "net"}[i%3], 4 + i/3, 8, 16})
	}
	for i, c := range all {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.onnx", i)), c.onnx())
	}
	for i, c := range all {
		m, err := loaded(t, Source{Data: c.renamed(endings[i]...)}, Map(dir))
		require.NoError(t, err, "%v", endings[i])
		assert.Equal(t, fmt.Sprintf("%d.onnx", i), filepath.Base(m.Path))
	}
	for i := range 20 {
		c := &chain{fmt.Sprintf("stranger%d", i), 3 + i, 8, 16}
		_, err := loaded(t, Source{Data: c.renamed(endings[i%12]...)}, Map(dir))
		assert.ErrorContains(t, err, "wanted are 60 %, and of the inner tensors 50 %")
		assert.Regexp(t, `write the line "[0-9a-f]{64} -> .*\.onnx" into a text file`, err.Error())
	}
}

// A file whose inputs, outputs and shapes agree is taken with less than half of the inner tensors if no other one is
// near, also as the only one of a folder.
func TestMap_searchTakesAClearWinner(t *testing.T) {
	dir := t.TempDir()
	c := &chain{"model", 7, 8, 16}
	path := write(t, filepath.Join(dir, "a.onnx"), c.onnx())
	data := c.renamed("", "_fused9", "_fused9") // an ending that is not known
	for _, other := range []bool{false, true} {
		if other {
			write(t, filepath.Join(dir, "b.onnx"), (&chain{"other", 7, 16, 8}).onnx())
		}
		m, err := loaded(t, Source{Data: data}, Map(dir))
		require.NoError(t, err)
		assert.Equal(t, path, m.Path)
	}
	_, err := loaded(t, Source{Data: c.renamed("_fused9")}, Map(dir))
	assert.ErrorContains(t, err, "no ONNX file in this folder has the names")
}
