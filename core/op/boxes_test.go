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

func TestAxisAlignedBoxTransform_shapes(t *testing.T) {
	d, i32, o := tensor.D, tensor.Int32, &AxisAlignedBoxTransform{}
	wide := codes(tensor.Uint16, 0.125, 0, any1, d(4))
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{fact(n, d(4)), fact(n, d(12)), typed(i32, n), fact(d(2), d(2))}, 1, "float32[?1,12]"},
		{o, []tensor.Fact{fact(any1, d(4)), fact(d(7), m), open(i32), open(tensor.Float32)}, 1, "float32[7,?2]"},
		{o, []tensor.Fact{open(tensor.Float16), open(tensor.Float16), typed(i32, d(3)), open(tensor.Float16)}, 1,
			"float16[3,?]"},
		{o, []tensor.Fact{fact(d(0), d(4)), fact(d(0), d(8)), typed(i32, d(0)), fact(n, d(2))}, 1, "float32[0,8]"},
	})
	checkOutputs(t, []outputsCase{{o, []tensor.Fact{wide, codes(tensor.Uint8, 0.05, 128, n, d(8)), open(i32),
		codes(tensor.Uint16, 0.125, 0, d(1), d(2))}, 1, tensor.Type{DType: tensor.Uint16, Quant: wide.Quant,
		Shape: tensor.OfDims(n, d(8))}.String()}})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, []tensor.Fact{fact(d(2), d(5)), fact(d(2), d(8)), typed(i32, d(2)), fact(d(1), d(2))}, 1, "input 0: want [2,4]"},
		{o, []tensor.Fact{fact(d(2), d(4)), fact(d(3), d(8)), typed(i32, d(2)), fact(d(1), d(2))}, 1, "input 1: want [2,?]"},
		{o, []tensor.Fact{fact(d(2), d(4)), fact(d(2), d(6)), typed(i32, d(2)), fact(d(1), d(2))}, 1,
			"input 1: want four columns per box, got 6"},
		{o, []tensor.Fact{fact(d(2), d(4)), fact(d(2), d(8)), typed(i32, d(3)), fact(d(1), d(2))}, 1, "input 2: want [2]"},
		{o, []tensor.Fact{fact(d(2), d(4)), fact(d(2), d(8)), typed(i32, d(2)), fact(d(1), d(3))}, 1, "input 3: want [1,2]"},
	})
	checkRefusals(t, fault.Type, []outputsCase{
		{o, []tensor.Fact{typed(i32, n, d(4)), fact(n, d(4)), typed(i32, n), fact(any1, d(2))}, 1, "input 0: want a float"},
		{o, []tensor.Fact{fact(n, d(4)), fact(n, d(4)), fact(n), fact(any1, d(2))}, 1, "input 2: want an integer type"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{{o, []tensor.Fact{fact(n, d(4)), fact(n, d(4)), typed(i32, n)}, 1,
		"want 4 inputs"}})
}

func TestBoxWithNMSLimit_shapes(t *testing.T) {
	d, i32, o := tensor.D, tensor.Int32, &BoxWithNMSLimit{}
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3)), fact(n, d(12)), typed(i32, n)}, 4, "float32[?] float32[?,4] int32[?] int32[?]"},
		{o, []tensor.Fact{open(tensor.Float16), open(tensor.Float16), open(i32)}, 4,
			"float16[?] float16[?,4] int32[?] int32[?]"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, []tensor.Fact{fact(d(2)), fact(d(2), d(8)), typed(i32, d(2))}, 4, "input 0: want [?,?]"},
		{o, []tensor.Fact{fact(d(2), d(3)), fact(d(2), d(8)), typed(i32, d(2))}, 4, "input 1: want [2,12], got [2,8]"},
		{o, []tensor.Fact{fact(d(2), any1), fact(d(2), d(7)), typed(i32, d(2))}, 4, "input 1: want four columns"},
		{o, []tensor.Fact{fact(d(2), d(3)), fact(d(2), d(12)), typed(i32, d(3))}, 4, "input 2: want [2], got [3]"},
	})
	in := []tensor.Fact{fact(n, d(3)), fact(n, d(12)), typed(i32, n)}
	checkRefusals(t, fault.Argument, []outputsCase{
		{&BoxWithNMSLimit{Kernel: 3}, in, 4, "kernel: unknown value 3"},
		{&BoxWithNMSLimit{Kernel: NMSGaussian}, in, 4, "sigma: want a number above 0, got 0"},
		{&BoxWithNMSLimit{Kernel: NMSGaussian, Sigma: float32(math.NaN())}, in, 4, "sigma: want a number above 0, got NaN"},
		{o, in, 3, "want 4 outputs"},
	})
	checkRefusals(t, fault.Type, []outputsCase{{o, []tensor.Fact{in[0], in[1], fact(n)}, 4, "input 2: want an integer"}})
}

