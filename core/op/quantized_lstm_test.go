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

func coded(d tensor.DType, scale float32, zero int32, dims ...int64) tensor.Fact {
	f := tensor.Fact{Type: tensor.T(d, dims...)}
	f.Quant = tensor.PerTensor(scale, zero)
	return f
}

// lstm16 are the inputs of 2 sequences, 3 features and 4 units.
func lstm16() []tensor.Fact {
	in := []tensor.Fact{coded(tensor.Uint8, 1./128, 128, 2, 3)}
	for range 4 {
		in = append(in, coded(tensor.Uint8, 0.01, 100, 4, 3))
	}
	for range 4 {
		in = append(in, coded(tensor.Uint8, 0.01, 100, 4, 4))
	}
	for range 4 {
		in = append(in, coded(tensor.Int32, float32(0.01)/128, 0, 4))
	}
	return append(in, coded(tensor.Int16, 1./2048, 0, 2, 4), coded(tensor.Uint8, 1./128, 128, 2, 4))
}

// lstm8 are the inputs of 2 sequences, 3 features, 4 units and 5 outputs, all of them given.
func lstm8() []tensor.Fact {
	in := []tensor.Fact{coded(tensor.Int8, 0.01, 5, 2, 3)}
	add := func(n int, d tensor.DType, dims ...int64) {
		for range n {
			in = append(in, coded(d, 0.01, 0, dims...))
		}
	}
	add(4, tensor.Int8, 4, 3)
	add(4, tensor.Int8, 4, 5)
	add(3, tensor.Int16, 4)
	add(4, tensor.Int32, 4)
	add(1, tensor.Int8, 5, 4)
	add(1, tensor.Int32, 5)
	in = append(in, coded(tensor.Int8, 0.02, -3, 2, 5), coded(tensor.Int16, 1./2048, 0, 2, 4))
	add(4, tensor.Int16, 4)
	return in
}

// without leaves inputs out; from the end on they are cut off.
func without(in []tensor.Fact, which ...int) []tensor.Fact {
	for _, i := range which {
		in[i] = tensor.Fact{}
	}
	for len(in) > 0 && !present(in, len(in)-1) {
		in = in[:len(in)-1]
	}
	return in
}

func with(in []tensor.Fact, i int, f tensor.Fact) []tensor.Fact {
	in[i] = f
	return in
}

func lstmOptions() *QuantizedLSTM {
	return &QuantizedLSTM{Intermediate: []float32{0.1, 0.1, 0.1, 0.1}, HiddenScale: 0.01}
}

func shapesOf(t *testing.T, o graph.Op, in []tensor.Fact) [2]string {
	out, err := o.Infer(in, make([]tensor.Type, 2))
	require.NoError(t, err)
	return [2]string{out[0].Shape.String(), out[1].Shape.String()}
}

