package ohnn

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
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
		"expand":      turnExpand,
		"softmax":     turnSoftmax,
		"log_softmax": turnLogSoftmax,
		"layer_norm":  turnLayerNorm,
		"reduce_mean": reduction("REDUCE_MEAN"),
		"reduce_sum":  reduction("REDUCE_SUM"),
		"reduce_prod": reduction("REDUCE_PROD"),
		"reduce_max":  reduction("REDUCE_MAX"),
		"reduce_min":  reduction("REDUCE_MIN"),
		"reduce_l2":   reduction("REDUCE_L2"),
	})
}

// turnReshape: all that gives the same elements other sizes is RESHAPE to the sizes that are known.
func turnReshape(t *translation) string {
	x, y := t.in(0), t.out(0)
	if !x.typ.Quant.Equal(y.typ.Quant) {
		return "the codes of the result stand for other numbers: RESHAPE leaves them as they are"
	}
	t.add("RESHAPE", []*operand{x, list(y.dims()...)}, []*operand{y})
	return ""
}

func turnTranspose(t *translation) string {
	x, y := t.in(0), t.out(0)
	order := make([]int64, len(x.dims()))
	for i := range order {
		order[i] = int64(len(order) - 1 - i)
	}
	if len(t.n.In) > 1 && t.n.In[1] >= 0 {
		var ok bool
		if order, ok = t.g.Fact(t.n.In[1]).KnownInts(); !ok {
			return "the order is not known before the run"
		}
	}
	for i, d := range order {
		axis, err := op.Axis(d, len(order))
		if err != nil {
			return err.Error()
		}
		order[i] = int64(axis)
	}
	t.add("TRANSPOSE", []*operand{x, list(order...)}, []*operand{y})
	return ""
}

func turnConcat(t *translation) string {
	y := t.out(0)
	axis, err := op.Axis(t.n.Op.(*op.Concat).Axis, len(y.dims()))
	if err != nil {
		return err.Error()
	}
	in := t.ins()
	if len(in) < 2 || len(in) > spec.MaxIndices {
		return fmt.Sprintf("CONCAT joins 2 to %d tensors", spec.MaxIndices)
	}
	for _, x := range in {
		if !x.typ.Quant.Equal(y.typ.Quant) {
			return "what is joined has codes that stand for other numbers"
		}
	}
	t.add("CONCAT", in, []*operand{y}, ints("AXIS", int64(axis)))
	return ""
}

// turnSlice knows bounds that are constants, and steps of 1.
func turnSlice(t *translation) string {
	x, y := t.in(0), t.out(0)
	known := func(k int, otherwise []int64) ([]int64, bool) {
		if k >= len(t.n.In) || t.n.In[k] < 0 {
			return otherwise, true
		}
		return t.g.Fact(t.n.In[k]).KnownInts()
	}
	starts, ok1 := known(1, nil)
	axes, ok2 := known(3, nil)
	steps, ok3 := known(4, nil)
	switch {
	case !ok1 || !ok2 || !ok3:
		return "the bounds are not known before the run"
	case slices.ContainsFunc(steps, func(s int64) bool { return s != 1 }):
		return "SLICE has steps of 1"
	}
	begin := make([]int64, len(x.dims()))
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
	}
	t.add("SLICE", []*operand{x, list(begin...), list(y.dims()...)}, []*operand{y})
	return ""
}

