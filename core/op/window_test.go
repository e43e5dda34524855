package op

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// shaped is a float32 fact; a size of -1 is unknown, one below -1 is the symbol of that number negated.
func shaped(dims ...int64) tensor.Fact {
	d := make([]tensor.Dim, len(dims))
	for i, n := range dims {
		switch {
		case n >= 0:
			d[i] = tensor.D(n)
		case n == -1:
			d[i] = tensor.AnyDim()
		default:
			d[i] = tensor.Dim{Sym: uint32(-n)}
		}
	}
	return tensor.Fact{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(d...)}}
}

func unranked() tensor.Fact { return tensor.Fact{Type: tensor.Type{DType: tensor.Float32}} }

func int64List(v ...int64) tensor.Fact {
	return tensor.Fact{Type: tensor.T(tensor.Int64, int64(len(v))), Const: tensor.NewConst(tensor.Int64s(v...))}
}

func float32List(v ...float32) tensor.Fact {
	return tensor.Fact{Type: tensor.T(tensor.Float32, int64(len(v))), Const: tensor.NewConst(tensor.Float32s(v...))}
}

func factOf(f tensor.Fact, d tensor.DType, q *tensor.Quant) tensor.Fact {
	f.DType, f.Quant = d, q
	return f
}

var absent tensor.Fact

func TestWindow_sizesAndPadding(t *testing.T) {
	for _, c := range []struct {
		name       string
		s          sliding
		in, kernel int64
		want       Window
	}{
		{"explicit", sliding{strides: []int64{2}, pads: []int64{1, 2}}, 7, 3, Window{7, 4, 3, 2, 1, 1, 2}},
		{"same upper, odd total", sliding{strides: []int64{2}, auto: PadSameUpper}, 5, 4, Window{5, 3, 4, 2, 1, 1, 2}},
		{"same lower, odd total", sliding{strides: []int64{2}, auto: PadSameLower}, 5, 4, Window{5, 3, 4, 2, 1, 2, 1}},
		{"same, kernel below stride", sliding{strides: []int64{3}, auto: PadSameUpper}, 6, 1, Window{6, 2, 1, 3, 1, 0, 0}},
		{"same of nothing", sliding{auto: PadSameUpper}, 0, 3, Window{0, 0, 3, 1, 1, 1, 1}},
		{"valid, dilated", sliding{dilations: []int64{2}, auto: PadValid, pads: []int64{9, 9}}, 7, 3,
			Window{7, 3, 3, 1, 2, 0, 0}},
		{"ceil overhangs", sliding{strides: []int64{2}, ceil: RoundCeil}, 6, 3, Window{6, 3, 3, 2, 1, 0, 0}},
		{"ceil outside", sliding{strides: []int64{3}, pads: []int64{0, 1}, ceil: RoundCeil}, 3, 1,
			Window{3, 2, 1, 3, 1, 0, 1}},
		{"ceil inside drops it", sliding{strides: []int64{3}, pads: []int64{0, 1}, ceil: RoundCeilInside}, 3, 1,
			Window{3, 1, 1, 3, 1, 0, 1}},
	} {
		w, err := c.s.windows([]int64{c.in}, []int64{c.kernel})
		require.NoError(t, err, c.name)
		if c.name == "same of nothing" {
			assert.Zero(t, w[0].Out, c.name)
			continue
		}
		assert.Equal(t, c.want, w[0], c.name)
	}
}