func TestGenerateProposals_shapes(t *testing.T) {
	d, o, last := tensor.D, &GenerateProposals{}, &GenerateProposals{ChannelsLast: true}
	const want = "float32[?] float32[?,4] int32[?]"
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3), d(5), d(6)), fact(n, d(12), d(5), d(6)), fact(d(3), d(4)), fact(n, d(2))}, 3, want},
		{last, []tensor.Fact{fact(n, d(5), d(6), any1), fact(n, d(5), d(6), d(12)), fact(d(3), d(4)), fact(n, d(2))}, 3,
			want},
		{o, []tensor.Fact{open(tensor.Float32), open(tensor.Float32), open(tensor.Float32), open(tensor.Float32)}, 3, want},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3)), open(tensor.Float32), open(tensor.Float32), open(tensor.Float32)}, 3,
			"input 0: want [?,?,?,?]"},
		{last, []tensor.Fact{fact(n, d(5), d(6), d(2)), open(tensor.Float32), fact(d(3), d(4)), open(tensor.Float32)}, 3,
			"input 0: want [?1,5,6,3], got [?1,5,6,2]"},
		{last, []tensor.Fact{fact(n, d(5), d(6), d(3)), fact(n, d(5), d(6), d(3)), open(tensor.Float32),
			open(tensor.Float32)}, 3, "input 1: want [?1,5,6,12], got [?1,5,6,3]"},
		{o, []tensor.Fact{open(tensor.Float32), open(tensor.Float32), fact(d(3), d(5)), open(tensor.Float32)}, 3,
			"input 2: want [3,4]"},
		{o, []tensor.Fact{fact(d(2), n, n, n), open(tensor.Float32), open(tensor.Float32), fact(d(1), d(2))}, 3,
			"input 3: want [2,2], got [1,2]"},
		{o, []tensor.Fact{open(tensor.Float32), fact(n, d(6), n, n), open(tensor.Float32), open(tensor.Float32)}, 3,
			"input 1: want four columns per box, got 6"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{
		{&GenerateProposals{StrideWidth: float32(math.Inf(1))}, make([]tensor.Fact, 4), 3, "input 0 is missing"},
		{&GenerateProposals{StrideWidth: float32(math.Inf(1))}, []tensor.Fact{open(tensor.Float32), open(tensor.Float32),
			open(tensor.Float32), open(tensor.Float32)}, 3, "stride and minimum size: +Inf is not finite"},
	})
}

