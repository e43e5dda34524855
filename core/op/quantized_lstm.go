package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// QuantizedLSTM is one step of an LSTM on codes of 8 bits with a cell of 16 bits, computed in integers: its results are
// defined to the bit, as TensorFlow Lite's integer LSTM computes them. With z() removing a zero point:
//
//	v = sat16(W z(x) [+ B]) + sat16(R z(h')) + P c', each term scaled to the gate's entry of Intermediate
//	v = N * (v - mean)/deviation + B at 2^-12        with normalization weights, which take B out of the sum
//	i, forget, o = sigmoid(v), g = tanh(v)           of 3 integer bits; i = 32767 - forget without input gate's weights
//	c = sat16(forget*c' >> 15 + i*g at c's scale)    cut to ClipCell; o sees this c
//	m = o * tanh(c) at HiddenScale, minus HiddenZero
//	h = V (m + HiddenZero) + b at h's scale, plus its zero point, cut to ClipProjection; without a projection m
//
// Every sum saturates to 16 bits, every scaling is gemmlowp's multiplication with a mantissa of 31 bits, rounded twice.
// A variance below 1 counts as 1. Clips are cut to codes toward zero, apply around code 0, and 0 is none.
//
// Inputs, in the API's order, B batches, I features, U units, P outputs (U without a projection); those with ? may be
// absent, of inputs 1 and 5, 9 to 11, 20 to 23 all or none; without 1 and 5, 9, 12 and 20 are absent too: x [B,I],
// int8; weights of x for input?, forget, cell and output gate, int8 [U,I]; those of the state, int8 [U,P]; peepholes of
// input?, forget? and output? gate, int16 [U]; biases of input?, forget, cell and output gate, int32 [U], whose scale
// is not read; projection?, int8 [P,U]; its bias?, int32 [P]; h' [B,P], int8; c' [B,U], int16, scale a power of two
// from 2^-15 to 2^-9 (CellBits); normalization weights of input?, forget?, cell? and output? gate, int16 [U]. Weights
// have zero point 0. Outputs: h [B,P] as h'; c [B,U] as c'. Another quantization is an error of kind fault.Type.
// Source: ANEURALNETWORKS_QUANTIZED_LSTM.
type QuantizedLSTM struct {
	ClipCell, ClipProjection float32
	Intermediate             []float32 // scales of the sums of input, forget, cell and output gate
	HiddenZero               int64     // from -128 to 127; what m adds to be around 0
	HiddenScale              float32
}

func init() { graph.Register[*QuantizedLSTM]("quantized_lstm", graph.Traits{}) }

// The inputs of QuantizedLSTM; of lists the first one.
const (
	qlstmWeights, qlstmStates, qlstmPeepholes, qlstmBiases = 1, 5, 9, 12
	qlstmProjection, qlstmAdded, qlstmHidden, qlstmCell    = 16, 17, 18, 19
	qlstmNorms, qlstmInputs                                = 20, 24
)

// Infer returns the types of h and c.
func (o *QuantizedLSTM) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, qlstmInputs, declared, 2, 2); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.given(in); err != nil {
		return nil, err
	}
	batch, features, units, outputs := anySize(), anySize(), anySize(), anySize()
	if !present(in, qlstmProjection) {
		outputs = units
	}
	for i := range in {
		if !present(in, i) {
			continue
		}
		dtype, sizes := tensor.Int8, []*tensor.Dim{units}
		weight := true
		switch {
		case i == 0:
			sizes, weight = []*tensor.Dim{batch, features}, false
		case i < qlstmStates:
			sizes = []*tensor.Dim{units, features}
		case i < qlstmPeepholes:
			sizes = []*tensor.Dim{units, outputs}
		case i < qlstmBiases, i >= qlstmNorms:
			dtype = tensor.Int16
		case i < qlstmProjection, i == qlstmAdded:
			if dtype = tensor.Int32; i == qlstmAdded {
				sizes = []*tensor.Dim{outputs}
			}
		case i == qlstmProjection:
			sizes = []*tensor.Dim{outputs, units}
		case i == qlstmHidden:
			sizes, weight = []*tensor.Dim{batch, outputs}, false
		case i == qlstmCell:
			dtype, sizes = tensor.Int16, []*tensor.Dim{batch, units}
		}
		if err := wantLSTMCodes(in, i, dtype, weight); err != nil {
			return nil, err
		}
		if err := fit(in, i, sizes...); err != nil {
			return nil, err
		}
	}
	if q := in[qlstmCell].Quant; q.IsPerTensor() {
		if _, ok := o.CellBits(q.Scale[0]); !ok {
			return nil, fault.New(fault.Type, "input %d: scale %v is no power of two from 2^-15 to 2^-9", qlstmCell, q.Scale[0])
		}
	}
	h, err := sameCodes(declared[0], in, qlstmHidden, 0, tensor.OfDims(*batch, *outputs))
	if err != nil {
		return nil, err
	}
	c, err := sameCodes(declared[1], in, qlstmCell, 1, tensor.OfDims(*batch, *units))
	return []tensor.Fact{h, c}, err
}

