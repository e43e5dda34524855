package ref

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// vectorTensor is a tensor in testdata; see conformance/vectors/spatial.py.
type vectorTensor struct {
	DType string
	Dims  []int64
	Data  []json.Number
	Scale []float32
	Zero  []int32
	Axis  int
}

type vectorCase struct {
	Name  string
	Op    string
	Attrs json.RawMessage
	In    []*vectorTensor
	Out   []*vectorTensor
	By    string
	Exact bool // quantized outputs are equal, not within one step
}

func dtypeNamed(t *testing.T, name string) tensor.DType {
	for d := tensor.Invalid; d.Valid() || d == tensor.Invalid; d++ {
		if d.String() == name {
			return d
		}
	}
	t.Fatalf("no type %q", name)
	return tensor.Invalid
}

func (v *vectorTensor) tensor(t *testing.T) tensor.Tensor {
	if v == nil {
		return tensor.Tensor{}
	}
	d := dtypeNamed(t, v.DType)
	x := tensor.New(d, v.Dims...)
	require.Len(t, v.Data, x.Count())
	for i, n := range v.Data {
		f, err := n.Float64()
		require.NoError(t, err)
		switch d {
		case tensor.Float16:
			view[uint16](x)[i] = tensor.Float32To16(float32(f))
		case tensor.Float32:
			view[float32](x)[i] = float32(f)
		case tensor.Float64:
			view[float64](x)[i] = f
		case tensor.Int64:
			view[int64](x)[i], err = n.Int64()
			require.NoError(t, err)
		default:
			storeInt(x, i, int64(f))
		}
	}
	if v.Scale != nil {
		x.Quant = &tensor.Quant{Scale: v.Scale, Zero: v.Zero, Axis: v.Axis}
	}
	return x
}

// assertTensor compares float32 and float64 at 1e-5 relative and 1e-6 absolute, float16 at 1e-3, quantized integers
// within one step, others exactly; if exact, quantized ones too.
func assertTensor(t *testing.T, want, got tensor.Tensor, exact bool, what string) {
	require.Equal(t, want.DType, got.DType, what)
	require.Equal(t, fmt.Sprint(want.Dims), fmt.Sprint(got.Dims), what)
	slack := func(w float64) float64 { return 0 }
	switch {
	case want.Quant != nil:
		if !exact {
			slack = func(float64) float64 { return 1 }
		}
		want.Quant, got.Quant = nil, nil
	case want.DType == tensor.Float16:
		slack = func(w float64) float64 { return 1e-3 * max(1, math.Abs(w)) }
	case want.DType.IsFloat():
		slack = func(w float64) float64 { return 1e-6 + 1e-5*math.Abs(w) }
	}
	w, err := toReal(want)
	require.NoError(t, err)
	g, err := toReal(got)
	require.NoError(t, err)
	a, b := reals(w), reals(g)
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= slack(a[i])) {
			assert.Failf(t, what, "element %d of %v: want %v, got %v\nwant %v\ngot  %v", i, want.Dims, a[i], b[i], a, b)
			return
		}
	}
}

// TestVectors_independentResults computes the cases of testdata, whose results come from other implementations.
func TestVectors_independentResults(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var list []vectorCase
		require.NoError(t, json.Unmarshal(data, &list), file)
		require.NotEmpty(t, list, file)
		for _, c := range list {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+c.Name, func(t *testing.T) {
				o, ok := graph.NewOp(c.Op)
				require.True(t, ok, c.Op)
				d := json.NewDecoder(strings.NewReader(string(c.Attrs)))
				d.DisallowUnknownFields()
				require.NoError(t, d.Decode(o))
				in := make([]tensor.Tensor, len(c.In))
				for i, v := range c.In {
					in[i] = v.tensor(t)
				}
				declared := make([]tensor.Type, len(c.Out))
				for i, v := range c.Out {
					if v != nil {
						declared[i] = v.tensor(t).Type()
						declared[i].Shape = tensor.AnyShape()
					}
				}
				got, err := Compute(o, in, declared)
				require.NoError(t, err)
				require.Len(t, got, len(c.Out))
				for i, v := range c.Out {
					if v != nil {
						assertTensor(t, v.tensor(t), got[i], c.Exact, fmt.Sprintf("output %d (by %s)", i, c.By))
					}
				}
			})
		}
	}
}
