package export

import (
	"slices"

	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func spatialRules() []rule {
	return []rule{on(exportConv), on(exportConvTranspose), on(exportDeformConv)}
}

// lastToFirst is the permutation that brings channels from the end to dimension 1.
func lastToFirst(r int) []int64 {
	perm := []int64{0, int64(r - 1)}
	for i := 1; i < r-1; i++ {
		perm = append(perm, int64(i))
	}
	return perm
}

// first is x, an image of rank r, with its channels as dimension 1.
func (n *node) first(x string, r int, last bool) string {
	if !last {
		return x
	}
	return n.transpose(x, lastToFirst(r)...)
}

// setImage makes y, with its channels as dimension 1, output 0.
func (n *node) setImage(y string, r int, last bool, d tensor.DType) error {
	if last {
		y = n.transpose(y, inverse(lastToFirst(r))...)
	}
	return n.set(0, y, d)
}

// spatialSizes are the sizes of an image without batch and channels; false where one is not known.
func spatialSizes(s tensor.Shape, last bool) ([]int64, bool) {
	d, ok := s.Ints()
	if !ok {
		return nil, false
	}
	if last {
		return d[1 : len(d)-1], true
	}
	return d[2:], true
}

// filter is x(1), [O,spatial,I/groups], as ONNX has it: [O,I/groups,spatial].
func (n *node) filter(r int) string {
	f := n.fact(1)
	perm := lastToFirst(r)
	if dims, ok := f.Shape.Ints(); ok && f.Const != nil && f.DType == n.dtype(1) && f.DType.Bits() >= 8 {
		data := make([]byte, len(f.Const.Data))
		order := make([]int, r)
		for i, p := range perm {
			order[i] = int(p)
		}
		lower.Permute(data, f.Const.Data, dims, order, f.DType.Bits()/8)
		return n.constant(n.g.Values[n.n.In[1]].Name, f.DType, lower.Permuted(dims, order), data)
	}
	return n.transpose(n.x(1), perm...)
}

// ends are the pads of windows, the beginnings before the ends.
func ends(w []op.Window) []int64 {
	pads := make([]int64, 2*len(w))
	for i, v := range w {
		pads[i], pads[len(w)+i] = v.Before, v.After
	}
	return pads
}

// sliding are the attributes of windows, whose pads are written as numbers where the sizes are known.
func (n *node) sliding(strides, dilations, pads []int64, auto op.AutoPad, w []op.Window) []attr {
	var attrs []attr
	if len(strides) > 0 {
		attrs = append(attrs, numbers("strides", strides...))
	}
	if len(dilations) > 0 {
		attrs = append(attrs, numbers("dilations", dilations...))
	}
	switch {
	case auto == op.PadSameLower || auto == op.PadSameUpper:
		if w == nil {
			name, _ := word(lower.AutoPads, auto)
			return append(attrs, text("auto_pad", name))
		}
		return append(attrs, numbers("pads", ends(w)...))
	case auto == op.PadExplicit && slices.ContainsFunc(pads, func(p int64) bool { return p != 0 }):
		attrs = append(attrs, numbers("pads", pads...))
	}
	return attrs
}

// imageRank is the rank of x and of the filter.
func (n *node) imageRank() (int, error) {
	if r := n.fact(0).Shape.Rank(); r >= 0 {
		return r, nil
	}
	return n.rank(1)
}

func exportConv(n *node, o *op.Conv) error {
	r, err := n.imageRank()
	if err != nil {
		return err
	}
	if n.dtype(0).IsInt() {
		return refuse("a convolution of %v; that of ONNX has floats, or 8-bit integers with int32 sums", n.dtype(0))
	}
	var windows []op.Window
	if in, ok := spatialSizes(n.fact(0).Shape, o.ChannelsLast); ok {
		if w, ok := n.fact(1).Shape.Ints(); ok {
			if windows, err = o.Windows(in, w[1:r-1]); err != nil {
				return err
			}
		}
	}
	d := n.dtype(0)
	in := []string{n.first(n.x(0), r, o.ChannelsLast), n.filter(r), n.bias(d)}
	attrs := append(n.sliding(o.Strides, o.Dilations, o.Pads, o.AutoPad, windows), number("group", max(1, o.Groups)))
	return n.setImage(n.one("Conv", in, attrs...), r, o.ChannelsLast, d)
}

// bias is input 2 as numbers of type d: integers without a quantization are in units of the product of the scales of x
// and filter.
func (n *node) bias(d tensor.DType) string {
	f := n.fact(2)
	if !n.has(2) || n.dtype(2) == d {
		return n.x(2)
	}
	if !f.DType.IsInt() || f.Quant != nil {
		return n.as(2, d)
	}
	x, w := n.fact(0).Quant, n.fact(1).Quant
	if x == nil || !x.IsPerTensor() || w == nil || w.Block > 0 {
		n.fail(refuse("a bias of integers beside numbers that are not quantized"))
		return ""
	}
	units := make([]float64, len(w.Scale))
	for i, s := range w.Scale {
		units[i] = float64(x.Scale[0]) * float64(s)
	}
	var dims []int64
	if len(units) > 1 {
		dims = []int64{int64(len(units))}
	}
	y := n.one("Mul", []string{n.cast(n.code(2), tensor.Float64), n.list1(tensor.Float64, dims, units...)})
	return n.cast(y, d)
}

// exportConvTranspose writes pads as numbers: what ONNX makes of its other attributes differs from core.
func exportConvTranspose(n *node, o *op.ConvTranspose) error {
	r, err := n.imageRank()
	if err != nil {
		return err
	}
	w, err := n.sizes(1)
	if err != nil {
		return err
	}
	if n.dtype(0).IsInt() {
		return refuse("a convolution of %v; that of ONNX has floats", n.dtype(0))
	}
	attrs := []attr{number("group", max(1, o.Groups))}
	if len(o.Strides) > 0 {
		attrs = append(attrs, numbers("strides", o.Strides...))
	}
	if len(o.Dilations) > 0 {
		attrs = append(attrs, numbers("dilations", o.Dilations...))
	}
	more, err := n.transposedPads(o, w[1:r-1])
	if err != nil {
		return err
	}
	d := n.dtype(0)
	in := []string{n.first(n.x(0), r, o.ChannelsLast), n.transposedFilter(w, max(1, o.Groups)), n.bias(d)}
	return n.setImage(n.one("ConvTranspose", in, append(attrs, more...)...), r, o.ChannelsLast, d)
}

// transposedPads are the attributes that place the output.
func (n *node) transposedPads(o *op.ConvTranspose, kernel []int64) ([]attr, error) {
	in, static := spatialSizes(n.fact(0).Shape, o.ChannelsLast)
	if !static {
		if n.has(3) || o.AutoPad == op.PadSameLower || o.AutoPad == op.PadSameUpper {
			return nil, refuse("padding that follows from sizes, which are not known")
		}
		var attrs []attr
		if o.AutoPad == op.PadExplicit && len(o.Pads) > 0 {
			if slices.Min(o.Pads) < 0 {
				return nil, refuse("pads below 0")
			}
			attrs = append(attrs, numbers("pads", o.Pads...))
		}
		if len(o.OutputPads) > 0 {
			attrs = append(attrs, numbers("output_padding", o.OutputPads...))
		}
		return attrs, nil
	}
	var out []int64
	if n.has(3) {
		var err error
		if out, err = n.known(3, "the sizes of the result"); err != nil {
			return nil, err
		}
	}
	windows, err := o.Windows(in, kernel, out)
	if err != nil {
		return nil, err
	}
	pads, extra := make([]int64, 2*len(in)), make([]int64, len(in))
	for i, w := range windows {
		full := (w.In-1)*w.Stride + (w.Kernel-1)*w.Dilation + 1
		after := full - w.Before - w.Out
		if after < 0 {
			extra[i], after = -after, 0
		}
		if w.Before < 0 || extra[i] >= max(w.Stride, w.Dilation) {
			return nil, refuse("a result of %d cells that begins at cell %d of %d; ONNX has no such padding", w.Out, w.Before,
				full)
		}
		pads[i], pads[len(in)+i] = w.Before, after
	}
	attrs := []attr{numbers("pads", pads...)}
	if slices.Max(extra) > 0 {
		attrs = append(attrs, numbers("output_padding", extra...))
	}
	return attrs, nil
}

// transposedFilter is x(1), [O,spatial,I/groups], as ONNX has it: [I,O/groups,spatial].
func (n *node) transposedFilter(w []int64, groups int64) string {
	r := len(w)
	outputs, spatial, inputs := w[0]/groups, w[1:r-1], w[r-1]
	x := n.reshape(n.x(1), append(append([]int64{groups, outputs}, spatial...), inputs)...)
	perm := []int64{0, int64(r), 1}
	for i := 2; i < r; i++ {
		perm = append(perm, int64(i))
	}
	return n.reshape(n.transpose(x, perm...), append([]int64{groups * inputs, outputs}, spatial...)...)
}

func exportDeformConv(n *node, o *op.DeformConv) error {
	r, err := n.imageRank()
	if err != nil {
		return err
	}
	d := n.dtype(0)
	in := []string{n.first(n.x(0), r, o.ChannelsLast), n.filter(r), n.first(n.as(2, d), r, o.ChannelsLast), n.as(3, d), ""}
	if n.has(4) {
		in[4] = n.first(n.as(4, d), r, o.ChannelsLast)
	}
	attrs := append(n.sliding(o.Strides, o.Dilations, o.Pads, op.PadExplicit, nil), number("group", max(1, o.Groups)),
		number("offset_group", max(1, o.OffsetGroups)))
	return n.setImage(n.one("DeformConv", in, attrs...), r, o.ChannelsLast, d)
}
