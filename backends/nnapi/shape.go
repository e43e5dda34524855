package nnapi

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	turnAll(map[string]func(t *translation) string{
		"identity":    turnReshape,
		"reshape":     turnReshape,
		"flatten":     turnReshape,
		"squeeze":     turnReshape,
		"unsqueeze":   turnReshape,
		"transpose":   turnTranspose,
		"concat":      turnConcat,
		"slice":       turnSlice,
		"pad":         turnPad,
		"tile":        turnTile,
		"gather":      turnGather,
		"softmax":     turnSoftmax,
		"log_softmax": turnLogSoftmax,
		"reduce_mean": turnMean,
		"reduce_sum":  reduction(spec.ReduceSum),
		"reduce_prod": reduction(spec.ReduceProd),
		"reduce_max":  reduction(spec.ReduceMax),
		"reduce_min":  reduction(spec.ReduceMin),
		"reduce_all":  reduction(spec.ReduceAll),
		"reduce_any":  reduction(spec.ReduceAny),
	})
}

// turnReshape: all that gives the same elements other sizes is RESHAPE to the sizes that are known.
func turnReshape(t *translation) string {
	t.reshape(t.in(0), t.out(0))
	return ""
}

func (t *translation) reshape(x, y *operand) { t.add(spec.Reshape, y, x, list(y.dims()...)) }

func turnTranspose(t *translation) string {
	order := make([]int64, len(t.in(0).dims()))
	for i := range order {
		order[i] = int64(len(order) - 1 - i)
	}
	order, ok := t.ints(1, order)
	if !ok {
		return "the order is not known before the run"
	}
	return t.permuteTo(t.in(0), t.out(0), slices.Clone(order))
}

// permuteTo makes y of x with its dimensions in another order.
func (t *translation) permuteTo(x, y *operand, order []int64) string {
	for i, d := range order {
		axis, err := op.Axis(d, len(order))
		if err != nil {
			return err.Error()
		}
		order[i] = int64(axis)
	}
	if t.folds && x.data != nil && !slices.Contains(t.operands(t.g.Out), y) {
		*y = *t.permuted(x, order...)
		return ""
	}
	t.add(spec.Transpose, y, x, list(order...))
	return ""
}

func turnConcat(t *translation) string {
	y := t.out(0)
	axis, err := op.Axis(t.n.Op.(*op.Concat).Axis, len(y.dims()))
	if err != nil {
		return err.Error()
	}
	var in []*operand
	for k := range t.n.In {
		in = append(in, t.in(k))
	}
	t.add(spec.Concatenation, y, append(in, whole(int64(axis)))...)
	return ""
}

// turnSlice knows bounds that are constants. SLICE has steps of 1; others are STRIDED_SLICE.
func turnSlice(t *translation) string {
	x, y := t.in(0), t.out(0)
	starts, ok1 := t.ints(1, nil)
	axes, ok2 := t.ints(3, nil)
	steps, ok3 := t.ints(4, nil)
	if !ok1 || !ok2 || !ok3 {
		return "the bounds are not known before the run"
	}
	begin, strides := make([]int64, len(x.dims())), slices.Repeat([]int64{1}, len(x.dims()))
	for i, s := range starts {
		axis := i
		if axes != nil {
			var err error
			if axis, err = op.Axis(axes[i], len(begin)); err != nil {
				return err.Error()
			}
		}
		size := x.dims()[axis]
		if s < 0 {
			s += size
		}
		begin[axis] = min(max(s, 0), size)
		if steps != nil && steps[i] != 1 {
			strides[axis] = steps[i]
			begin[axis] = min(begin[axis], size-1)
		}
	}
	if !slices.ContainsFunc(strides, func(s int64) bool { return s != 1 }) {
		t.add(spec.Slice, y, x, list(begin...), list(y.dims()...))
		return ""
	}
	if axis := slices.Index(strides, -1); t.reverses(x, y, begin, strides) {
		t.add(spec.Reverse, y, x, list(int64(axis)))
		return ""
	}
	end, open := make([]int64, len(begin)), int64(0)
	for i, b := range begin {
		last := b + (y.dims()[i]-1)*strides[i]
		if end[i] = last + 1; strides[i] < 0 {
			end[i] = last - 1
		}
		if end[i] < 0 {
			end[i], open = 0, open|1<<i
		}
	}
	t.add(spec.StridedSlice, y, x, list(begin...), list(end...), bounds(strides), whole(0), whole(open), whole(0))
	return ""
}

// reverses reports whether one dimension is to be read from its end, and the driver knows an operation for that.
func (t *translation) reverses(x, y *operand, begin, strides []int64) bool {
	turned := 0
	for i, s := range strides {
		switch {
		case s == -1 && begin[i] == x.dims()[i]-1:
			turned++
		case s != 1:
			return false
		}
	}
	return turned == 1 && slices.Equal(x.dims(), y.dims()) && t.level >= spec.Reverse.Level()
}

