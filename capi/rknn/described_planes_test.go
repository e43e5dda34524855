package rknn

import (
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// planesFile is an .rknn file of relu that takes luma and chroma of an image of NV12, 2 x 4 pixels.
func planesFile() *rknn.File {
	luma, chroma, out := []int64{1, 1, 2, 4}, []int64{1, 1, 1, 4}, []int64{1, 3, 2, 4}
	plane := func(name string, dims []int64, native ...int64) rknn.Tensor {
		return rknn.Tensor{Name: name, Type: "int8", Kind: rknn.Input, Dims: dims, Shape: native, Scale: []float32{1},
			Zero: []int64{-128}}
	}
	one := rknn.Preprocess{Mean: []float64{0}, Std: []float64{1}}
	return &rknn.File{Version: rknntest.Main, Targets: []string{"rk3588"}, Compiler: "2.3.2",
		Inputs: []rknn.Port{{Name: "x_y_channel", Type: "int8", Layout: "nchw", Dims: luma},
			{Name: "x_uv_channel", Type: "int8", Layout: "nchw", Dims: chroma}},
		Outputs: []rknn.Port{{Name: "y", Type: "float32", Layout: "nchw", Dims: out}},
		Graphs: []rknn.Graph{{Inputs: []int{0, 1}, Outputs: []int{2}, Tensors: []rknn.Tensor{
			plane("x_y_channel", luma, 1, 2, 4, 1), plane("x_uv_channel", chroma, 1, 1, 4, 1),
			{Name: "y", Type: "float32", Kind: rknn.Output, Dims: out, Native: true, Shape: []int64{1, 1, 2, 4, 8}}}}},
		Preprocess: map[string]rknn.Preprocess{"x_y_channel": one, "x_uv_channel": one},
	}
}

// An image of NV12 is handed over as two images of one channel, luma and chroma, as the file has them.
func TestDescribed_planes(t *testing.T) {
	luma := []uint8{40, 90, 140, 190, 60, 110, 160, 210}
	chroma := []uint8{100, 150, 140, 120} // pairs of blue and red, each for 2 x 2 pixels
	for _, channels := range []int64{1, 3} {
		f := planesFile()
		f.Outputs[0].Dims = []int64{1, channels, 2, 4}
		f.Graphs[0].Tensors[2].Dims = f.Outputs[0].Dims
		c := openFile(t, f, relu(1, channels, 2, 4))
		require.Len(t, c.model.in, 2)
		for i, want := range []struct {
			name string
			dims []uint32
		}{{"x_y_channel", []uint32{1, 2, 4, 1}}, {"x_uv_channel", []uint32{1, 1, 4, 1}}} {
			for _, cmd := range []spec.QueryCmd{spec.QueryInputAttr, spec.QueryNativeInputAttr} {
				a := spec.TensorAttr{Index: uint32(i)}
				require.NoError(t, ask(c, cmd, &a, int(unsafe.Sizeof(a))))
				require.Equal(t, want.name, textOf(a.Name[:]))
				require.Equal(t, want.dims, sizesOf(a))
				require.Equal(t, []any{spec.NHWC, spec.Int8, spec.QntAffine, int32(-128), float32(1)},
					[]any{a.Format, a.Kind, a.Qnt, a.Zp, a.Scale})
			}
		}
		in := []Input{inputOf(t, spec.Uint8, spec.NHWC, luma), inputOf(t, spec.Uint8, spec.NHWC, chroma)}
		in[1].index = 1
		require.NoError(t, inputsSet(c, in))
		require.NoError(t, run(c, nil))
		got := fetch[float32](t, c, 1)
		require.Len(t, got, int(channels)*8)
		for i, y := range luma {
			u, v := float32(chroma[i%4/2*2])-128, float32(chroma[i%4/2*2+1])-128
			want := []float32{float32(y)}
			if channels == 3 {
				want = []float32{float32(y) + 1.402*v, float32(y) - 0.344136*u - 0.714136*v, float32(y) + 1.772*u}
			}
			for k, w := range want {
				require.InDelta(t, max(w, 0), got[k*8+i], 1e-3)
			}
		}
	}
}

// Where the ONNX model takes no image of that size, it loads as it is.
func TestDescribed_planesOfAnother(t *testing.T) {
	t.Setenv("ANYNPU_LOG", "off")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "net.onnx"), relu(1, 5, 2, 4).Bytes())
	m, err := load(nil, write(t, filepath.Join(dir, "net.rknn"), rknntest.Write(planesFile())), 0)
	require.NoError(t, err)
	c, err := newContext(m, 0, m.run)
	require.NoError(t, err)
	t.Cleanup(c.release)
	require.Len(t, c.model.in, 1)
	require.Equal(t, []uint32{1, 2, 4, 5}, sizesOf(attrOf(t, c, spec.QueryInputAttr)))
}
