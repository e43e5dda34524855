package ohnn

import (
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// Filters of the API are [O,H,W,I/group].

func init() {
	register(map[string]func(t *translation) error{
		"conv":            lowerConv,
		"max_pool":        lowerMaxPool,
		"average_pool":    lowerAveragePool,
		"fully_connected": lowerFullyConnected,
		"mat_mul":         lowerMatMul,
		"batch_norm":      lowerBatchNorm,
	})
}

// permuted is an operand with its dimensions in another order.
func (t *translation) permuted(x *operand, order ...int64) *operand {
	dims := make([]int64, len(order))
	for i, d := range order {
		dims[i] = x.Dims()[d]
	}
	y := x.Between(dims...)
	t.permute(x, y, order...)
	return y
}

// permute makes y of x with its dimensions in another order.
func (t *translation) permute(x, y *operand, order ...int64) {
	t.add("TRANSPOSE", []*operand{x, list(order...)}, []*operand{y})
}

// padding is how windows are padded: by a mode, or by its resolved sizes.
func padding(auto op.AutoPad, w []op.Window) setting {
	switch auto {
	case op.PadSameUpper:
		return ints("PAD_MODE", spec.PadSame)
	case op.PadValid:
		return ints("PAD_MODE", spec.PadValid)
	}
	return ints("PAD", w[0].Before, w[0].After, w[1].Before, w[1].After)
}

// steps are strides or dilations of both dimensions.
func steps(v []int64) []int64 {
	if len(v) == 0 {
		return []int64{1, 1}
	}
	return v
}

func lowerConv(t *translation) error {
	o, x, w, bias := t.N.Op.(*op.Conv), t.In(0), t.In(1), t.In(2)
	if len(x.Dims()) != 4 {
		return refuse("CONV2D is of images, not of %d dimensions", len(x.Dims())-2)
	}
	windows, err := o.Windows(driver.Spatial(x.Dims(), o.ChannelsLast), w.Dims()[1:3])
	if err != nil {
		return refuse("%v", err)
	}
	if bias == nil {
		if bias = noBias(x, w); bias == nil {
			return refuse("CONV2D needs a bias")
		}
	}
	image := t.Image(x, o.ChannelsLast)
	y, done := t.Result(t.Out(0), o.ChannelsLast)
	in, out := []*operand{image, w, bias}, []*operand{y}
	common := []setting{ints("STRIDES", steps(o.Strides)...), padding(o.AutoPad, windows),
		ints("DILATION", steps(o.Dilations)...)}
	if channels := image.Dims()[3]; o.Groups == channels && channels > 1 {
		t.add("DEPTHWISE_CONV2D_NATIVE", in, out, common...)
	} else {
		t.add("CONV2D", in, out, append(common, ints("GROUP", max(o.Groups, 1)))...)
	}
	done()
	return nil
}

// noBias are zeros as the bias of a convolution of x with w; nil for types that have none.
func noBias(x, w *operand) *operand {
	outputs := w.Dims()[0]
	typ := tensor.T(x.typ.DType, outputs)
	switch {
	case x.typ.Quant.IsPerTensor() && w.typ.Quant.IsPerTensor():
		typ = tensor.T(tensor.Int32, outputs)
		typ.Quant = tensor.PerTensor(x.typ.Quant.Scale[0]*w.typ.Quant.Scale[0], 0)
	case x.typ.Quant != nil || !x.typ.DType.IsFloat():
		return nil
	}
	n, _ := typ.ByteSize()
	return &operand{typ, make([]byte, n)}
}

func lowerMaxPool(t *translation) error {
	o := t.N.Op.(*op.MaxPool)
	if len(t.N.Out) > 1 && t.N.Out[1] >= 0 {
		return refuse("MAX_POOL gives no indices")
	}
	return t.pool("MAX_POOL", pool{o.Kernel, o.Strides, o.Dilations, o.AutoPad, o.Ceil, o.Global, o.ChannelsLast,
		o.Windows})
}

func lowerAveragePool(t *translation) error {
	o := t.N.Op.(*op.AveragePool)
	if driver.CountsPads(o) {
		return refuse("AVG_POOL does not count the padding")
	}
	return t.pool("AVG_POOL", pool{o.Kernel, o.Strides, o.Dilations, o.AutoPad, o.Ceil, o.Global, o.ChannelsLast,
		o.Windows})
}

// pool is a pooling operator.
type pool struct {
	kernel, strides, dilations []int64
	auto                       op.AutoPad
	ceil                       op.CeilMode
	global, last               bool
	windows                    func(in []int64) ([]op.Window, error)
}

func (t *translation) pool(name string, p pool) error {
	x := t.In(0)
	switch {
	case len(x.Dims()) != 4:
		return refuse("%s is of images, not of %d dimensions", name, len(x.Dims())-2)
	case slices.ContainsFunc(p.dilations, func(d int64) bool { return d != 1 }):
		return refuse("%s has no dilations", name)
	case !p.global && p.ceil == op.RoundCeilInside:
		return refuse("%s keeps a last window that begins behind the image", name)
	}
	settings := []setting{flag("GLOBAL", true)}
	if !p.global {
		windows, err := p.windows(driver.Spatial(x.Dims(), p.last))
		if err != nil {
			return refuse("%v", err)
		}
		settings = []setting{ints("KERNEL_SIZE", p.kernel...), ints("STRIDE", steps(p.strides)...), padding(p.auto, windows)}
		if p.ceil != op.RoundFloor && p.auto == op.PadExplicit {
			settings = append(settings, ints("ROUND_MODE", 1))
		}
	}
	image := t.Image(x, p.last)
	y, done := t.Result(t.Out(0), p.last)
	t.add(name, []*operand{image}, []*operand{y}, settings...)
	done()
	return nil
}

// lowerFullyConnected: the operator makes two dimensions of more.
func lowerFullyConnected(t *translation) error {
	if d := t.In(0).Dims(); len(d) != 2 {
		return refuse("FULL_CONNECTION keeps two dimensions, not %d", len(d))
	}
	in := []*operand{t.In(0), t.In(1)}
	if bias := t.In(2); bias != nil {
		in = append(in, bias)
	}
	t.add("FULL_CONNECTION", in, t.Outs())
	return nil
}

// lowerMatMul adds a bias behind the product.
func lowerMatMul(t *translation) error {
	o, a, b, bias, y := t.N.Op.(*op.MatMul), t.In(0), t.In(1), t.In(2), t.Out(0)
	if len(a.Dims()) < 2 || len(b.Dims()) < 2 {
		return refuse("MATMUL is of matrices")
	}
	to := y
	if bias != nil {
		if y.typ.Quant != nil {
			return refuse("MATMUL has no bias, and codes would be rounded before one is added")
		}
		to = y.Between(y.Dims()...)
	}
	t.add("MATMUL", []*operand{a, b}, []*operand{to}, flag("TRANSPOSE_A", o.TransposeA),
		flag("TRANSPOSE_B", o.TransposeB))
	if bias != nil {
		t.add("ADD", []*operand{to, bias}, []*operand{y})
	}
	return nil
}

func lowerBatchNorm(t *translation) error {
	o, x := t.N.Op.(*op.BatchNorm), t.In(0)
	rank := len(x.Dims())
	axis, err := op.Axis(o.Axis, rank)
	if err != nil {
		return refuse("%v", err)
	}
	last := axis == rank-1
	if !last && (rank != 4 || axis != 1) {
		return refuse("BATCH_NORM has its channels in the last dimension, not in dimension %d of %d", axis, rank)
	}
	image := t.Image(x, last)
	y, done := t.Result(t.Out(0), last)
	t.add("BATCH_NORM", append([]*operand{image}, t.Ins()[1:]...), []*operand{y}, number("EPSILON", o.Epsilon))
	done()
	return nil
}
