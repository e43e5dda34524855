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
		nnapi.Mean: func(n *node) {
			keep := n.int(2) > 0
			n.reduce(keep, &op.ReduceMean{KeepDims: keep, EmptyAxesKeep: true})
		},
		nnapi.ReduceAll: func(n *node) { n.reduce(n.flag(2), &op.ReduceAll{KeepDims: n.flag(2), EmptyAxesKeep: true}) },
		nnapi.ReduceAny: func(n *node) { n.reduce(n.flag(2), &op.ReduceAny{KeepDims: n.flag(2), EmptyAxesKeep: true}) },
		nnapi.ReduceMax: func(n *node) { n.reduce(n.flag(2), &op.ReduceMax{KeepDims: n.flag(2), EmptyAxesKeep: true}) },
		nnapi.ReduceMin: func(n *node) { n.reduce(n.flag(2), &op.ReduceMin{KeepDims: n.flag(2), EmptyAxesKeep: true}) },
		nnapi.ReduceProd: func(n *node) {
			n.reduce(n.flag(2), &op.ReduceProd{KeepDims: n.flag(2), EmptyAxesKeep: true})
		},
		nnapi.ReduceSum: func(n *node) { n.reduce(n.flag(2), &op.ReduceSum{KeepDims: n.flag(2), EmptyAxesKeep: true}) },
		nnapi.ArgMax: func(n *node) {
			n.put(0, n.atLeastOne(n.add(&op.ArgMax{Axis: n.axis(1, n.rank(n.in(0)), false), To: tensor.Int32}, n.in(0))))
		},
		nnapi.ArgMin: func(n *node) {
			n.put(0, n.atLeastOne(n.add(&op.ArgMin{Axis: n.axis(1, n.rank(n.in(0)), false), To: tensor.Int32}, n.in(0))))
		},
		nnapi.TopKV2:  func(n *node) { n.emit(&op.TopK{Axis: -1, SelectLast: true, To: tensor.Int32}, n.in(0), n.in(1)) },
		nnapi.Softmax: func(n *node) { n.emit(&op.Softmax{Axis: n.lastOr(2), Beta: n.beta()}, n.in(0)) },
		nnapi.LogSoftmax: func(n *node) {
			n.emit(&op.LogSoftmax{Axis: n.axis(2, n.rank(n.in(0)), false), Beta: n.beta()}, n.in(0))
		},
		nnapi.L2Normalization: func(n *node) {
			n.emit(&op.L2Normalize{Epsilon: 1e-12}, n.in(0), n.int64s(n.lastOr(1)))
		},
		nnapi.LocalResponseNormalization: lowerLRN,
		nnapi.InstanceNormalization:      lowerInstanceNorm,
	})
}

// reduce adds a reduction along the axes in input 1.
func (n *node) reduce(keepDims bool, o graph.Op) {
	v := n.addAs(0, o, n.in(0), n.in(1))
	if !keepDims {
		v = n.atLeastOne(v)
	}
	n.put(0, v)
}

// lastOr returns the axis in input i, the last one when it is left out.
func (n *node) lastOr(i int) int64 {
	if !n.given(i) {
		return -1
	}
	return n.axis(i, n.rank(n.in(0)), false)
}

// beta returns the factor of SOFTMAX and LOG_SOFTMAX in input 1.
func (n *node) beta() float32 {
	b := n.float(1)
	if !(b > 0) || math.IsInf(float64(b), 0) {
		n.fail(fault.Argument, "%s: want a finite number above 0, got %v [nnapi-finite-number-above]", n.term(1), b)
	}
	return b
}

func lowerLRN(n *node) {
	radius := n.int(1)
	n.within(1, radius, 0, 1<<31-1)
	n.emit(&op.LRN{Before: radius, After: radius, Bias: n.float(2), Alpha: n.float(3), Beta: n.float(4),
		Axis: n.lastOr(5)}, n.in(0))
}

// lowerInstanceNorm spreads gamma and beta, one number each, over the channels.
func lowerInstanceNorm(n *node) {
	last := n.channelsLast(4)
	_, _, c := imageDims(last)
	channels := n.size(n.in(0), c)
	scale := n.add(&op.Expand{}, n.in(1), channels)
	bias := n.add(&op.Expand{}, n.in(2), channels)
	n.emit(&op.InstanceNorm{Epsilon: n.float(3), Axis: int64(c)}, n.in(0), scale, bias)
}
