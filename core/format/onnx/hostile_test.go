package onnx

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// msg builds protobuf messages for tests: fields in the order they are added.
type msg []byte

func (m msg) str(num protowire.Number, s string) msg {
	return protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
}
func (m msg) sub(num protowire.Number, s msg) msg { return m.str(num, string(s)) }
func (m msg) num(num protowire.Number, v uint64) msg {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), v)
}

func nodeMsg(op string, in, out []string, attrs ...msg) msg {
	var m msg
	for _, s := range in {
		m = m.str(1, s)
	}
	for _, s := range out {
		m = m.str(2, s)
	}
	m = m.str(4, op)
	for _, a := range attrs {
		m = m.sub(5, a)
	}
	return m
}

func valueMsg(name string, dims ...int64) msg {
	var shape msg
	for _, d := range dims {
		shape = shape.sub(1, msg(nil).num(1, uint64(d)))
	}
	return msg(nil).str(1, name).sub(2, msg(nil).sub(1, msg(nil).num(1, 1).sub(2, shape)))
}

func tensorMsg(name string, dims []int64, raw []byte) msg {
	m := msg(nil)
	for _, d := range dims {
		m = m.num(1, uint64(d))
	}
	return m.num(2, 1).str(8, name).str(9, string(raw))
}

func graphMsg(nodes []msg, fields ...msg) msg {
	m := msg(nil).str(2, "g")
	for _, n := range nodes {
		m = m.sub(1, n)
	}
	for _, f := range fields {
		m = append(m, f...)
	}
	return m
}

func modelMsg(graph msg, more ...msg) []byte {
	m := msg(nil).num(1, 8).sub(7, graph).sub(8, msg(nil).num(2, 17))
	for _, f := range more {
		m = append(m, f...)
	}
	return m
}

func input(name string, dims ...int64) msg { return msg(nil).sub(11, valueMsg(name, dims...)) }
func output(name string) msg               { return msg(nil).sub(12, msg(nil).str(1, name)) }
func initial(t msg) msg                    { return msg(nil).sub(5, t) }

// imported imports data with constants of its own.
func imported(t testing.TB, data []byte, folder string) error {
	w := mem.NewWeights()
	defer w.Release()
	_, err := Import(data, Options{Weights: w, Folder: folder})
	return err
}

func external(name string, dims []int64, entries ...string) msg {
	m := tensorMsg(name, dims, nil)
	for i := 0; i < len(entries); i += 2 {
		m = m.sub(13, msg(nil).str(1, entries[i]).str(2, entries[i+1]))
	}
	return m.num(14, 1)
}

