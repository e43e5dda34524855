package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GRU is the gated recurrent unit over a sequence. With f, g the activations (sigmoid, tanh unless given) and gate
// blocks update, reset, hidden:
//
//	z = f(Wz x + Rz h' + Bz),  r = f(Wr x + Rr h' + Br)
//	n = g(Wh x + Rh (r*h') + bW + bR), with LinearBeforeReset g(Wh x + bW + r*(Rh h' + bR))
//	y = h = (1-z)*n + z*h'
//
// The arguments of f and g are cut to [-Clip, Clip] when Clip > 0.
//
// Inputs, T steps, B batches, I features, H hidden, D directions: x [T,B,I]; w [D,3H,I]; r [D,3H,H]; bias? [D,6H] (of
// W, then of R); seq_lens? [B] integers in 0..T; h0? [D,B,H] (zeros). Outputs: y [T,D,B,H], zero after a sequence's
// end; h? [D,B,H], the state at each sequence's end. With BatchFirst x [B,T,I], y [B,T,D,H], h [B,D,H]. Float or
// quantized; sums in float64. Source: ONNX GRU-22.
type GRU struct {
	Direction                     Direction
	Hidden                        int64    // 0: from r
	Activations                   []string // f, g per direction; ONNX names in any case
	ActAlpha, ActBeta             []float32
	Clip                          float32
	LinearBeforeReset, BatchFirst bool
}

func init() { graph.Register[*GRU]("gru", graph.Traits{}) }

func (o *GRU) recurrent() *recurrent {
	return &recurrent{o.Direction, o.Hidden, 3, 2, o.Activations, o.ActAlpha, o.ActBeta, o.Clip, o.BatchFirst, false}
}

// Functions returns f, g of each direction.
func (o *GRU) Functions() []Activation { return o.recurrent().resolve("sigmoid", "tanh") }

// Infer returns the shapes of y and h.
func (o *GRU) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return o.recurrent().facts(in, declared)
}
