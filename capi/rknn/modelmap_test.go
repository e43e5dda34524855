package rknn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiledText is the description in a compiled model of one input and one output.
const compiledText = `{"target_platform": ["rk3566"], "graph": [
	{"left": "output", "left_tensor_id": 0, "right": "norm_tensor", "right_tensor_id": 7},
	{"left": "input", "left_tensor_id": 0, "right": "norm_tensor", "right_tensor_id": 3}],
	"norm_tensor": [{"tensor_id": 3, "url": "images", "size": [1, 4, 2, 3], "dtype": {"vx_type": "VSI_NN_TYPE_INT8", "qnt_type": "asymmetric"}},
	{"tensor_id": 7, "url": "y", "size": [1, 3, 4, 2], "dtype": {"vx_type": "float16"}}]}`

// compiled is a file as the vendor's converter writes it, with a header of so many bytes.
func compiled(header int, text string) []byte {
	code := bytes.Repeat([]byte{0xc5}, 100)
	b := append(make([]byte, header), code...)
	copy(b, "RKNN")
	b[8] = 6
	binary.LittleEndian.PutUint64(b[16:], uint64(len(code)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(text)))
	return append(b, text...)
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestReadContainer(t *testing.T) {
	want := &container{target: "rk3566",
		in:  []containerTensor{{"images", "int8", []int64{1, 4, 2, 3}}},
		out: []containerTensor{{"y", "float16", []int64{1, 3, 4, 2}}}}
	for _, header := range []int{24, 64} {
		data := compiled(header, compiledText)
		want.size = int64(len(data))
		require.Equal(t, want, readContainer(bytes.NewReader(data), int64(len(data))))
	}
	for name, data := range map[string][]byte{
		"nothing behind the name": []byte("RKNN"),
		"cut off":                 compiled(64, compiledText)[:120],
		"a length beyond the end": func() []byte {
			b := compiled(24, compiledText)
			binary.LittleEndian.PutUint64(b[16:], 1<<63)
			return b
		}(),
		"other JSON": compiled(24, `{"graph": 3, "norm_tensor": {}}`),
	} {
		c := readContainer(bytes.NewReader(data), int64(len(data)))
		require.Empty(t, append(c.in, c.out...), name)
	}
}

func FuzzReadContainer(f *testing.F) {
	f.Add(compiled(64, compiledText))
	f.Add(compiled(24, compiledText))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := readContainer(bytes.NewReader(data), int64(len(data)))
		require.LessOrEqual(t, len(c.in)+len(c.out), 1024)
	})
}

