package lowering

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// The vectors are by farmhash itself; those that the API's type does not allow are passed over.
func TestLSHProjection(t *testing.T) {
	types := map[string]nnapi.OperandCode{"float32": nnapi.TensorFloat32, "float16": nnapi.TensorFloat16,
		"int32": nnapi.TensorInt32, "uint8": nnapi.TensorQuant8Asymm}
	ran := map[float64]int{}
	for _, v := range vectors(t, "lsh_projection.json") {
		form := map[float64]float64{0: nnapi.LSHDense, 1: nnapi.LSHSparse, 2: nnapi.LSHSparseDeprecated}[v.Attrs.Form]
		weighted := len(v.In) > 2 && v.In[2] != nil
		if weighted != (form == nnapi.LSHDense) || types[v.In[1].DType] == 0 || v.Out[0].Dims[0] == 0 {
			continue
		}
		var in []arg
		for _, x := range v.In {
			if x == nil {
				continue
			}
			a := arg{Operand: nnapi.Operand{Type: types[x.DType], Dims: x.Dims}, values: x.Data}
			if a.Type == nnapi.TensorQuant8Asymm {
				a.Scale = 0.5
			}
			in = append(in, a)
		}
		if !weighted {
			in = append(in, none(in[0].Type))
		}
		ran[form]++
		check{v.Name, nnapi.LSHProjection, append(in, num(form)), []arg{i32(v.Out[0].Data, v.Out[0].Dims...)}, 0}.run(t)
	}
	assert.Len(t, ran, 3)
	hash, x := f32(v1(1, 2), 1, 2), f32(v1(1, 2), 2)
	wrong := func(w arg, form float64, want string) {
		t.Helper()
		refused(t, check{"", nnapi.LSHProjection, []arg{hash, x, w, num(form)}, []arg{i32(nil)}, 0}, want)
	}
	wrong(f32(v1(1, 1), 2), 3, "input 2 (weight): want it given for type 2 (dense)")
	wrong(none(nnapi.TensorFloat32), 2, "input 2 (weight): want it given for type 2 (dense)")
	wrong(none(nnapi.TensorFloat32), 0, "input 3 (type): want 1 to 3, got 0")
}

func TestMultinomial(t *testing.T) {
	const samples = 4000
	weights := v1(0.5, 0.125, 0.25, 0.125)
	for _, f := range forms[:2] {
		logits := f.put(mapped(weights, math.Log), 1, 4)
		draw := func(seeds arg) []float64 {
			c := check{"", nnapi.RandomMultinomial, []arg{logits, num(samples), seeds}, []arg{i32(nil, 1, samples)}, 0}
			m, fed := c.model(variants[0], map[int]bool{2: true})
			require.NoError(t, nnapi.Check(m, m.Operations[0], nnapi.Level8))
			g, err := Graph(m)
			require.NoError(t, err)
			x := tensor.Tensor{DType: f.code.DType(), Dims: []int64{1, 4}, Data: encode(&fed[0].Operand, fed[0].values)}
			out, err := compute(g, []tensor.Tensor{x})
			require.NoError(t, err)
			return decode(tensor.Int32, out[0].Data)
		}
		first := draw(list(37, 42))
		counts := make([]float64, 4)
		for _, k := range first {
			counts[int(k)] += 1. / samples
		}
		for i, w := range weights {
			assert.InDelta(t, w, counts[i], 0.025)
		}
		assert.Equal(t, first, draw(list(37, 42)))
		assert.False(t, slices.Equal(first, draw(list(37, 43))))
		assert.False(t, slices.Equal(draw(list(0, 0)), draw(list(0, 0))))
	}
	refused(t, check{"", nnapi.RandomMultinomial, []arg{f32(nil, 1, 2), num(3), list(1)}, []arg{i32(nil)}, 0},
		"input 2 (seeds): want 2 numbers, got 1")
}

// TestLowerings_everyOperation: there is none that Check takes and Graph does not know.
func TestLowerings_everyOperation(t *testing.T) {
	for c, f := range lowerings {
		assert.NotNil(t, f, nnapi.OperationCode(c).String())
	}
}
