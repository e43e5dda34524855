package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var lossOperators = []Operator{
	{"", "NegativeLogLikelihoodLoss", 12, lowerNLL},
	{"", "SoftmaxCrossEntropyLoss", 12, lowerCrossEntropy},
}

// lowerNLL: inputs x [N, C, ...] of logarithms, target [N, ...], weight [C]?.
func lowerNLL(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	y, err := n.likelihoodLoss(n.arg(0))
	if err != nil {
		return err
	}
	return n.result(y)
}

// lowerCrossEntropy is the loss of the logarithm of the softmax over axis 1, which is output 1.
func lowerCrossEntropy(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	logs := n.b.Add(&op.LogSoftmax{Axis: 1}, n.arg(0))
	y, err := n.likelihoodLoss(logs)
	if err != nil {
		return err
	}
	if len(n.out) > 1 {
		n.out[1] = logs
	}
	return n.result(y)
}

// likelihoodLoss is -x[target] * weight[target], 0 where the target is ignore_index, summed or averaged over the
// weights as reduction says.
func (n *node) likelihoodLoss(x graph.Value) (graph.Value, error) {
	reduction := n.string("reduction", "mean")
	if reduction != "mean" && reduction != "sum" && reduction != "none" {
		return graph.None, fault.New(fault.File, "attribute reduction: %q", reduction)
	}
	zero, err := n.scalarLike(0, 0)
	if err != nil {
		return graph.None, err
	}
	one, err := n.scalarLike(0, 1)
	if err != nil {
		return graph.None, err
	}
	target := n.b.Add(&op.Cast{To: tensor.Int64}, n.arg(1))
	ignored := graph.None
	if a := n.p.Attrs["ignore_index"]; a != nil {
		ignored = n.b.Add(&op.Equal{}, target, n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(a.I)))
		target = n.b.Add(&op.Where{}, ignored, n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(0)), target)
	}
	axis := n.b.Int64s(1)
	picked := n.b.Add(&op.GatherElements{Axis: 1}, x, n.b.Add(&op.Unsqueeze{}, target, axis))
	loss := n.b.Add(&op.Neg{}, n.b.Add(&op.Squeeze{}, picked, axis))
	weights := graph.None
	if n.has(2) {
		weights = n.b.Add(&op.Gather{}, n.arg(2), target, n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(0)))
	} else if ignored != graph.None {
		weights = n.b.Add(&op.Expand{}, one, n.b.Add(&op.Shape{}, target))
	}
	if weights != graph.None && ignored != graph.None {
		weights = n.b.Add(&op.Where{}, ignored, zero, weights)
	}
	if weights != graph.None {
		loss = n.b.Add(&op.Mul{}, loss, weights)
	}
	switch {
	case reduction == "none":
	case reduction == "sum":
		loss = n.b.Add(&op.ReduceSum{}, loss)
	case weights == graph.None:
		loss = n.b.Add(&op.ReduceMean{}, loss)
	default:
		loss = n.b.Add(&op.Div{}, n.b.Add(&op.ReduceSum{}, loss), n.b.Add(&op.ReduceSum{}, weights))
	}
	return loss, n.b.Err()
}