func TestInfer_groupBShapes(t *testing.T) {
	q := tensor.PerTensor(0.1, 3)
	for _, c := range []struct {
		name string
		op   graph.Op
		in   []tensor.Fact
		want string
	}{
		{"conv keeps symbols where the size stays", &Conv{Pads: []int64{1, 1, 1, 1}}, []tensor.Fact{shaped(-5, 3, -6, -7),
			shaped(8, 3, 3, 3)}, "float32[?5,8,?6,?7]"},
		{"conv with stride forgets them", &Conv{Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}},
			[]tensor.Fact{shaped(-5, 3, -6, 9), shaped(8, 3, 3, 3)}, "float32[?5,8,?,5]"},
		{"conv same", &Conv{Strides: []int64{2, 1}, AutoPad: PadSameUpper, ChannelsLast: true},
			[]tensor.Fact{shaped(1, 9, -6, 3), shaped(-1, -1, -1, 3)}, "float32[1,5,?6,?]"},
		{"conv channels from the bias", &Conv{}, []tensor.Fact{shaped(1, 3, 9, 9), shaped(-1, 2, 2, 3), shaped(4)},
			"float32[1,4,8,8]"},
		{"conv of no images", &Conv{}, []tensor.Fact{shaped(0, 3, 4, 4), shaped(8, 3, 3, 3)}, "float32[0,8,2,2]"},
		{"conv of unknown rank", &Conv{}, []tensor.Fact{unranked(), shaped(8, 3, 3, 3)}, "float32[?,8,?,?]"},
		{"conv of unknown ranks", &Conv{}, []tensor.Fact{unranked(), unranked()}, "float32[...]"},
		{"conv quantized", &Conv{}, []tensor.Fact{factOf(shaped(1, 3, 4), tensor.Int8, q),
			factOf(shaped(2, 3, 3), tensor.Int8, q), factOf(shaped(2), tensor.Int32, nil)}, "int8[1,2,2]q"},
		{"conv transpose", &ConvTranspose{Strides: []int64{2, 3}, OutputPads: []int64{1, 0}},
			[]tensor.Fact{shaped(1, 4, 3, -6), shaped(2, 3, 3, 4)}, "float32[1,2,8,?]"},
		{"conv transpose given sizes", &ConvTranspose{Strides: []int64{2, 3}}, []tensor.Fact{shaped(1, 4, 3, -6),
			shaped(2, 3, 3, 4), absent, int64List(7, 11)}, "float32[1,2,7,11]"},
		{"pool", &MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, []tensor.Fact{shaped(1, 3, 5, -6)},
			"float32[1,3,2,?]"},
		{"global pool", &AveragePool{Global: true, ChannelsLast: true}, []tensor.Fact{shaped(-5, -1, 7, 3)},
			"float32[?5,1,1,3]"},
		{"pool of unknown rank", &LpPool{Kernel: []int64{2}}, []tensor.Fact{unranked()}, "float32[?,?,?]"},
		{"fully connected", &FullyConnected{}, []tensor.Fact{shaped(-5, 2, 6), shaped(4, 6)}, "float32[?5,2,4]"},
		{"matmul broadcasts", &MatMul{}, []tensor.Fact{shaped(-5, 1, 3, 4), shaped(6, 4, 2)}, "float32[?5,6,3,2]"},
		{"matmul of vectors", &MatMul{}, []tensor.Fact{shaped(4), shaped(4)}, "float32[]"},
		{"matmul with an empty sum", &MatMul{TransposeB: true}, []tensor.Fact{shaped(2, 0), shaped(3, 0)}, "float32[2,3]"},
		{"batch norm finds the channels", &BatchNorm{Axis: 1}, []tensor.Fact{shaped(1, -1, 2), shaped(3), shaped(3),
			shaped(-1), shaped(3)}, "float32[1,3,2]"},
		{"resize by scales", &Resize{}, []tensor.Fact{shaped(1, 3, 5, 5), absent, float32List(1, 1, 0.7, 2)},
			"float32[1,3,3,10]"},
		{"resize keeps unscaled dimensions", &Resize{}, []tensor.Fact{shaped(-5, 3, -6, 5), absent, float32List(1, 1, 2, 2)},
			"float32[?5,3,?,?]"},
		{"resize to sizes", &Resize{Axes: []int64{-1, -2}}, []tensor.Fact{shaped(-5, 3, -6, 5), absent, absent,
			int64List(4, 9)}, "float32[?5,3,9,4]"},
		{"lstm", &LSTM{Direction: Bidirectional}, []tensor.Fact{shaped(-5, -6, 3), shaped(2, 8, 3), shaped(2, 8, 2)},
			"float32[?5,2,?6,2]"},
		{"gru batch first", &GRU{BatchFirst: true}, []tensor.Fact{shaped(4, -6, 3), shaped(1, 6, 3), shaped(1, 6, 2)},
			"float32[4,?6,1,2]"},
		{"rnn of no steps", &RNN{}, []tensor.Fact{shaped(0, 2, 3), shaped(1, 2, 3), shaped(1, 2, 2)}, "float32[0,1,2,2]"},
		{"einsum", &Einsum{Equation: "...ij,...jk"}, []tensor.Fact{shaped(-5, 1, 2, 3), shaped(4, 3, -7)},
			"float32[?5,4,2,?7]"},
		{"affine grid", &AffineGrid{}, []tensor.Fact{shaped(-1, 2, 3), int64List(2, 3, 4, 5)}, "float32[2,4,5,2]"},
		{"col2im", &Col2Im{}, []tensor.Fact{shaped(1, 8, 9), int64List(4, 4), int64List(2, 2)}, "float32[1,2,4,4]"},
		{"max unpool", &MaxUnpool{Kernel: []int64{2}, Strides: []int64{2}}, []tensor.Fact{shaped(1, 2, 3),
			factOf(shaped(1, 2, 3), tensor.Int64, nil)}, "float32[1,2,6]"},
		{"grid sample", &GridSample{}, []tensor.Fact{shaped(-1, 3, 4, 5), shaped(2, 6, -7, 2)}, "float32[2,3,6,?7]"},
		{"roi align", &RoiAlign{Height: 2, Width: 3}, []tensor.Fact{shaped(1, 4, 9, 9), shaped(-5, 4),
			factOf(shaped(-5), tensor.Int64, nil)}, "float32[?5,4,2,3]"},
		{"attention of rank 3", &Attention{Heads: 4, KVHeads: 2}, []tensor.Fact{shaped(-5, 3, 8), shaped(-5, -6, 4),
			shaped(-5, -6, 6)}, "float32[?5,3,12]"},
	} {
		out, err := c.op.Infer(c.in, make([]tensor.Type, 1))
		require.NoError(t, err, c.name)
		require.Len(t, out, 1, c.name)
		assert.Equal(t, c.want, out[0].Type.String(), c.name)
	}
}

