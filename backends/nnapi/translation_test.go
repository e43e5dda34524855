package nnapi

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// names are the operations that a graph becomes, with what is fused into each.
func names(t *testing.T, g *graph.Graph) (out []string) {
	tr := newTranslation(g, spec.Level3)
	for i := range g.Nodes {
		require.Empty(t, tr.node(i))
	}
	tr.Simplify(tr.Operands(g.Out), fuse)
	for _, o := range tr.Ops {
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
		return b.Const("", typ, opcase.Values(typ, int(n), 1))
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
	require.Equal(t, []int64{4, 2, 3}, y.Dims())
	for i := range 2 {
		for j := range 3 {
			for k := range 4 {
				assert.EqualValues(t, i*12+j*4+k, binary.LittleEndian.Uint32(y.data[4*(k*6+i*3+j):]))
			}
		}
	}
	assert.Empty(t, tr.Ops)
	filter := &operand{code: spec.TensorQuant8SymmPerChannel, typ: tensor.T(tensor.Int8, 2, 1, 1, 1), data: []byte{1, 2}}
	filter.typ.Quant = &tensor.Quant{Scale: []float32{1, 2}}
	assert.Equal(t, 3, tr.permuted(filter, 3, 1, 2, 0).typ.Quant.Axis)
}

// TestSupport_reasons: what stands against a node is a sentence that names it.
// TestDescribe_transposesConstants has a constant transposed before the run, unless that is what the graph is asked
// for: results of models are made by operations.
func TestDescribe_transposesConstants(t *testing.T) {
	for _, c := range []struct {
		result bool
		want   []spec.OperationCode
	}{{false, []spec.OperationCode{spec.Mul}}, {true, []spec.OperationCode{spec.Transpose, spec.Mul}}} {
		b := graph.NewBuilder("constant")
		typ := tensor.T(tensor.Float32, 2, 3)
		w := b.Add(&op.Transpose{}, b.Const("", typ, opcase.Values(typ, 6, 1)), b.Int64s(1, 0))
		b.Output(b.Add(&op.Mul{}, b.Input("x", tensor.T(tensor.Float32, 3, 2)), w))
		if c.result {
			b.Output(w)
		}
		g, err := b.Graph()
		require.NoError(t, err)
		m, err := Describe(g, spec.Level3)
		require.NoError(t, err)
		var got []spec.OperationCode
		for _, o := range m.Operations {
			got = append(got, o.Code)
		}
		assert.ElementsMatch(t, c.want, got)
	}
}

func TestSupport_reasons(t *testing.T) {
	typ := func(d tensor.DType, dims ...int64) tensor.Type { return tensor.T(d, dims...) }
	channels := typ(tensor.Uint8, 2, 3)
	channels.Quant = &tensor.Quant{Scale: []float32{1, 2, 3}, Axis: 1}
	codes := typ(tensor.Uint8, 2, 3)
	codes.Quant = tensor.PerTensor(1, 0)
	open := tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.AnyDim(), tensor.D(3))}
	says := dt.Says
	newFake(t).subject().Reasons(t,
		says(&op.Relu{}, typ(tensor.Float32, 2, 3), ""),
		says(&op.Relu{}, typ(tensor.Float32), ""),
		says(&op.Softplus{}, typ(tensor.Float32, 2), "NNAPI has no operation that computes softplus as it is"),
		says(&op.Floor{}, typ(tensor.Float32, 2), "the driver does not compute FLOOR of float32[2]"),
		says(&op.Relu{}, codes, "the driver does not compute RELU of uint8"),
		says(&op.Relu{}, typ(tensor.Int32, 2), "RELU: input 0 (input), operand 0: want TENSOR_FLOAT32"),
		says(&op.Relu{}, typ(tensor.BFloat16, 2), "input 0: NNAPI has no tensors of bfloat16"),
		says(&op.Relu{}, open, "input 0: its sizes are open"),
		says(&op.Relu{}, typ(tensor.Float32, 2, 0), "input 0: its sizes are [2 0]: operands of NNAPI have sizes of 1 and "+
			"more"),
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

// TestSupport_attributes: the reason against a node names the attribute that NNAPI's operations lack.
func TestSupport_attributes(t *testing.T) {
	no := func(want string, o graph.Op, in ...opcase.Operand) dt.Refused {
		return dt.Refused{Node: opcase.One(o, in...), Want: want}
	}
	none, w, r := opcase.Absent, opcase.Small(1, 4, 3), opcase.Small(1, 4, 4)
	gates, states := opcase.Small(1, 16, 3), opcase.Small(1, 16, 4)
	lstm := func(want string, o op.LSTM) dt.Refused {
		return dt.Refused{Node: opcase.One(&o, opcase.Real(5, 2, 3), gates, states).Gives(3), Want: want}
	}
	regions, batches := opcase.Real(3, 4), opcase.Integers(3)
	newFake(t).subject().Refuses(t,
		no("of equal elements TOPK_V2 gives the last one first", &op.TopK{To: tensor.Int32}, opcase.X, opcase.Numbers(2)),
		no("TOPK_V2 gives the largest elements", &op.TopK{Smallest: true, SelectLast: true, To: tensor.Int32}, opcase.X,
			opcase.Numbers(2)),
		no("reads the image at the same places", &op.Resize{Mode: op.ResizeNearest, Nearest: op.NearestCeil}, opcase.First,
			none, none, opcase.Numbers(1, 4, 12, 10)),
		no("NNAPI resizes by the nearest cell or by four cells", &op.Resize{Mode: op.ResizeCubic}, opcase.First, none, none,
			opcase.Numbers(1, 4, 12, 10)),
		no("NNAPI resizes height and width alone", &op.Resize{Nearest: op.NearestFloor}, opcase.First, none, none,
			opcase.Numbers(1, 8, 6, 10)),
		no("RESIZE_BILINEAR reads as many cells however small", &op.Resize{Mode: op.ResizeLinear, Antialias: true},
			opcase.First, none, none, opcase.Numbers(1, 4, 3, 5)),
		no("MIRROR_PAD mirrors once: 4 of dimension 2 are more than 3", &op.Pad{Mode: op.PadReflect}, opcase.X,
			opcase.Numbers(0, 0, 4, 0, 0, 0)),
		no("no constant, and no mirror image of it", &op.Pad{Mode: op.PadEdge}, opcase.X, opcase.Numbers(0, 0, 1, 0, 0, 0)),
		no("MIRROR_PAD needs feature level 7 (1000007), this is feature level 5 (31)", &op.Pad{Mode: op.PadReflect}, opcase.X,
			opcase.Numbers(0, 0, 1, 0, 0, 0)),
		no("TRANSPOSE_CONV_2D has no groups", &op.ConvTranspose{Groups: 2}, opcase.First,
			opcase.Fixed(opcase.Real(2, 2, 2, 2))),
		no("TRANSPOSE_CONV_2D has no dilations", &op.ConvTranspose{Groups: 1, Dilations: []int64{2, 1}}, opcase.First,
			opcase.Fixed(opcase.Real(2, 2, 2, 4))),
		no("SPACE_TO_BATCH_ND cuts no cells off", &op.SpaceToBatch{Truncate: true}, opcase.First, opcase.Numbers(2, 2)),
		no("BATCH_TO_SPACE_ND crops nothing", &op.BatchToSpace{}, opcase.Real(4, 2, 3, 2), opcase.Numbers(2, 2),
			opcase.Table(2, 0, 1, 0, 0)),
		no("STRIDED_SLICE has a bound for each dimension", &op.StridedSlice{NewAxisMask: 1}, opcase.X, opcase.Numbers(0),
			opcase.Numbers(1), opcase.Numbers(1)),
		no("takes no sum of squares for less than 1e-12", &op.L2Normalize{Epsilon: 1e-6}, opcase.X, opcase.Numbers(1)),
		no("input 1 is no constant of real numbers", &op.BatchNorm{Axis: 1}, opcase.X, opcase.Real(3), opcase.Real(3),
			opcase.Real(3), opcase.Real(3)),
		no("tanh is none of them", &op.RNN{}, opcase.Real(1, 2, 3), w, r),
		no("sequences of NNAPI are all of one length", &op.RNN{Activations: []string{"relu"}}, opcase.Real(5, 2, 3), w, r,
			none, opcase.Numbers(5, 3)),
		lstm("the input gate follows the forget gate", op.LSTM{InputForget: true}),
		lstm("have no limits and factors", op.LSTM{Clip: 1}),
		lstm("not sigmoid, relu and tanh", op.LSTM{Activations: []string{"sigmoid", "relu", "tanh"}}),
		lstm("NNAPI hands no part of an earlier state on", op.LSTM{ZoneoutCell: 0.5}),
		no("an error of ROI_ALIGN", &op.RoiAlign{Height: 1, Width: 1}, opcase.First, regions, batches),
		no("means of samples at whole pixels", &op.RoiAlign{Height: 1, Width: 1, HalfPixel: true}, opcase.First, regions,
			batches),
		no("an error of ROI_POOLING", &op.MaxRoiPool{Height: 1, Width: 1}, opcase.First, regions, batches),
		dt.Refused{Node: opcase.One(&op.HeatmapMaxKeypoint{Epsilon: 0.5}, opcase.First, opcase.Real(1, 4)).Gives(2),
			Want: "has an epsilon of its own"},
		dt.Refused{Node: opcase.One(&op.HeatmapMaxKeypoint{}, opcase.Real(1, 2, 3, 4), opcase.Real(1, 4)).Gives(2),
			Want: "HEATMAP_MAX_KEYPOINT has squares"},
		no("WHILE does not tell its body the number of the trip", &op.Loop{Body: counts(), Carried: 1}, opcase.Numbers(2),
			none, opcase.Integers()),
		no("seeds of 0 are none to RANDOM_MULTINOMIAL", &op.Multinomial{To: tensor.Int32, Seeded: true}, opcase.Real(2, 5),
			opcase.Numbers(6)),
	)
}

// counts is the body of a loop whose state is the number of the trip.
func counts() *graph.Graph {
	b := graph.NewBuilder("body")
	trip, again := b.Input("trip", tensor.T(tensor.Int64)), b.Input("condition", tensor.T(tensor.Bool))
	b.Input("state", tensor.T(tensor.Int32))
	b.Output(again, b.Add(&op.Cast{To: tensor.Int32}, trip))
	g, err := b.Graph()
	if err != nil {
		panic(err)
	}
	return g
}
