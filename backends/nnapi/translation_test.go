package nnapi

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// names are the operations that a graph becomes, with what is fused into each.
func names(t *testing.T, g *graph.Graph) (out []string) {
	tr := newTranslation(g, spec.Level3)
	for i := range g.Nodes {
		require.Empty(t, tr.node(i))
	}
	tr.simplify()
	for _, o := range tr.ops {
		require.Empty(t, tr.judge(o))
		name := o.code.String()
		m := describe([]*operation{o}, nil, nil)
		form := spec.FormOf(m, m.Operations[0])
		for i, x := range o.in {
			if form.Inputs.NameAt(i, len(o.in)) == "activation" {
				name += map[uint32]string{spec.FusedReLU: " + RELU", spec.FusedReLU1: " + RELU1",
					spec.FusedReLU6: " + RELU6"}[binary.LittleEndian.Uint32(x.data)]
			}
		}
		out = append(out, name)
	}
	return out
}

// TestTranslation_fuses has a network of images with their channels first: they are turned around once on each side,
// and activations are fused, but not one whose operand is read elsewhere too. Filters are turned here.
func TestTranslation_fuses(t *testing.T) {
	b := graph.NewBuilder("network")
	weights := func(dims ...int64) graph.Value {
		typ := tensor.T(tensor.Float32, dims...)
		n, _ := typ.Shape.Count()
		return b.Const("", typ, drivertest.Values(typ, int(n), 1))
	}
	x := b.Input("x", tensor.T(tensor.Float32, 1, 2, 8, 8))
	y := b.Add(&op.Relu{}, b.Add(&op.Conv{Groups: 1, Pads: []int64{1, 1, 1, 1}}, x, weights(4, 3, 3, 2), weights(4)))
	y = b.Add(&op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, y)
	y = b.Add(&op.Clip{}, b.Add(&op.Conv{Groups: 4}, y, weights(4, 1, 1, 1), weights(4)), b.Float32(0), b.Float32(6))
	z := b.Add(&op.Clip{}, b.Add(&op.Add{}, y, weights(4, 1, 1)), b.Float32(-1), b.Float32(1))
	b.Output(b.Add(&op.Mul{}, z, b.Add(&op.Relu{}, z)))
	g, err := b.Graph()
	require.NoError(t, err)
	assert.Equal(t, []string{"TRANSPOSE", "CONV_2D + RELU", "MAX_POOL_2D", "DEPTHWISE_CONV_2D + RELU6", "TRANSPOSE",
		"ADD + RELU1", "RELU", "MUL"}, names(t, g))
}

// TestPermuted_constants turns constants as the definition says: element by element.
func TestPermuted_constants(t *testing.T) {
	tr := newTranslation(&graph.Graph{}, spec.Level3)
	x := &operand{code: spec.TensorInt32, typ: tensor.T(tensor.Int32, 2, 3, 4), data: make([]byte, 96)}
	for i := range 24 {
		binary.LittleEndian.PutUint32(x.data[4*i:], uint32(i))
	}
	y := tr.permuted(x, 2, 0, 1)
	require.Equal(t, []int64{4, 2, 3}, y.dims())
	for i := range 2 {
		for j := range 3 {
			for k := range 4 {
				assert.EqualValues(t, i*12+j*4+k, binary.LittleEndian.Uint32(y.data[4*(k*6+i*3+j):]))
			}
		}
	}
	assert.Empty(t, tr.ops)
	filter := &operand{code: spec.TensorQuant8SymmPerChannel, typ: tensor.T(tensor.Int8, 2, 1, 1, 1), data: []byte{1, 2}}
	filter.typ.Quant = &tensor.Quant{Scale: []float32{1, 2}}
	assert.Equal(t, 3, tr.permuted(filter, 3, 1, 2, 0).typ.Quant.Axis)
}

