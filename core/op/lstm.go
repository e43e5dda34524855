package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GateOrder is the order of an LSTM's blocks in its weights: input, output, forget gate and cell candidate.
type GateOrder uint8

// The gate orders.
const (
	GatesIOFC GateOrder = iota
	GatesIFCO
)

// LSTM is long short-term memory over a sequence. With f, g, h the activations (sigmoid, tanh, tanh unless given) and
// W, R, B, P the blocks of the gates:
//
//	i = f(W x + R h' + P c' + B)      the input gate, and likewise the forget gate with its own W, R, B, P; with InputForget forget = 1 - i
//	c = forget*c' + i * g(W x + R h' + B)
//	o = f(W x + R h' + P c + B)       with the new c
//	y = o * h(c)
//
// The arguments of f and g are cut to [-Clip, Clip] when Clip > 0. The states handed on are (1-ZoneoutCell)*c +
// ZoneoutCell*c' and (1-ZoneoutHidden)*y + ZoneoutHidden*h'; the sequence gets y itself.
//
// Inputs, T steps, B batches, I features, H hidden, D directions: x [T,B,I]; w [D,4H,I]; r [D,4H,H]; bias? [D,8H] (of
// W, then of R); seq_lens? [B] integers in 0..T; h0?, c0? [D,B,H] (zeros); peephole? [D,3H] (input, output, forget).
// Outputs: y [T,D,B,H], zero after a sequence's end; h?, c? [D,B,H], the states at each sequence's end. With BatchFirst
// x [B,T,I], y [B,T,D,H], states [B,D,H]. Float or quantized; sums in float64. Source: ONNX LSTM-22, OH_NN_OPS_LSTM
// (OH_NN reference notes on operators, section 6).
type LSTM struct {
	Direction                  Direction
	Hidden                     int64 // 0: from r
	Gates                      GateOrder
	Activations                []string // f, g, h per direction; ONNX names in any case
	ActAlpha, ActBeta          []float32
	Clip                       float32
	InputForget, BatchFirst    bool
	ZoneoutCell, ZoneoutHidden float32
}

func init() { graph.Register((*LSTM)(nil)) }

// Name returns "lstm".
func (*LSTM) Name() string { return "lstm" }

// Traits: none.
func (*LSTM) Traits() graph.Traits { return graph.Traits{} }

func (o *LSTM) recurrent() *recurrent {
	return &recurrent{o.Direction, o.Hidden, 4, 3, o.Activations, o.ActAlpha, o.ActBeta, o.Clip, o.BatchFirst, true}
}

// Functions returns f, g, h of each direction.
func (o *LSTM) Functions() []Activation { return o.recurrent().resolve("sigmoid", "tanh", "tanh") }

// Infer returns the shapes of y, h and c.
func (o *LSTM) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Gates > GatesIFCO {
		return nil, fault.New(fault.Argument, "unknown gate order %d", o.Gates)
	}
	if !(o.ZoneoutCell >= 0 && o.ZoneoutCell <= 1 && o.ZoneoutHidden >= 0 && o.ZoneoutHidden <= 1) {
		return nil, fault.New(fault.Argument, "zoneout %v, %v: want 0 to 1", o.ZoneoutCell, o.ZoneoutHidden)
	}
	return o.recurrent().facts(in, declared)
}
