package rknn

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

func TestLoad_refusesWhatIsNoModel(t *testing.T) {
	good := identity(onnxtest.Float, 1, 4).Bytes()
	unranked := (&onnxtest.Model{}).Node("Relu", "y", "x").Unranked("x", "y", onnxtest.Float)
	for _, c := range []struct {
		name string
		data []byte
		text []string
	}{
		{"compiled for a chip", compiled(), []string{"an .rknn file", "the NPU of rk3566", "ONNX file"}},
		{"compiled for some chip", []byte("RKNN\x00\x00 code"), []string{"an .rknn file", "a Rockchip NPU"}},
		{"text", []byte("hello, world"), []string{`"hello, w"`, "no ONNX model"}},
		{"cut off", good[:len(good)-9], []string{"model"}},
		{"open dimension", identity(onnxtest.Float, 1, -1).Bytes(), []string{"anynpu.input.x.shapes"}},
		{"17 dimensions", identity(onnxtest.Float, make([]int64, 17)...).Bytes(), []string{"want at most 16 dimensions"}},
		{"open number of dimensions", unranked.Bytes(), []string{`"x" has an open number of dimensions`}},
		{"unknown operator", (&onnxtest.Model{}).Node("Nonsense", "y", "x").Input("x", onnxtest.Float, 1).
			Output("y", onnxtest.Float,
				1).Bytes(), []string{"Nonsense"}},
		{"metadata", identity(onnxtest.Float, 1, 2).Meta("anynpu.input.x.mean", "[1,2]").
			Bytes(), []string{"anynpu.input.x.mean",
			"2 numbers"}},
		{"deviation 0", identity(onnxtest.Float, 1, 2).Meta("anynpu.input.x.std", "[0]").
			Bytes(), []string{"anynpu.input.x.std"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(c.data, "", 0)
			requireCode(t, spec.ErrModel, err, c.text...)
			path := filepath.Join(t.TempDir(), "model.rknn")
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			_, err = load(nil, path, 0)
			requireCode(t, spec.ErrModel, err, c.text...)
		})
	}
	_, err := load(nil, filepath.Join(t.TempDir(), "none"), 0)
	requireCode(t, spec.ErrModel, err, "none")
	_, err = load(nil, t.TempDir(), 0)
	requireCode(t, spec.ErrModel, err, "want a regular file")
}

func TestLoad_fileWithMetadataBesideIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.rknn")
	require.NoError(t, os.WriteFile(path, identity(onnxtest.Float, 1, 2).Bytes(), 0o600))
	require.NoError(t, os.WriteFile(path+".anynpu.json",
		[]byte(`{"anynpu.input.x.mean": [1], "anynpu.custom_string": "hello"}`), 0o600))
	m, err := load(nil, path, 0)
	require.NoError(t, err)
	c, err := newContext(m, 0, m.run)
	require.NoError(t, err)
	defer c.release()
	require.NoError(t, os.Remove(path))
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Uint8, spec.Undefined, []uint8{1, 3})}))
	require.Equal(t, []float32{0, 2}, floats(t, c))
	info := make([]byte, 1024)
	require.NoError(t, query(c, spec.QueryCustomString, info))
	require.Equal(t, "hello", textOf(info))
}

func TestExposeQuantized_leavesOthersAlone(t *testing.T) {
	// The input has another use: it stays real.
	m := quantized(0.5, 0, 1, 4).Node("Neg", "n", "x").Output("n", onnxtest.Float, 1, 4)
	c := open(t, m, 0)
	require.Equal(t, spec.Float16, c.model.in[0].kind)
	require.Equal(t, spec.Int8, c.model.out[0].kind)
	require.Equal(t, "y", c.model.out[0].Name)
	require.Equal(t, spec.Float16, c.model.out[1].kind)
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{-1, 0.6, 1, 2})}))
	require.Equal(t, []float32{0, 0.5, 1, 2}, floats(t, c))
}

func dynamicModel() *onnxtest.Model {
	return identity(onnxtest.Float, 1, 1, -1, 2).Meta("anynpu.input.x.shapes", "[[1,1,2,2],[1,1,4,2],[1,1,1,2]]")
}

// shapeAttr makes the argument of rknn_set_input_shapes.
func shapeAttr(f spec.Format, dims ...uint32) spec.TensorAttr {
	a := spec.TensorAttr{Rank: uint32(len(dims)), Format: f}
	copy(a.Dims[:], dims)
	return a
}

func TestSetInputShapes(t *testing.T) {
	c := open(t, dynamicModel(), 0)
	require.Equal(t, []int64{1, 1, 4, 2}, c.inDims(0), "the largest first")
	require.NoError(t, setInputShapes(c, []spec.TensorAttr{shapeAttr(spec.NHWC, 1, 2, 2, 1)}))
	in := inputOf(t, spec.Float32, spec.NHWC, []float32{1, 2, 3, 4})
	require.NoError(t, inputsSet(c, []Input{in}))
	require.Equal(t, []float32{1, 2, 3, 4}, floats(t, c))
	require.NoError(t, setInputShape(c, &[]spec.TensorAttr{shapeAttr(spec.NCHW, 1, 1, 1, 2)}[0]))
	requireCode(t, spec.ErrFail, run(c, nil), "has no data for input")
	requireCode(t, spec.ErrFail, outputsGet(c, []Output{{}}, nil), "has no results")
	require.NoError(t, inputsSet(c, []Input{in}), "larger than needed")
	require.Equal(t, []float32{1, 2}, floats(t, c))

	requireCode(t, spec.ErrFail, setInputShapes(c, []spec.TensorAttr{shapeAttr(spec.NHWC, 1, 3, 2, 1)}), "[1 1 3 2]",
		"[1 1 4 2]")
	requireCode(t, spec.ErrParam, setInputShapes(c, nil), "n_inputs is 0")
	requireCode(t, spec.ErrParam, setInputShapes(c, []spec.TensorAttr{shapeAttr(spec.NHWC, 1, 2, 1)}), "n_dims is 3")
	wrong := shapeAttr(spec.NHWC, 1, 2, 2, 1)
	wrong.Index = 1
	requireCode(t, spec.ErrParam, setInputShapes(c, []spec.TensorAttr{wrong}), "index is 1")

	fixed := open(t, identity(onnxtest.Float, 1, 2), 0)
	require.NoError(t, setInputShapes(fixed, []spec.TensorAttr{shapeAttr(spec.Undefined, 1, 2)}))
	requireCode(t, spec.ErrModel, setInputShapes(fixed, []spec.TensorAttr{shapeAttr(spec.Undefined, 1, 3)}))
}

func TestLoad_openBatchBecomesOne(t *testing.T) {
	c := open(t, identity(onnxtest.Float, -1, 3), 0)
	require.Equal(t, []int64{1, 3}, c.inDims(0))
	require.Equal(t, []int64{1, 3}, c.outDims(0))
}
