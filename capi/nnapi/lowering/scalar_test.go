package lowering

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestScalars_atTheRun: scalars that core takes as inputs may be a model's inputs; what follows from them is checked by
// the run.
func TestScalars_atTheRun(t *testing.T) {
	given := func(a arg) arg {
		a.kept = false
		return a
	}
	x := f32(seq(1, 1, 6), 2, 3)
	image := f32(v1(1, 2, 3, 4), 1, 2, 2, 1)
	for _, c := range []check{
		{"", nnapi.ExpandDims, []arg{x, given(num(-2))}, []arg{f32(x.values, 2, 1, 3)}, 0},
		{"", nnapi.Gather, []arg{x, given(num(1)), list(2, 0)}, []arg{f32(v1(3, 1, 6, 4), 2, 2)}, 0},
		{"", nnapi.TopKV2, []arg{x, given(num(1))}, []arg{f32(v1(3, 6), 2, 1), i32(v1(2, 2), 2, 1)}, 0},
		{"", nnapi.Fill, []arg{list(2), given(real(2.5))}, []arg{f32(v1(2.5, 2.5), 2)}, 0},
		{"", nnapi.PadV2, []arg{u8(1, 3, v1(5), 1), i32(v1(1, 0), 1, 2), given(num(9))}, []arg{u8(1, 3, v1(9, 5), 2)}, 0},
		{"", nnapi.ResizeNearestNeighbor, []arg{image, given(num(1)), given(num(4)), flag(false)},
			[]arg{f32(v1(1, 1, 3, 3), 1,
				4, 1, 1)}, 0},
	} {
		t.Run(c.code.String(), func(t *testing.T) {
			m, fed := c.model(variants[3], nil)
			require.NoError(t, nnapi.Check(m, m.Operations[0], nnapi.Level8))
			g, err := Graph(m)
			require.NoError(t, err)
			var in []tensor.Tensor
			for i := range fed {
				typ := typeOf(&fed[i].Operand)
				in = append(in, tensor.Tensor{DType: typ.DType, Dims: dimsOf(&fed[i].Operand), Quant: typ.Quant,
					Data: encode(&fed[i].Operand, fed[i].values)})
			}
			out, err := ref.Run(context.Background(), g, in)
			require.NoError(t, err)
			c.compare(t, "reference", out)
			out, err = compute(g, in)
			require.NoError(t, err)
			c.compare(t, "device", out)
		})
	}
	c := check{"", nnapi.ELU, []arg{x, given(real(1))}, []arg{x}, 0}
	err := c.lower(t)
	require.EqualError(t, err, "operation 0 (ELU): input 1 (alpha): the library takes only a constant here")
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
}