func TestHeatmapMaxKeypoint_shapes(t *testing.T) {
	d, o, last := tensor.D, &HeatmapMaxKeypoint{}, &HeatmapMaxKeypoint{ChannelsLast: true}
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3), d(5), d(6)), fact(n, d(4))}, 2, "float32[?1,3] float32[?1,3,2]"},
		{last, []tensor.Fact{fact(any1, d(5), d(6), m), fact(d(9), d(4))}, 2, "float32[9,?2] float32[9,?2,2]"},
		{o, []tensor.Fact{open(tensor.Float16), open(tensor.Float16)}, 2, "float16[?,?] float16[?,?,2]"},
		{o, []tensor.Fact{fact(d(0), d(0), d(2), d(2)), open(tensor.Float32)}, 2, "float32[0,0] float32[0,0,2]"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3), d(5)), fact(n, d(4))}, 2, "input 0: want [?,?,?,?]"},
		{o, []tensor.Fact{fact(n, d(3), d(1), d(6)), fact(n, d(4))}, 2, "input 0: want heatmaps of 2 x 2 cells or more"},
		{last, []tensor.Fact{fact(n, d(3), d(1), d(6)), fact(n, d(4))}, 2, "input 0: want heatmaps of 2 x 2 cells or more"},
		{o, []tensor.Fact{fact(d(2), d(3), d(5), d(6)), fact(d(3), d(4))}, 2, "input 1: want [2,4], got [3,4]"},
		{&HeatmapMaxKeypoint{Square: true}, []tensor.Fact{fact(n, d(3), d(5), d(6)), fact(n, d(4))}, 2, "got [?1,3,5,6]"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{{&HeatmapMaxKeypoint{Epsilon: -1}, []tensor.Fact{fact(), fact()}, 2,
		"epsilon: want 0 or more"}})
	checkRefusals(t, fault.Type, []outputsCase{{o, []tensor.Fact{typed(tensor.Int8, n, n, n, n), fact()}, 2,
		"input 0: want a float"}})
}

// Each output takes the quantization that is declared for it, or that of the input whose kind it is.
func TestBoxes_declaredQuantization(t *testing.T) {
	d := tensor.D
	first, second := tensor.PerTensor(0.5, 7), tensor.PerTensor(0.25, 9)
	scores := codes(tensor.Uint8, 0.01, 1, d(2), d(3))
	wide := codes(tensor.Uint16, 0.125, 0, d(2), d(12))
	maps := codes(tensor.Uint8, 0.01, 1, d(1), d(3), d(2), d(2))
	deltas := codes(tensor.Uint8, 0.02, 2, d(1), d(12), d(2), d(2))
	anchors, image := codes(tensor.Int16, 0.125, 0, d(3), d(4)), codes(tensor.Uint16, 0.125, 0, d(1), d(2))
	boxes := codes(tensor.Uint16, 0.125, 0, d(1), d(4))
	for _, c := range []struct {
		op        graph.Op
		in        []tensor.Fact
		outs      int
		of, boxed tensor.Fact // the inputs that outputs 0 and 1 take after
	}{
		{&BoxWithNMSLimit{}, []tensor.Fact{scores, wide, typed(tensor.Int32, d(2))}, 4, scores, wide},
		{&GenerateProposals{}, []tensor.Fact{maps, deltas, anchors, image}, 3, maps, image},
		{&HeatmapMaxKeypoint{}, []tensor.Fact{maps, boxes}, 2, maps, boxes},
	} {
		declared := make([]tensor.Type, c.outs)
		out, err := c.op.Infer(c.in, declared)
		require.NoError(t, err, graph.NameOf(c.op))
		assert.Equal(t, []*tensor.Quant{c.of.Quant, c.boxed.Quant}, []*tensor.Quant{out[0].Quant, out[1].Quant},
			graph.NameOf(c.op))
		declared[0] = tensor.Type{DType: tensor.Int8, Quant: first}
		declared[1] = tensor.Type{DType: tensor.Int16, Quant: second}
		out, err = c.op.Infer(c.in, declared)
		require.NoError(t, err, graph.NameOf(c.op))
		assert.Equal(t, []*tensor.Quant{first, second}, []*tensor.Quant{out[0].Quant, out[1].Quant}, graph.NameOf(c.op))
		assert.Equal(t, []tensor.DType{tensor.Int8, tensor.Int16}, []tensor.DType{out[0].DType, out[1].DType},
			graph.NameOf(c.op))
	}
}
