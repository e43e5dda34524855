package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

// matchGroupNorm finds a normalization of groups of channels of each image.
func matchGroupNorm(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	axis, groups, eps := int64(0), 0, float32(0)
	switch o := n.Op.(type) {
	case *op.InstanceNorm: // a group per channel
		axis, eps = o.Axis, o.Epsilon
	case *op.GroupNorm:
		axis, groups, eps = o.ChannelAxis(), int(o.Groups), o.Epsilon
	default:
		return nil
	}
	x := &g.Values[n.In[0]]
	if !g.IsFloat32(n.In[0], n.Out[0]) || len(x.Dims) < 2 {
		return nil
	}
	at, err := op.Axis(axis, len(x.Dims))
	if err != nil || at != 1 && at != len(x.Dims)-1 {
		return nil
	}
	scale, bias := g.Constant(n.In[1]), g.Constant(n.In[2])
	channels := int(x.Dims[at])
	if groups == 0 {
		groups = channels
	}
	if len(scale) != channels || len(bias) != channels || groups < 1 || channels%groups != 0 {
		return nil
	}
	return p.Plainly(i, &groupNormOp{axis: at, dims: x.Dims, channels: channels,
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

func (q *groupNormOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if q.inner = q.axis > 1; q.axis == 1 && !run.SameOrders(q.dims) && l.Order(n, n.In[0]) == run.NHWC {
		q.inner, o = true, run.NHWC
	}
	ir.InOrder{Order: o}.Layout(l, n)
}

func (q *groupNormOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	images := int(q.dims[0])
	if q.inner {
		t := newChannelNorm(q.norm, images, q.channels, run.Product(q.dims)/images/q.channels)
		return run.Step{Fast: true, Inplace: true, Start: func(_ *run.State, st *run.Step) run.Process {
			own := t
			own.st = st
			return &own
		}}
	}
	rows := images * q.norm.groups
	t := rowsTask{rows: rows, cols: run.Product(q.dims) / rows, compute: q.norm.compute}
	return (&rowsOp{task: t, inplace: true}).Lower(nil, nil)
}

// matchL2Normalize finds a division by the root of the sum of squares over the last dimensions, or over the channels of
// NHWC images.
func matchL2Normalize(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.L2Normalize)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	axes, ok := g.Ints(n.In, 1)
	dims := g.Values[n.In[0]].Dims
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
	in := func(o run.Order) (t rowsTask, ok bool) {
		t = rowsTask{rows: 1, cols: 1, compute: compute}
		all := len(axes) == 0
		sizes, mask := run.SizesIn(dims, o), run.SizesIn(mask, o)
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
	_, inNCHW := in(run.NCHW)
	_, inNHWC := in(run.NHWC)
	if inNHWC = inNHWC && len(axes) > 0; !inNCHW && !inNHWC {
		return nil
	}
	return p.Plainly(i, &rowsOp{inplace: true,
		orders: func(best run.Order) run.Order {
			if best == run.NHWC && inNHWC || !inNCHW {
				return run.NHWC
			}
			return run.NCHW
		},
		in: func(o run.Order) rowsTask { t, _ := in(o); return t }}, 1)
}

// matchRMSNorm finds a division by the root of the mean square, times one scale per column.
func matchRMSNorm(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.RMSNorm)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x := &g.Values[n.In[0]]
	a, err := op.Axis(o.Axis, len(x.Dims))
	if err != nil {
		return nil
	}
	scale, cols, eps := g.Constant(n.In[1]), run.Product(x.Dims[a:]), o.Epsilon
	if len(scale) == 0 || !slices.Equal(withoutOnes(g.Values[n.In[1]].Dims), withoutOnes(x.Dims[a:])) {
		return nil
	}
	none := slices.Repeat([]float32{float32(math.Copysign(0, -1))}, cols)
	lines := func(y, x []float32, rows, cols int) {
		for r := range rows {
			y, x := y[r*cols:][:cols], x[r*cols:][:cols]
			d := math.Sqrt(sumSquares(x)/float64(cols) + float64(eps))
			if plainDivisor(d) {
				kernel.Normalize(y, x, scale, none, 0, float32(1/d))
				continue
			}
			divideBy(y, x, d)
			kernel.BinaryVV(kernel.Mul, y, y, scale)
		}
	}
	t := rowsTask{rows: x.Count() / cols, cols: cols, compute: func(t *rowsTask, from, to int) {
		y, x := t.part(from, to)
		lines(y, x, to-from, t.cols)
	}}
	return p.Plainly(i, &rowsOp{inplace: true, orders: always(run.NCHW), in: func(run.Order) rowsTask { return t },
		halved: func(h kernel.HalfType) ir.Operation {
			return &rowsOfHalves{of: h, rows: t.rows, cols: cols, lines: lines}
		}}, 1)
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

// divideBy computes y = x/d, element by element in float64 when d or its inverse is no normal float32.
func divideBy(y, x []float32, d float64) {
	if plainDivisor(d) {
		kernel.BinaryVS(kernel.Mul, y, x, float32(1/d))
		return
	}
	for i, v := range x {
		y[i] = float32(float64(v) / d)
	}
}

// plainDivisor says that d and its inverse are normal numbers of float32.
func plainDivisor(d float64) bool { return d > 1e-37 && d < 1e37 }
