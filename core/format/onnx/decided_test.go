package onnx

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

func textAttr(name, s string) msg { return msg(nil).str(1, name).str(4, s).num(20, 3) }

func intsAttr(name string, v ...int64) msg {
	m := msg(nil).str(1, name)
	for _, x := range v {
		m = m.num(8, uint64(x))
	}
	return m.num(20, 7)
}

// computedBoth returns what both engines compute for a model of one input.
func computedBoth(t *testing.T, model []byte, x []float32) (results [][]float32) {
	t.Helper()
	for _, reference := range []bool{false, true} {
		w := mem.NewWeights()
		m, err := Import(model, Options{Weights: w})
		require.NoError(t, err)
		d, err := cpu.New(cpu.Config{Reference: reference})
		require.NoError(t, err)
		s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w},
			device.ExecOptions{})
		require.NoError(t, err)
		got, err := s.Run(context.Background(), []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{1, 1, int64(len(x))},
			Data: tensor.Float32s(x...)}}, time.Time{})
		require.NoError(t, err)
		y, err := tensor.ReadFloat32s(got[0].Data, got[0].Count())
		require.NoError(t, err)
		results = append(results, y)
		s.Close()
		w.Release()
	}
	return results
}

// The cases of docs/onnx.md in which runtimes differ: the values follow the specification's formulas.
func TestDecidedCases(t *testing.T) {
	up := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	mixed := []float32{3, -1, 4, 1, -5, 9, 2}
	root := func(a, b float64) float32 { return float32(math.Sqrt(a*a + b*b)) }
	window := func(kernel, stride, dilation int64) []msg {
		return []msg{intsAttr("kernel_shape", kernel), intsAttr("strides", stride), intsAttr("dilations", dilation)}
	}
	for _, c := range []struct {
		name, op string
		x        []float32
		with     []float32 // filter
		attrs    []msg
		want     []float32
	}{
		{"stride beyond kernel 1", "Conv", up, []float32{1}, window(1, 4, 1), []float32{1, 5}},
		{"stride beyond kernel 2", "Conv", up, []float32{1, 1}, window(2, 4, 1), []float32{3, 11}},
		{"stride beyond kernel", "MaxPool", up, nil, window(1, 4, 1), []float32{1, 5}},
		{"stride beyond kernel", "AveragePool", up, nil, window(1, 4, 1), []float32{1, 5}},
		{"stride beyond kernel 1", "ConvTranspose", up[:3], []float32{1}, window(1, 3, 1), []float32{1, 0, 0, 2, 0, 0, 3, 0,
			0}},
		{"stride beyond kernel 2", "ConvTranspose", up[:3], []float32{1, 2}, window(2, 4, 1), []float32{1, 2, 0, 0, 2, 4, 0,
			0, 3, 6, 0, 0}},
		{"dilated", "MaxPool", mixed, nil, window(2, 1, 2), []float32{-1, 4, 1, 4, 9, 2, 9}},
		{"dilated, stride 2", "MaxPool", mixed, nil, window(3, 2, 2), []float32{4, 4, 4, 2}},
		{"dilated", "LpPool", mixed, nil, window(2, 1, 2), []float32{1, 5, root(1, 1), root(4, 5), root(1, 9), root(5, 2),
			9}},
		{"dilated", "AveragePool", mixed, nil, window(2, 1, 2), []float32{-1, 3.5, 0, -0.5, 5, -1.5, 9}},
	} {
		for _, pad := range []string{"SAME_UPPER", "SAME_LOWER"} {
			t.Run(fmt.Sprint(c.op, " ", c.name, " ", pad), func(t *testing.T) {
				in, inits := []string{"x"}, []msg{input("x", 1, 1, int64(len(c.x))), output("y")}
				if c.with != nil {
					in = append(in, "w")
					inits = append(inits, initial(tensorMsg("w", []int64{1, 1, int64(len(c.with))}, tensor.Float32s(c.with...))))
				}
				node := nodeMsg(c.op, in, []string{"y"}, append(c.attrs, textAttr("auto_pad", pad))...)
				model := msg(nil).num(1, 9).sub(7, graphMsg([]msg{node}, inits...)).sub(8, msg(nil).num(2, 19))
				for _, got := range computedBoth(t, model, c.x) {
					require.Len(t, got, len(c.want))
					for i := range got {
						assert.InDelta(t, c.want[i], got[i], 1e-6, "element %d of %v", i, got)
					}
				}
			})
		}
	}
	// x_original = start*(in-1) + i*(end-start)*(in-1)/(out-1) = 1.5 + i/2, of 1 to 7.
	for mode, want := range map[string][]float32{"linear": {2.5, 3, 3.5, 4, 4.5, 5, 5.5},
		"nearest": {2, 3, 3, 4, 4, 5, 5}} {
		t.Run("Resize "+mode, func(t *testing.T) {
			node := nodeMsg("Resize", []string{"x", "roi", "scales"}, []string{"y"}, textAttr("coordinate_transformation_mode",
				"tf_crop_and_resize"), textAttr("mode", mode))
			graph := graphMsg([]msg{node}, input("x", 1, 1, 7), output("y"),
				initial(tensorMsg("roi", []int64{6}, tensor.Float32s(0, 0, 0.25, 1, 1, 0.75))),
				initial(tensorMsg("scales", []int64{3}, tensor.Float32s(1, 1, 1))))
			for _, got := range computedBoth(t, msg(nil).num(1, 9).sub(7, graph).sub(8, msg(nil).num(2, 19)), up[:7]) {
				assert.Equal(t, want, got)
			}
		})
	}
}
