package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// names are the operators that a graph becomes, with what is fused into each.
func names(t *testing.T, g *graph.Graph) (out []string) {
	tr := newTranslation(g)
	for i := range g.Nodes {
		require.Empty(t, tr.node(i))
	}
	tr.Simplify(tr.Operands(g.Out), fuse)
	for _, o := range tr.Ops {
		name := o.Name
		for _, p := range o.params {
			if p.Name == "ACTIVATION_TYPE" || p.Name == "ACTIVATIONTYPE" {
				name += map[byte]string{spec.FusedReLU: " + ReLU", spec.FusedReLU6: " + ReLU6"}[p.data[0]]
			}
		}
		out = append(out, name)
	}
	return out
}

// TestTranslation_fuses has a network of images with their channels first: they are turned around once on each side,
// and activations are fused, but not one whose operand is read elsewhere too.
func TestTranslation_fuses(t *testing.T) {
	b := graph.NewBuilder("network")
	weights := func(dims ...int64) graph.Value {
		typ := tensor.T(tensor.Float32, dims...)
		n, _ := typ.Shape.Count()
		return b.Const("", typ, opcase.Values(typ, int(n), 1))
	}
	x := b.Input("x", tensor.T(tensor.Float32, 1, 2, 8, 8))
	y := b.Add(&op.Relu{}, b.Add(&op.Conv{Groups: 1, Pads: []int64{1, 1, 1, 1}}, x, weights(4, 3, 3, 2), weights(4)))
	y = b.Add(&op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, y)
	y = b.Add(&op.Clip{}, b.Add(&op.Conv{Groups: 4}, y, weights(4, 1, 1, 1), weights(4)), b.Float32(0), b.Float32(6))
	z := b.Add(&op.Add{}, y, weights(4, 1, 1))
	b.Output(b.Add(&op.Mul{}, z, b.Add(&op.Relu{}, z)))
	g, err := b.Graph()
	require.NoError(t, err)
	assert.Equal(t, []string{"TRANSPOSE", "CONV2D + ReLU", "MAX_POOL", "DEPTHWISE_CONV2D_NATIVE + ReLU6", "TRANSPOSE",
		"ADD", "RELU", "MUL"}, names(t, g))
}

// TestSupport_reasons: what stands against a node is a sentence that names it.
func TestSupport_reasons(t *testing.T) {
	typ := func(d tensor.DType, dims ...int64) tensor.Type { return tensor.T(d, dims...) }
	channels := typ(tensor.Int8, 2, 3)
	channels.Quant = &tensor.Quant{Scale: []float32{1, 2, 3}, Axis: 1}
	square := typ(tensor.Int8, 3, 3)
	square.Quant = channels.Quant
	open := tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(3))}
	says := drivertest.Says
	newFake(t).subject().Reasons(t,
		says(&op.Relu{}, typ(tensor.Float32, 2, 3), ""),
		says(&op.Softplus{}, typ(tensor.Float32, 2), "OH_NN has no operator that computes softplus as it is"),
		says(&op.Erf{}, typ(tensor.Float32, 2), "the driver does not compute OH_NN_OPS_ERF of float32[2]"),
		says(&op.Relu{}, typ(tensor.Int32, 2), "the driver does not compute OH_NN_OPS_RELU of int32[2]"),
		says(&op.Relu{}, typ(tensor.BFloat16, 2), "input 0: OH_NN has no data type bfloat16"),
		says(&op.Relu{}, open, "input 0: its sizes are open"),
		says(&op.Relu{}, typ(tensor.Float32), "input 0: a tensor of OH_NN that is no constant has one dimension at least"),
		says(&op.Relu{}, typ(tensor.Float32, 2, 0), "input 0: its sizes are [2 0]: OH_NN has sizes of 1 and more"),
		says(&op.Relu{}, typ(tensor.Float32, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
			"input 0: it has 11 dimensions: OH_NN has at most 10"),
		says(&op.Relu{}, typ(tensor.Float32, 1<<14, 1<<15), "is larger than tensors of OH_NN are"),
		says(&op.Relu{}, channels, "the driver does not compute"),
		says(&op.Relu{}, square, "its scales belong to dimension 1: in OH_NN they would to dimension 0"),
		says(&op.Round{Ties: op.RoundAway}, typ(tensor.Float32, 2), "ROUND rounds halves to even"),
		says(&op.HardSigmoid{Alpha: 0.2, Beta: 0.5}, typ(tensor.Float32, 2),
			"HARD_SIGMOID has slope 1/6 and 0.5 at 0, not 0.2"),
		says(&op.Softmax{Beta: 2}, typ(tensor.Float32, 2), "SOFTMAX has no factor 2"),
		says(&op.MaxPool{Kernel: []int64{2}}, typ(tensor.Float32, 1, 2, 4), "MAX_POOL is of images, not of 1 dimensions"),
		says(&op.Cast{To: tensor.Int32}, typ(tensor.Float32, 2), "CAST from real numbers to integers stops at the largest"),
	)
}
