package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// matchQDQMean finds means and sums over windows of an image, or all of it, maybe times a number: a depthwise sum with
// ones.
func matchQDQMean(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x := &g.Values[n.In[0]]
	if !p.HasCodes(n.In[0]) || len(x.Dims) != 4 || len(n.Out) != 1 {
		return nil
	}
	ws, times := summed(g, i)
	if ws == nil {
		return nil
	}
	win, err := window(ws)
	channels := int(x.Dims[1])
	if err != nil || win.Taps() > 1<<10 || !kernel.FastDepthwiseInt8(win.Taps(), channels) {
		return nil
	}
	v := n.Out[0]
	between := g.OnlyUse(v)
	if !p.Taken(between) {
		if m := &g.Graph.Nodes[between]; g.IsFloat32(m.Out[0]) {
			if by, ok := numberOf(g, between, v); ok {
				times, v = times*by, m.Out[0]
			}
		}
	}
	e := qdqEpilogueOf(p, v, run.None)
	if e == nil {
		return nil
	}
	if v != n.Out[0] {
		e.nodes = append(e.nodes, between)
	}
	from := p.Params[n.In[0]]
	m := float64(from.Scale) / float64(e.params.Scale) * times
	if !(m > 1e-30 && m < 1e3) {
		return nil
	}
	taps := win.Taps()
	codes := make([]int8, kernel.PackedDepthwiseInt8Len(taps, channels, false))
	kernel.PackDepthwiseInt8(codes, slices.Repeat([]int16{1}, taps*channels), win.Kernel, channels, false)
	lanes := kernel.DepthwiseLanes(taps, channels, false)
	return e.patch(p, i, &qdqDepthwiseOp{zero: from.Zero, order: run.NHWC, kernel: kernel.DepthwiseInt8{
		C: channels, Batch: int(x.Dims[0]), W: codes, Win: win,
		Post: kernel.Requantize{
			Init: slices.Repeat([]int32{-from.Zero * int32(taps)}, lanes), Scale: slices.Repeat([]float32{float32(m)}, lanes),
			Zero: int(e.params.Zero), Lo: e.lo, Hi: e.hi,
		},
	}}, n.In[0])
}

// summed returns the windows of an image that node i sums up, and the factor of the sums; nil when it does something
// else, or when the divisor depends on the place.
func summed(g *ir.Network, i int) (ws []op.Window, times float64) {
	n := &g.Graph.Nodes[i]
	dims := g.Values[n.In[0]].Dims[2:]
	mean := false
	switch o := n.Op.(type) {
	case *op.AveragePool:
		var err error
		if ws, err = o.Windows(dims); err != nil || o.ChannelsLast {
			return nil, 0
		}
		times = 1
		for _, w := range ws {
			reach := (w.Out-1)*w.Stride + (w.Kernel-1)*w.Dilation + 1
			if padded := w.Before > 0 || w.After > 0; padded && !o.CountPads || reach > w.In+w.Before+w.After {
				return nil, 0
			}
			times /= float64(w.Kernel)
		}
		return ws, times
	case *op.ReduceMean:
		if mean = true; !o.KeepDims {
			return nil, 0
		}
	case *op.ReduceSum:
		if !o.KeepDims {
			return nil, 0
		}
	default:
		return nil, 0
	}
	axes, ok := g.Ints(n.In, 1)
	if !ok || len(axes) != 2 || min((axes[0]+4)%4, (axes[1]+4)%4) != 2 || (axes[0]+axes[1]+8)%4 != 1 {
		return nil, 0
	}
	times = 1
	for _, d := range dims {
		ws = append(ws, op.Window{In: d, Out: 1, Kernel: d, Stride: 1, Dilation: 1})
		if mean {
			times /= float64(d)
		}
	}
	return ws, times
}

// numberOf is the one number that node i multiplies v by; ok is false when it does something else.
func numberOf(g *ir.Network, i int, v graph.Value) (by float64, ok bool) {
	n := &g.Graph.Nodes[i]
	if _, is := n.Op.(*op.Mul); !is || len(n.In) != 2 {
		return 0, false
	}
	other := n.In[0]
	if other == v {
		other = n.In[1]
	}
	c := g.Constant(other)
	if len(c) != 1 || !finite(c[0]) || c[0] <= 0 {
		return 0, false
	}
	return float64(c[0]), true
}
