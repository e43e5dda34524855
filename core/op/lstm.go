package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GateOrder is the order of an LSTM's blocks in its weights: input, output, forget gate and cell candidate. Where the
// input gate has no block the others keep their order.
type GateOrder uint8

// The gate orders.
const (
	GatesIOFC GateOrder = iota
	GatesIFCO
)

// LSTM is long short-term memory over a sequence. With f, g, h the activations (sigmoid, tanh, tanh unless given) and
// W, R, B, P the blocks of the gates:
//
//	i = f(W x + R h' + P c' + B)      the input gate, and likewise the forget gate with its own W, R, B, P; with InputForget forget = 1 - i, with Coupled i = 1 - forget
//	c = forget*c' + i * g(W x + R h' + B)
//	o = f(W x + R h' + P c + B)       with the new c
//	y = o * h(c)
//
// c is cut to [-ClipCell, ClipCell] when ClipCell > 0. With normalization weights N the argument of a gate, and of g,
// is N * (v - mean)/sqrt(variance + 1e-8) + B, v being the sum without B, mean and variance those of the gate's units.
// The arguments of f and g are cut to [-Clip, Clip] when Clip > 0. With a projection y is V (o * h(c)) + b, cut to
// [-ClipProjection, ClipProjection] when ClipProjection > 0. The states handed on are (1-ZoneoutCell)*c +
// ZoneoutCell*c' and (1-ZoneoutHidden)*y + ZoneoutHidden*h'; the sequence gets y itself.
//
// Inputs, T steps, B batches, I features, H hidden, P outputs (H without a projection), D directions, G gates (4, or
// with Coupled, where the input gate has no blocks, 3): x [T,B,I]; w [D,G*H,I]; r [D,G*H,P]; bias? [D,2*G*H] (of W,
// then of R); seq_lens? [B] integers in 0..T; h0? [D,B,P], c0? [D,B,H] (zeros); peephole? [D,(G-1)*H] (input, output,
// forget); projection? [D,P,H] and its bias? [D,P]; normalization? [D,G*H]. Outputs: y [T,D,B,P], zero after a
// sequence's end; h? [D,B,P], c? [D,B,H], the states at each sequence's end. With BatchFirst x [B,T,I], y [B,T,D,P],
// states [B,D,P], [B,D,H]. Float or quantized; sums in float64. Directions of different sizes, or with operands of
// their own, are two operators; an auxiliary operand with weights of its own is x and w joined with it along the
// features. Source: ONNX LSTM-22, OH_NN_OPS_LSTM (docs/abi/ohnn.md, operators 6), ANEURALNETWORKS_LSTM,
// UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM.
type LSTM struct {
	Direction                  Direction
	Hidden                     int64 // 0: from r
	Gates                      GateOrder
	Activations                []string // f, g, h per direction; ONNX names in any case
	ActAlpha, ActBeta          []float32
	Clip                       float32
	ClipCell, ClipProjection   float32
	InputForget, BatchFirst    bool
	Coupled                    bool
	ZoneoutCell, ZoneoutHidden float32
}

func init() { graph.Register[*LSTM]("lstm", graph.Traits{}) }

func (o *LSTM) recurrent() *recurrent {
	gates := int64(4)
	if o.Coupled {
		gates = 3
	}
	return &recurrent{o.Direction, o.Hidden, gates, 3, o.Activations, o.ActAlpha, o.ActBeta, o.Clip, o.BatchFirst, true}
}

// Functions returns f, g, h of each direction.
func (o *LSTM) Functions() []Activation { return o.recurrent().resolve("sigmoid", "tanh", "tanh") }

// Blocks returns which block of w holds the input, output and forget gate and the cell candidate; -1 for the input gate
// that has none.
func (o *LSTM) Blocks() (input, output, forget, cell int) {
	input, output, forget, cell = 0, 1, 2, 3
	if o.Gates == GatesIFCO {
		input, forget, cell, output = 0, 1, 2, 3
	}
	if o.Coupled {
		return -1, output - 1, forget - 1, cell - 1
	}
	return input, output, forget, cell
}

// Infer returns the shapes of y, h and c.
func (o *LSTM) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Gates > GatesIFCO {
		return nil, fault.New(fault.Argument, "unknown gate order %d", o.Gates)
	}
	if !(o.ZoneoutCell >= 0 && o.ZoneoutCell <= 1 && o.ZoneoutHidden >= 0 && o.ZoneoutHidden <= 1) {
		return nil, fault.New(fault.Argument, "zoneout %v, %v: want 0 to 1", o.ZoneoutCell, o.ZoneoutHidden)
	}
	if o.Coupled && o.InputForget {
		return nil, fault.New(fault.Argument, "input and forget gate are each to be 1 minus the other")
	}
	if !(o.ClipCell >= 0 && o.ClipProjection >= 0) {
		return nil, fault.New(fault.Argument, "clip of the cell %v, of the projection %v: want 0 (none) or more", o.ClipCell,
			o.ClipProjection)
	}
	return o.recurrent().facts(in, declared)
}