// turnPad knows pads that are constants.
func turnPad(t *translation) string {
	x, y := t.in(0), t.out(0)
	mode := t.n.Op.(*op.Pad).Mode
	pads, why := t.pads()
	if why != "" {
		return why
	}
	paddings := list(pads...)
	paddings.typ.Shape = tensor.Of(int64(len(pads)/2), 2)
	switch mode {
	case op.PadConstant:
	case op.PadReflect, op.PadSymmetric:
		kind := int64(spec.MirrorReflect)
		if mode == op.PadSymmetric {
			kind = spec.MirrorSymmetric
		}
		for i, p := range pads {
			if most := x.dims()[i/2] - 1 + kind; p > most {
				return fmt.Sprintf("MIRROR_PAD mirrors once: %d of dimension %d are more than %d", p, i/2, most)
			}
		}
		t.add(spec.MirrorPad, y, x, paddings, whole(kind))
		return ""
	default:
		return "what is around x is no constant, and no mirror image of it"
	}
	value := t.in(2)
	switch {
	case value == nil && x.typ.Quant != nil && t.level < spec.Level3:
		return "before feature level 3 PAD does not say what it pads codes with"
	case value == nil:
		t.add(spec.Pad, y, x, paddings)
		return ""
	case x.typ.Quant == nil && x.typ.DType.IsFloat():
		number, ok := t.number(2)
		if !ok {
			return "what is around x is no constant"
		}
		t.add(spec.PadV2, y, x, paddings, real(number, x))
		return ""
	}
	code, ok := t.ints(2, nil)
	if !ok || len(code) != 1 || t.g.Fact(t.n.In[2]).DType != x.typ.DType {
		return "what is around x is no constant of its type"
	}
	t.add(spec.PadV2, y, x, paddings, whole(code[0]))
	return ""
}

// pads are the pads of a node, before and behind each dimension in turn.
func (t *translation) pads() (pairs []int64, why string) {
	rank := len(t.in(0).dims())
	pads, ok := t.ints(1, nil)
	axes, ok2 := t.ints(3, nil)
	if !ok || !ok2 || len(pads) == 0 || slices.Min(pads) < 0 {
		return nil, "the pads are not known before the run, or cut off"
	}
	pairs = make([]int64, 2*rank)
	for i := range len(pads) / 2 {
		axis := i
		if axes != nil {
			var why string
			if axis, why = t.axis(axes[i]); why != "" {
				return nil, why
			}
		}
		pairs[2*axis], pairs[2*axis+1] = pads[i], pads[len(pads)/2+i]
	}
	return pairs, ""
}

func turnTile(t *translation) string {
	x, y := t.in(0), t.out(0)
	if len(x.dims()) != len(y.dims()) {
		return "TILE keeps the number of dimensions"
	}
	times := make([]int64, len(x.dims()))
	for i, d := range x.dims() {
		times[i] = y.dims()[i] / d
	}
	t.add(spec.Tile, y, x, list(times...))
	return ""
}

// turnGather: an index without dimensions would leave one of size 1.
func turnGather(t *translation) string {
	x, indices := t.in(0), t.in(1)
	if t.g.Fact(t.n.In[1]).Shape.Rank() == 0 {
		return "GATHER has indices with a dimension at least"
	}
	axes, ok := t.ints(2, []int64{0})
	if !ok || len(axes) != 1 {
		return "the axis is not known before the run"
	}
	axis, err := op.Axis(axes[0], len(x.dims()))
	if err != nil {
		return err.Error()
	}
	if t.n.Op.(*op.Gather).NegativeWraps {
		at, known := t.ints(1, nil)
		if !known {
			return "indices may be negative: in GATHER they may not"
		}
		for i, k := range at {
			if k < 0 {
				at[i] += x.dims()[axis]
			}
		}
		indices = list(at...)
		indices.typ.Shape = t.in(1).typ.Shape
	}
	t.add(spec.Gather, t.out(0), x, whole(int64(axis)), indices)
	return ""
}

func turnSoftmax(t *translation) string {
	o := t.n.Op.(*op.Softmax)
	return t.along(spec.Softmax, o.Axis, o.Scale())
}

func turnLogSoftmax(t *translation) string {
	o := t.n.Op.(*op.LogSoftmax)
	beta := o.Beta
	if beta == 0 {
		beta = 1
	}
	return t.along(spec.LogSoftmax, o.Axis, beta)
}

// along is an operation along one dimension. SOFTMAX takes the last one when none is named, at every level.
func (t *translation) along(code spec.OperationCode, axis int64, beta float32) string {
	x := t.in(0)
	a, err := op.Axis(axis, len(x.dims()))
	switch {
	case err != nil:
		return err.Error()
	case !(beta > 0):
		return "the factor is above 0 in the API"
	}
	in := []*operand{x, real(beta, x)}
	if code != spec.Softmax || a != len(x.dims())-1 {
		in = append(in, whole(int64(a)))
	}
	t.add(code, t.out(0), in...)
	return ""
}

func turnMean(t *translation) string {
	if x := t.in(0).typ; x.Quant == nil && !x.DType.IsFloat() {
		return "MEAN is of real numbers"
	}
	return t.reduce(spec.Mean, whole)
}

// reduction is a member of the REDUCE family, with axes that are constants. It goes by the sizes: with as many
// dimensions as before they are kept.
func reduction(code spec.OperationCode) func(t *translation) string {
	return func(t *translation) string {
		return t.reduce(code, func(keep int64) *operand { return truth(keep != 0) })
	}
}

func (t *translation) reduce(code spec.OperationCode, flag func(int64) *operand) string {
	x, y := t.in(0), t.out(0)
	axes, ok := t.ints(1, nil)
	if !ok || len(axes) == 0 {
		return code.String() + " is asked for axes that are named before the run"
	}
	axes = slices.Clone(axes)
	for i, a := range axes {
		axis, err := op.Axis(a, len(x.dims()))
		if err != nil {
			return err.Error()
		}
		axes[i] = int64(axis)
	}
	keep := int64(0)
	if t.g.Fact(t.n.Out[0]).Shape.Rank() == len(x.dims()) {
		keep = 1
	}
	t.add(code, y, x, list(axes...), flag(keep))
	return ""
}
