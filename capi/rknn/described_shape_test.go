package rknn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/format/rknn"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// portOf is a tensor of codes that is an input or output.
func portOf(name string, kind rknn.Kind, scale float32, zero int64, dims, native []int64) rknn.Tensor {
	return rknn.Tensor{Name: name, Type: "int8", Kind: kind, Native: true, Dims: dims, Shape: native,
		Scale: []float32{scale}, Zero: []int64{zero}}
}

// fileOf is a file of one graph, whose first tensor is its input and the others its outputs.
func fileOf(tensors ...rknn.Tensor) *rknn.File {
	f := &rknn.File{Version: 6, Targets: []string{"rk3588"}, Graphs: []rknn.Graph{{Tensors: tensors}}}
	for i, t := range tensors {
		p := rknn.Port{Name: t.Name, Type: t.Type, Dims: t.Dims}
		if i == 0 {
			f.Inputs, f.Graphs[0].Inputs = append(f.Inputs, p), append(f.Graphs[0].Inputs, i)
		} else {
			f.Outputs, f.Graphs[0].Outputs = append(f.Outputs, p), append(f.Graphs[0].Outputs, i)
		}
	}
	return f
}

// A file whose outputs are inner tensors of the ONNX model ends there, in its own order.
func TestDescribed_cutGraph(t *testing.T) {
	dims := []int64{1, 3, 2, 4}
	model := (&onnxtest.Model{}).Node("Neg", "head", "x").Node("Abs", "side", "head").Node("Sigmoid", "y", "side").
		Node("MadeUp", "z", "y").Input("x", onnxtest.Float, dims...).Output("z", onnxtest.Float, dims...)
	f := fileOf(portOf("x", rknn.Input, 1, 0, dims, []int64{1, 1, 2, 4, 3}),
		portOf("side", rknn.Output, 1, 0, dims, []int64{1, 2, 2, 4, 16}),
		portOf("head", rknn.Intermediate, 1, 0, dims, []int64{1, 1, 2, 4, 16}))
	c := openFile(t, f, model)
	require.Len(t, c.model.out, 2)
	require.Equal(t, []string{"side", "head"}, []string{c.model.out[0].Name, c.model.out[1].Name})
	require.Equal(t, spec.Int8, c.model.out[1].kind, "an output that is read inside has its codes")
	require.Equal(t, []uint32{1, 2, 2, 4, 16}, sizesOf(attrOf(t, c, spec.QueryNativeOutputAttr)))
	x := []int8{0, 1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Int8, spec.NHWC, x)}))
	require.NoError(t, run(c, nil))
	want := make([]int8, len(x)) // |x| in NCHW
	for i, v := range x {
		want[i%3*8+i/3] = max(v, -v)
	}
	require.Equal(t, want, fetch[int8](t, c, 0))
}

// A file whose input is an inner tensor begins there.
func TestDescribed_cutInput(t *testing.T) {
	dims := []int64{1, 3, 2, 4}
	model := (&onnxtest.Model{}).Node("MadeUp", "mid", "x").Node("Relu", "y", "mid").
		Input("x", onnxtest.Float, 7).Output("y", onnxtest.Float, dims...)
	c := openFile(t, fileOf(portOf("mid", rknn.Input, 1, 0, dims, []int64{1, 1, 2, 4, 3}),
		portOf("y", rknn.Output, 1, 0, dims, []int64{1, 2, 2, 4, 16})), model)
	a := attrOf(t, c, spec.QueryInputAttr)
	require.Equal(t, "mid", textOf(a.Name[:]))
	require.Equal(t, []uint32{1, 2, 4, 3}, sizesOf(a))
}

// remove_reshape: the file has rank 4 where the ONNX model has rank 2, with the same elements.
func TestDescribed_reshapeRemoved(t *testing.T) {
	model := (&onnxtest.Model{}).Node("Neg", "y", "x").Input("x", onnxtest.Float, 1, 5).Output("y", onnxtest.Float, 1, 5)
	f := fileOf(portOf("x", rknn.Input, 0.5, 3, []int64{1, 5, 1, 1}, []int64{1, 1, 1, 1, 16}),
		portOf("y", rknn.Output, 0.5, -3, []int64{1, 5, 1, 1}, []int64{1, 2, 1, 1, 16}))
	c := openFile(t, f, model)
	in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr)
	require.Equal(t, []uint32{1, 1, 1, 5}, sizesOf(in))
	require.Equal(t, []uint32{1, 5, 1, 1}, sizesOf(out))
	require.Equal(t, [...]any{spec.NHWC, spec.NCHW, spec.Int8, int32(3), float32(0.5)},
		[...]any{in.Format, out.Format, in.Kind, in.Zp, in.Scale})
	require.Equal(t, []uint32{1, 2, 1, 1, 16}, sizesOf(attrOf(t, c, spec.QueryNativeOutputAttr)))
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.NHWC, []float32{1, -2, 0.5, 4, 7})}))
	require.NoError(t, run(c, nil))
	require.Equal(t, []float32{-1, 2, -0.5, -4, -7}, fetch[float32](t, c, 1))
}

// A file of which a part is lost loads, and says by default what is not known.
func TestDescribed_whatIsLostIsSaid(t *testing.T) {
	for what, want := range map[string]string{
		"RKCE\x00\x00\x00\x00 nothing":     "mean and std, types, scales and native shapes of the .rknn are not known",
		"RKNN\x00\x00\x00\x00\x02\x00 old": "mean and std, types, scales and native shapes of the .rknn are not known",
	} {
		f, err := rknn.Read(strings.NewReader(what), int64(len(what)))
		if err != nil {
			f = &rknn.File{Lost: true}
		}
		require.Contains(t, lostOf(f), want)
	}
	require.Empty(t, lostOf(reluFile()))
}