func TestLoad_onnxInsteadOfACompiledModel(t *testing.T) {
	dir := t.TempDir()
	data := compiled(64, compiledText)
	sum := sha256.Sum256(data)
	rknn := write(t, filepath.Join(dir, "net.rknn"), data)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "models"), 0o700))
	write(t, filepath.Join(dir, "models", "a -b.onnx"), identity(onnxFloat, 1, 3, 4, 2).bytes())
	write(t, filepath.Join(dir, "text.onnx"), []byte("hello, world"))
	write(t, filepath.Join(dir, "again.onnx"), data)
	for _, c := range []struct {
		name, text string
		path       bool // the model is given as a file
		fails      string
	}{
		{"after a byte order mark", "\ufeff" + hex.EncodeToString(sum[:]) + " -> models/a -b.onnx", true, ""},
		{"by sum, as bytes", "# a comment\n\n" + strings.ToUpper(hex.EncodeToString(sum[:])) + "->models/a -b.onnx\r\n",
			false, ""},
		{"by sum, as a file", hex.EncodeToString(sum[:]) + " -> models/a -b.onnx", true, ""},
		{"by a relative path", "./net.rknn -> models/a -b.onnx", true, ""},
		{"by an absolute path", rknn + " -> " + filepath.Join(dir, "models", "a -b.onnx"), true, ""},
		{"a path for bytes", "./net.rknn -> models/a -b.onnx", false, "SHA-256 " + hex.EncodeToString(sum[:])},
		{"another sum", strings.Repeat("0", 64) + " -> models/a -b.onnx", true, "net.onnx"},
		{"another path", "gone.rknn -> models/a -b.onnx", true, "net.onnx"},
		{"no arrow", "good.rknn -> x\nnet.rknn models/a -b.onnx", true, "line 2"},
		{"no key", "-> models/a -b.onnx", true, "line 1"},
		{"no file", "net.rknn ->", true, "line 1"},
		{"no text", "net.rknn\x00 -> a", true, "it is no text"},
		{"a file that is not there", "net.rknn -> gone.onnx", true, "gone.onnx"},
		{"a folder", "net.rknn -> models", true, "want a regular file"},
		{"a file that is no model", "net.rknn -> text.onnx", true, "no ONNX model"},
		{"another compiled model", "net.rknn -> again.onnx", true, "is an .rknn file too"},
		{"itself", "net.rknn -> net.rknn", true, "is an .rknn file too"},
		{"an empty map", "", true, "the NPU of rk3566"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("ANYNPU_MODEL_MAP", write(t, filepath.Join(dir, "map.txt"), []byte(c.text)))
			bytes, path := data, ""
			if c.path {
				bytes, path = nil, rknn
			}
			m, err := load(bytes, path, 0)
			if c.fails != "" {
				requireCode(t, errModel, err, c.fails)
				return
			}
			require.NoError(t, err)
			defer m.release()
			require.Equal(t, "x", m.in[0].name)
			require.EqualValues(t, len(data), m.size, "what the program handed over")
		})
	}
	for name, file := range map[string]string{"gone": filepath.Join(dir, "gone"), "a folder": dir} {
		t.Run("a map that is "+name, func(t *testing.T) {
			t.Setenv("ANYNPU_MODEL_MAP", file)
			_, err := load(nil, rknn, 0)
			requireCode(t, errModel, err, "ANYNPU_MODEL_MAP", file)
		})
	}
	t.Run("a map does not matter for ONNX", func(t *testing.T) {
		t.Setenv("ANYNPU_MODEL_MAP", filepath.Join(dir, "gone"))
		m, err := load(identity(onnxFloat, 1, 2).bytes(), "", 0)
		require.NoError(t, err)
		m.release()
	})
	write(t, filepath.Join(dir, "net.onnx"), identity(onnxFloat, 1, 3, 4, 2).bytes())
	t.Run("beside it", func(t *testing.T) {
		m, err := load(nil, rknn, 0)
		require.NoError(t, err)
		m.release()
		_, err = load(data, "", 0)
		requireCode(t, errModel, err, "SHA-256")
	})
	t.Run("off", func(t *testing.T) {
		t.Setenv("ANYNPU_MODEL_MAP", "off")
		_, err := load(nil, rknn, 0)
		requireCode(t, errModel, err, "ANYNPU_MODEL_MAP=off", "the NPU of rk3566")
		_, err = load(data, "", 0)
		requireCode(t, errModel, err, "ANYNPU_MODEL_MAP=off")
	})
}

func TestContainer_differences(t *testing.T) {
	data := compiled(64, compiledText)
	c := readContainer(bytes.NewReader(data), int64(len(data)))
	differences := func(m *onnxModel) []string {
		loaded, err := load(m.bytes(), "", 0)
		require.NoError(t, err)
		defer loaded.release()
		return c.differences(loaded)
	}
	same := (&onnxModel{}).node("Relu", "y", "images").input("images", onnxFloat, 1, 3, 4, 2).output("y", onnxFloat, 1, 3,
		4, 2)
	require.Equal(t, []string{"input 0 has the type int8 there, float32 here"}, differences(same),
		"another order of dimensions and float16 are no difference")
	require.Equal(t, []string{`input 0 is named "images" there, "x" here`,
		"input 0 has the shape [1 4 2 3] there, [1 3 4 5] here", "input 0 has the type int8 there, float32 here",
		"output 0 has the shape [1 3 4 2] there, [1 3 4 5] here"}, differences(identity(onnxFloat, 1, 3, 4, 5)))
	require.Equal(t, []string{`input 0 is named "images" there, "x" here`, "input 0 has the type int8 there, float32 here",
		"1 outputs there, 2 here"},
		differences(identity(onnxFloat, 1, 3, 4, 2).node("Neg", "z", "x").output("z", onnxFloat, 1, 3, 4, 2)))
}