func TestQuantized16BitLSTM_types(t *testing.T) {
	o := &Quantized16BitLSTM{}
	out, err := o.Infer(lstm16(), make([]tensor.Type, 2))
	require.NoError(t, err)
	assert.Equal(t, lstm16()[13].Type, out[0].Type)
	assert.Equal(t, lstm16()[14].Type, out[1].Type)
	unknown := make([]tensor.Fact, 15)
	for i, f := range lstm16() {
		unknown[i] = tensor.Fact{Type: tensor.Type{DType: f.DType, Quant: f.Quant}}
	}
	assert.Equal(t, [2]string{"[?,?]", "[?,?]"}, shapesOf(t, o, unknown))
	unknown[0], unknown[5] = lstm16()[0], lstm16()[5]
	assert.Equal(t, [2]string{"[2,4]", "[2,4]"}, shapesOf(t, o, unknown))
	checkRefusals(t, fault.Type, []outputsCase{
		{o, with(lstm16(), 0, coded(tensor.Uint8, 1./64, 128, 2, 3)), 2,
			"input 0: want scale 0.0078125 and zero point 128, got 0.015625 and 128"},
		{o, with(lstm16(), 0, coded(tensor.Uint8, 1./128, 127, 2, 3)), 2, "got 0.0078125 and 127"},
		{o, with(lstm16(), 0, coded(tensor.Int8, 1./128, 0, 2, 3)), 2, "input 0: want quantized uint8 with one scale"},
		{o, with(lstm16(), 4, coded(tensor.Uint8, 0.02, 100, 4, 3)), 2, "input 4: want scale 0.01 and zero point 100"},
		{o, with(lstm16(), 8, coded(tensor.Uint8, 0.01, 101, 4, 4)), 2, "input 8: want scale 0.01 and zero point 100"},
		{o, with(lstm16(), 9, coded(tensor.Int32, 0.01, 0, 4)), 2, "input 9: want scale 7.8125e-05 and zero point 0"},
		{o, with(lstm16(), 12, tensor.Fact{Type: tensor.T(tensor.Int32, 4)}), 2, "input 12: want quantized int32"},
		{o, with(lstm16(), 13, coded(tensor.Int16, 1./1024, 0, 2, 4)), 2, "input 13: want scale 0.00048828125"},
		{o, with(lstm16(), 14, coded(tensor.Uint8, 1./128, 0, 2, 4)), 2, "input 14: want scale 0.0078125 and zero point 128"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, with(lstm16(), 2, coded(tensor.Uint8, 0.01, 100, 4, 2)), 2, "input 2: want [4,3], got [4,2]"},
		{o, with(lstm16(), 7, coded(tensor.Uint8, 0.01, 100, 4, 3)), 2, "input 7: want [4,4], got [4,3]"},
		{o, with(lstm16(), 11, coded(tensor.Int32, float32(0.01)/128, 0, 3)), 2, "input 11: want [4], got [3]"},
		{o, with(lstm16(), 13, coded(tensor.Int16, 1./2048, 0, 3, 4)), 2, "input 13: want [2,4], got [3,4]"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{{o, lstm16()[:14], 2, "want 15 inputs"},
		{o, with(lstm16(), 3, tensor.Fact{}), 2, "input 3 is missing"}, {o, lstm16(), 1, "want 2 outputs"}})
	_, err = o.Infer(lstm16(), []tensor.Type{{}, {DType: tensor.Uint8, Quant: tensor.PerTensor(1./64, 128)}})
	assert.ErrorContains(t, err, "output 1: want the quantization of input 14")
}

func TestQuantizedLSTM_typesAndAbsentInputs(t *testing.T) {
	o := lstmOptions()
	out, err := o.Infer(lstm8(), make([]tensor.Type, 2))
	require.NoError(t, err)
	assert.Equal(t, lstm8()[18].Type, out[0].Type)
	assert.Equal(t, lstm8()[19].Type, out[1].Type)
	square := func() []tensor.Fact { // no projection
		in := without(lstm8(), 16, 17)
		for i := 5; i < 9; i++ {
			in[i] = coded(tensor.Int8, 0.01, 0, 4, 4)
		}
		in[18] = coded(tensor.Int8, 0.02, -3, 2, 4)
		return in
	}
	for name, in := range map[string][]tensor.Fact{
		"no projection": square(), "no normalization": without(square(), 20, 21, 22, 23),
		"no peepholes": without(square(), 9, 10, 11), "coupled": without(square(), 1, 5, 9, 12, 20),
		"coupled, little":  without(square(), 1, 5, 9, 10, 11, 12, 20, 21, 22, 23),
		"plain biases":     with(square(), 13, tensor.Fact{Type: tensor.T(tensor.Int32, 4)}),
		"unknown sequence": with(square(), 0, coded(tensor.Int8, 0.01, 5, 2, 3)),
	} {
		assert.Equal(t, [2]string{"[2,4]", "[2,4]"}, shapesOf(t, o, in), name)
	}
	assert.Equal(t, [2]string{"[2,5]", "[2,4]"}, shapesOf(t, o, without(lstm8(), 17)), "projection without bias")
	unknown := lstm8()
	for i := range unknown {
		unknown[i].Shape = tensor.AnyShape()
	}
	assert.Equal(t, [2]string{"[?,?]", "[?,?]"}, shapesOf(t, o, unknown))
	unknown[16].Shape, unknown[0].Shape = tensor.Of(5, 4), tensor.Of(2, 3)
	assert.Equal(t, [2]string{"[2,5]", "[2,4]"}, shapesOf(t, o, unknown))
	for exponent := -15; exponent <= -9; exponent++ {
		for _, off := range []float64{1, 1.0006, 0.9994} {
			in := with(lstm8(), 19, coded(tensor.Int16, float32(math.Ldexp(off, exponent)), 0, 2, 4))
			assert.Equal(t, [2]string{"[2,5]", "[2,4]"}, shapesOf(t, o, in))
			bits, ok := o.CellBits(float32(math.Ldexp(off, exponent)))
			assert.Equal(t, exponent, bits)
			assert.True(t, ok)
		}
	}
}

func TestQuantizedLSTM_refusals(t *testing.T) {
	o := lstmOptions()
	checkRefusals(t, fault.Argument, []outputsCase{
		{o, without(lstm8(), 2), 2, "input 2 is missing"}, {o, without(lstm8(), 15), 2, "input 15 is missing"},
		{o, lstm8()[:18], 2, "input 18 is missing"}, {o, lstm8()[:1], 2, "input 2 is missing"},
		{o, without(lstm8(), 1), 2, "inputs 1, 5 and 12: want all or none"},
		{o, without(lstm8(), 5), 2, "inputs 1, 5 and 12: want all or none"},
		{o, without(lstm8(), 12), 2, "inputs 1, 5 and 12: want all or none"},
		{o, without(lstm8(), 1, 5, 12), 2, "inputs 9 to 11: want all or none, and none of an input gate"},
		{o, without(lstm8(), 1, 5, 9, 12), 2, "inputs 20 to 23: want all or none, and none of an input gate"},
		{o, without(lstm8(), 10), 2, "inputs 9 to 11"}, {o, without(lstm8(), 11), 2, "inputs 9 to 11"},
		{o, without(lstm8(), 20), 2, "inputs 20 to 23"}, {o, without(lstm8(), 23), 2, "inputs 20 to 23"},
		{o, without(lstm8(), 16), 2, "input 17: there is no projection"},
		{&QuantizedLSTM{HiddenScale: 1, Intermediate: []float32{1, 1, 1}}, lstm8(), 2, "want 4 intermediate scales, got 3"},
		{&QuantizedLSTM{HiddenScale: 1, Intermediate: []float32{1, 0, 1, 1}}, lstm8(), 2, "scale 2 of the hidden state"},
		{&QuantizedLSTM{Intermediate: []float32{1, 1, 1, 1}}, lstm8(), 2, "scale 0 of the hidden state and the sums is 0"},
		{&QuantizedLSTM{HiddenScale: float32(math.Inf(1)), Intermediate: []float32{1, 1, 1, 1}}, lstm8(), 2, "is +Inf"},
		{&QuantizedLSTM{HiddenScale: 1, HiddenZero: 128, Intermediate: []float32{1, 1, 1, 1}}, lstm8(), 2, "zero point 128"},
		{&QuantizedLSTM{HiddenScale: 1, ClipCell: -1, Intermediate: []float32{1, 1, 1, 1}}, lstm8(), 2,
			"clip of the cell -1"},
	})
	checkRefusals(t, fault.Type, []outputsCase{
		{o, with(lstm8(), 0, coded(tensor.Uint8, 0.01, 5, 2, 3)), 2, "input 0: want quantized int8 with one scale"},
		{o, with(lstm8(), 3, coded(tensor.Int8, 0.01, 1, 4, 3)), 2, "input 3: want zero point 0, got 1"},
		{o, with(lstm8(), 9, coded(tensor.Int8, 0.01, 0, 4)), 2, "input 9: want quantized int16"},
		{o, with(lstm8(), 14, coded(tensor.Int16, 0.01, 0, 4)), 2, "input 14: want quantized int32"},
		{o, with(lstm8(), 16, coded(tensor.Int8, 0.01, 2, 5, 4)), 2, "input 16: want zero point 0, got 2"},
		{o, with(lstm8(), 19, coded(tensor.Int16, 1./2048, 1, 2, 4)), 2, "input 19: want zero point 0, got 1"},
		{o, with(lstm8(), 19, coded(tensor.Int16, 0.001, 0, 2, 4)), 2, "input 19: scale 0.001 is no power of two"},
		{o, with(lstm8(), 19, coded(tensor.Int16, 1./256, 0, 2, 4)), 2, "input 19: scale 0.00390625 is no power of two"},
		{o, with(lstm8(), 19, coded(tensor.Int16, 1./65536, 0, 2, 4)), 2, "is no power of two from 2^-15 to 2^-9"},
		{o, with(lstm8(), 19, coded(tensor.Int16, 1.0008/2048, 0, 2, 4)), 2, "input 19: scale 0.0004886719 is no power"},
		{o, with(lstm8(), 22, coded(tensor.Int32, 0.01, 0, 4)), 2, "input 22: want quantized int16"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, with(lstm8(), 4, coded(tensor.Int8, 0.01, 0, 4, 2)), 2, "input 4: want [4,3], got [4,2]"},
		{o, with(lstm8(), 8, coded(tensor.Int8, 0.01, 0, 4, 4)), 2, "input 8: want [4,5], got [4,4]"},
		{o, with(lstm8(), 11, coded(tensor.Int16, 0.01, 0, 5)), 2, "input 11: want [4], got [5]"},
		{o, with(lstm8(), 17, coded(tensor.Int32, 0.01, 0, 4)), 2, "input 17: want [5], got [4]"},
		{o, with(lstm8(), 18, coded(tensor.Int8, 0.02, -3, 2, 4)), 2, "input 18: want [2,5], got [2,4]"},
		{o, with(lstm8(), 19, coded(tensor.Int16, 1./2048, 0, 2, 5)), 2, "input 19: want [2,4], got [2,5]"},
		{o, with(lstm8(), 23, coded(tensor.Int16, 0.01, 0, 3)), 2, "input 23: want [4], got [3]"},
	})
}
