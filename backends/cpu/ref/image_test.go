package ref

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestImage_independentResults computes the cases of conformance/vectors/image.py, whose results are closed forms in
// float64 and integers, by the kernel and by the operators that the operator decomposes into. Bytes are equal; numbers
// differ by at most 2^-20 of the largest of a case, which float32 sums of numbers of that size need.
func TestImage_independentResults(t *testing.T) {
	largest := [2]float64{}
	for _, name := range []string{"decode", "resize"} {
		data, err := os.ReadFile("testdata/image/" + name + ".json")
		require.NoError(t, err)
		var list []vectorCase
		require.NoError(t, json.Unmarshal(data, &list))
		require.Greater(t, len(list), 70)
		for _, c := range list {
			o, ok := graph.NewOp(c.Op)
			require.True(t, ok, c.Op)
			require.NoError(t, json.Unmarshal(c.Attrs, o))
			in := make([]tensor.Tensor, len(c.In))
			for i, v := range c.In {
				in[i] = v.tensor(t)
			}
			got, err := Compute(o, in, make([]tensor.Type, len(c.Out)))
			require.NoError(t, err, c.Name)
			parts, err := Run(context.Background(), decomposed(t, o.(graph.Composite), in), given(in))
			require.NoError(t, err, c.Name)
			for i, v := range c.Out {
				want := v.tensor(t)
				for k, y := range []tensor.Tensor{got[i], parts[i]} {
					require.Equal(t, want.Type().String(), y.Type().String(), c.Name)
					if want.DType == tensor.Uint8 {
						require.Equal(t, want.Data, y.Data, "%s, output %d, in parts %v", c.Name, i, k == 1)
						continue
					}
					d := distance(view[float32](want), view[float32](y))
					require.LessOrEqual(t, d, 0x1p-20, "%s, in parts %v", c.Name, k == 1)
					largest[k] = max(largest[k], d)
				}
			}
		}
	}
	t.Logf("largest difference of a case over its largest value: %.3g, in parts %.3g; bytes are equal", largest[0],
		largest[1])
}

// distance is the largest difference over the largest value.
func distance(want, got []float32) float64 {
	far, large := 0.0, 0.0
	for i, w := range want {
		far, large = max(far, math.Abs(float64(w)-float64(got[i]))), max(large, math.Abs(float64(w)))
	}
	return far / large
}

// given are the tensors that are there.
func given(in []tensor.Tensor) (list []tensor.Tensor) {
	for _, t := range in {
		if !t.Absent() {
			list = append(list, t)
		}
	}
	return list
}

// decomposed is the graph that an operator decomposes into for these inputs.
func decomposed(t *testing.T, o graph.Composite, in []tensor.Tensor) *graph.Graph {
	b := graph.NewBuilder("parts")
	values := make([]graph.Value, len(in))
	for i, x := range in {
		values[i] = graph.None
		if !x.Absent() {
			values[i] = b.Input("x", x.Type())
		}
	}
	out, err := o.Decompose(b, values)
	require.NoError(t, err)
	b.Output(out...)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func TestResizeImage_wrongRegionsFailTheRun(t *testing.T) {
	o := &op.ResizeImage{Height: 2, Width: 2}
	x := ints(tensor.Uint8, make([]int64, 20), 1, 1, 4, 5)
	for _, r := range [][]int64{{3, 0, 2, 3}, {0, 2, 4, 1}, {5, 0, 9, 3}, {0, 4, 4, 9}, {-3, 0, -1, 3},
		{math.MaxInt32, 0, math.MinInt32, 0}} {
		in := []tensor.Tensor{x, {}, ints(tensor.Int32, r, 1, 4)}
		_, err := Compute(o, in, make([]tensor.Type, 1))
		assert.Equal(t, fault.Data, fault.KindOf(err), "%v: %v", r, err)
		assert.ErrorContains(t, err, "input 2: image 0: the region")
		_, err = Run(context.Background(), decomposed(t, o, in), given(in))
		assert.Equal(t, fault.Data, fault.KindOf(err), "%v, in parts: %v", r, err)
	}
}

// A region as large as the result is the same bytes, so it decodes like the cut image.
func TestResizeImage_sameSizeCopies(t *testing.T) {
	o := &op.ResizeImage{Pixel: op.PixelNV12, Height: 4, Width: 6}
	x := tensor.New(tensor.Uint8, 1, 12, 10)
	for i := range x.Data {
		x.Data[i] = byte(i*37 + i/7)
	}
	y, err := Compute(o, []tensor.Tensor{x, {}, ints(tensor.Int32, []int64{2, 4, 7, 7}, 1, 4)}, make([]tensor.Type, 1))
	require.NoError(t, err)
	for row, from := range []int{4, 5, 6, 7, 10, 11} {
		assert.Equal(t, x.Data[10*from+2:][:6], y[0].Data[6*row:][:6], "row %d", row)
	}
}
