package metadata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

func TestRead_propsAndSidecar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	require.NoError(t, os.WriteFile(Sidecar(path),
		[]byte("\ufeff"+`{"anynpu.input.x.std": [2, 4], "anynpu.name": "beside"}`), 0o644))
	m, err := Read(map[string]string{
		"anynpu.schema": "1", "anynpu.name": "own", "anynpu.custom_string": "v 1.2", "anynpu.input.x.mean": "[1, 2.5]",
		"anynpu.input.x.pixel":  "RGB",
		"anynpu.dim.batch.size": "4", "anynpu.value.a.b.shape": `[1, "batch.size"]`, "anynpu.value.a.b.type": "int8",
		"anynpu.value.c.shape":    "as input 2",
		"anynpu.input.a.b.layout": "nhwc", "anynpu.input.x.shapes": "[[1,3,8,8],[1,3,9,9]]", "anynpu.speed": "9",
		"anynpu.input.y.pixel": "nv12", "anynpu.input.y.planes": "2", "anynpu.input.y.range": "bt601_video",
		"anynpu.input.y.order": "gray", "anynpu.input.y.source": "resizer", "anynpu.input.y.scale": "[0.5]",
		"anynpu.input.y.ports": `["luma", "chroma"]`,
		"author":               "x",
	}, path)
	require.NoError(t, err)
	assert.Equal(t, &Metadata{
		Name: "beside", CustomString: "v 1.2",
		Inputs: map[string]Input{
			"x":   {Mean: []float32{1, 2.5}, Std: []float32{2, 4}, Pixel: "rgb", Shapes: [][]int64{{1, 3, 8, 8}, {1, 3, 9, 9}}},
			"a.b": {Layout: "nhwc"},
			"y": {Pixel: "nv12", Planes: 2, Range: "bt601_video", Order: "gray", Source: "resizer", Scale: []float32{0.5},
				Ports: []string{"luma", "chroma"}},
		},
		Dims:     map[string]int64{"batch.size": 4},
		Values:   map[string]Value{"a.b": {Shape: []Dim{{Size: 1}, {Name: "batch.size"}}, Type: "int8"}, "c": {Like: 3}},
		Warnings: []string{"metadata: unknown key anynpu.speed"},
	}, m)
}

func TestRead_wrongValuesNameTheKey(t *testing.T) {
	for key, value := range map[string]string{
		"anynpu.schema": "2", "anynpu.input.x.mean": "blue", "anynpu.input.x.std": "[1,0]", "anynpu.input.x.pixel": "cmyk",
		"anynpu.input.x.layout": "7", "anynpu.input.x.planes": "3", "anynpu.input.x.range": "full",
		"anynpu.input.x.source": "camera", "anynpu.input.x.scale": "[1,0]",
		"anynpu.input.x.shapes": "[[1,2],[1]]", "anynpu.dim.n": "-1", "anynpu.value.x.shape": "as output 0",
		"anynpu.value.x.type": "real", "anynpu.input.x.ports": `["a", "b", "a"]`, "anynpu.input.y.ports": `["a", ""]`,
	} {
		_, err := Read(map[string]string{key: value}, "")
		assert.Equal(t, fault.File, fault.KindOf(err), key)
		assert.ErrorContains(t, err, key)
	}
}

func TestRead_oneNumberOrOnePerChannel(t *testing.T) {
	m, err := Read(map[string]string{"anynpu.input.x.mean": "127.5", "anynpu.input.x.std": " 2 ",
		"anynpu.input.y.mean":  "[]",
		"anynpu.input.y.scale": "0.5"}, "")
	require.NoError(t, err)
	assert.Equal(t, map[string]Input{"x": {Mean: []float32{127.5}, Std: []float32{2}},
		"y": {Mean: []float32{}, Scale: []float32{0.5}}}, m.Inputs)
	for _, wrong := range []string{"0", "1e39", `"2"`, "true", "[[1]]"} {
		_, err := Read(map[string]string{"anynpu.input.x.std": wrong}, "")
		assert.Equal(t, fault.File, fault.KindOf(err), wrong)
	}
}

func TestRead_compiledForms(t *testing.T) {
	sum := strings.Repeat("Ab", 32)
	form := func(more string) string {
		return `[{"container": "rknn", "sha256": "` + sum + `", "file": ` + more + `}]`
	}
	m, err := Read(map[string]string{"anynpu.compiled": form(`"sub/a.rknn", "target": "rk3588"`)}, "")
	require.NoError(t, err)
	assert.Equal(t, []Compiled{{Container: "rknn", Target: "rk3588", File: "sub/a.rknn", SHA256: strings.ToLower(sum)}},
		m.Compiled)
	for _, wrong := range []string{form(`"/a.rknn"`), form(`"../a.rknn"`), form(`""`), form(`"a", "sha256": "12"`),
		form(`"a", "container": ""`), form(`"a", "cost": 1`), `{}`, `"a.rknn"`, `[7]`} {
		_, err := Read(map[string]string{"anynpu.compiled": wrong}, "")
		assert.Equal(t, fault.File, fault.KindOf(err), wrong)
	}
}

func TestReadPack_staysInItsFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pack.json")
	for text, ok := range map[string]bool{
		`{"anynpu.models": ["a.onnx", "sub/b.onnx"]}`: true, `{"anynpu.models": ["../a.onnx"]}`: false,
		`{"anynpu.models": ["/a.onnx"]}`: false, `{}`: false, `x`: false,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		files, err := ReadPack(path)
		if ok {
			require.NoError(t, err, text)
			assert.Equal(t, []string{filepath.Join(dir, "a.onnx"), filepath.Join(dir, "sub", "b.onnx")}, files)
			continue
		}
		assert.Equal(t, fault.File, fault.KindOf(err), text)
	}
}

func TestKnown(t *testing.T) {
	for key, want := range map[string]bool{
		"anynpu.name": true, "anynpu.schema": true, "anynpu.input.a.b.mean": true, "anynpu.dim.n": true,
		"anynpu.value.v.shape": true, "author": false, "anynpu.input.x.meen": false,
		"anynpu.input.mean": false, "anynpu.dim.": false, "anynpu.speed": false,
	} {
		assert.Equal(t, want, Known(key), key)
	}
}
