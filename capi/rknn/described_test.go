package rknn

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// relu is y = Relu(x) in real numbers, with a value that has a name in between.
func relu(dims ...int64) *onnxtest.Model {
	return (&onnxtest.Model{}).Node("Neg", "n", "x").Node("Neg", "m", "n").Node("Relu", "y", "m").
		Input("x", onnxtest.Float, dims...).Output("y", onnxtest.Float, dims...)
}

// reluFile is an .rknn file of relu, quantized, for a board of 8 lanes whose outputs have an even number of groups.
func reluFile() *rknn.File {
	dims := []int64{1, 3, 2, 4}
	code := func(name string, kind rknn.Kind, scale float32, zero int64, native bool, shape ...int64) rknn.Tensor {
		return rknn.Tensor{Name: name, Type: "int8", Kind: kind, Dims: dims, Native: native, Shape: shape,
			Scale: []float32{scale}, Zero: []int64{zero}}
	}
	return &rknn.File{Version: rknntest.Main, Targets: []string{"rk3566"}, Compiler: "2.3.2", Custom: "labels",
		Inputs:  []rknn.Port{{Name: "x", Type: "int8", Layout: "nchw", Dims: dims}},
		Outputs: []rknn.Port{{Name: "y", Type: "int8", Layout: "nchw", Dims: dims}},
		Graphs: []rknn.Graph{{Inputs: []int{0}, Outputs: []int{2}, Tensors: []rknn.Tensor{
			code("x", rknn.Input, 1.0/64, -3, false, 1, 2, 4, 3), code("m", rknn.Intermediate, 1.0/32, 5, true),
			code("y", rknn.Output, 1.0/32, -128, true, 1, 2, 2, 4, 8), code("fused", rknn.Intermediate, 1, 0, true),
			{Name: "weights", Type: "int8", Dims: []int64{3}}}}},
		Preprocess: map[string]rknn.Preprocess{"x": {Mean: []float64{120, 110, 100}, Std: []float64{60, 50, 40}}},
	}
}

// openFile makes a context of an .rknn file that ends with the test; model stands for it.
func openFile(t *testing.T, f *rknn.File, model *onnxtest.Model) *Context {
	t.Helper()
	asChip(f)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "some.onnx"), model.Bytes())
	t.Setenv("ANYNPU_MODEL_MAP", dir)
	m, err := load(rknntest.Write(f), "", 0)
	require.NoError(t, err)
	c, err := newContext(m, 0, m.run)
	require.NoError(t, err)
	t.Cleanup(c.release)
	return c
}

func sizesOf(a spec.TensorAttr) []uint32 { return a.Dims[:a.Rank] }

func TestDescribed_attributesAreThoseOfTheFile(t *testing.T) {
	c := openFile(t, reluFile(), relu(1, 3, 2, 4))
	for _, cmd := range []spec.QueryCmd{spec.QueryInputAttr, spec.QueryNativeInputAttr, spec.QueryCurrentInputAttr} {
		a := attrOf(t, c, cmd)
		require.Equal(t, []uint32{1, 2, 4, 3}, sizesOf(a))
		require.Equal(t, []any{spec.NHWC, spec.Int8, spec.QntAffine, int32(-3), float32(1.0 / 64), uint32(24)},
			[]any{a.Format, a.Kind, a.Qnt, a.Zp, a.Scale, a.Size})
	}
	a := attrOf(t, c, spec.QueryOutputAttr)
	require.Equal(t, []uint32{1, 3, 2, 4}, sizesOf(a))
	require.Equal(t, []any{spec.NCHW, spec.Int8, spec.QntAffine, int32(-128), float32(1.0 / 32), uint32(24), uint32(128)},
		[]any{a.Format, a.Kind, a.Qnt, a.Zp, a.Scale, a.Size, a.SizeWithStride})
	a = attrOf(t, c, spec.QueryNativeOutputAttr)
	require.Equal(t, []uint32{1, 2, 2, 4, 8}, sizesOf(a), "C1 as in the file: even, and one more than three channels take")
	require.Equal(t, []any{spec.NC1HWC2, uint32(128)}, []any{a.Format, a.Size})
	require.Equal(t, "rk3566", c.model.board.name, "ANYNPU_RKNN_TARGET is not set")
	require.Error(t, setCoreMask(c, 2), "one core")
	info := make([]byte, 1024)
	require.NoError(t, query(c, spec.QueryCustomString, info))
	require.Equal(t, "labels", textOf(info))
}

