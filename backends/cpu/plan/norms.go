package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/op"
)

// matchGroupNorm finds a normalization of groups of channels of each image.
func matchGroupNorm(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	axis, groups, eps := int64(0), 0, float32(0)
	switch o := n.Op.(type) {
	case *op.InstanceNorm: // a group per channel
		axis, eps = o.Axis, o.Epsilon
	case *op.GroupNorm:
		axis, groups, eps = o.ChannelAxis(), int(o.Groups), o.Epsilon
	default:
		return nil
	}
	x := &g.values[n.In[0]]
	if !g.isFloat32(n.In[0], n.Out[0]) || len(x.dims) < 2 {
		return nil
	}
	at, err := op.Axis(axis, len(x.dims))
	if err != nil || at != 1 && at != len(x.dims)-1 {
		return nil
	}
	scale, bias := g.constant(n.In[1]), g.constant(n.In[2])
	channels := int(x.dims[at])
	if groups == 0 {
		groups = channels
	}
	if len(scale) != channels || len(bias) != channels || groups < 1 || channels%groups != 0 {
		return nil
	}
	return p.plainly(i, &groupNormOp{axis: at, dims: x.dims, channels: channels,
		norm: groupNorm{scale: scale, bias: bias, groups: groups, eps: eps, per: channels / groups}}, 1)
}

// groupNormOp normalizes groups of channels, dimension axis.
type groupNormOp struct {
	axis     int
	dims     []int64
	channels int
	norm     groupNorm
	inner    bool // the channels are the last dimension in memory
}

func (q *groupNormOp) layout(l *layouter, n *node) {
	o := nchw
	if q.inner = q.axis > 1; q.axis == 1 && !sameOrders(q.dims) && l.order(n, n.in[0]) == nhwc {
		q.inner, o = true, nhwc
	}
	inOrder{o}.layout(l, n)
}

func (q *groupNormOp) lower(*lowering, *node) step {
	images := int(q.dims[0])
	if q.inner {
		t := newChannelNorm(q.norm, images, q.channels, product(q.dims)/images/q.channels)
		return step{fast: true, inplace: true, start: func(_ *State, st *step) process {
			own := t
			own.st = st
			return &own
		}}
	}
	rows := images * q.norm.groups
	t := rowsTask{rows: rows, cols: product(q.dims) / rows, compute: q.norm.compute}
	return (&rowsOp{task: t, inplace: true}).lower(nil, nil)
}

// matchL2Normalize finds a division by the root of the sum of squares over the last dimensions, or over the channels of
// NHWC images.
func matchL2Normalize(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.L2Normalize)
	if !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	axes, ok := g.ints(n.In, 1)
	dims := g.values[n.In[0]].dims
	mask, err := op.AxisMask(axes, len(dims))
	if !ok || err != nil {
		return nil
	}
	mode, eps := o.Mode, o.Epsilon
	compute := func(t *rowsTask, from, to int) {
		for r := from; r < to; r++ {
			y, x := t.part(r, r+1)
			sum := sumSquares(x)
			if mode == op.EpsAdd {
				sum += float64(eps)
			} else {
				sum = max(sum, float64(eps))
			}
			divideBy(y, x, math.Sqrt(sum))
		}
	}
	in := func(o order) (t rowsTask, ok bool) {
		t = rowsTask{rows: 1, cols: 1, compute: compute}
		all := len(axes) == 0
		sizes, mask := sizesIn(dims, o), sizesIn(mask, o)
		for d, m := range mask {
			switch {
			case m || all:
				t.cols *= int(sizes[d])
			case t.cols > 1 && sizes[d] > 1:
				return t, false
			default:
				t.rows *= int(sizes[d])
			}
		}
		return t, true
	}
	_, inNCHW := in(nchw)
	_, inNHWC := in(nhwc)
	if inNHWC = inNHWC && len(axes) > 0; !inNCHW && !inNHWC {
		return nil
	}
	return p.plainly(i, &rowsOp{inplace: true,
		orders: func(best order) order {
			if best == nhwc && inNHWC || !inNCHW {
				return nhwc
			}
			return nchw
		},
		in: func(o order) rowsTask { t, _ := in(o); return t }}, 1)
}

// matchRMSNorm finds a division by the root of the mean square, times one scale per column.
func matchRMSNorm(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	o, is := n.Op.(*op.RMSNorm)
	if !is || !g.isFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.values[n.In[0]]
	a, err := op.Axis(o.Axis, len(x.dims))
	if err != nil {
		return nil
	}
	scale, cols, eps := g.constant(n.In[1]), product(x.dims[a:]), o.Epsilon
	if len(scale) == 0 || !slices.Equal(withoutOnes(g.values[n.In[1]].dims), withoutOnes(x.dims[a:])) {
		return nil
	}
	t := rowsTask{rows: x.count() / cols, cols: cols, compute: func(t *rowsTask, from, to int) {
		for r := from; r < to; r++ {
			y, x := t.part(r, r+1)
			divideBy(y, x, math.Sqrt(sumSquares(x)/float64(t.cols)+float64(eps)))
			kernel.BinaryVV(kernel.Mul, y, y, scale)
		}
	}}
	return p.plainly(i, &rowsOp{inplace: true, orders: always(nchw), in: func(order) rowsTask { return t }}, 1)
}

// sumSquares adds up squares, in float64 when float32 has not the range.
func sumSquares(x []float32) float64 {
	s := kernel.SumSquares(x, 0)
	if s > 1e-30 && s < 1e38 {
		return float64(s)
	}
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// divideBy computes y = x/d, element by element in float64 when d is no normal float32.
func divideBy(y, x []float32, d float64) {
	if f := float32(d); f > 1e-37 && finite(f) {
		kernel.BinaryVS(kernel.Div, y, x, f)
		return
	}
	for i, v := range x {
		y[i] = float32(float64(v) / d)
	}
}
