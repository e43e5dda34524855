package ohnn

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// Images of the API are [N,H,W,C] and filters [O,H,W,I/group]. What has its channels first is turned around before and
// behind; simplify leaves out what then cancels out.

func init() {
	turnAll(map[string]func(t *translation) string{
		"conv":            turnConv,
		"max_pool":        turnMaxPool,
		"average_pool":    turnAveragePool,
		"fully_connected": turnFullyConnected,
		"mat_mul":         turnMatMul,
		"batch_norm":      turnBatchNorm,
	})
}

var toLast, toFirst = []int64{0, 2, 3, 1}, []int64{0, 3, 1, 2}

// permuted are sizes in another order.
func permuted(dims, order []int64) []int64 {
	out := make([]int64, len(dims))
	for i, d := range order {
		out[i] = dims[d]
	}
	return out
}

// toImage is an operand in [N,H,W,C].
func (t *translation) toImage(x *operand, last bool) *operand {
	if last {
		return x
	}
	if image := t.images[x]; image != nil {
		return image
	}
	image := x.between(permuted(x.dims(), toLast)...)
	t.add("TRANSPOSE", []*operand{x, list(toLast...)}, []*operand{image})
	t.images[x] = image
	return image
}

// backFrom makes an operand in [N,C,H,W] of an image.
func (t *translation) backFrom(image, y *operand) {
	t.add("TRANSPOSE", []*operand{image, list(toFirst...)}, []*operand{y})
	t.images[y] = image
}

// result is where an operation writes an image that is to be operand y, and done what follows it.
func (t *translation) result(y *operand, last bool) (image *operand, done func()) {
	if last {
		return y, func() {}
	}
	image = y.between(permuted(y.dims(), toLast)...)
	return image, func() { t.backFrom(image, y) }
}

// padding is how windows are padded: by a mode, or by what they resolve to.
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

// spatial are the two sizes of an image between batch and channels.
func spatial(dims []int64, last bool) []int64 {
	if last {
		return dims[1:3]
	}
	return dims[2:4]
}

func turnConv(t *translation) string {
	o, x, w, bias := t.n.Op.(*op.Conv), t.in(0), t.in(1), t.in(2)
	if len(x.dims()) != 4 {
		return fmt.Sprintf("CONV2D is of images, not of %d dimensions", len(x.dims())-2)
	}
	windows, err := o.Windows(spatial(x.dims(), o.ChannelsLast), w.dims()[1:3])
	if err != nil {
		return err.Error()
	}
	if bias == nil {
		if bias = noBias(x, w); bias == nil {
			return "CONV2D needs a bias"
		}
	}
	image := t.toImage(x, o.ChannelsLast)
	y, done := t.result(t.out(0), o.ChannelsLast)
	in, out := []*operand{image, w, bias}, []*operand{y}
	common := []setting{ints("STRIDES", steps(o.Strides)...), padding(o.AutoPad, windows),
		ints("DILATION", steps(o.Dilations)...)}
	if channels := image.dims()[3]; o.Groups == channels && channels > 1 {
		t.add("DEPTHWISE_CONV2D_NATIVE", in, out, common...)
	} else {
		t.add("CONV2D", in, out, append(common, ints("GROUP", max(o.Groups, 1)))...)
	}
	done()
	return ""
}

// noBias are zeros as the bias of a convolution of x with w; nil for types that have none.
func noBias(x, w *operand) *operand {
	outputs := w.dims()[0]
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

func turnMaxPool(t *translation) string {
	o := t.n.Op.(*op.MaxPool)
	if len(t.n.Out) > 1 && t.n.Out[1] >= 0 {
		return "MAX_POOL gives no indices"
	}
	return t.pool("MAX_POOL", pool{o.Kernel, o.Strides, o.Dilations, o.AutoPad, o.Ceil, o.Global, o.ChannelsLast,
		o.Windows})
}

func turnAveragePool(t *translation) string {
	o := t.n.Op.(*op.AveragePool)
	if o.CountPads && (o.AutoPad != op.PadExplicit && o.AutoPad != op.PadValid ||
		slices.ContainsFunc(o.Pads, func(p int64) bool { return p != 0 })) {
		return "AVG_POOL does not count the padding"
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

func (t *translation) pool(name string, p pool) string {
	x := t.in(0)
	switch {
	case len(x.dims()) != 4:
		return fmt.Sprintf("%s is of images, not of %d dimensions", name, len(x.dims())-2)
	case slices.ContainsFunc(p.dilations, func(d int64) bool { return d != 1 }):
		return name + " has no dilations"
	case !p.global && p.ceil == op.RoundCeilInside:
		return name + " keeps a last window that begins behind the image"
	}
	settings := []setting{truth("GLOBAL", true)}
	if !p.global {
		windows, err := p.windows(spatial(x.dims(), p.last))
		if err != nil {
			return err.Error()
		}
		settings = []setting{ints("KERNEL_SIZE", p.kernel...), ints("STRIDE", steps(p.strides)...), padding(p.auto, windows)}
		if p.ceil != op.RoundFloor && p.auto == op.PadExplicit {
			settings = append(settings, ints("ROUND_MODE", 1))
		}
	}
	image := t.toImage(x, p.last)
	y, done := t.result(t.out(0), p.last)
	t.add(name, []*operand{image}, []*operand{y}, settings...)
	done()
	return ""
}

// turnFullyConnected: the operator makes two dimensions of more.
func turnFullyConnected(t *translation) string {
	if d := t.in(0).dims(); len(d) != 2 {
		return fmt.Sprintf("FULL_CONNECTION keeps two dimensions, not %d", len(d))
	}
	in := []*operand{t.in(0), t.in(1)}
	if bias := t.in(2); bias != nil {
		in = append(in, bias)
	}
	t.add("FULL_CONNECTION", in, t.outs())
	return ""
}

// turnMatMul adds a bias behind the product.
func turnMatMul(t *translation) string {
	o, a, b, bias, y := t.n.Op.(*op.MatMul), t.in(0), t.in(1), t.in(2), t.out(0)
	if len(a.dims()) < 2 || len(b.dims()) < 2 {
		return "MATMUL is of matrices"
	}
	to := y
	if bias != nil {
		if y.typ.Quant != nil {
			return "MATMUL has no bias, and codes would be rounded before one is added"
		}
		to = y.between(y.dims()...)
	}
	t.add("MATMUL", []*operand{a, b}, []*operand{to}, truth("TRANSPOSE_A", o.TransposeA),
		truth("TRANSPOSE_B", o.TransposeB))
	if bias != nil {
		t.add("ADD", []*operand{to, bias}, []*operand{y})
	}
	return ""
}

func turnBatchNorm(t *translation) string {
	o, x := t.n.Op.(*op.BatchNorm), t.in(0)
	rank := len(x.dims())
	axis, err := op.Axis(o.Axis, rank)
	if err != nil {
		return err.Error()
	}
	last := axis == rank-1
	if !last && (rank != 4 || axis != 1) {
		return fmt.Sprintf("BATCH_NORM has its channels in the last dimension, not in dimension %d of %d", axis, rank)
	}
	image := t.toImage(x, last)
	y, done := t.result(t.out(0), last)
	t.add("BATCH_NORM", append([]*operand{image}, t.ins()[1:]...), []*operand{y}, number("EPSILON", o.Epsilon))
	done()
	return ""
}
