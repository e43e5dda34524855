package export

import (
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// pooled is the common part of pooling operators.
type pooled struct {
	kernel, strides, dilations, pads []int64
	auto                             op.AutoPad
	ceil                             op.CeilMode
	global, last                     bool
	windows                          func(in []int64) ([]op.Window, error)
}

func poolRules() []rule {
	return []rule{
		on(exportMaxPool),
		on(func(n *node, o *op.AveragePool) error {
			p := pooled{o.Kernel, o.Strides, o.Dilations, o.Pads, o.AutoPad, o.Ceil, o.Global, o.ChannelsLast, o.Windows}
			y, r, err := n.pool("AveragePool", n.x(0), p, flag("count_include_pad", o.CountPads))
			if err != nil {
				return err
			}
			return n.setImage(y, r, o.ChannelsLast, n.dtype(0))
		}),
		on(exportLpPool),
	}
}

// pool emits a pool of x with its channels as dimension 1.
func (n *node) pool(name, x string, p pooled, attrs ...attr) (y string, rank int, err error) {
	out, rank, err := n.pools(name, 1, x, p, attrs...)
	if err != nil {
		return "", 0, err
	}
	return out[0], rank, nil
}

// pools is pool of an operator with several outputs.
func (n *node) pools(name string, outs int, x string, p pooled, attrs ...attr) (out []string, rank int, err error) {
	if rank, err = n.rank(0); err != nil {
		return nil, 0, err
	}
	x = n.first(x, rank, p.last)
	if p.global && outs == 1 {
		if name != "LpPool" {
			attrs = nil
		}
		return n.emit("Global"+name, 1, []string{x}, attrs...), rank, nil
	}
	in, static := spatialSizes(n.fact(0).Shape, p.last)
	if p.global && !static {
		return nil, 0, refuse("places of maxima in images of unknown size")
	}
	var w []op.Window
	if static {
		if w, err = p.windows(in); err != nil {
			return nil, 0, err
		}
	}
	if p.global {
		p.kernel, p.strides, p.dilations, p.pads, p.auto, p.ceil = in, nil, nil, nil, op.PadValid, op.RoundFloor
	}
	attrs = append(attrs, numbers("kernel_shape", p.kernel...))
	attrs = append(attrs, n.sliding(p.strides, p.dilations, p.pads, p.auto, w)...)
	switch {
	case p.ceil == op.RoundFloor || p.auto == op.PadSameLower || p.auto == op.PadSameUpper:
	case p.ceil == op.RoundCeilInside || w != nil && !slices.ContainsFunc(w, hangs):
		attrs = append(attrs, number("ceil_mode", 1))
	default:
		return nil, 0, refuse("a last window that lies outside of the image, which ONNX drops")
	}
	return n.emit(name, outs, []string{x}, attrs...), rank, nil
}

// hangs reports whether the last window begins behind the image.
func hangs(w op.Window) bool { return (w.Out-1)*w.Stride >= w.In+w.Before }

// exportMaxPool: ONNX has maxima of floats and of 8-bit integers; others are numbers of double.
func exportMaxPool(n *node, o *op.MaxPool) error {
	p := pooled{o.Kernel, o.Strides, o.Dilations, o.Pads, o.AutoPad, o.Ceil, o.Global, o.ChannelsLast, o.Windows}
	f := n.fact(0)
	as := n.carried(0) && (f.Quant == nil || f.Quant.IsPerTensor())
	x, d := n.x(0), n.dtype(0)
	if as {
		x, d = n.code(0), f.DType
	}
	plain := d
	switch {
	case d.IsInt() && d.Bits() == 64:
		return refuse("maxima of %v; ONNX has those of floats and of 8-bit integers", d)
	case d.IsInt() && (d.Bits() != 8 || o.Global):
		x, d = n.cast(x, tensor.Float64), tensor.Float64
	}
	outs := 1
	var attrs []attr
	if n.wants(1) {
		outs = 2
		attrs = append(attrs, flag("storage_order", o.ColumnMajor))
	}
	out, r, err := n.pools("MaxPool", outs, x, p, attrs...)
	if err != nil {
		return err
	}
	if o.ChannelsLast {
		for k := range out {
			out[k] = n.transpose(out[k], inverse(lastToFirst(r))...)
		}
	}
	if outs == 2 {
		n.put(1, out[1])
	}
	if !as {
		return n.set(0, out[0], d)
	}
	if d != plain {
		out[0] = n.cast(out[0], plain)
	}
	n.put(0, out[0])
	return nil
}

// exportLpPool: with Mean the powers are averaged before the root is taken.
func exportLpPool(n *node, o *op.LpPool) error {
	p := pooled{o.Kernel, o.Strides, o.Dilations, o.Pads, o.AutoPad, o.Ceil, o.Global, o.ChannelsLast, o.Windows}
	power := o.P
	if power == 0 {
		power = 2
	}
	if !o.Mean {
		y, r, err := n.pool("LpPool", n.x(0), p, number("p", power))
		if err != nil {
			return err
		}
		return n.setImage(y, r, o.ChannelsLast, n.dtype(0))
	}
	d := n.dtype(0)
	x := n.one("Mul", []string{n.x(0), n.x(0)})
	if power != 2 {
		x = n.one("Pow", []string{n.one("Abs", []string{n.x(0)}), n.number(d, float64(power))})
	}
	y, r, err := n.pool("AveragePool", x, p)
	if err != nil {
		return err
	}
	if power == 2 {
		y = n.one("Sqrt", []string{y})
	} else {
		y = n.one("Pow", []string{y, n.number(d, 1/float64(power))})
	}
	return n.setImage(y, r, o.ChannelsLast, d)
}
