package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// Filters of the API are [O,H,W,I/group], those of DEPTHWISE_CONV_2D [1,H,W,O].

func init() {
	register(map[string]func(t *translation) error{
		"conv":            lowerConv,
		"max_pool":        lowerMaxPool,
		"average_pool":    lowerAveragePool,
		"fully_connected": lowerFullyConnected,
		"mat_mul":         lowerMatMul,
	})
}

// permuted is an operand with its dimensions in another order: a constant at once, else by TRANSPOSE.
func (t *translation) permuted(x *operand, order ...int64) *operand {
	dims := make([]int64, len(order))
	for i, d := range order {
		dims[i] = x.Dims()[d]
	}
	y := x.Between(dims...)
	if q := x.typ.Quant; q != nil && len(q.Scale) > 1 {
		moved := *q
		moved.Axis = slices.Index(order, int64(q.Axis))
		y.typ.Quant = &moved
	}
	if x.data == nil {
		t.permute(x, y, order...)
		return y
	}
	steps, size := make([]int, len(order)), x.typ.DType.Bits()/8
	for i, d := range order {
		steps[i] = size
		for _, n := range x.Dims()[d+1:] {
			steps[i] *= int(n)
		}
	}
	data, err := mem.Make[byte](len(x.data))
	if err != nil {
		t.refused = refuse("%v", err)
		return y
	}
	y.data = data[:0]
	index := make([]int, len(order))
	for len(y.data) < len(x.data) {
		from := 0
		for i, k := range index {
			from += k * steps[i]
		}
		y.data = append(y.data, x.data[from:from+size]...)
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < int(dims[i]) {
				break
			}
			index[i] = 0
		}
	}
	return y
}

// permute makes y of x with its dimensions in another order.
func (t *translation) permute(x, y *operand, order ...int64) {
	t.add(spec.Transpose, y, x, list(order...))
}

// sized are windows with the strides and paddings of the API: explicit, each smaller than its window, and such that the
// sizes of the result follow when they are rounded down.
type sized struct {
	before, after, stride, kernel, dilation [2]int64 // of height and width
}

func fit(w []op.Window) (s sized, err error) {
	for i, w := range w {
		span := (w.Kernel-1)*w.Dilation + 1
		after := max(w.After, (w.Out-1)*w.Stride+span-w.In-w.Before)
		switch {
		case w.Before >= span || after >= span || after < 0:
			return s, refuse("NNAPI pads by less than a window has cells, %d, not by %d and %d", span, w.Before, after)
		case (w.In+w.Before+after-span)/w.Stride+1 != w.Out:
			return s, refuse("NNAPI has no last window that begins behind the image")
		}
		s.before[i], s.after[i], s.stride[i], s.kernel[i], s.dilation[i] = w.Before, after, w.Stride, w.Kernel, w.Dilation
	}
	return s, nil
}

// params are the paddings left, right, top, bottom and the strides of width and height.
func (s *sized) params() []*operand {
	return []*operand{int32Scalar(s.before[1]), int32Scalar(s.after[1]), int32Scalar(s.before[0]), int32Scalar(s.after[0]),
		int32Scalar(s.stride[1]), int32Scalar(s.stride[0])}
}

func lowerConv(t *translation) error {
	o, x, w := t.N.Op.(*op.Conv), t.In(0), t.In(1)
	if len(x.Dims()) != 4 {
		return refuse("CONV_2D is of images, not of %d dimensions", len(x.Dims())-2)
	}
	windows, err := o.Windows(driver.Spatial(x.Dims(), o.ChannelsLast), w.Dims()[1:3])
	if err != nil {
		return refuse("%v", err)
	}
	s, err := fit(windows)
	if err != nil {
		return err
	}
	bias, err := t.bias(x, w, t.In(2))
	if err != nil {
		return err
	}
	image := t.Image(x, o.ChannelsLast)
	y, done := t.Result(t.Out(0), o.ChannelsLast)
	code, params := spec.Conv2D, s.params()
	dilated := s.dilation != [2]int64{1, 1}
	switch channels, outputs := image.Dims()[3], y.Dims()[3]; {
	case o.Groups == channels && channels > 1:
		code, w = spec.DepthwiseConv2D, t.permuted(w, 3, 1, 2, 0)
		params = append(params, int32Scalar(outputs/channels))
	case o.Groups > 1 && dilated:
		return refuse("GROUPED_CONV_2D has no dilations")
	case o.Groups > 1:
		code, params = spec.GroupedConv2D, append(params, int32Scalar(o.Groups))
	}
	params = append(params, unfused())
	switch {
	case code == spec.GroupedConv2D:
		params = append(params, boolScalar(false))
	case dilated:
		params = append(params, boolScalar(false), int32Scalar(s.dilation[1]), int32Scalar(s.dilation[0]))
	}
	t.add(code, y, append([]*operand{image, w, bias}, params...)...)
	done()
	return nil
}

