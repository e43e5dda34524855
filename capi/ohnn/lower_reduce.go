package ohnn

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[string]func(n *node) error{
		"REDUCE_MEAN": reduceBy(func(keep bool) graph.Op { return &op.ReduceMean{KeepDims: keep} }),
		"REDUCE_SUM":  reduceBy(func(keep bool) graph.Op { return &op.ReduceSum{KeepDims: keep} }),
		"REDUCE_PROD": reduceBy(func(keep bool) graph.Op { return &op.ReduceProd{KeepDims: keep} }),
		"REDUCE_MAX":  reduceBy(func(keep bool) graph.Op { return &op.ReduceMax{KeepDims: keep} }),
		"REDUCE_MIN":  reduceBy(func(keep bool) graph.Op { return &op.ReduceMin{KeepDims: keep} }),
		"REDUCE_L2":   reduceBy(func(keep bool) graph.Op { return &op.ReduceL2{KeepDims: keep} }),
		"REDUCE_ALL":  reduceBy(func(keep bool) graph.Op { return &op.ReduceAll{KeepDims: keep} }),
		"ALL":         lowerAllTrue,
		"SOFTMAX":     alongAxis(-1, func(axis int64) graph.Op { return &op.Softmax{Axis: axis} }),
		"LOG_SOFTMAX": alongAxis(0, func(axis int64) graph.Op { return &op.LogSoftmax{Axis: axis} }),
		"TOP_K":       lowerTopK,
		"ARG_MAX":     lowerArgMax,
	})
}

// reduceBy lowers a member of the REDUCE family, operator notes, section 5. REDUCE_TO_END reduces from its one axis to
// the last one, never keeps dimensions, and multiplies by COEFF unless that is 0.
func reduceBy(make func(keep bool) graph.Op) func(n *node) error {
	return func(n *node) error {
		axes, err := n.integers(1)
		if err != nil {
			return err
		}
		if !n.flag("REDUCE_TO_END", false) {
			return n.emit(make(n.flag("KEEP_DIMS", false)), n.in(0), axes)
		}
		all, err := n.toEnd(axes)
		if err != nil {
			return err
		}
		coeff := n.float("COEFF", 0)
		if math.Abs(float64(coeff)) <= 1e-5 {
			return n.emit(make(false), n.in(0), all)
		}
		if err := n.wantReals(0); err != nil {
			return fault.Wrap(err, "COEFF %v", coeff)
		}
		x, err := n.real(n.in(0))
		if err != nil {
			return err
		}
		if x, err = n.add(make(false), x, all); err != nil {
			return err
		}
		if x, err = n.scaled(x, coeff); err != nil {
			return err
		}
		return n.put(0, x)
	}
}

// toEnd returns the dimensions of input 0 from the one in axis, of one element, to the last. The run computes them
// where it alone knows the axis.
func (n *node) toEnd(axis graph.Value) (graph.Value, error) {
	f, rank := n.b.Fact(axis), n.rank(0)
	if count, ok := f.Shape.Count(); ok && count != 1 {
		return graph.None, fault.New(fault.Argument, "input 1: REDUCE_TO_END with %d axes: want 1 "+
			"[ohnn-input-reduce-end]", count)
	}
	all := n.called("input 1", n.b.Int64s(iota64(rank)...))
	if v, ok := f.KnownInts(); ok {
		first, err := op.Axis(v[0], rank)
		if err != nil {
			return graph.None, fault.Wrap(err, "input 1")
		}
		return n.called("input 1", n.b.Int64s(iota64(rank)[first:]...)), nil
	}
	var err error
	if axis, err = n.add(&op.Cast{To: tensor.Int64}, axis); err != nil {
		return graph.None, err
	}
	if _, ok := f.Shape.Count(); !ok { // only one element goes on
		if axis, err = n.add(&op.Squeeze{}, axis, n.called("input 1", n.b.Int64s(0))); err != nil {
			return graph.None, err
		}
	}
	if axis, err = n.add(&op.Reshape{}, axis, n.b.Int64s(1)); err != nil {
		return graph.None, err
	}
	// Looked up, a negative axis counts from the end and one that is not there fails the run.
	if axis, err = n.add(&op.Gather{NegativeWraps: true}, all, axis, n.int64(0)); err != nil {
		return graph.None, err
	}
	return n.add(&op.Slice{}, all, axis, n.b.Int64s(int64(rank)))
}

// iota64 returns 0 to n-1.
func iota64(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// alongAxis lowers an operator of one input whose parameter AXIS has default def.
func alongAxis(def int64, make func(axis int64) graph.Op) func(n *node) error {
	return func(n *node) error {
		axis, err := n.axis("AXIS", def, n.rank(0))
		if err != nil {
			return err
		}
		return n.emit(make(axis), n.in(0))
	}
}

func lowerAllTrue(n *node) error {
	axes, err := n.integers(1)
	if err != nil {
		return err
	}
	x, err := n.condition()
	if err != nil {
		return err
	}
	return n.emit(&op.ReduceAll{KeepDims: n.int("KEEP_DIMS", 0) != 0}, x, axes)
}

// indexType is the element type of index output i: what is declared, if it is one of the two that operators make, else
// int32.
func (n *node) indexType(i int) tensor.DType {
	if n.outType(i).DType == tensor.Int64 {
		return tensor.Int64
	}
	return tensor.Int32
}

// lowerTopK: without AXIS the last one; unsorted results come in the order of their indices.
func lowerTopK(n *node) error {
	k, err := n.integers(1)
	if err != nil {
		return err
	}
	axis, err := n.axis("AXIS", -1, n.rank(0))
	if err != nil {
		return err
	}
	o := &op.TopK{Axis: axis, Order: op.TopKSorted, To: n.indexType(1)}
	if !n.flag("SORTED", true) {
		o.Order = op.TopKByIndex
	}
	return n.emit(o, n.in(0), k)
}

// lowerArgMax: indices, or with OUT_MAX_VALUE the values, of the TOP_K largest; the axis goes when there is one and
// KEEPDIMS is false.
func lowerArgMax(n *node) error {
	k, keep, values := n.int("TOP_K", 1), n.flag("KEEPDIMS", false), n.flag("OUT_MAX_VALUE", false)
	axis, err := n.axis("AXIS", -1, n.rank(0))
	if err == nil {
		err = n.wantWithin("TOP_K", 1, 1, math.MaxInt32)
	}
	if err != nil {
		return err
	}
	if k == 1 && !values {
		return n.emit(&op.ArgMax{Axis: axis, KeepDims: keep, To: n.indexType(0)}, n.in(0))
	}
	out, err := n.addTyped(&op.TopK{Axis: axis, Order: op.TopKSorted, To: tensor.Int32}, make([]tensor.Type, 2), n.in(0),
		n.called("TOP_K", n.int64(k)))
	if err != nil {
		return err
	}
	v := out[1]
	if values {
		v = out[0]
	}
	if k == 1 && !keep {
		if v, err = n.add(&op.Squeeze{}, v, n.param("AXIS", axis)); err != nil {
			return err
		}
	}
	return n.put(0, v)
}
