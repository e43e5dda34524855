package ohnn

import (
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
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
		"expand":      lowerExpand,
		"softmax":     lowerSoftmax,
		"log_softmax": lowerLogSoftmax,
		"layer_norm":  lowerLayerNorm,
		"reduce_mean": reduction("REDUCE_MEAN"),
		"reduce_sum":  reduction("REDUCE_SUM"),
		"reduce_prod": reduction("REDUCE_PROD"),
		"reduce_max":  reduction("REDUCE_MAX"),
		"reduce_min":  reduction("REDUCE_MIN"),
		"reduce_l2":   reduction("REDUCE_L2"),
	})
}

// lowerReshape: all that gives the same elements other sizes is RESHAPE to the sizes that are known.
func lowerReshape(t *translation) error {
	x, y := t.In(0), t.Out(0)
	if !x.typ.Quant.Equal(y.typ.Quant) {
		return refuse("the codes of the result stand for other numbers: RESHAPE leaves them as they are")
	}
	t.add("RESHAPE", []*operand{x, list(y.Dims()...)}, []*operand{y})
	return nil
}

func lowerTranspose(t *translation) error {
	order, err := t.Order(len(t.In(0).Dims()))
	if err != nil {
		return err
	}
	t.permute(t.In(0), t.Out(0), order...)
	return nil
}

func lowerConcat(t *translation) error {
	y := t.Out(0)
	axis, err := op.Axis(t.N.Op.(*op.Concat).Axis, len(y.Dims()))
	if err != nil {
		return refuse("%v", err)
	}
	in := t.Ins()
	if len(in) < 2 || len(in) > spec.MaxIndices {
		return refuse("CONCAT joins 2 to %d tensors", spec.MaxIndices)
	}
	for _, x := range in {
		if !x.typ.Quant.Equal(y.typ.Quant) {
			return refuse("what is joined has codes that stand for other numbers")
		}
	}
	t.add("CONCAT", in, []*operand{y}, ints("AXIS", int64(axis)))
	return nil
}

// lowerSlice knows bounds that are constants, and steps of 1.
func lowerSlice(t *translation) error {
	x, y := t.In(0), t.Out(0)
	begin, steps, err := t.Slice(x.Dims())
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(steps, func(s int64) bool { return s != 1 }):
		return refuse("SLICE has steps of 1")
	}
	t.add("SLICE", []*operand{x, list(begin...), list(y.Dims()...)}, []*operand{y})
	return nil
}

// lowerPad knows pads that are constants, with a number around x.
func lowerPad(t *translation) error {
	x, y := t.In(0), t.Out(0)
	if t.N.Op.(*op.Pad).Mode != op.PadConstant {
		return refuse("what is around x is no constant")
	}
	if x.typ.DType != tensor.Float32 {
		return refuse("PAD is asked for float32")
	}
	pairs, err := t.Pads(len(x.Dims()))
	if err != nil {
		return err
	}
	value := float32(0)
	if t.Given(2) {
		var ok bool
		if value, ok = t.Number(2); !ok {
			return refuse("what is around x is no constant")
		}
	}
	paddings := list(pairs...)
	paddings.typ.Shape = tensor.Of(int64(len(pairs)/2), 2)
	t.add("PAD", []*operand{x, paddings}, []*operand{y}, number("CONSTANT_VALUE", value))
	return nil
}

func lowerTile(t *translation) error {
	x, y := t.In(0), t.Out(0)
	if len(x.Dims()) != len(y.Dims()) {
		return refuse("TILE keeps the number of dimensions")
	}
	t.add("TILE", []*operand{x, list(driver.Repeats(x.Dims(), y.Dims())...)}, []*operand{y})
	return nil
}

func lowerExpand(t *translation) error {
	y := t.Out(0)
	t.add("BROADCAST_TO", []*operand{t.In(0)}, []*operand{y}, ints("SHAPE", y.Dims()...))
	return nil
}

func lowerSoftmax(t *translation) error {
	o := t.N.Op.(*op.Softmax)
	return t.along("SOFTMAX", o.Axis, o.Beta)
}

func lowerLogSoftmax(t *translation) error {
	o := t.N.Op.(*op.LogSoftmax)
	return t.along("LOG_SOFTMAX", o.Axis, o.Beta)
}

// along is an operator along one dimension.
func (t *translation) along(name string, axis int64, beta float32) error {
	if beta != 0 && beta != 1 {
		return refuse("%s has no factor %v", name, beta)
	}
	a, err := op.Axis(axis, len(t.In(0).Dims()))
	if err != nil {
		return refuse("%v", err)
	}
	t.add(name, []*operand{t.In(0)}, []*operand{t.Out(0)}, ints("AXIS", int64(a)))
	return nil
}

// lowerLayerNorm: gamma and beta are as large as the normalized part.
func lowerLayerNorm(t *translation) error {
	o, x := t.N.Op.(*op.LayerNorm), t.In(0)
	axis, err := op.Axis(o.Axis, len(x.Dims()))
	switch {
	case err != nil:
		return refuse("%v", err)
	case axis == 0:
		return refuse("LAYER_NORM keeps one dimension at least")
	case len(t.N.Out) > 1:
		return refuse("LAYER_NORM gives no mean")
	}
	in := []*operand{x, t.In(1), t.In(2)}
	for _, v := range in[1:] {
		if v == nil || !slices.Equal(v.Dims(), x.Dims()[axis:]) {
			return refuse("LAYER_NORM takes gamma and beta of the shape that is normalized")
		}
	}
	t.add("LAYER_NORM", in, []*operand{t.Out(0)}, ints("BEGIN_NORM_AXIS", int64(axis)), number("EPSILON", o.Epsilon),
		ints("BEGIN_PARAM_AXIS", int64(axis)))
	return nil
}

// reduction is a member of the REDUCE family, with axes that are constants. It goes by the sizes: with as many
// dimensions as before they are kept.
func reduction(name string) func(t *translation) error {
	return func(t *translation) error {
		x, y := t.In(0), t.Out(0)
		if x.typ.Quant == nil && !x.typ.DType.IsFloat() {
			return refuse("%s is asked for real numbers", name)
		}
		axes, err := t.Axes(len(x.Dims()))
		if err != nil {
			return err
		}
		t.add(name, []*operand{x, list(axes...)}, []*operand{y}, flag("KEEP_DIMS", len(y.Dims()) == len(x.Dims())))
		return nil
	}
}