func TestInfer_groupBRefusals(t *testing.T) {
	x, w := shaped(1, 4, 5, 5), shaped(6, 3, 3, 4)
	q := tensor.PerTensor(0.1, 0)
	i8 := func(f tensor.Fact) tensor.Fact { return factOf(f, tensor.Int8, q) }
	i64 := func(f tensor.Fact) tensor.Fact { return factOf(f, tensor.Int64, nil) }
	for _, c := range []struct {
		name string
		op   graph.Op
		in   []tensor.Fact
		kind fault.Kind
		want string
	}{
		{"stride 0", &Conv{Strides: []int64{0, 1}}, []tensor.Fact{x, w}, fault.Argument, "strides [0 1]: want values from 1"},
		{"negative dilation", &Conv{Dilations: []int64{1, -2}}, []tensor.Fact{x, w}, fault.Argument, "dilations [1 -2]"},
		{"negative pad", &Conv{Pads: []int64{-1, 0, 0, 0}}, []tensor.Fact{x, w}, fault.Argument, "pads [-1 0 0 0]"},
		{"too few strides", &Conv{Strides: []int64{1}}, []tensor.Fact{x, w}, fault.Argument,
			"want 2 values for 2 spatial dimensions"},
		{"groups", &Conv{Groups: 3}, []tensor.Fact{x, w}, fault.Shape, "4 channels do not divide into 3 groups"},
		{"output groups", &Conv{Groups: 4}, []tensor.Fact{x, shaped(6, 3, 3, 1)}, fault.Shape,
			"6 output channels do not divide into 4 groups"},
		{"channels", &Conv{}, []tensor.Fact{x, shaped(6, 3, 3, 2)}, fault.Shape, "want 4 channels per group"},
		{"kernel too large", &Conv{}, []tensor.Fact{x, shaped(6, 7, 3, 4)}, fault.Shape,
			"the kernel covers 7 cells, the padded input has 5"},
		{"dilated kernel too large", &Conv{Dilations: []int64{math.MaxInt32, 1}}, []tensor.Fact{x, w}, fault.Shape,
			"the kernel covers 4294967295 cells"},
		{"empty kernel", &Conv{}, []tensor.Fact{x, shaped(6, 0, 3, 4)}, fault.Argument, "kernel size 0"},
		{"rank", &Conv{}, []tensor.Fact{x, shaped(6, 3, 4)}, fault.Shape, "want rank 4 like input 0"},
		{"rank 2", &Conv{}, []tensor.Fact{shaped(1, 4), w}, fault.Shape, "at least one spatial dimension"},
		{"bias", &Conv{}, []tensor.Fact{x, w, shaped(5)}, fault.Shape, "one bias per output channel: 5 and 6 differ"},
		{"types", &Conv{}, []tensor.Fact{x, factOf(w, tensor.Float64, nil)}, fault.Type, "want float32 like input 0"},
		{"plain int8", &Conv{}, []tensor.Fact{factOf(x, tensor.Int8, nil), factOf(w, tensor.Int8, nil)}, fault.Type,
			"int8 without quantization"},
		{"half quantized", &Conv{}, []tensor.Fact{i8(x), factOf(w, tensor.Int32, nil)}, fault.Type,
			"without quantization next to"},
		{"int8 bias", &Conv{}, []tensor.Fact{i8(x), i8(w), i8(shaped(6))}, fault.Type, "bias of type int8"},
		{"padding mode", &Conv{AutoPad: 9}, []tensor.Fact{x, w}, fault.Argument, "unknown padding mode 9"},
		{"output pad", &ConvTranspose{OutputPads: []int64{-1, 0}}, []tensor.Fact{x, w}, fault.Argument, "output pads [-1 0]"},
		{"negative output", &ConvTranspose{Pads: []int64{9, 0, 0, 0}}, []tensor.Fact{x, w}, fault.Shape,
			"gives output size -2"},
		{"output shape count", &ConvTranspose{}, []tensor.Fact{x, w, absent, int64List(9)}, fault.Shape,
			"want 2 spatial sizes, got 1"},
		{"pool without kernel", &MaxPool{}, []tensor.Fact{x}, fault.Argument, "kernel size is missing"},
		{"pool kernel rank", &MaxPool{Kernel: []int64{2}}, []tensor.Fact{x}, fault.Argument,
			"kernel [2] for input 0 of shape [1,4,5,5]"},
		{"average of integers", &AveragePool{Kernel: []int64{2, 2}}, []tensor.Fact{factOf(x, tensor.Int32, nil)}, fault.Type,
			"want a float or quantized type"},
		{"global of nothing", &MaxPool{Global: true}, []tensor.Fact{shaped(1, 4, 0, 5)}, fault.Shape, "no cells to pool"},
		{"rounding", &LpPool{Kernel: []int64{2, 2}, Ceil: 7}, []tensor.Fact{x}, fault.Argument,
			"unknown rounding of sizes 7"},
		{"inner", &FullyConnected{}, []tensor.Fact{shaped(2, 3), shaped(4, 5)}, fault.Shape, "3 and 5 differ"},
		{"matmul inner", &MatMul{TransposeA: true}, []tensor.Fact{shaped(3, 2), shaped(2, 4)}, fault.Shape,
			"inner dimensions: 3 and 2 differ"},
		{"matmul scalar", &MatMul{}, []tensor.Fact{shaped(), shaped(2)}, fault.Shape, "want rank 1 or more"},
		{"matmul batch", &MatMul{}, []tensor.Fact{shaped(2, 3, 4), shaped(3, 4, 5)}, fault.Shape, "cannot broadcast"},
		{"matmul bias", &MatMul{}, []tensor.Fact{shaped(3, 4), shaped(4, 5), shaped(2, 3, 5)}, fault.Shape,
			"does not broadcast"},
		{"channels of batch norm", &BatchNorm{Axis: 1}, []tensor.Fact{shaped(1, 4, 2), shaped(3), shaped(4), shaped(4),
			shaped(4)}, fault.Shape, "one value per channel: 3 and 4 differ"},
		{"axis of batch norm", &BatchNorm{Axis: 3}, []tensor.Fact{shaped(1, 4, 2), shaped(4), shaped(4), shaped(4),
			shaped(4)}, fault.Argument, "axis 3"},
		{"instance norm over the batch", &InstanceNorm{Axis: -3}, []tensor.Fact{shaped(4, 4, 2), shaped(4), shaped(4)},
			fault.Argument, "batch dimension"},
		{"groups of group norm", &GroupNorm{Groups: 3}, []tensor.Fact{shaped(1, 4, 2), shaped(4), shaped(4)}, fault.Shape,
			"do not divide"},
		{"negative epsilon", &LayerNorm{Axis: -1, Epsilon: -1}, []tensor.Fact{shaped(2, 3)}, fault.Argument, "epsilon -1"},
		{"gamma", &LayerNorm{Axis: -1}, []tensor.Fact{shaped(2, 3), shaped(2)}, fault.Shape, "cannot broadcast"},
		{"p", &LpNorm{P: 3}, []tensor.Fact{shaped(2, 3)}, fault.Argument, "p 3"},
		{"axis twice", &L2Normalize{}, []tensor.Fact{shaped(2, 3), int64List(1, -1)}, fault.Argument,
			"axis 1 is given twice"},
		{"window", &LRN{Before: -1}, []tensor.Fact{shaped(2, 3)}, fault.Argument, "window of -1 channels"},
		{"no sizes", &Resize{}, []tensor.Fact{x}, fault.Argument, "neither scales nor sizes"},
		{"scale 0", &Resize{}, []tensor.Fact{x, absent, float32List(1, 1, 0, 1)}, fault.Argument, "scale 0 of axis 2"},
		{"scale NaN", &Resize{}, []tensor.Fact{x, absent, float32List(1, 1, float32(math.NaN()), 1)}, fault.Argument,
			"scale NaN"},
		{"both", &Resize{}, []tensor.Fact{x, absent, float32List(1, 1, 1, 1), int64List(1, 4, 5, 5)}, fault.Argument,
			"both scales and sizes"},
		{"count of sizes", &Resize{}, []tensor.Fact{x, absent, absent, int64List(4, 4)}, fault.Shape, "one value per axis"},
		{"from nothing", &Resize{}, []tensor.Fact{shaped(1, 0), absent, absent, int64List(1, 4)}, fault.Shape,
			"cannot resize no cells"},
		{"no region", &Resize{Coord: CoordTFCrop}, []tensor.Fact{x, absent, absent, int64List(1, 4, 2, 2)}, fault.Argument,
			"region of interest is missing"},
		{"hidden", &LSTM{Hidden: 3}, []tensor.Fact{shaped(4, 2, 3), shaped(1, 8, 3), shaped(1, 8, 2)}, fault.Shape,
			"want [1,12,3], got [1,8,3]"},
		{"activation", &GRU{Activations: []string{"sigmoid", "sine"}}, []tensor.Fact{shaped(4, 2, 3), shaped(1, 6, 3),
			shaped(1, 6, 2)}, fault.Argument, `unknown activation "sine"`},
		{"activations", &RNN{Direction: Bidirectional, Activations: []string{"tanh"}}, []tensor.Fact{shaped(4, 2, 3),
			shaped(2, 2, 3), shaped(2, 2, 2)}, fault.Argument, "want 2"},
		{"zoneout", &LSTM{ZoneoutCell: 2}, []tensor.Fact{shaped(4, 2, 3), shaped(1, 8, 3), shaped(1, 8, 2)}, fault.Argument,
			"want 0 to 1"},
		{"terms", &Einsum{Equation: "ij,jk"}, []tensor.Fact{shaped(2, 3)}, fault.Argument, "2 terms for 1 inputs"},
		{"term rank", &Einsum{Equation: "ij->i"}, []tensor.Fact{shaped(2, 3, 4)}, fault.Shape,
			`term "ij" for input 0 of rank 3`},
		{"label sizes", &Einsum{Equation: "ij,jk"}, []tensor.Fact{shaped(2, 3), shaped(4, 5)}, fault.Shape,
			"label j: 3 and 4 differ"},
		{"output label", &Einsum{Equation: "ij->k"}, []tensor.Fact{shaped(2, 3)}, fault.Argument, "output label 'k'"},
		{"garbage", &Einsum{Equation: "i1"}, []tensor.Fact{shaped(2, 3)}, fault.Argument, "want letters"},
		{"grid", &GridSample{}, []tensor.Fact{x, shaped(1, 3, 3, 3)}, fault.Shape, "coordinates of input 1: 3 and 2 differ"},
		{"grid of nothing", &GridSample{}, []tensor.Fact{shaped(1, 2, 0, 3), shaped(1, 3, 3, 2)}, fault.Shape,
			"no cells to sample"},
		{"theta", &AffineGrid{}, []tensor.Fact{shaped(1, 3, 4), int64List(1, 2, 3, 4)}, fault.Shape, "want [1,2,3]"},
		{"columns", &Col2Im{}, []tensor.Fact{shaped(1, 8, 8), int64List(4, 4), int64List(2, 2)}, fault.Shape,
			"8 and 9 differ"},
		{"blocks", &Col2Im{}, []tensor.Fact{shaped(1, 7, 9), int64List(4, 4), int64List(2, 2)}, fault.Shape,
			"does not hold blocks"},
		{"unpooled size", &MaxUnpool{Kernel: []int64{2}}, []tensor.Fact{shaped(1, 1, 3), i64(shaped(1, 1, 3)),
			int64List(1, 1, 3)}, fault.Shape, "size 3 of dimension 2 is below 4"},
		{"rois", &MaxRoiPool{Height: 1, Width: 1}, []tensor.Fact{x, shaped(2, 4)}, fault.Shape, "columns: 4 and 5 differ"},
		{"roi size", &RoiAlign{Height: 0, Width: 1}, []tensor.Fact{x, shaped(2, 4), i64(shaped(2))}, fault.Argument,
			"output size 0 x 1"},
		{"offsets", &DeformConv{}, []tensor.Fact{x, w, shaped(1, 17, 3, 3)}, fault.Shape, "input 2: want [1,18,3,3]"},
		{"heads", &Attention{}, []tensor.Fact{shaped(1, 3, 8), shaped(1, 3, 8), shaped(1, 3, 8)}, fault.Argument,
			"number of heads is missing"},
		{"head groups", &Attention{}, []tensor.Fact{shaped(1, 3, 2, 2), shaped(1, 2, 2, 2), shaped(1, 2, 2, 2)}, fault.Shape,
			"3 query heads do not divide among 2"},
		{"past", &Attention{}, []tensor.Fact{shaped(1, 2, 2, 2), shaped(1, 2, 2, 2), shaped(1, 2, 2, 2), absent,
			shaped(1, 2, 2, 2)}, fault.Argument, "come together"},
		{"mask", &Attention{}, []tensor.Fact{shaped(1, 2, 2, 2), shaped(1, 2, 2, 2), shaped(1, 2, 2, 2), shaped(3, 2)},
			fault.Shape, "does not broadcast"},
		{"odd features", &RotaryEmbedding{}, []tensor.Fact{shaped(1, 2, 2, 3), shaped(1, 2, 1), shaped(1, 2, 1)}, fault.Shape,
			"cannot be paired"},
	} {
		_, err := c.op.Infer(c.in, make([]tensor.Type, 1))
		require.Error(t, err, c.name)
		assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", c.name, err)
		assert.ErrorContains(t, err, c.want, c.name)
	}
}