// TestSupport_reasons: what stands against a node is a sentence that names it.
func TestSupport_reasons(t *testing.T) {
	typ := func(d tensor.DType, dims ...int64) tensor.Type { return tensor.T(d, dims...) }
	channels := typ(tensor.Uint8, 2, 3)
	channels.Quant = &tensor.Quant{Scale: []float32{1, 2, 3}, Axis: 1}
	codes := typ(tensor.Uint8, 2, 3)
	codes.Quant = tensor.PerTensor(1, 0)
	open := tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(3))}
	says := drivertest.Says
	newFake(t).subject().Reasons(t,
		says(&op.Relu{}, typ(tensor.Float32, 2, 3), ""),
		says(&op.Relu{}, typ(tensor.Float32), ""),
		says(&op.Softplus{}, typ(tensor.Float32, 2), "NNAPI has no operation that computes softplus as it is"),
		says(&op.Floor{}, typ(tensor.Float32, 2), "the driver does not compute FLOOR of float32[2]"),
		says(&op.Relu{}, codes, "the driver does not compute RELU of uint8"),
		says(&op.Relu{}, typ(tensor.Int32, 2), "RELU: input 0 (input), operand 0: want TENSOR_FLOAT32"),
		says(&op.Relu{}, typ(tensor.BFloat16, 2), "input 0: NNAPI has no tensors of bfloat16"),
		says(&op.Relu{}, open, "input 0: its sizes are open"),
		says(&op.Relu{}, typ(tensor.Float32, 2, 0), "input 0: its sizes are [2 0]: operands of NNAPI have sizes of 1 and more"),
		says(&op.Relu{}, typ(tensor.Float32, 1, 1, 1, 1, 1), "want rank 1 to 4, got 5"),
		says(&op.Relu{}, typ(tensor.Float32, 1<<16, 1<<15), "is larger than operands of NNAPI are"),
		says(&op.Relu{}, channels, "NNAPI has several scales for int8 with zero point 0 alone"),
		says(&op.Rsqrt{}, codes, "RSQRT: TENSOR_QUANT8_ASYMM as input 0 (input) needs feature level 7 (1000007), this is "+
			"feature level 5 (31)"),
		says(&op.Sigmoid{}, codes, "output 0 (output): want scale 0.00390625 and zero point 0"),
		says(&op.Softmax{Axis: 0, Beta: -1}, typ(tensor.Float32, 2), "the factor is above 0 in the API"),
		says(&op.MaxPool{Kernel: []int64{2}}, typ(tensor.Float32, 1, 2, 4), "MAX_POOL_2D is of images, not of 1 dimensions"),
		says(&op.Cast{To: tensor.Int32}, typ(tensor.Float32, 2), "CAST to integers stops at the largest"),
		says(&op.LRN{Before: 1, After: 2}, typ(tensor.Float32, 1, 2, 2, 4), "reaches as far to both sides, not 1 and 2"),
		says(&op.L2Normalize{Epsilon: 1}, typ(tensor.Float32, 2), "L2_NORMALIZATION is along one axis that is named"),
		says(&op.ArgMax{SelectLast: true, To: tensor.Int32}, typ(tensor.Float32, 2, 3), "of equal elements ARGMAX finds the "+
			"first"),
		says(&op.ArgMax{}, typ(tensor.Float32, 2, 3), "output 0: NNAPI has no tensors of int64"),
		says(&op.DepthToSpace{Block: 1}, typ(tensor.Float32, 1, 2, 3, 4), "the driver does not compute DEPTH_TO_SPACE"),
		says(&op.LpPool{Kernel: []int64{2, 2}}, typ(tensor.Float32, 1, 2, 3, 4), "L2_POOL_2D is the root of the mean of "+
			"squares"),
		says(&op.LayerNorm{}, typ(tensor.Float16, 2, 3), "in several operations, between which float16 would be rounded"),
		says(&op.Exp{Base: 2}, typ(tensor.Float32, 2), "EXP is of base e"),
	)
}
