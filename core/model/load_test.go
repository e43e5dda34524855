package model

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// digits is an ONNX model.
func digits(t *testing.T) []byte {
	data, err := os.ReadFile("../../examples/digits/digits.onnx")
	require.NoError(t, err)
	return data
}

// compiled is a file as the vendor's converter writes it.
func compiled() []byte {
	return rknntest.Write(&rknn.File{Version: rknntest.Main, Targets: []string{"rk3566"},
		Inputs: []rknn.Port{{Name: "image", Type: "int8", Dims: []int64{1, 1, 8, 8}}}})
}

// loaded loads a model that lives as long as the test.
func loaded(t *testing.T, s Source, m Map) (*Model, error) {
	w := mem.NewWeights()
	t.Cleanup(w.Release)
	return Load(s, Options{Weights: w, Map: m, Compiled: RKNN})
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestLoad_onnxInsteadOfACompiledModel(t *testing.T) {
	dir, data := t.TempDir(), compiled()
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	net := write(t, filepath.Join(dir, "net.rknn"), data)
	other := write(t, filepath.Join(dir, "models", "a -b.onnx"), digits(t))
	write(t, filepath.Join(dir, "text.onnx"), []byte("hello, world"))
	write(t, filepath.Join(dir, "again.onnx"), data)
	file, bytes := Source{Path: net}, Source{Data: data}
	for _, c := range []struct {
		name, text string
		source     Source
		fails      string
	}{
		{"after a byte order mark", "\ufeff" + hash + " -> models/a -b.onnx", file, ""},
		{"by sum, as bytes", "# a comment\n\n" + strings.ToUpper(hash) + "->models/a -b.onnx\r\n", bytes, ""},
		{"by sum, as a file", hash + " -> models/a -b.onnx", file, ""},
		{"by a relative path", "./net.rknn -> models/a -b.onnx", file, ""},
		{"by an absolute path", net + " -> " + other, file, ""},
		{"a path for bytes", "./net.rknn -> models/a -b.onnx", bytes, hash + " -> FILE.onnx"},
		{"another sum", strings.Repeat("0", 64) + " -> models/a -b.onnx", file, "net.onnx"},
		{"another path", "gone.rknn -> models/a -b.onnx", file, "net.onnx"},
		{"no arrow", "good.rknn -> x\nnet.rknn models/a -b.onnx", file, "line 2"},
		{"no key", "-> models/a -b.onnx", file, "line 1"},
		{"no file", "net.rknn ->", file, "line 1"},
		{"no text", "net.rknn\x00 -> a", file, "it is no text"},
		{"a file that is not there", "net.rknn -> gone.onnx", file, "gone.onnx"},
		{"a folder", "net.rknn -> models", file, "want a regular file"},
		{"a file that is no model", "net.rknn -> text.onnx", file, "no ONNX model"},
		{"another compiled model", "net.rknn -> again.onnx", file, "is an .rknn file too"},
		{"itself", "net.rknn -> net.rknn", file, "is an .rknn file too"},
		{"an empty map", "", file, "the NPU of rk3566"},
	} {
		t.Run(c.name, func(t *testing.T) {
			by := Map(write(t, filepath.Join(dir, "map.txt"), []byte(c.text)))
			m, err := loaded(t, c.source, by)
			if c.fails != "" {
				assert.ErrorContains(t, err, c.fails)
				assert.Equal(t, fault.File, fault.KindOf(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, other, m.Path)
			assert.EqualValues(t, len(data), m.Size, "what the program handed over")
			assert.Equal(t, by, m.Instead.Map)
			assert.Equal(t, c.source.name(), m.Instead.Name)
			assert.Equal(t, []string{"rk3566"}, m.Instead.Compiled.Targets)
		})
	}
	gone := Map(filepath.Join(dir, "gone"))
	_, err := loaded(t, file, gone)
	assert.ErrorContains(t, err, "it is an .rknn file: ANYNPU_MODEL_MAP=")
	m, err := loaded(t, Source{Data: digits(t)}, gone)
	require.NoError(t, err, "such a map does no harm to a model that can be loaded as it is")
	assert.ErrorContains(t, m.MapError, "ANYNPU_MODEL_MAP")
	assert.Nil(t, m.Instead)
	write(t, filepath.Join(dir, "net.onnx"), digits(t))
	m, err = loaded(t, file, "")
	require.NoError(t, err)
	assert.Equal(t, Beside(net), m.Path)
	assert.Empty(t, m.Instead.Map)
	_, err = loaded(t, bytes, "")
	assert.ErrorContains(t, err, hash+" -> FILE.onnx")
	assert.ErrorContains(t, err, "beside bytes no file can lie")
	for _, s := range []Source{file, bytes} {
		_, err = loaded(t, s, Off)
		assert.ErrorContains(t, err, "ANYNPU_MODEL_MAP=off")
		assert.ErrorContains(t, err, "the NPU of rk3566")
	}
}

// Of an encrypted file nothing is known but what it is.
func TestLoad_encrypted(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "net.rknn"), []byte("RKCE\x00\x00\x00\x00 nothing that can be read"))
	_, err := loaded(t, Source{Path: path}, "")
	assert.ErrorContains(t, err, "code compiled for a Rockchip NPU")
	write(t, Beside(path), digits(t))
	m, err := loaded(t, Source{Path: path}, "")
	require.NoError(t, err)
	assert.Empty(t, m.Instead.Compiled.Inputs)
}

// A map names another file for an ONNX model too: for one in memory the same with metadata beside it.
func TestLoad_metadataBesideTheFile(t *testing.T) {
	dir, data := t.TempDir(), digits(t)
	path := write(t, filepath.Join(dir, "net.onnx"), data)
	write(t, path+".anynpu.json", []byte(`{"anynpu.custom_string": "hello"}`))
	m, err := loaded(t, Source{Path: path}, "")
	require.NoError(t, err)
	assert.Equal(t, "hello", m.Meta.CustomString)
	assert.Nil(t, m.Instead)
	sum := sha256.Sum256(data)
	by := write(t, filepath.Join(dir, "map"), []byte(hex.EncodeToString(sum[:])+" -> net.onnx"))
	m, err = loaded(t, Source{Data: data}, Map(by))
	require.NoError(t, err)
	assert.Equal(t, "hello", m.Meta.CustomString)
	assert.Equal(t, path, m.Path)
	assert.Nil(t, m.Instead.Compiled)
}

func TestLoad_refused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	for want, s := range map[string]Source{
		`hello: it begins with "hello, w", which is no ONNX model`: {Path: write(t, filepath.Join(dir, "hello"),
			[]byte("hello, world"))},
		`it begins with "hello", which`: {Data: []byte("hello")},
		"empty: it is empty":            {Path: write(t, filepath.Join(dir, "empty"), nil)},
		"it is empty":                   {},
		"no such file":                  {Path: filepath.Join(dir, "gone")},
		"it is a folder, want a":        {Path: dir},
		"it is a pipe, want a":          {Path: pipe},
		"bytes: ":                       {Data: digits(t)[:200]},
	} {
		_, err := loaded(t, s, "")
		assert.ErrorContains(t, err, want)
	}
	w := mem.NewWeights()
	defer w.Release()
	_, err := Load(Source{Data: compiled()}, Options{Weights: w})
	assert.ErrorContains(t, err, `it begins with "RKNN`, "without Compiled no file stands for another format")
}

