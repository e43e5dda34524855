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
		return Map(dir).Search(f)
	}
	c := &chain{"model", 4, 8, 16}
	_, err := search(c)
	assert.ErrorContains(t, err, "there is no ONNX file in this folder")
	path := write(t, filepath.Join(dir, "a.onnx"), c.onnx())
	got, err := search(c)
	require.NoError(t, err)
	assert.Equal(t, path, got)
	write(t, filepath.Join(dir, "b.onnx"), c.onnx())
	_, err = search(c)
	assert.ErrorContains(t, err, `two ONNX files agree alike`)
	assert.ErrorContains(t, err, `"a.onnx"`)
	assert.ErrorContains(t, err, `"b.onnx"`)
	// A file that is replaced is read again.
	write(t, path, (&chain{"other", 4, 8, 16}).onnx())
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
	got, err = search(c)
	require.NoError(t, err)
	assert.Equal(t, "b.onnx", filepath.Base(got))
	_, err = Map(dir).Search(&rknn.File{})
	assert.ErrorContains(t, err, "does not tell the names")
	// NAME.onnx beside NAME.rknn needs no search.
	net := write(t, filepath.Join(t.TempDir(), "net.rknn"), (&chain{"unknown", 4, 8, 16}).rknn())
	write(t, Beside(net), c.onnx())
	m, err := loaded(t, Source{Path: net}, Map(dir))
	require.NoError(t, err)
	assert.Equal(t, Beside(net), m.Path)
}
