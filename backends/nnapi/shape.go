package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"identity":    lowerReshape,
		"reshape":     lowerReshape,
		"flatten":     lowerReshape,
		"squeeze":     lowerReshape,
		"unsqueeze":   lowerReshape,
		"transpose":   lowerTranspose,
		"concat":      lowerConcat,
		"slice":       lowerSlice,
		"pad":         lowerPad,
		"tile":        lowerTile,
		"gather":      lowerGather,
		"softmax":     lowerSoftmax,
		"log_softmax": lowerLogSoftmax,
		"reduce_mean": lowerMean,
		"reduce_sum":  reduction(spec.ReduceSum),
		"reduce_prod": reduction(spec.ReduceProd),
		"reduce_max":  reduction(spec.ReduceMax),
		"reduce_min":  reduction(spec.ReduceMin),
		"reduce_all":  reduction(spec.ReduceAll),
		"reduce_any":  reduction(spec.ReduceAny),
	})
}

// lowerReshape: all that gives the same elements other sizes is RESHAPE to the sizes that are known.
func lowerReshape(t *translation) error {
	t.reshape(t.In(0), t.Out(0))
	return nil
}

func (t *translation) reshape(x, y *operand) { t.add(spec.Reshape, y, x, list(y.Dims()...)) }

func lowerTranspose(t *translation) error {
	order, err := t.Order(len(t.In(0).Dims()))
	if err != nil {
		return err
	}
	t.fold(t.In(0), t.Out(0), order)
	return nil
}

// fold is permute, of a constant before the run.
func (t *translation) fold(x, y *operand, order []int64) {
	if t.folds && x.data != nil && !slices.Contains(t.Operands(t.G.Out), y) {
		*y = *t.permuted(x, order...)
		return
	}
	t.permute(x, y, order...)
}

func lowerConcat(t *translation) error {
	y := t.Out(0)
	axis, err := op.Axis(t.N.Op.(*op.Concat).Axis, len(y.Dims()))
	if err != nil {
		return refuse("%v", err)
	}
	t.add(spec.Concatenation, y, append(t.Ins(), int32Scalar(int64(axis)))...)
	return nil
}

// lowerSlice knows bounds that are constants. SLICE has steps of 1; others are STRIDED_SLICE.
func lowerSlice(t *translation) error {
	x, y := t.In(0), t.Out(0)
	begin, strides, err := t.Slice(x.Dims())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(strides, func(s int64) bool { return s != 1 }) {
		t.add(spec.Slice, y, x, list(begin...), list(y.Dims()...))
		return nil
	}
	if axis := slices.Index(strides, -1); t.reverses(x, y, begin, strides) {
		t.add(spec.Reverse, y, x, list(int64(axis)))
		return nil
	}
	end, open := make([]int64, len(begin)), int64(0)
	for i, b := range begin {
		last := b + (y.Dims()[i]-1)*strides[i]
		if end[i] = last + 1; strides[i] < 0 {
			end[i] = last - 1
		}
		if end[i] < 0 {
			end[i], open = 0, open|1<<i
		}
	}
	t.add(spec.StridedSlice, y, x, list(begin...), list(end...), bounds(strides), int32Scalar(0), int32Scalar(open),
		int32Scalar(0))
	return nil
}

// reverses reports whether one dimension is to be read from its end, and the driver knows an operation for that.
func (t *translation) reverses(x, y *operand, begin, strides []int64) bool {
	turned := 0
	for i, s := range strides {
		switch {
		case s == -1 && begin[i] == x.Dims()[i]-1:
			turned++
		case s != 1:
			return false
		}
	}
	return turned == 1 && slices.Equal(x.Dims(), y.Dims()) && t.level >= spec.Reverse.Level()
}