func TestRecognize(t *testing.T) {
	for head, want := range map[string]Format{
		string(digits(t)[:4096]): ONNX, "RKNN\x00": RKNN, "RKCE": RKNN, "CYPTRKNN": RKNN, " {\"a\": 1}": JSON, "": Unknown,
		"hello": Unknown, "PK\x03\x04": Unknown, "\x00\x00\x00\x00MSL2\x00": Unknown,
	} {
		assert.Equal(t, want, Recognize([]byte(head)), "%.8q", head)
	}
	name, needs := Foreign([]byte("RKNN\x00\x00\x00\x00"))
	assert.Equal(t, []string{"a Rockchip RKNN model", "that vendor's device"}, []string{name, needs})
	name, needs = Foreign([]byte("hello"))
	assert.Empty(t, name+needs)
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	files, err := Pack(write(t, filepath.Join(dir, "list"), []byte("\n{\"anynpu.models\": [\"a.onnx\", \"b/c.onnx\"]}")))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "a.onnx"), filepath.Join(dir, "b/c.onnx")}, files)
	files, err = Pack(write(t, filepath.Join(dir, "model"), digits(t)))
	require.NoError(t, err)
	assert.Empty(t, files, "a model is no list")
	_, err = Pack(filepath.Join(dir, "gone"))
	assert.Equal(t, fault.File, fault.KindOf(err))
}

func TestDifferences(t *testing.T) {
	port := func(name string, d tensor.DType) *Port {
		p := &Port{Name: name}
		p.Type = d
		return p
	}
	c := &rknn.File{Inputs: []rknn.Port{{Name: "images", Type: "int8", Dims: []int64{1, 3, 4, 2}}},
		Outputs: []rknn.Port{{Name: "y", Type: "float16", Dims: []int64{1, 3, 4, 2}}}}
	sets := func(in, out [][]int64) []ShapeSet { return []ShapeSet{{In: in, Out: out}} }
	in, out := []*Port{port("images", tensor.Int8)}, []*Port{port("y", tensor.Float32)}
	same := [][]int64{{1, 3, 4, 2}}
	assert.Empty(t, Differences(c, in, out, sets(same, same), false), "float16 is no difference")
	assert.Empty(t, Differences(c, in, out, append(sets([][]int64{{9}}, [][]int64{{9}}), sets(same, same)...), false),
		"one of several shapes")
	assert.Equal(t, []string{`input 0 is named "images" there, "x" here`,
		"input 0 has the shape [1 3 4 2] there, [1 3 2 4] here (height and width are swapped)",
		"input 0 has the type int8 there, float32 here", "1 outputs there, 2 here"},
		Differences(c, []*Port{port("x", tensor.Float32)}, append(out, port("z", tensor.Float32)),
			sets([][]int64{{1, 3, 2, 4}}, [][]int64{{1}, {1}}), false))
	assert.Empty(t, Differences(c, []*Port{port("images", tensor.Float32)}, out, sets(same, same), true),
		"codes are no difference where real numbers are asked for")
	c.Batch = 4
	assert.Equal(t, []string{"input 0 has the shape [4 3 4 2] there, [1 3 4 2] here (the batch differs)",
		"output 0 has the shape [4 3 4 2] there, [1 3 4 2] here (the batch differs)"}, Differences(c, in, out,
		sets(same, same), false))
}

// TestFile_container: Horizon's formats are described nowhere, so that a file that nothing is known of may be one.
func TestFile_container(t *testing.T) {
	for text, want := range map[string]string{"RKNN and more": "rknn", "anything": "hbdnn", "": "",
		"PK\x03\x04 an archive":   "",
		"{\"anynpu.models\": []}": "", "\x08\x08\x12\x01a": ""} {
		f, err := Source{Data: []byte(text)}.Open()
		require.NoError(t, err)
		assert.Equal(t, want, f.Container(), "%q", text)
	}
}
