package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Quantized16BitLSTM is one step of an LSTM on codes, computed in integers: its results are defined to the bit. The sum
// of a gate, J (v - 128) + B, is scaled to 16 bits with 3 integer bits, saturating; sigmoid and tanh follow gemmlowp's
// fixed-point numbers of 16 bits; c = i*g + forget*c', saturating, has 4 integer bits; h is the output gate times
// tanh(c) at 1/128, around 128.
//
// v is x followed by h', J the columns of the weights of the state followed by those of x. That the orders differ is
// the API's: its two matrices per gate are TensorFlow Lite's one, taken apart after H columns whatever they belong to.
//
// Inputs, in the API's order, B batches, I features, H units: x [B,I], uint8 at scale 1/128, zero point 128; weights of
// x for input, forget, cell and output gate, uint8 [H,I]; those of the state, uint8 [H,H], all eight with one scale and
// one zero point; biases, int32 [H] at the weights' scale / 128; c' [B,H], int16 at 2^-11, zero point 0; h' [B,H] as x.
// Outputs: c [B,H] as c'; h [B,H] as h'. Another quantization is an error of kind fault.Type. Source:
// ANEURALNETWORKS_QUANTIZED_16BIT_LSTM.
type Quantized16BitLSTM struct{}

func init() { graph.Register[*Quantized16BitLSTM]("quantized_16bit_lstm", graph.Traits{}) }

// Infer returns the types of c and h.
func (o *Quantized16BitLSTM) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 15, 15, declared, 2, 2); err != nil {
		return nil, err
	}
	batch, features, units := anySize(), anySize(), anySize()
	weights := in[1]
	for i := range in {
		dtype, want, sizes := tensor.Uint8, tensor.PerTensor(1./128, 128), []*tensor.Dim{batch, units}
		switch {
		case i == 0:
			sizes = []*tensor.Dim{batch, features}
		case i <= 8:
			if sizes = []*tensor.Dim{units, features}; i > 4 {
				sizes = []*tensor.Dim{units, units}
			}
			want = weights.Quant
		case i <= 12:
			dtype, sizes = tensor.Int32, []*tensor.Dim{units}
			if want = nil; weights.Quant.IsPerTensor() {
				want = tensor.PerTensor(weights.Quant.Scale[0]/128, 0)
			}
		case i == 13:
			dtype, want = tensor.Int16, tensor.PerTensor(1./2048, 0)
		}
		if err := wantCodes(in, i, dtype, want); err != nil {
			return nil, err
		}
		if err := fit(in, i, sizes...); err != nil {
			return nil, err
		}
	}
	c, err := sameCodes(declared[0], in, 13, 0, tensor.OfDims(*batch, *units))
	if err != nil {
		return nil, err
	}
	h, err := sameCodes(declared[1], in, 14, 1, tensor.OfDims(*batch, *units))
	return []tensor.Fact{c, h}, err
}

// wantCodes checks that input i, if its type is known, is quantized with one scale for all elements, and as want says
// unless that is nil.
func wantCodes(in []tensor.Fact, i int, dtype tensor.DType, want *tensor.Quant) error {
	t := in[i].Type
	switch {
	case t.DType == tensor.Invalid:
		return nil
	case t.DType != dtype || !t.Quant.IsPerTensor():
		return fault.New(fault.Type, "input %d: want quantized %v with one scale, got %v", i, dtype, t)
	case want.IsPerTensor() && !alike(t.Quant, want):
		return fault.New(fault.Type, "input %d: want scale %v and zero point %d, got %v and %d", i, want.Scale[0],
			want.ZeroAt(0), t.Quant.Scale[0], t.Quant.ZeroAt(0))
	}
	return nil
}

// alike reports whether a and b, of one scale each, stand for the same numbers.
func alike(a, b *tensor.Quant) bool {
	return a.IsPerTensor() && b.IsPerTensor() && a.Scale[0] == b.Scale[0] && a.ZeroAt(0) == b.ZeroAt(0)
}

// sameCodes is an output of shape s that is quantized as input i is.
func sameCodes(declared tensor.Type, in []tensor.Fact, i, output int, s tensor.Shape) (tensor.Fact, error) {
	if q := declared.Quant; q != nil && in[i].DType != tensor.Invalid && !alike(q, in[i].Quant) {
		return tensor.Fact{}, fault.New(fault.Type, "output %d: want the quantization of input %d, %v", output, i, in[i].Type)
	}
	return tensor.Fact{Type: tensor.Type{DType: in[i].DType, Quant: in[i].Quant, Shape: s}}, nil
}