// lowerPad knows pads that are constants.
func lowerPad(t *translation) error {
	x, y := t.In(0), t.Out(0)
	mode := t.N.Op.(*op.Pad).Mode
	pads, err := t.Pads(len(x.Dims()))
	if err != nil {
		return err
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
			if most := x.Dims()[i/2] - 1 + kind; p > most {
				return refuse("MIRROR_PAD mirrors once: %d of dimension %d are more than %d", p, i/2, most)
			}
		}
		t.add(spec.MirrorPad, y, x, paddings, int32Scalar(kind))
		return nil
	default:
		return refuse("what is around x is no constant, and no mirror image of it")
	}
	value := t.In(2)
	switch {
	case value == nil && x.typ.Quant != nil && t.level < spec.Level3:
		return refuse("before feature level 3 PAD does not say what it pads codes with")
	case value == nil:
		t.add(spec.Pad, y, x, paddings)
		return nil
	case x.typ.Quant == nil && x.typ.DType.IsFloat():
		number, ok := t.Number(2)
		if !ok {
			return refuse("what is around x is no constant")
		}
		t.add(spec.PadV2, y, x, paddings, floatScalar(number, x))
		return nil
	}
	code, ok := t.Ints(2, nil)
	if !ok || len(code) != 1 || t.G.Fact(t.N.In[2]).DType != x.typ.DType {
		return refuse("what is around x is no constant of its type")
	}
	t.add(spec.PadV2, y, x, paddings, int32Scalar(code[0]))
	return nil
}

func lowerTile(t *translation) error {
	x, y := t.In(0), t.Out(0)
	if len(x.Dims()) != len(y.Dims()) {
		return refuse("TILE keeps the number of dimensions")
	}
	t.add(spec.Tile, y, x, list(driver.Repeats(x.Dims(), y.Dims())...))
	return nil
}

// lowerGather: an index without dimensions would leave one of size 1.
func lowerGather(t *translation) error {
	x, indices := t.In(0), t.In(1)
	if t.G.Fact(t.N.In[1]).Shape.Rank() == 0 {
		return refuse("GATHER has indices with a dimension at least")
	}
	axes, ok := t.Ints(2, []int64{0})
	if !ok || len(axes) != 1 {
		return refuse("the axis is not known before the run")
	}
	axis, err := op.Axis(axes[0], len(x.Dims()))
	if err != nil {
		return refuse("%v", err)
	}
	if t.N.Op.(*op.Gather).NegativeWraps {
		at, known := t.Ints(1, nil)
		if !known {
			return refuse("indices may be negative: in GATHER they may not")
		}
		for i, k := range at {
			if k < 0 {
				at[i] += x.Dims()[axis]
			}
		}
		indices = list(at...)
		indices.typ.Shape = t.In(1).typ.Shape
	}
	t.add(spec.Gather, t.Out(0), x, int32Scalar(int64(axis)), indices)
	return nil
}

func lowerSoftmax(t *translation) error {
	o := t.N.Op.(*op.Softmax)
	return t.along(spec.Softmax, o.Axis, o.Scale())
}

func lowerLogSoftmax(t *translation) error {
	o := t.N.Op.(*op.LogSoftmax)
	beta := o.Beta
	if beta == 0 {
		beta = 1
	}
	return t.along(spec.LogSoftmax, o.Axis, beta)
}

// along is an operation along one dimension. SOFTMAX takes the last one when none is named, at every level.
func (t *translation) along(code spec.OperationCode, axis int64, beta float32) error {
	x := t.In(0)
	a, err := op.Axis(axis, len(x.Dims()))
	switch {
	case err != nil:
		return refuse("%v", err)
	case !(beta > 0):
		return refuse("the factor is above 0 in the API")
	}
	in := []*operand{x, floatScalar(beta, x)}
	if code != spec.Softmax || a != len(x.Dims())-1 {
		in = append(in, int32Scalar(int64(a)))
	}
	t.add(code, t.Out(0), in...)
	return nil
}

func lowerMean(t *translation) error {
	if x := t.In(0).typ; x.Quant == nil && !x.DType.IsFloat() {
		return refuse("MEAN is of real numbers")
	}
	return t.reduce(spec.Mean, int32Scalar)
}

// reduction is a member of the REDUCE family, with axes that are constants. It goes by the sizes: with as many
// dimensions as before they are kept.
func reduction(code spec.OperationCode) func(t *translation) error {
	return func(t *translation) error {
		return t.reduce(code, func(keep int64) *operand { return boolScalar(keep != 0) })
	}
}

func (t *translation) reduce(code spec.OperationCode, flag func(int64) *operand) error {
	x, y := t.In(0), t.Out(0)
	axes, err := t.Axes(len(x.Dims()))
	if err != nil {
		return err
	}
	keep := int64(0)
	if t.G.Fact(t.N.Out[0]).Shape.Rank() == len(x.Dims()) {
		keep = 1
	}
	t.add(code, y, x, list(axes...), flag(keep))
	return nil
}