func TestImport_hostileModels(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "model")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "secret"), make([]byte, 64), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "data"), make([]byte, 8), 0o600))
	require.NoError(t, os.Symlink("../secret", filepath.Join(folder, "link")))
	relu := nodeMsg("Relu", []string{"x"}, []string{"y"})
	add := func(a msg) []byte {
		return modelMsg(graphMsg([]msg{nodeMsg("Add", []string{"x", "w"}, []string{"y"})}, input("x", 2), output("y"),
			initial(a)))
	}
	deep := graphMsg([]msg{relu}, output("y"))
	for range 40 {
		deep = graphMsg([]msg{nodeMsg("If", []string{"c"}, []string{"y"}, msg(nil).str(1, "then_branch").sub(6, deep).num(20,
			5))}, output("y"))
	}
	// f1 calls f2 twice, f2 calls f3 twice, ...: 2^30 nodes from 30 functions.
	var bomb []msg
	for i := range 30 {
		callee, domain := "f"+string(rune('a'+i+1)), "d"
		if i == 29 {
			callee, domain = "Relu", ""
		}
		f := msg(nil).str(1, "f"+string(rune('a'+i))).str(10, "d").str(4, "x").str(5, "y")
		f = f.sub(7, nodeMsg(callee, []string{"x"}, []string{"t"}).str(7, domain)).sub(7, nodeMsg(callee, []string{"t"},
			[]string{"y"}).str(7, domain))
		bomb = append(bomb, msg(nil).sub(25, f))
	}
	itself := msg(nil).sub(25, msg(nil).str(1, "f").str(10, "d").str(4, "x").str(5, "y").sub(7,
		nodeMsg("f", []string{"x"}, []string{"y"}).str(7, "d")))
	for _, c := range []struct {
		name string
		data []byte
		says string
	}{
		{"empty", nil, "no graph"},
		{"no opset of ai.onnx that is read", msg(nil).sub(7, graphMsg([]msg{relu}, input("x", 2), output("y"))).sub(8,
			msg(nil).num(2, 99)), "opset 99"},
		{"cycle", modelMsg(graphMsg([]msg{nodeMsg("Relu", []string{"b"}, []string{"a"}), nodeMsg("Relu", []string{"a"},
			[]string{"b"})}, output("b"))), "depends on its own result"},
		{"value made twice", modelMsg(graphMsg([]msg{relu, relu}, input("x", 2), output("y"))),
			`value "y" is made by node 0`},
		{"initializer made again", modelMsg(graphMsg([]msg{nodeMsg("Relu", []string{"x"}, []string{"w"}),
			nodeMsg("Add", []string{"x", "w"}, []string{"y"})}, input("x", 2), output("y"),
			initial(tensorMsg("w", []int64{1}, make([]byte, 4))))), `value "w" is an initializer and made by node 0 (Relu)`},
		{"input made again", modelMsg(graphMsg([]msg{nodeMsg("Relu", []string{"x"}, []string{"x"})}, input("x", 2),
			output("x"))), `value "x" is an input and made by node 0 (Relu)`},
		{"no source", modelMsg(graphMsg([]msg{relu}, output("y"))), `node 0 (Relu): input 0: value "x" has no source`},
		{"output without source", modelMsg(graphMsg([]msg{relu}, input("x", 2), output("z"))), `value "z" has no source`},
		{"huge dimensions", add(tensorMsg("w", []int64{1 << 40, 1 << 40}, nil)), `initializer "w"`},
		{"negative dimension", add(tensorMsg("w", []int64{-2}, nil)), `initializer "w"`},
		{"fewer bytes than elements", add(tensorMsg("w", []int64{1 << 30}, []byte{1, 2, 3, 4})), "the file holds 4"},
		{"unknown element type", add(msg(nil).num(1, 2).num(2, 77).str(8, "w")), "element type 77"},
		{"nesting", modelMsg(deep), "nested more than 16 deep"},
		{"function that calls itself", modelMsg(graphMsg([]msg{nodeMsg("f", []string{"x"}, []string{"y"}).str(7, "d")},
			input("x", 2), output("y")), itself), "nested more than 32 deep"},
		{"functions that explode", modelMsg(graphMsg([]msg{nodeMsg("fa", []string{"x"}, []string{"y"}).str(7, "d")},
			input("x", 2), output("y")), bomb...), "expand to more than"},
		{"missing operators", modelMsg(graphMsg([]msg{nodeMsg("Foo", []string{"x"}, []string{"a"}),
			nodeMsg("Bar", []string{"a"}, []string{"b"}), nodeMsg("Foo", []string{"b"}, []string{"y"})},
			input("x", 2), output("y"))), "Bar x 1 (node 1 (Bar)); Foo x 2 (node 0 (Foo), node 2 (Foo))"},
		{"external path with ..", add(external("w", []int64{2}, "location", "../secret")), "below the model's folder"},
		{"external path with .. that stays inside", add(external("w", []int64{2}, "location", "sub/../data")),
			"below the model's folder"},
		{"external path that ends with ..", add(external("w", []int64{2}, "location", "sub/..")), "below the model's folder"},
		{"absolute external path", add(external("w", []int64{2}, "location", filepath.Join(root, "secret"))),
			"below the model's folder"},
		{"link out of the folder", add(external("w", []int64{2}, "location", "link")), "link"},
		{"external folder", add(external("w", []int64{2}, "location", ".")), "external data"},
		{"external data too short", add(external("w", []int64{1 << 20}, "location", "data")), "no 4194304 bytes at 0"},
		{"external offset", add(external("w", []int64{2}, "location", "data", "offset", "9223372036854775807")),
			"external data"},
		{"external offset below zero", add(external("w", []int64{2}, "location", "data", "offset", "-1")), `offset "-1"`},
		{"external file that is missing", add(external("w", []int64{2}, "location", "nowhere")), "nowhere"},
		{"sparse initializer", modelMsg(graphMsg([]msg{relu}, input("x", 2), output("y"), msg(nil).str(15, ""))), "sparse"},
		{"sequence input", modelMsg(graphMsg([]msg{relu}, msg(nil).sub(11, msg(nil).str(1, "x").sub(2, msg(nil).str(4, ""))),
			output("y"))), `input "x": a value of kind sequence`},
	} {
		err := imported(t, c.data, folder)
		require.Error(t, err, c.name)
		assert.ErrorContains(t, err, c.says, c.name)
		assert.NotEqual(t, fault.Internal, fault.KindOf(err), "%s: %v", c.name, err)
	}
	assert.NoError(t, imported(t, add(external("w", []int64{2}, "location", "data")), folder))
	assert.ErrorContains(t, imported(t, add(external("w", []int64{2}, "location", "data")), ""), "no folder")
}

