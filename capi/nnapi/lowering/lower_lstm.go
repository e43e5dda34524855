package lowering

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.LSTM:                       lowerLSTM,
		nnapi.UnidirectionalSequenceLSTM: lowerSequenceLSTM,
		nnapi.BidirectionalSequenceLSTM:  lowerBidirectionalLSTM,
	})
}

// cell says which inputs one direction of an LSTM has: 17 from weights on (input, forget, cell, output; recurrent
// likewise; peepholes input, forget, output; biases; projection and its bias), the states, four of normalization and,
// for an auxiliary input, four weights of it. 0: there are none.
type cell struct {
	weights, states, norm, aux int
}

// gates are the inputs of one kind in the order input, forget, cell, output; the input gate's is left out when it is
// coupled.
func (n *node) gates(first int) []graph.Value {
	return []graph.Value{n.in(first), n.in(first + 1), n.in(first + 2), n.in(first + 3)}
}

// lstmActivations are core's words for the activations of the LSTM operations.
var lstmActivations = map[int64]string{nnapi.LSTMNone: "affine", nnapi.LSTMReLU: "relu", nnapi.LSTMReLU6: "relu6",
	nnapi.LSTMTanh: "tanh", nnapi.LSTMSigmoid: "sigmoid"}

// lstmOptions are the activation and the clips, which begin at input i.
func (n *node) lstmOptions(i int) op.LSTM {
	act := n.int(i)
	name, ok := lstmActivations[act]
	if !ok {
		n.fail(fault.Argument, "%s: want 0 (none), 1 (relu), 3 (relu6), 4 (tanh) or 6 (sigmoid), got %d "+
			"[nnapi-relu-relu6-tanh]", n.term(i), act)
	}
	o := op.LSTM{Gates: op.GatesIFCO, Activations: []string{"sigmoid", name, name}, ClipCell: n.float(i + 1),
		ClipProjection: n.float(i + 2)}
	for k, v := range []float32{o.ClipCell, o.ClipProjection} {
		if !(v >= 0) || math.IsInf(float64(v), 0) {
			n.fail(fault.Argument, "%s: want 0 (none) or more, got %v [nnapi-got]", n.term(i+1+k), v)
		}
	}
	return o
}

// together checks that all of the inputs are given, or none, and reports which.
func (n *node) together(inputs ...int) bool {
	for _, i := range inputs[1:] {
		if n.given(i) != n.given(inputs[0]) {
			n.fail(fault.Argument, "%s and %s: want both or none [nnapi-inputs-both]", n.term(inputs[0]), n.term(i))
		}
	}
	return n.given(inputs[0])
}

// follows checks that input i is given where others are, which why names, and left out elsewhere.
func (n *node) follows(i int, others bool, why string) {
	switch {
	case n.given(i) && !others:
		n.fail(fault.Argument, "%s: want it left out, as %s are [nnapi-left-out]", n.term(i), why)
	case !n.given(i) && others:
		n.fail(fault.Argument, "%s is left out, and %s are not [nnapi-left]", n.term(i), why)
	}
}

// lstm adds one direction and returns its results and the last states.
func (n *node) lstm(o op.LSTM, s sequence, x graph.Value, c cell) (y, h, state graph.Value) {
	w, peep, bias, project := c.weights, c.weights+8, c.weights+11, c.weights+15
	o.Direction, o.BatchFirst = s.direction, s.batchFirst
	o.Coupled = !n.together(w, w+4, bias)
	n.follows(peep, n.together(peep+1, peep+2) && !o.Coupled, "the other peepholes or the input gate's weights")
	if n.given(project + 1) {
		n.follows(project+1, n.given(project), "the projection weights")
	}
	normalized := c.norm > 0 && n.together(c.norm+1, c.norm+2, c.norm+3)
	if c.norm > 0 {
		n.follows(c.norm, normalized && !o.Coupled, "the other normalization weights or the input gate's weights")
	}
	weights := n.gates(w)
	if c.aux > 0 {
		for k, v := range n.gates(c.aux) {
			if (v == graph.None) != (weights[k] == graph.None) {
				n.fail(fault.Argument, "%s and %s: want both or none [nnapi-inputs-both]", n.term(w+k), n.term(c.aux+k))
			}
			weights[k] = n.columns(1, weights[k], v)
		}
	}
	if !n.ok() {
		return graph.None, graph.None, graph.None
	}
	norm := graph.None
	if normalized {
		norm = n.first(n.columns(0, n.gates(c.norm)...))
	}
	peepholes := n.first(n.columns(0, n.in(peep), n.in(peep+2), n.in(peep+1)))
	projection, projectionBias := n.first(n.in(project)), n.first(n.in(project+1))
	out := n.many(&o, make([]tensor.Type, 3), x, n.first(n.columns(0, weights...)), n.first(n.columns(0, n.gates(w+4)...)),
		n.twoBiases(n.columns(0, n.gates(bias)...)), graph.None, n.with(s, n.in(c.states)), n.with(s, n.in(c.states+1)),
		peepholes, projection, projectionBias, norm)
	return n.steps(s, out[0]), n.without(s, out[1]), n.without(s, out[2])
}

// lowerLSTM takes one step. The first output is not specified: zeros here.
func lowerLSTM(n *node) {
	c := cell{weights: 1, states: 18}
	if len(n.op.Inputs) > 23 {
		c.norm = 23
	}
	_, h, state := n.lstm(n.lstmOptions(20), sequence{}, n.first(n.in(0)), c)
	if !n.ok() {
		return
	}
	units := n.size(n.in(2), 0)
	gates := 4
	if !n.given(1) {
		gates = 3
	}
	total := n.add(&op.Mul{}, units, n.int64s(int64(gates)))
	if d := n.dim(n.in(2), 0); d.Known() {
		total = n.int64s(d.N * int64(gates))
	}
	n.put(0, n.add(&op.Expand{}, n.zero(n.outType(0).DType), n.join(n.size(n.in(0), 0), total)))
	n.put(1, h)
	n.put(2, state)
	n.put(3, h)
}

func lowerSequenceLSTM(n *node) {
	s := sequence{batchFirst: !n.flag(23)}
	y, h, state := n.lstm(n.lstmOptions(20), s, n.in(0), cell{weights: 1, states: 18, norm: 24})
	n.put(0, y)
	if len(n.op.Outputs) > 1 {
		n.put(1, h)
		n.put(2, state)
	}
}

func lowerBidirectionalLSTM(n *node) {
	batchFirst := !n.flag(52)
	forward := cell{weights: 1, states: 35, norm: 53}
	backward := cell{weights: 18, states: 37, norm: 57}
	fx, bx, joined := n.aux(39, 40, 41, 42, 43, 44, 45, 46, 47)
	if joined {
		forward.aux, backward.aux = 40, 44
	}
	o := n.lstmOptions(48)
	y, h, c := n.lstm(o, sequence{op.Forward, batchFirst}, fx, forward)
	z, g, d := n.lstm(o, sequence{op.Reverse, batchFirst}, bx, backward)
	next := n.merge(n.flag(51), y, z)
	if len(n.op.Outputs) > next {
		for k, v := range []graph.Value{h, c, g, d} {
			n.put(next+k, v)
		}
	}
}