// written is the model that a user would write for reluFile: quantized by nodes, mean and deviation in its metadata.
func written() *onnxtest.Model {
	m := &onnxtest.Model{}
	scalar := func(name string, scale float32, zero int8) {
		m.Scalar(name, onnxtest.Float, binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale)))
		m.Scalar(name+"z", onnxtest.Int8, []byte{byte(zero)})
	}
	scalar("sx", 1.0/64, -3)
	scalar("sm", 1.0/32, 5)
	scalar("sy", 1.0/32, -128)
	m.Node("QuantizeLinear", "xq", "x", "sx", "sxz").Node("DequantizeLinear", "xd", "xq", "sx", "sxz")
	m.Node("Neg", "n", "xd").Node("Neg", "m", "n")
	m.Node("QuantizeLinear", "mq", "m", "sm", "smz").Node("DequantizeLinear", "md", "mq", "sm", "smz").
		Node("Relu", "r", "md")
	m.Node("QuantizeLinear", "rq", "r", "sy", "syz").Node("DequantizeLinear", "y", "rq", "sy", "syz")
	m.Meta("anynpu.input.x.mean", "[120, 110, 100]").Meta("anynpu.input.x.std", "[60, 50, 40]")
	return m.Input("x", onnxtest.Float, 1, 3, 2, 4).Output("y", onnxtest.Float, 1, 3, 2, 4)
}

// image is a UINT8 image of reluFile's sizes.
func image() []uint8 {
	v := make([]uint8, 24)
	for i := range v {
		v[i] = uint8(i * 37)
	}
	return v
}

// ran returns the codes or numbers of output 0 for the image.
func ran[T any](t *testing.T, c *Context, wantFloat uint8) []T {
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Uint8, spec.NHWC, image())}))
	require.NoError(t, run(c, nil))
	return fetch[T](t, c, wantFloat)
}

func TestDescribed_resultsAreThoseOfTheWrittenModel(t *testing.T) {
	want := ran[int8](t, open(t, written(), 0), 0)
	c := openFile(t, reluFile(), relu(1, 3, 2, 4))
	require.Equal(t, want, ran[int8](t, c, 0))
	var varied int
	for _, v := range want {
		if v != want[0] {
			varied++
		}
	}
	require.Greater(t, varied, 10)

	// Native memory: lanes without a channel, and the group that only rounds up, hold the zero point.
	a := attrOf(t, c, spec.QueryNativeOutputAttr)
	mem := created(t, a.SizeWithStride)
	require.NoError(t, setIoMem(c, mem, &a))
	require.NoError(t, run(c, nil))
	native := unsafe.Slice((*int8)(cPointer(mem.Virt)), int(a.Size))
	for i, v := range native {
		group, pixel, lane := i/64, i/8%8, i%8
		if group == 0 && lane < 3 {
			require.Equal(t, want[lane*8+pixel], v)
		} else {
			require.EqualValues(t, -128, v)
		}
	}
}

// The image becomes numbers as with the same model and metadata, to the bit.
func TestDescribed_offLeavesTheModelReal(t *testing.T) {
	t.Setenv("ANYNPU_RKNN_QUANTIZE", "off")
	m := relu(1, 3, 2, 4)
	own := relu(1, 3, 2, 4).Meta("anynpu.input.x.mean", "[120, 110, 100]").Meta("anynpu.input.x.std", "[60, 50, 40]")
	c := openFile(t, reluFile(), m)
	require.Equal(t, spec.Float16, c.model.in[0].kind)
	require.Equal(t, ran[float32](t, open(t, own, 0), 1), ran[float32](t, c, 1))
}

// rgb2bgr says how the converter read the images that it calibrated with: at run time nothing is swapped.
func TestDescribed_channelOrder(t *testing.T) {
	f := reluFile()
	p := f.Preprocess["x"]
	p.RGB2BGR = true
	f.Preprocess["x"] = p
	require.Equal(t, ran[int8](t, open(t, written(), 0), 0), ran[int8](t, openFile(t, f, relu(1, 3, 2, 4)), 0))
}

func TestDescribed_batch(t *testing.T) {
	f := reluFile()
	f.Batch = 4
	c := openFile(t, f, relu(1, 3, 2, 4))
	a := attrOf(t, c, spec.QueryInputAttr)
	require.Equal(t, []uint32{4, 2, 4, 3}, sizesOf(a))
	one := ran[int8](t, open(t, written(), 0), 0)
	four := append(append(append(image(), image()...), image()...), image()...)
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Uint8, spec.NHWC, four)}))
	require.NoError(t, run(c, nil))
	got := fetch[int8](t, c, 0)
	for i := range 4 {
		require.Equal(t, one, got[i*24:(i+1)*24])
	}
}

