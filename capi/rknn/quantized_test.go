package rknn

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/format/rknn/rknntest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// vectors are how ONNX Runtime's tools quantize a float model, and what ONNX Runtime computes (testdata/quantized).
type vectors struct {
	Input     string
	Shape     []int64
	Mean, Std float64
	Tensors   map[string][2]float64 // scale and zero point
	Outputs   []vector
}

// vector is one output: every Every-th element.
type vector struct {
	Name  string
	Shape []int64
	Every int
	Codes []int
	Real  []float32
}

// file is an .rknn file with the scales of the vectors.
func (v *vectors) file() *rknn.File {
	f := &rknn.File{Version: rknntest.Main, Targets: []string{"rk3588"}, Graphs: make([]rknn.Graph, 1),
		Inputs:     []rknn.Port{{Name: v.Input, Type: "int8", Layout: "nhwc", Dims: v.Shape}},
		Preprocess: map[string]rknn.Preprocess{v.Input: {Mean: []float64{v.Mean}, Std: []float64{v.Std}}}}
	kinds, shapes := map[string]rknn.Kind{v.Input: rknn.Input}, map[string][]int64{v.Input: v.Shape}
	for _, o := range v.Outputs {
		kinds[o.Name], shapes[o.Name] = rknn.Output, o.Shape
		f.Outputs = append(f.Outputs, rknn.Port{Name: o.Name, Type: "int8", Dims: o.Shape})
	}
	for name, q := range v.Tensors {
		kind := kinds[name]
		if kind == rknn.Other {
			kind = rknn.Intermediate
		}
		t := rknn.Tensor{Name: name, Type: "int8", Kind: kind, Dims: shapes[name], Scale: []float32{float32(q[0])},
			Zero: []int64{int64(q[1])}}
		if s := shapes[name]; kind == rknn.Output && len(s) == 4 {
			t.Native, t.Shape = true, []int64{s[0], (s[1] + 31) / 32 * 2, s[2], s[3], 16}
		}
		f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, t)
	}
	return f
}

// picture is the image of the vectors.
func (v *vectors) picture() []uint8 {
	n := 1
	for _, d := range v.Shape {
		n *= int(d)
	}
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8((i*i*7 + i*13) / 8 % 256)
	}
	return out
}

// An .rknn file with the scales that ONNX Runtime's tools chose gives the codes that ONNX Runtime computes, or one
// beside them; over the 52 layers of MobileNetV2 the codes of the rules in float64, from which ONNX Runtime's sums in
// float32 drift away. With ANYNPU_RKNN_QUANTIZE=off the numbers of the float model.
func TestDescribed_resultsAreThoseOfOnnxRuntime(t *testing.T) {
	for name, path := range map[string]string{"digits": "../../examples/digits/digits.onnx",
		"heads":        "testdata/quantized/heads.onnx",
		"mobilenet_v2": filepath.Join("../..", cmp.Or(os.Getenv("BUILD"), "build"), "bench/models/mobilenet_v2_224.onnx")} {
		t.Run(name, func(t *testing.T) {
			model, err := filepath.Abs(path)
			require.NoError(t, err)
			if _, err := os.Stat(model); err != nil {
				t.Skipf("%v: make build/bench/models/done makes it", err)
			}
			text, err := os.ReadFile(filepath.Join("testdata/quantized", name+".json"))
			require.NoError(t, err)
			var v vectors
			require.NoError(t, json.Unmarshal(text, &v))
			dir := t.TempDir()
			net := write(t, filepath.Join(dir, "net.rknn"), rknntest.Write(v.file()))
			require.NoError(t, os.Symlink(model, filepath.Join(dir, "net.onnx")))
			for _, mode := range []string{"on", "off"} {
				t.Setenv("ANYNPU_RKNN_QUANTIZE", mode)
				m, err := load(nil, net, 0)
				require.NoError(t, err)
				c, err := newContext(m, 0, m.run)
				require.NoError(t, err)
				defer c.release()
				require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Uint8, spec.NHWC, v.picture())}))
				require.NoError(t, run(c, nil))
				if mode == "on" {
					v.checkAttributes(t, c)
				}
				for i, o := range v.Outputs {
					if mode == "on" {
						most := 1
						if name == "mobilenet_v2" { // whose codes follow from exact sums (testdata/quantized/make.py)
							most = 0
						}
						o.checkCodes(t, output[int8](t, c, i, 0), most)
						continue
					}
					got := output[float32](t, c, i, 1)
					far := 0.0
					for k, want := range o.Real {
						far = max(far, math.Abs(float64(got[k*o.Every]-want))/(1e-3+math.Abs(float64(want))))
					}
					require.Less(t, far, 1e-3, "float output %s", o.Name)
				}
			}
		})
	}
}

