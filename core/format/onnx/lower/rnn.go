package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
)

var rnnOperators = []Operator{
	{"", "LSTM", 7, lowerLSTM},
	{"", "GRU", 7, lowerGRU},
	{"", "RNN", 7, lowerRNN},
}

// Directions are the words of recurrent operators.
var Directions = map[string]op.Direction{"forward": op.Forward, "reverse": op.Reverse,
	"bidirectional": op.Bidirectional}

// recurrent reads what the three operators share.
func (n *node) recurrent() (op.Direction, error) {
	name := n.string("direction", "forward")
	d, ok := Directions[name]
	if !ok {
		return 0, fault.New(fault.File, "attribute direction: %q", name)
	}
	return d, nil
}

// activations returns the names of the activations, nil for the operator's own.
func (n *node) activations() []string {
	a := n.stringList("activations")
	if slices.Equal(a, []string{}) {
		return nil
	}
	return a
}

func lowerLSTM(n *node) error {
	d, err := n.recurrent()
	if err != nil {
		return err
	}
	return n.emit(&op.LSTM{Direction: d, Hidden: n.int("hidden_size", 0), Activations: n.activations(),
		ActAlpha: n.floats("activation_alpha"), ActBeta: n.floats("activation_beta"),
		Clip: n.float("clip", 0), InputForget: n.int("input_forget", 0) != 0, BatchFirst: n.int("layout", 0) != 0}, n.in...)
}

func lowerGRU(n *node) error {
	d, err := n.recurrent()
	if err != nil {
		return err
	}
	return n.emit(&op.GRU{Direction: d, Hidden: n.int("hidden_size", 0), Activations: n.activations(),
		ActAlpha: n.floats("activation_alpha"), ActBeta: n.floats("activation_beta"),
		Clip: n.float("clip", 0), LinearBeforeReset: n.int("linear_before_reset", 0) != 0,
		BatchFirst: n.int("layout", 0) != 0}, n.in...)
}

func lowerRNN(n *node) error {
	d, err := n.recurrent()
	if err != nil {
		return err
	}
	return n.emit(&op.RNN{Direction: d, Hidden: n.int("hidden_size", 0), Activations: n.activations(),
		ActAlpha: n.floats("activation_alpha"), ActBeta: n.floats("activation_beta"),
		Clip: n.float("clip", 0), BatchFirst: n.int("layout", 0) != 0}, n.in...)
}
