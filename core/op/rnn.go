package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RNN is the plain recurrent layer over a sequence: y = h = f(W x + R h' + bW + bR), f being tanh unless given; its
// argument is cut to [-Clip, Clip] when Clip > 0.
//
// Inputs, T steps, B batches, I features, H hidden, D directions: x [T,B,I]; w [D,H,I]; r [D,H,H]; bias? [D,2H] (of W,
// then of R); seq_lens? [B] integers in 0..T; h0? [D,B,H] (zeros). Outputs: y [T,D,B,H], zero after a sequence's end;
// h? [D,B,H], the state at each sequence's end. With BatchFirst x [B,T,I], y [B,T,D,H], h [B,D,H]. Float or quantized;
// sums in float64. Directions of different sizes are two operators; an auxiliary operand with weights of its own is x
// and w joined with it along the features. Source: ONNX RNN-22, ANEURALNETWORKS_RNN, UNIDIRECTIONAL_SEQUENCE_RNN and
// BIDIRECTIONAL_SEQUENCE_RNN.
type RNN struct {
	Direction         Direction
	Hidden            int64    // 0: from r
	Activations       []string // f per direction; ONNX names in any case
	ActAlpha, ActBeta []float32
	Clip              float32
	BatchFirst        bool
}

func init() { graph.Register[*RNN]("rnn", graph.Traits{}) }

func (o *RNN) recurrent() *recurrent {
	return &recurrent{o.Direction, o.Hidden, 1, 1, o.Activations, o.ActAlpha, o.ActBeta, o.Clip, o.BatchFirst, false}
}

// Functions returns f of each direction.
func (o *RNN) Functions() []Activation { return o.recurrent().resolve("tanh") }

// Infer returns the shapes of y and h.
func (o *RNN) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return o.recurrent().facts(in, declared)
}