// turnPad knows pads that are constants, with a number around x.
func turnPad(t *translation) string {
	x, y := t.in(0), t.out(0)
	if t.n.Op.(*op.Pad).Mode != op.PadConstant {
		return "what is around x is no constant"
	}
	if x.typ.DType != tensor.Float32 || len(t.n.In) > 3 {
		return "PAD is asked for float32, on all dimensions"
	}
	pads, ok := t.g.Fact(t.n.In[1]).KnownInts()
	if !ok || len(pads) != 2*len(x.dims()) || slices.Min(pads) < 0 {
		return "the pads are not known before the run, or cut off"
	}
	value := float32(0)
	if v := t.in(2); v != nil {
		numbers, err := tensor.ReadFloat32s(v.data, 1)
		if v.typ.DType != tensor.Float32 || err != nil {
			return "what is around x is no constant"
		}
		value = numbers[0]
	}
	var pairs []int64
	for i := range x.dims() {
		pairs = append(pairs, pads[i], pads[len(pads)/2+i])
	}
	paddings := list(pairs...)
	paddings.typ.Shape = tensor.Of(int64(len(pairs)/2), 2)
	t.add("PAD", []*operand{x, paddings}, []*operand{y}, number("CONSTANT_VALUE", value))
	return ""
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
	t.add("TILE", []*operand{x, list(times...)}, []*operand{y})
	return ""
}

func turnExpand(t *translation) string {
	y := t.out(0)
	t.add("BROADCAST_TO", []*operand{t.in(0)}, []*operand{y}, ints("SHAPE", y.dims()...))
	return ""
}

func turnSoftmax(t *translation) string {
	o := t.n.Op.(*op.Softmax)
	return t.along("SOFTMAX", o.Axis, o.Beta)
}

func turnLogSoftmax(t *translation) string {
	o := t.n.Op.(*op.LogSoftmax)
	return t.along("LOG_SOFTMAX", o.Axis, o.Beta)
}

// along is an operator along one dimension.
func (t *translation) along(name string, axis int64, beta float32) string {
	if beta != 0 && beta != 1 {
		return fmt.Sprintf("%s has no factor %v", name, beta)
	}
	a, err := op.Axis(axis, len(t.in(0).dims()))
	if err != nil {
		return err.Error()
	}
	t.add(name, []*operand{t.in(0)}, []*operand{t.out(0)}, ints("AXIS", int64(a)))
	return ""
}

// turnLayerNorm: gamma and beta are as large as what is normalized.
func turnLayerNorm(t *translation) string {
	o, x := t.n.Op.(*op.LayerNorm), t.in(0)
	axis, err := op.Axis(o.Axis, len(x.dims()))
	switch {
	case err != nil:
		return err.Error()
	case axis == 0:
		return "LAYER_NORM keeps one dimension at least"
	case len(t.n.Out) > 1:
		return "LAYER_NORM gives no mean"
	}
	in := []*operand{x, t.in(1), t.in(2)}
	for _, v := range in[1:] {
		if v == nil || !slices.Equal(v.dims(), x.dims()[axis:]) {
			return "LAYER_NORM takes gamma and beta of the shape that is normalized"
		}
	}
	t.add("LAYER_NORM", in, []*operand{t.out(0)}, ints("BEGIN_NORM_AXIS", int64(axis)), number("EPSILON", o.Epsilon),
		ints("BEGIN_PARAM_AXIS", int64(axis)))
	return ""
}

// reduction is a member of the REDUCE family, with axes that are constants. It goes by the sizes: with as many
// dimensions as before they are kept.
func reduction(name string) func(t *translation) string {
	return func(t *translation) string {
		x, y := t.in(0), t.out(0)
		if x.typ.Quant == nil && !x.typ.DType.IsFloat() {
			return name + " is asked for real numbers"
		}
		var axes []int64
		if len(t.n.In) > 1 && t.n.In[1] >= 0 {
			var ok bool
			if axes, ok = t.g.Fact(t.n.In[1]).KnownInts(); !ok {
				return "the axes are not known before the run"
			}
		}
		if len(axes) == 0 {
			return name + " is asked for axes that are named"
		}
		for i, a := range axes {
			axis, err := op.Axis(a, len(x.dims()))
			if err != nil {
				return err.Error()
			}
			axes[i] = int64(axis)
		}
		t.add(name, []*operand{x, list(axes...)}, []*operand{y}, truth("KEEP_DIMS", len(y.dims()) == len(x.dims())))
		return ""
	}
}