// CellBits returns k of the power of two 2^k that a cell's scale stands for. Scales that programs have written with six
// digits are meant: what is within a thousandth of k counts.
func (*QuantizedLSTM) CellBits(scale float32) (k int, ok bool) {
	v := math.Log2(float64(scale))
	near := math.Round(v)
	return int(near), math.Abs(v-near) < 1e-3 && near >= -15 && near <= -9
}

func (o *QuantizedLSTM) check() error {
	if len(o.Intermediate) != 4 {
		return fault.New(fault.Argument, "want 4 intermediate scales, got %d", len(o.Intermediate))
	}
	for i, v := range append([]float32{o.HiddenScale}, o.Intermediate...) {
		if !(v > 0) || wantFinite("", v) != nil {
			return fault.New(fault.Argument, "scale %d of the hidden state and the sums is %v: want a number above 0", i, v)
		}
	}
	if o.HiddenZero < math.MinInt8 || o.HiddenZero > math.MaxInt8 {
		return fault.New(fault.Argument, "zero point %d of the hidden state: want -128 to 127", o.HiddenZero)
	}
	if !(o.ClipCell >= 0 && o.ClipProjection >= 0) {
		return fault.New(fault.Argument, "clip of the cell %v, of the projection %v: want 0 (none) or more", o.ClipCell,
			o.ClipProjection)
	}
	return nil
}

// given checks which inputs are there.
func (o *QuantizedLSTM) given(in []tensor.Fact) error {
	for _, i := range []int{2, 3, 4, 6, 7, 8, 13, 14, 15, qlstmHidden, qlstmCell} {
		if !present(in, i) {
			return fault.New(fault.Argument, "input %d is missing", i)
		}
	}
	gate := present(in, qlstmWeights)
	if present(in, qlstmStates) != gate || present(in, qlstmBiases) != gate {
		return fault.New(fault.Argument, "inputs %d, %d and %d: want all or none", qlstmWeights, qlstmStates, qlstmBiases)
	}
	if present(in, qlstmAdded) && !present(in, qlstmProjection) {
		return fault.New(fault.Argument, "input %d: there is no projection", qlstmAdded)
	}
	for _, list := range [][]int{{qlstmPeepholes, qlstmPeepholes + 2}, {qlstmNorms, qlstmNorms + 3}} {
		last := present(in, list[1])
		for i := list[0]; i <= list[1]; i++ {
			if want := last && (gate || i != list[0]); present(in, i) != want {
				return fault.New(fault.Argument, "inputs %d to %d: want all or none, and none of an input gate that is not there",
					list[0], list[1])
			}
		}
	}
	return nil
}

// wantLSTMCodes checks the type of input i: one scale, and zero point 0 unless it is a state. Biases may be plain.
func wantLSTMCodes(in []tensor.Fact, i int, dtype tensor.DType, symmetric bool) error {
	if t := in[i].Type; dtype == tensor.Int32 && t.DType == dtype && t.Quant == nil {
		return nil
	}
	if err := wantCodes(in, i, dtype, nil); err != nil {
		return err
	}
	if q := in[i].Quant; symmetric && q.IsPerTensor() && q.ZeroAt(0) != 0 {
		return fault.New(fault.Type, "input %d: want zero point 0, got %d", i, q.ZeroAt(0))
	}
	return nil
}