// TestImport_otherNumbersOfInputsAndOutputs: every operator with up to eight inputs, of one type or absent, and up to
// three outputs gives a model or an error.
func TestImport_otherNumbersOfInputsAndOutputs(t *testing.T) {
	for _, name := range known() {
		for i := range 9 * 4 * 3 {
			in, out := make([]string, i%9), make([]string, i/9%4)
			for k := range in {
				if in[k] = []string{"x", "c", "s"}[i/36]; k > 0 && i/36 == 2 {
					in[k] = []string{"", "x", "c"}[k%3]
				}
			}
			for k := range out {
				out[k] = string(rune('p' + k))
			}
			err := imported(t, modelMsg(graphMsg([]msg{nodeMsg("SequenceConstruct", []string{"x", "c"}, []string{"s"}),
				nodeOf(name, in, out), nodeMsg("Relu", []string{"x"}, []string{"y"})},
				input("x", 1, 1, 2, 2), output("y"), initial(tensorMsg("c", []int64{1}, []byte{0, 0, 128, 63})))), "")
			if err != nil {
				assert.NotEqual(t, fault.Internal, fault.KindOf(err), "%s%v -> %v: %v", name, in, out, err)
			}
		}
	}
}

func TestImport_trainingModesOfNoElements(t *testing.T) {
	mode := msg(nil).num(1, 0).num(2, 9).str(8, "mode") // bool, without data
	model := modelMsg(graphMsg([]msg{nodeMsg("Dropout", []string{"x", "", "mode"}, []string{"y"})}, input("x", 2),
		initial(mode), output("y")))
	assert.Equal(t, fault.Unsupported, fault.KindOf(imported(t, model, "")))
}

func TestImport_countsParts(t *testing.T) {
	many := bytes.Repeat([]byte(msg(nil).str(5, "")), proto.MaxParts+1) // empty initializers, two bytes each
	err := imported(t, modelMsg(many), "")
	assert.ErrorContains(t, err, "more than 1048576")
}

// TestImport_everyTruncation cuts the digits model at every byte of its structure; where it is cut inside weights one
// cut stands for all.
func TestImport_everyTruncation(t *testing.T) {
	b, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	step := 1
	for n := 0; n < len(b); n += step {
		err := imported(t, b[:n], "")
		require.Error(t, err, "%d bytes", n)
		require.NotEqual(t, fault.Internal, fault.KindOf(err), "%d bytes: %v", n, err)
		if step = 1; n > 2000 && n < len(b)-2000 {
			step = 97
		}
	}
}

// TestImport_bitFlips: a flipped bit gives a model or an error, and never more memory than the file is worth.
func TestImport_bitFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	b, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	for i := 0; i < 8*len(b); i += 61 {
		bad := bytes.Clone(b)
		bad[i/8] ^= 1 << (i % 8)
		if err := imported(t, bad, ""); err != nil {
			require.NotEqual(t, fault.Internal, fault.KindOf(err), "bit %d: %v", i, err)
			require.False(t, strings.Contains(err.Error(), "panic"), "bit %d: %v", i, err)
		}
	}
}

