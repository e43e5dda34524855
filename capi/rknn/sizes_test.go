package rknn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// branch is a graph of one node, whose result is b.
func branch(op string, in ...string) *onnxtest.Model {
	return (&onnxtest.Model{}).Node(op, "b", in...).UnrankedOutput("b", onnxtest.Float)
}

// Only the branch that is taken must fit the size that the metadata give.
func TestRun_theOtherBranchNeedNotFit(t *testing.T) {
	out := func(op string, in ...string) *onnxtest.Model {
		return (&onnxtest.Model{}).Node(op, "b", in...).Output("b", onnxtest.Float, 1, 1)
	}
	m := (&onnxtest.Model{}).If("y", "c", out("ReduceSum", "x"), out("MatMul", "x", "w")).Input("x", onnxtest.Float, 1,
		-1).
		Input("c", onnxtest.Bool).Output("y", onnxtest.Float, 1, 1).Meta("anynpu.dim.n", "6").
		Constant("w", onnxtest.Float, tensor.Float32s(1, 1, 1, 1), 4, 1)
	c := open(t, m, 0)
	x := inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2, 3, 4, 5, 6})
	set := func(taken uint8) {
		cond := inputOf(t, spec.Bool, spec.Undefined, []uint8{taken})
		cond.index = 1
		require.NoError(t, inputsSet(c, []Input{x, cond}))
	}
	for range 2 {
		set(1)
		require.Equal(t, []float32{21}, floats(t, c))
		set(0)
		requireCode(t, spec.ErrFail, run(c, nil), "inner dimensions: 6 and 4 differ")
	}
}

// For sizes that only a run finds, the model's declared ones count; a run that makes others fails.
func TestRun_declaredSizes(t *testing.T) {
	m := (&onnxtest.Model{}).Node("Reshape", "y", "x", "s").Input("x", onnxtest.Float, 2, 6).Input("s", onnxtest.Int64, 2).
		Output("y", onnxtest.Float, 3, 4)
	c := open(t, m, 0)
	require.Equal(t, []int64{3, 4}, c.outDims(0))
	x := inputOf(t, spec.Float32, spec.Undefined, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	for _, s := range [][]int64{{3, 4}, {4, 3}, {3, -1}, {2, 6}, {5, 5}} {
		shape := inputOf(t, spec.Int64, spec.Undefined, s)
		shape.index = 1
		require.NoError(t, inputsSet(c, []Input{x, shape}))
		if s[0] == 3 {
			require.Equal(t, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, floats(t, c))
			continue
		}
		requireCode(t, spec.ErrFail, run(c, nil), "operator 0")
	}
}

// The rank of an output may follow from the sizes that the metadata give, or from a batch of 1.
func TestLoad_ranksFollowFromSizes(t *testing.T) {
	squeeze := func() *onnxtest.Model {
		return (&onnxtest.Model{}).Node("Squeeze", "y", "x").UnrankedOutput("y", onnxtest.Float)
	}
	decide := (&onnxtest.Model{}).Node("Shape", "s", "x").Node("Gather", "d", "s", "zero").Node("Equal", "c", "d", "one").
		If("y", "c", branch("Squeeze", "x", "axes"), branch("Identity", "x")).Constant("axes", onnxtest.Int64,
		tensor.Int64s(0), 1).Scalar("zero", onnxtest.Int64, tensor.Int64s(0)).Scalar("one", onnxtest.Int64, tensor.Int64s(1))
	for name, m := range map[string]*onnxtest.Model{
		"given": squeeze().Meta("anynpu.input.x.shape", "[1,3]"), "named": squeeze().Meta("anynpu.dim.n", "1"),
		"batch": squeeze(), "if on the batch": decide.UnrankedOutput("y", onnxtest.Float),
		"listed": squeeze().Meta("anynpu.input.x.shapes", "[[1,3]]"),
	} {
		c := open(t, m.Input("x", onnxtest.Float, -1, 3), 0)
		require.Equal(t, []int64{3}, c.outDims(0), name)
	}
}

// An input with its channels last takes a mean per channel, whether or not the metadata call it an image.
func TestInputsSet_meanOfChannelsLast(t *testing.T) {
	m := func() *onnxtest.Model {
		return identity(onnxtest.Float, 1, 4, 16, 3).Meta("anynpu.input.x.mean", "[10,20,30]")
	}
	image := make([]uint8, 4*16*3)
	for i := range image {
		image[i] = uint8(i)
	}
	for _, m := range []*onnxtest.Model{m(), m().Meta("anynpu.input.x.pixel", "rgb"),
		m().Meta("anynpu.input.x.pixel", "rgb").Meta("anynpu.input.x.source", "ddr")} {
		c := open(t, m, 0)
		a := c.model.in[0].inputAttr(0, c.inDims(0))
		require.Equal(t, []uint32{1, 4, 16, 3}, a.Dims[:4])
		require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Uint8, spec.NHWC, image)}))
		for i, v := range floats(t, c) {
			assert.Equal(t, float32(i-10*(i%3+1)), v, "element %d", i)
		}
	}
}
