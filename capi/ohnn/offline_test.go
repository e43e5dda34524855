package ohnn

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/onnx"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

const digits = "../../examples/digits/"

// TestOffline_onnxDigits recognizes the example's images by its network in ONNX form, from a file and from memory.
func TestOffline_onnxDigits(t *testing.T) {
	data, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "no name that says what it is")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	fromFile, err := compilationConstructWithOfflineModelFile(file)
	require.NoError(t, err)
	fromBuffer, err := compilationConstructWithOfflineModelBuffer(data)
	require.NoError(t, err)
	images, err := filepath.Glob(digits + "images/*.pgm")
	require.NoError(t, err)
	require.Len(t, images, 60)
	for _, c := range []*Compilation{fromFile, fromBuffer} {
		require.NoError(t, compilationBuild(c))
		e := executor(t, c)
		in, err := executorCreateInputTensorDesc(e, 0)
		require.NoError(t, err)
		in.setShape([]int32{1, 1, 8, 8}, false)
		x, err := tensorCreate(0, in)
		require.NoError(t, err)
		y := newTestTensor(t, spec.Float32, nil, 1, 10)
		right := 0
		for _, path := range images {
			image, err := os.ReadFile(path)
			require.NoError(t, err)
			for i, p := range image[len(image)-64:] {
				copy(memoryOf(x)[4*i:], tensor.Float32s(float32(p)/16))
			}
			require.NoError(t, executorRunSync(e, []*Tensor{x}, []*Tensor{y}))
			best := 0
			for i, p := range floats(t, memoryOf(y)) {
				if p > floats(t, memoryOf(y))[best] {
					best = i
				}
			}
			if strings.Contains(path, fmt.Sprintf("label%d", best)) {
				right++
			}
		}
		assert.GreaterOrEqual(t, right, 58, "of 60")
		require.NoError(t, tensorDestroy(x))
		require.NoError(t, compilationDestroy(c))
	}
}

func TestOffline_foreign(t *testing.T) {
	for content, want := range map[string]string{
		"RKNN\x00\x00\x00\x00":     "Rockchip",
		"\x00\x00\x00\x00MSL2\x00": "MindSpore",
		"IMOD1234":                 "Ascend",
		"hello":                    "data of an unknown format",
		"\xff\xff\xff\xff":         "data of an unknown format",
	} {
		c, err := compilationConstructWithOfflineModelBuffer([]byte(content))
		require.NoError(t, err)
		err = compilationBuild(c)
		assert.Equal(t, Failed, status(err))
		assert.ErrorContains(t, err, want)
	}
}

// A path that could be read for ever, or not at all, is refused at once, and so is a file that is larger than any
// memory and no model.
func TestOffline_noModelFile(t *testing.T) {
	dir := t.TempDir()
	fifo, sparse, damaged := filepath.Join(dir, "fifo"), filepath.Join(dir, "sparse"),
		filepath.Join(dir, "longer than it says")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	require.NoError(t, os.WriteFile(sparse, nil, 0o600))
	require.NoError(t, os.Truncate(sparse, 1<<42))
	require.NoError(t, os.WriteFile(damaged, []byte(storedMagic), 0o600))
	require.NoError(t, os.Truncate(damaged, 1<<42))
	for path, says := range map[string]string{
		fifo:        "want a regular file",
		dir:         "want a regular file",
		"/dev/zero": "want a regular file",
		sparse:      "data of an unknown format",
		damaged:     "says that it has 0",
	} {
		c, err := compilationConstructWithOfflineModelFile(path)
		require.NoError(t, err)
		assert.ErrorContains(t, compilationBuild(c), says)
		require.NoError(t, compilationDestroy(c))
	}
}

func TestAPIPorts_dimensionsThatTheAPICannotSay(t *testing.T) {
	port := func(n int64) device.Port { return device.Port{Name: "x", Type: tensor.T(tensor.Uint8, 2, n)} }
	_, err := apiPorts([]device.Port{port(math.MaxInt32)})
	require.NoError(t, err)
	_, err = apiPorts([]device.Port{port(1<<32 + 1)})
	assert.ErrorContains(t, err, "4294967297")
}

// TestOffline_metadataInTheModel fixes an open dimension of a model that is passed as bytes.
func TestOffline_metadataInTheModel(t *testing.T) {
	data, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	var edited bytes.Buffer
	one := "1"
	require.NoError(t, onnx.EditMetadata(&edited, bytes.NewReader(data), int64(len(data)),
		map[string]*string{"anynpu.dim.N": &one}))
	c, err := compilationConstructWithOfflineModelBuffer(edited.Bytes())
	require.NoError(t, err)
	require.NoError(t, compilationBuild(c))
	e := executor(t, c)
	for create, want := range map[string][]int32{"in": {1, 1, 8, 8}, "out": {1, 10}} {
		describe := executorCreateInputTensorDesc
		if create == "out" {
			describe = executorCreateOutputTensorDesc
		}
		d, err := describe(e, 0)
		require.NoError(t, err)
		_, shape := d.read()
		assert.Equal(t, want, shape, create)
	}
	require.NoError(t, compilationDestroy(c))
}

// TestOffline_modelMap gives a model in memory the metadata that lie beside its file, and another file for one that is
// given by its path.
func TestOffline_modelMap(t *testing.T) {
	data, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "net.onnx")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	require.NoError(t, os.WriteFile(file+".anynpu.json", []byte(`{"anynpu.dim.N": 3}`), 0o600))
	t.Setenv("ANYNPU_MODEL_MAP", filepath.Join(dir, "map"))
	shapes := func(c *Compilation, err error) []int32 {
		require.NoError(t, err)
		require.NoError(t, compilationBuild(c))
		e := executor(t, c)
		in, err := executorCreateInputTensorDesc(e, 0)
		require.NoError(t, err)
		require.NoError(t, compilationDestroy(c))
		_, shape := in.read()
		return shape
	}
	open := []int32{-1, 1, 8, 8}
	assert.Equal(t, open, shapes(compilationConstructWithOfflineModelBuffer(data)), "there is no map")
	for _, key := range []string{fmt.Sprintf("%x", sha256.Sum256(data)), "other.onnx"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "map"), []byte(key+" -> net.onnx\n"), 0o600))
		other := filepath.Join(dir, "other.onnx")
		require.NoError(t, os.WriteFile(other, data, 0o600))
		assert.Equal(t, []int32{3, 1, 8, 8}, shapes(compilationConstructWithOfflineModelFile(other)), key)
		want := open
		if key != "other.onnx" {
			want = []int32{3, 1, 8, 8}
		}
		assert.Equal(t, want, shapes(compilationConstructWithOfflineModelBuffer(data)), key)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "map"), fmt.Appendf(nil, "%x -> gone.onnx\n", sha256.Sum256(data)),
		0o600))
	c, err := compilationConstructWithOfflineModelBuffer(data)
	require.NoError(t, err)
	assert.ErrorContains(t, compilationBuild(c), "gone.onnx")
	require.NoError(t, compilationDestroy(c))
}