// TestImportFile_survivesChangesOfTheFile: the file is truncated and replaced during and after the load; the constants
// stay what they were.
func TestImportFile_survivesChangesOfTheFile(t *testing.T) {
	const n = 1 << 20
	raw := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(raw[4*i:], uint32(i))
	}
	data := modelMsg(graphMsg([]msg{nodeMsg("Add", []string{"x", "w"}, []string{"y"})}, input("x", n), output("y"),
		initial(tensorMsg("w", []int64{n}, raw))))
	path := filepath.Join(t.TempDir(), "m.onnx")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	w := mem.NewWeights()
	defer w.Release()
	m, err := ImportFile(path, Options{Weights: w})
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 10))
	require.NoError(t, os.WriteFile(path, make([]byte, len(data)), 0o600))
	require.NoError(t, os.Remove(path))
	found := false
	for _, v := range m.Graph.Values {
		if c := v.Fact.Const; c != nil && len(c.Data) == len(raw) {
			found = true
			assert.Equal(t, tensor.HashOf(raw), tensor.HashOf(c.Data))
		}
	}
	assert.True(t, found)

	require.NoError(t, os.WriteFile(path, data, 0o600))
	stop, changed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(changed)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := os.Truncate(path, 100); err != nil {
				changed <- err
				return
			}
			if err := os.Truncate(path, int64(len(data))); err != nil {
				changed <- err
				return
			}
		}
	}()
	for range 50 {
		own := mem.NewWeights()
		_, err := ImportFile(path, Options{Weights: own})
		own.Release()
		if err != nil {
			assert.Equal(t, fault.File, fault.KindOf(err), "%v", err)
		}
	}
	close(stop)
	assert.NoError(t, <-changed)
}

// FuzzImport: any bytes give a model or an error that is not ours.
func FuzzImport(f *testing.F) {
	b, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(f, err)
	f.Add(b)
	body := graphMsg([]msg{nodeMsg("Add", []string{"v", "v"}, []string{"w"}), nodeMsg("Identity", []string{"c"},
		[]string{"d"})},
		input("i"), input("c"), input("v", 2), output("d"), output("w"))
	for _, g := range []msg{
		graphMsg([]msg{nodeMsg("Relu", []string{"x"}, []string{"y"})}, input("x", 2), output("y")),
		graphMsg([]msg{nodeMsg("Loop", []string{"", "", "x"}, []string{"y"}, msg(nil).str(1, "body").sub(6, body).num(20,
			5))}, input("x", 2), output("y")),
		graphMsg([]msg{nodeMsg("Conv", []string{"x", "w"}, []string{"y"}, msg(nil).str(1, "pads").num(8, 1).num(8, 1))},
			input("x", 1, 1, 4), output("y"),
			initial(tensorMsg("w", []int64{1, 1, 3}, make([]byte, 12)))),
		graphMsg([]msg{nodeMsg("Shape", []string{"x"}, []string{"s"}), nodeMsg("ConstantOfShape", []string{"s"},
			[]string{"y"})}, input("x", 3, 4), output("y")),
		graphMsg([]msg{nodeMsg("Resize", []string{"x", "", "k"}, []string{"y"}), nodeMsg("Split", []string{"y"},
			[]string{"a", "b"})}, input("x", 2, 2), output("a"),
			initial(tensorMsg("k", []int64{2}, []byte{0, 0, 0, 64, 0, 0, 128, 63}))),
	} {
		f.Add(modelMsg(g))
	}
	for _, m := range append(sequenceModels(), newestModels()...) {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := imported(t, data, ""); err != nil && fault.KindOf(err) == fault.Internal {
			t.Fatal(err)
		}
		if _, err := Survey(data); err != nil && fault.KindOf(err) != fault.File {
			t.Fatal(err)
		}
		Recognize(data)
	})
}