// bias is the bias of a product of x with weights w, which the API's operations cannot do without: zeros when there is
// none. In integers its unit is the product of the scales, or 0 stands for it where there are several.
func (t *translation) bias(x, w, bias *operand) (*operand, error) {
	outputs := w.Dims()[0]
	typ := tensor.T(x.typ.DType, outputs)
	if x.typ.Quant != nil {
		typ = tensor.T(tensor.Int32, outputs)
		if x.typ.Quant.IsPerTensor() && w.typ.Quant.IsPerTensor() {
			typ.Quant = tensor.PerTensor(x.typ.Quant.Scale[0]*w.typ.Quant.Scale[0], 0)
		}
	}
	code, err := codeOf(typ)
	if err != nil {
		return nil, err
	}
	out := &operand{code: code, typ: typ}
	switch {
	case bias == nil:
		n, _ := typ.ByteSize()
		out.data = make([]byte, n)
	case typ.Quant == nil && x.typ.Quant == nil:
		return bias, nil
	case bias.data == nil:
		return nil, refuse("the bias of codes is no constant")
	case bias.typ.Quant != nil && !sameUnit(bias.typ.Quant, x.typ.Quant, w.typ.Quant):
		return nil, refuse("the bias has other units than the products of codes")
	default:
		out.data = bias.data
	}
	return out, nil
}

// sameUnit reports whether a bias counts in units of the products of codes.
func sameUnit(bias, x, w *tensor.Quant) bool {
	if w == nil || len(bias.Scale) != 1 && len(bias.Scale) != len(w.Scale) {
		return false
	}
	for i, s := range w.Scale {
		unit := float64(x.Scale[0]) * float64(s)
		k := min(i, len(bias.Scale)-1)
		if bias.ZeroAt(k) != 0 || math.Abs(float64(bias.Scale[k])-unit) > 1e-6*unit {
			return false
		}
	}
	return true
}

func lowerMaxPool(t *translation) error {
	o := t.N.Op.(*op.MaxPool)
	if len(t.N.Out) > 1 && t.N.Out[1] >= 0 {
		return refuse("MAX_POOL_2D gives no indices")
	}
	return t.pool(spec.MaxPool2D, o.Windows, o.ChannelsLast)
}

func lowerAveragePool(t *translation) error {
	o := t.N.Op.(*op.AveragePool)
	if driver.CountsPads(o) {
		return refuse("AVERAGE_POOL_2D does not count the padding")
	}
	return t.pool(spec.AveragePool2D, o.Windows, o.ChannelsLast)
}

func (t *translation) pool(code spec.OperationCode, windows func(in []int64) ([]op.Window, error), last bool) error {
	x := t.In(0)
	if len(x.Dims()) != 4 {
		return refuse("%v is of images, not of %d dimensions", code, len(x.Dims())-2)
	}
	w, err := windows(driver.Spatial(x.Dims(), last))
	if err != nil {
		return refuse("%v", err)
	}
	s, err := fit(w)
	switch {
	case err != nil:
		return err
	case s.dilation != [2]int64{1, 1}:
		return refuse("%v has no dilations", code)
	}
	image := t.Image(x, last)
	y, done := t.Result(t.Out(0), last)
	params := append(s.params(), int32Scalar(s.kernel[1]), int32Scalar(s.kernel[0]), unfused())
	t.add(code, y, append([]*operand{image}, params...)...)
	done()
	return nil
}

func lowerFullyConnected(t *translation) error {
	x, w, y := t.In(0), t.In(1), t.Out(0)
	bias, err := t.bias(x, w, t.In(2))
	if err != nil {
		return err
	}
	t.connect(x, w, bias, y)
	return nil
}

// connect is FULLY_CONNECTED, which makes two dimensions of more, and gives two.
func (t *translation) connect(x, w, bias, y *operand) {
	to := y
	if d := y.Dims(); len(d) != 2 {
		rows := int64(1)
		for _, n := range d[:len(d)-1] {
			rows *= n
		}
		to = y.Between(rows, d[len(d)-1])
	}
	if len(x.Dims()) == 1 {
		row := x.Between(1, x.Dims()[0])
		t.reshape(x, row)
		x = row
	}
	t.add(spec.FullyConnected, to, x, w, bias, unfused())
	if to != y {
		t.reshape(to, y)
	}
}

// lowerMatMul is FULLY_CONNECTED where the second matrix is one alone, whatever level the driver has.
func lowerMatMul(t *translation) error {
	o, a, b, y := t.N.Op.(*op.MatMul), t.In(0), t.In(1), t.Out(0)
	ra, rb := len(a.Dims()), len(b.Dims())
	switch {
	case ra < 2 || rb < 2 || t.G.Fact(t.N.In[0]).Shape.Rank() < 2 || t.G.Fact(t.N.In[1]).Shape.Rank() < 2:
		return refuse("BATCH_MATMUL is of matrices")
	case rb > 2 || o.TransposeA && ra > 2:
		if t.In(2) != nil {
			return refuse("BATCH_MATMUL has no bias")
		}
		if ra != rb || !slices.Equal(a.Dims()[:ra-2], b.Dims()[:rb-2]) {
			return refuse("BATCH_MATMUL does not broadcast")
		}
		t.add(spec.BatchMatMul, y, a, b, boolScalar(o.TransposeA), boolScalar(o.TransposeB))
		return nil
	}
	bias := t.In(2)
	n := y.Dims()[len(y.Dims())-1]
	if bias != nil && !slices.Equal(bias.Dims(), []int64{n}) {
		return refuse("the bias of FULLY_CONNECTED has one number for each column")
	}
	if o.TransposeA {
		a = t.permuted(a, 1, 0)
	}
	if !o.TransposeB {
		b = t.permuted(b, 1, 0)
	}
	bias, err := t.bias(a, b, bias)
	if err != nil {
		return err
	}
	t.connect(a, b, bias, y)
	return nil
}