// checkAttributes compares the answers to all queries of attributes with the file.
func (v *vectors) checkAttributes(t *testing.T, c *Context) {
	for _, cmd := range []spec.QueryCmd{spec.QueryInputAttr, spec.QueryNativeInputAttr, spec.QueryNativeNHWCInputAttr,
		spec.QueryCurrentInputAttr,
		spec.QueryCurrentNativeInputAttr} {
		a, q := attrOf(t, c, cmd), v.Tensors[v.Input]
		require.Equal(t, []any{v.Input, spec.NHWC, spec.Int8, spec.QntAffine, int32(q[1]), float32(q[0])},
			[]any{textOf(a.Name[:]), a.Format, a.Kind, a.Qnt, a.Zp, a.Scale})
		require.Equal(t, []uint32{uint32(v.Shape[0]), uint32(v.Shape[2]), uint32(v.Shape[3]), uint32(v.Shape[1])}, sizesOf(a))
	}
	for i, o := range v.Outputs {
		for _, cmd := range []spec.QueryCmd{spec.QueryOutputAttr, spec.QueryNativeOutputAttr, spec.QueryNativeNHWCOutputAttr,
			spec.QueryCurrentOutputAttr, spec.QueryCurrentNativeOutputAttr} {
			a := spec.TensorAttr{Index: uint32(i)}
			require.NoError(t, ask(c, cmd, &a, int(unsafe.Sizeof(a))))
			q := v.Tensors[o.Name]
			require.Equal(t, []any{o.Name, spec.Int8, spec.QntAffine, int32(q[1]), float32(q[0])},
				[]any{textOf(a.Name[:]), a.Kind, a.Qnt, a.Zp, a.Scale})
			if native := cmd == spec.QueryNativeOutputAttr || cmd == spec.QueryCurrentNativeOutputAttr; native &&
				len(o.Shape) == 4 {
				require.Equal(t, spec.NC1HWC2, a.Format)
				require.Equal(t, []uint32{uint32(o.Shape[0]), uint32(o.Shape[1]+31) / 32 * 2, uint32(o.Shape[2]),
					uint32(o.Shape[3]), 16}, sizesOf(a))
			}
		}
	}
}

// checkCodes compares codes with those of ONNX Runtime.
func (o *vector) checkCodes(t *testing.T, got []int8, allowed int) {
	most, off, levels := 0, 0, map[int8]bool{}
	for k, want := range o.Codes {
		d := int(got[k*o.Every]) - want
		most, levels[got[k*o.Every]] = max(most, d, -d), true
		if d != 0 {
			off++
		}
	}
	t.Logf("%s: %d of %d codes differ, by %d at most; %d levels", o.Name, off, len(o.Codes), most, len(levels))
	require.LessOrEqual(t, most, allowed, "output %s", o.Name)
	require.Greater(t, len(levels), 1, "output %s", o.Name)
}

// output fetches output i.
func output[T any](t *testing.T, c *Context, i int, wantFloat uint8) []T {
	t.Helper()
	o := []Output{{index: uint32(i), wantFloat: wantFloat}}
	require.NoError(t, outputsGet(c, o, nil))
	defer func() { require.NoError(t, outputsRelease(c, o)) }()
	var e T
	return append([]T(nil), unsafe.Slice((*T)(cPointer(o[0].buf)), int(o[0].size)/int(unsafe.Sizeof(e)))...)
}