func TestDescribed_dynamicShapes(t *testing.T) {
	f := reluFile()
	f.DynamicShapes = map[string][][]int64{"x": {{1, 3, 4, 4}, {1, 3, 2, 4}}, "y": {{1, 3, 4, 4}, {1, 3, 2, 4}}}
	f.Graphs = append(f.Graphs, rknn.Graph{Tensors: append([]rknn.Tensor{}, f.Graphs[0].Tensors...)})
	f.Graphs[1].Inputs, f.Graphs[1].Outputs = []int{0}, []int{2}
	f.Graphs[0].Tensors = append([]rknn.Tensor{}, f.Graphs[0].Tensors...)
	f.Graphs[0].Tensors[0].Shape = []int64{1, 4, 4, 3}
	f.Graphs[0].Tensors[2].Shape = []int64{1, 1, 4, 4, 8}
	c := openFile(t, f, relu(1, 3, -1, 4))
	require.True(t, c.model.dynamic)
	a := attrOf(t, c, spec.QueryNativeOutputAttr)
	require.Equal(t, []uint32{1, 1, 4, 4, 8}, sizesOf(a), "that of the largest shape")
	require.Equal(t, []int64{1, 3, 4, 4}, c.model.shapes[0].In[0], "in the order of the file")
	require.Equal(t, []int64{1, 3, 2, 4}, c.model.shapes[1].In[0])
	require.NoError(t, setInputShapes(c, []spec.TensorAttr{shapeAttr(spec.NHWC, 1, 2, 4, 3)}))
	a = attrOf(t, c, spec.QueryCurrentNativeOutputAttr)
	require.Equal(t, []uint32{1, 2, 2, 4, 8}, sizesOf(a))
	require.Equal(t, ran[int8](t, open(t, written(), 0), 0), ran[int8](t, c, 0))
}

func TestDescribed_floatFile(t *testing.T) {
	f := reluFile()
	f.Preprocess = nil
	for i := range f.Graphs[0].Tensors {
		x := &f.Graphs[0].Tensors[i]
		x.Type, x.Scale, x.Zero = "float16", nil, nil
	}
	f.Graphs[0].Tensors[2].Type = "float32"
	f.Inputs[0].Type, f.Outputs[0].Type = "float16", "float32"
	c := openFile(t, f, relu(1, 3, 2, 4))
	in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr)
	require.Equal(t, []any{spec.Float16, spec.QntAffine, int32(0), float32(1)}, []any{in.Kind, in.Qnt, in.Zp, in.Scale})
	require.Equal(t, []any{spec.Float32, spec.QntAffine}, []any{out.Kind, out.Qnt})
}

// A model that quantizes by itself, one of another type, and numbers that no code can have stay as they are.
func TestDescribed_whatStaysReal(t *testing.T) {
	c := openFile(t, reluFile(), quantized(0.5, 1, 1, 3, 2, 4).Node("Neg", "m", "x"))
	require.Nil(t, c.model.in[0].Quant, "its own nodes: the input has another reader")
	require.EqualValues(t, 0.5, c.model.out[0].Quant.Scale)
	f := reluFile()
	for i := range f.Graphs[0].Tensors {
		f.Graphs[0].Tensors[i].Scale = []float32{float32(math.NaN())}
	}
	require.Equal(t, spec.Float16, openFile(t, f, relu(1, 3, 2, 4)).model.in[0].kind)
	f = reluFile()
	f.Preprocess["x"] = rknn.Preprocess{Mean: []float64{1, 2}, Std: []float64{1e300}}
	f.Inputs[0].Dims = []int64{1, 3, 1 << 31, -4}
	require.Equal(t, spec.Int8, openFile(t, f, relu(1, 3, 2, 4)).model.in[0].kind)
}

// The ONNX model's own metadata win.
func TestDescribed_metadataWin(t *testing.T) {
	c := openFile(t, reluFile(), relu(1, 3, 2, 4).Meta("anynpu.custom_string", "mine").Meta("anynpu.input.x.mean", "[1]").
		Meta("anynpu.target", "rk3576"))
	require.Equal(t, "mine", c.model.meta.CustomString)
	require.Equal(t, []float32{1}, c.model.in[0].Mean)
	require.Equal(t, []float32{60, 50, 40}, c.model.in[0].Std)
	require.Equal(t, "rk3576", c.model.board.name)
}

// Whatever a damaged file says, the ONNX model beside it loads.
func TestDescribed_damagedFile(t *testing.T) {
	t.Setenv("ANYNPU_LOG", "off")
	f := reluFile()
	f.Batch = 2
	f.DynamicShapes = map[string][][]int64{"x": {{1, 3, 2, 4}, {1, 3, 4, 4}}}
	data, dir := rknntest.Write(f), t.TempDir()
	write(t, filepath.Join(dir, "net.onnx"), relu(1, 3, -1, 4).Meta("anynpu.dim.n", "2").Bytes())
	step := 2
	if testing.Short() { // the race detector needs no more
		step = 14
	}
	for i := 4; i < len(data); i += step {
		damaged := bytes.Clone(data)
		damaged[i] ^= []byte{1, 0x80, 0xff, 0x10}[i/2%4]
		m, err := load(nil, write(t, filepath.Join(dir, "net.rknn"), damaged), 0)
		require.NoError(t, err, "byte %d", i)
		c, err := newContext(m, 0, m.run)
		require.NoError(t, err, "byte %d", i)
		for _, cmd := range []spec.QueryCmd{spec.QueryInputAttr, spec.QueryNativeInputAttr, spec.QueryOutputAttr,
			spec.QueryNativeOutputAttr} {
			attrOf(t, c, cmd)
		}
		c.release()
	}
}
