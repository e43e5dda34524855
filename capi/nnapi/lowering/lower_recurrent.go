package lowering

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.SVDF:                      lowerSVDF,
		nnapi.RNN:                       lowerRNN,
		nnapi.UnidirectionalSequenceRNN: lowerSequenceRNN,
		nnapi.BidirectionalSequenceRNN:  lowerBidirectionalRNN,
	})
}

// lowerSVDF puts the activation behind the layer.
func lowerSVDF(n *node) {
	fused := n.fuse(6)
	out := n.many(&op.SVDF{Rank: n.size32(5, 1)}, []tensor.Type{n.outType(1), n.outType(0)}, n.in(0), n.in(1), n.in(2),
		n.in(3), n.in(4))
	n.put(0, out[1])
	n.put(1, n.clipped(1, fused, out[0]))
}

// sequence is how a recurrent operation walks: core's operators have a dimension for directions, of which each node has
// one here.
type sequence struct {
	direction  op.Direction
	batchFirst bool // x is [batch,steps,features], else [steps,batch,features]
}

// with gives a state [batch,units] the dimension of directions, without takes it away.
func (n *node) with(s sequence, state graph.Value) graph.Value {
	return n.add(&op.Unsqueeze{}, state, n.int64s(s.stateAxis()))
}

func (n *node) without(s sequence, state graph.Value) graph.Value {
	return n.add(&op.Squeeze{}, state, n.int64s(s.stateAxis()))
}

func (s sequence) stateAxis() int64 {
	if s.batchFirst {
		return 1
	}
	return 0
}

// steps takes the dimension of directions from a sequence of results.
func (n *node) steps(s sequence, y graph.Value) graph.Value {
	axis := int64(1)
	if s.batchFirst {
		axis = 2
	}
	return n.add(&op.Squeeze{}, y, n.int64s(axis))
}

// first gives weights the dimension of directions.
func (n *node) first(v graph.Value) graph.Value {
	if v == graph.None {
		return v
	}
	return n.add(&op.Unsqueeze{}, v, n.int64s(0))
}

// columns joins matrices, or vectors, along the given dimension; those that are left out are skipped.
func (n *node) columns(axis int64, list ...graph.Value) graph.Value {
	var given []graph.Value
	for _, v := range list {
		if v != graph.None {
			given = append(given, v)
		}
	}
	if len(given) == 0 {
		return graph.None
	}
	if len(given) == 1 {
		return given[0]
	}
	return n.add(&op.Concat{Axis: axis}, given...)
}

// twoBiases makes core's bias of weights and of recurrent weights, the latter being zero.
func (n *node) twoBiases(bias graph.Value) graph.Value {
	zero := n.add(&op.Expand{}, n.zero(n.fact(bias).DType), n.shape(bias))
	return n.first(n.join(bias, zero))
}

// zero is the number 0 of an element type.
func (n *node) zero(d tensor.DType) graph.Value {
	return n.b.Const("", tensor.T(d), make([]byte, d.Bits()/8))
}

// aux is the auxiliary input of the bidirectional operations at input i: joined with x for both directions if it has
// weights, else read by the backward direction in place of x. weights are its inputs, of both directions.
func (n *node) aux(i int, weights ...int) (forward, backward graph.Value, joined bool) {
	x := n.in(0)
	given := 0
	for _, w := range weights {
		if n.given(w) {
			given++
		}
	}
	switch {
	case !n.given(i) && given > 0:
		n.fail(fault.Argument, "%s is left out and its weights are not [nnapi-left-weights]", n.term(i))
	case !n.given(i):
		return x, x, false
	case given > 0:
		x = n.columns(2, x, n.in(i))
		return x, x, true
	}
	return x, n.in(i), false
}

// merge makes the outputs of both directions the operation's: one after the other along the features, or each its own.
// It returns the index of the output behind them.
func (n *node) merge(merged bool, forward, backward graph.Value) int {
	want := "separate outputs"
	if merged {
		want = "merged outputs"
	}
	if n.form.Name != want {
		n.fail(fault.Argument, "want %s, got %d outputs [nnapi-got-outputs]", want, len(n.op.Outputs))
	}
	if merged {
		n.put(0, n.add(&op.Concat{Axis: 2}, forward, backward))
		return 1
	}
	n.put(0, forward)
	n.put(1, backward)
	return 2
}

// rnnActivations are core's words for fused activations.
var rnnActivations = [...]string{nnapi.FusedNone: "affine", nnapi.FusedReLU: "relu", nnapi.FusedReLU1: "relu1",
	nnapi.FusedReLU6: "relu6"}

// rnn adds one direction of a plain recurrent layer and returns its results and the last state.
func (n *node) rnn(s sequence, fused int64, x, w, r, bias, h graph.Value) (y, last graph.Value) {
	if !n.ok() {
		return graph.None, graph.None
	}
	o := &op.RNN{Direction: s.direction, BatchFirst: s.batchFirst, Activations: []string{rnnActivations[fused]}}
	out := n.many(o, make([]tensor.Type, 2), x, n.first(w), n.first(r), n.twoBiases(bias), graph.None, n.with(s, h))
	return n.steps(s, out[0]), n.without(s, out[1])
}

// lowerRNN takes one step.
func lowerRNN(n *node) {
	fused := n.fuse(5)
	_, h := n.rnn(sequence{}, fused, n.first(n.in(0)), n.in(1), n.in(2), n.in(3), n.in(4))
	n.put(0, h)
	n.put(1, h)
}

func lowerSequenceRNN(n *node) {
	major := n.int(6)
	n.within(6, major, 0, 1)
	y, h := n.rnn(sequence{batchFirst: major == 0}, n.fuse(5), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4))
	n.put(0, y)
	if len(n.op.Outputs) > 1 {
		n.put(1, h)
	}
}

func lowerBidirectionalRNN(n *node) {
	fused, batchFirst := n.fuse(12), !n.flag(13)
	fx, bx, joined := n.aux(9, 10, 11)
	fw, bw := n.in(1), n.in(5)
	if joined {
		if !n.given(10) || !n.given(11) {
			n.fail(fault.Argument, "%s and %s: want both or none [nnapi-inputs-both]", n.term(10), n.term(11))
			return
		}
		fw, bw = n.columns(1, fw, n.in(10)), n.columns(1, bw, n.in(11))
	}
	y, h := n.rnn(sequence{op.Forward, batchFirst}, fused, fx, fw, n.in(2), n.in(3), n.in(4))
	z, g := n.rnn(sequence{op.Reverse, batchFirst}, fused, bx, bw, n.in(6), n.in(7), n.in(8))
	next := n.merge(n.flag(14), y, z)
	if len(n.op.Outputs) > next {
		n.put(next, h)
		n.put(next+1, g)
	}
}
