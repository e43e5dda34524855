package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// lstm adds a layer of 7 steps and 13 features, with initial states if states is set.
func (m *maker) lstm(o *op.LSTM, batch, hidden int64, states bool) []graph.Value {
	const steps, features = 7, 13
	d := int64(o.Direction.Count())
	in := []graph.Value{m.input(steps, batch, features), m.weights(d, 4*hidden, features), m.weights(d, 4*hidden, hidden),
		m.weights(d, 8*hidden)}
	state := []int64{d, batch, hidden}
	if o.BatchFirst {
		in[0] = m.input(batch, steps, features)
		state = []int64{batch, d, hidden}
	}
	if states {
		in = append(in, graph.None, m.input(state...), m.input(state...))
	}
	return m.AddN(o, 3, in...)
}

// gru is lstm for a GRU.
func (m *maker) gru(o *op.GRU, batch, hidden int64, states bool) []graph.Value {
	const steps, features = 7, 13
	d := int64(o.Direction.Count())
	in := []graph.Value{m.input(steps, batch, features), m.weights(d, 3*hidden, features), m.weights(d, 3*hidden, hidden),
		m.weights(d, 6*hidden)}
	state := []int64{d, batch, hidden}
	if o.BatchFirst {
		in[0] = m.input(batch, steps, features)
		state = []int64{batch, d, hidden}
	}
	if states {
		in = append(in, graph.None, m.input(state...))
	}
	return m.AddN(o, 2, in...)
}

// recurrentCases are layers over sequences.
var recurrentCases = []testCase{
	{"lstm", 1, func(m *maker) []graph.Value { return m.lstm(&op.LSTM{}, 1, 33, false) }},
	{"lstm, both directions, sequences first, states", 1, func(m *maker) []graph.Value {
		return m.lstm(&op.LSTM{Direction: op.Bidirectional, BatchFirst: true, Gates: op.GatesIFCO, Clip: 0.8}, 3, 16, true)
	}},
	{"lstm, backwards, other functions", 1, func(m *maker) []graph.Value {
		o := &op.LSTM{Direction: op.Reverse, Activations: []string{"HardSigmoid", "Relu", "Elu"},
			ActAlpha: []float32{0.25, 0.7}, ActBeta: []float32{0.4}}
		return m.lstm(o, 6, 40, true)
	}},
	{"gru", 1, func(m *maker) []graph.Value { return m.gru(&op.GRU{}, 2, 33, true) }},
	{"gru, both directions, reset after the product", 1, func(m *maker) []graph.Value {
		return m.gru(&op.GRU{Direction: op.Bidirectional, LinearBeforeReset: true}, 3, 20, false)
	}},
	{"gru, both directions, sequences first", 1, func(m *maker) []graph.Value {
		return m.gru(&op.GRU{Direction: op.Bidirectional, BatchFirst: true, Clip: 0.5, Activations: []string{"sigmoid",
			"leakyrelu", "softplus", "tanh"}}, 3, 20, true)
	}},
	{"gru without a bias", 1, func(m *maker) []graph.Value {
		return m.AddN(&op.GRU{LinearBeforeReset: true, BatchFirst: true}, 2, m.input(2, 5, 8), m.weights(1, 48, 8),
			m.weights(1, 48, 16))
	}},
	{"rnn, the state alone", 1, func(m *maker) []graph.Value {
		o := &op.RNN{Direction: op.Bidirectional}
		return m.AddN(o, 2, m.input(5, 3, 8), m.weights(2, 16, 8), m.weights(2, 16, 16), m.weights(2, 32), graph.None,
			m.input(2, 3, 16))[1:]
	}},
	{"rnn and lstm, cut functions", 2, func(m *maker) []graph.Value {
		x := m.input(5, 3, 8)
		y := m.AddN(&op.RNN{Direction: op.Bidirectional, Activations: []string{"relu1", "relu6"}}, 2, x, m.weights(2, 16, 8),
			m.weights(2, 16, 16), m.weights(2, 32))
		return append(y, m.lstm(&op.LSTM{Activations: []string{"sigmoid", "relu6", "relu1"}}, 2, 9, true)...)
	}},
	{"lstm of a product, read by another", 3, func(m *maker) []graph.Value {
		x := m.Add(&op.MatMul{}, m.input(5, 2, 9), m.weights(9, 12), m.weights(12))
		y := m.AddN(&op.LSTM{}, 1, x, m.weights(1, 64, 12), m.weights(1, 64, 16))[0]
		return []graph.Value{m.Add(&op.MatMul{}, y, m.weights(16, 5))}
	}},
}

// What the fast layers do not compute is left to the reference.
func TestBuild_recurrentByReference(t *testing.T) {
	m := newMaker()
	weights := func(in int64) (w, r graph.Value) { return m.weights(1, 4*in, in), m.weights(1, 4*in, in) }
	lens := m.Const("", tensor.T(tensor.Int32, 2), tensor.Int32s(3, 5))
	w, r := weights(8)
	x := m.Add(&op.Relu{}, m.input(5, 2, 8))
	a := m.AddN(&op.LSTM{}, 1, x, w, r, graph.None, lens)[0]
	b := m.AddN(&op.LSTM{ZoneoutHidden: 0.5}, 1, x, w, r)[0]
	c := m.AddN(&op.LSTM{}, 1, x, w, r, graph.None, graph.None, graph.None, graph.None, m.weights(1, 24))[0]
	d := m.AddN(&op.RNN{Activations: []string{"softsign"}}, 1, x, m.weights(1, 4, 8), m.weights(1, 4, 4))[0]
	none := graph.None
	var more []graph.Value
	for _, o := range []*op.LSTM{{Coupled: true}, {ClipCell: 0.25}} {
		blocks := int64(32)
		if o.Coupled {
			blocks = 24
		}
		more = append(more, m.AddN(o, 1, x, m.weights(1, blocks, 8), m.weights(1, blocks, 8))...)
	}
	more = append(more, m.AddN(&op.LSTM{}, 1, x, w, r, none, none, none, none, none, m.weights(1, 8, 8))...)
	more = append(more, m.AddN(&op.LSTM{}, 1, x, w, m.weights(1, 32, 3), none, none, none, none, none,
		m.weights(1, 3, 8), m.weights(1, 3))...)
	more = append(more, m.AddN(&op.LSTM{}, 1, x, w, r, none, none, none, none, none, none, none, m.weights(1, 32))...)
	g := m.graph(t, append(more, a, b, c, d)...)
	want, err := ref.Run(context.Background(), g, m.in)
	require.NoError(t, err)
	p, got := compute(t, g, m.in, 1)
	_, slow := p.Fast()
	assert.Equal(t, 4+len(more), slow)
	for i := range want {
		near(t, want[i], got[i], 1e-6)
	}
}
