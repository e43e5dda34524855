package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// padding is a Pad whose result is not made yet: readers that can do without read x.
type padding struct {
	node          int
	x             graph.Value
	value         float32
	before, after []int64
}

// pad notes a constant padding; the first reader that needs the result makes it.
func (b *builder) pad(n *graph.Node, o *op.Pad) bool {
	x := &b.values[n.In[0]]
	pads, ok := b.ints(n.In, 1)
	if !ok || o.Mode != op.PadConstant || !x.fast() || !b.values[n.Out[0]].fast() {
		return false
	}
	axes := make([]int64, len(x.dims))
	for i := range axes {
		axes[i] = int64(i)
	}
	if given(n.In, 3) {
		if axes, ok = b.ints(n.In, 3); !ok {
			return false
		}
	}
	p := &padding{node: b.node, x: n.In[0], before: make([]int64, len(x.dims)), after: make([]int64, len(x.dims))}
	if given(n.In, 2) {
		v := b.constant(n.In[2])
		if len(v) != 1 {
			return false
		}
		p.value = v[0]
	}
	if len(pads) != 2*len(axes) {
		return false
	}
	for i, axis := range axes {
		a, err := op.Axis(axis, len(x.dims))
		if err != nil {
			return false
		}
		p.before[a], p.after[a] = pads[i], pads[i+len(axes)]
	}
	if b.pads == nil {
		b.pads = map[graph.Value]*padding{}
	}
	b.pads[n.Out[0]] = p
	return true
}

// unpadded returns the padding that v is the result of, when it puts zeros around the spatial dimensions only and its
// result is not made.
func (b *builder) unpadded(v graph.Value, channelsLast bool) *padding {
	if p := b.around(v, channelsLast); p != nil && p.value == 0 {
		return p
	}
	return nil
}

// around is unpadded for any value.
func (b *builder) around(v graph.Value, channelsLast bool) *padding {
	p := b.pads[v]
	if p == nil || b.values[v].plain != none || b.values[v].last != none {
		return nil
	}
	channels := 1
	if channelsLast {
		channels = len(p.before) - 1
	}
	for a := range p.before {
		if p.before[a] < 0 || p.after[a] < 0 || (a == 0 || a == channels) && p.before[a]+p.after[a] != 0 {
			return nil
		}
	}
	return p
}

// neverLargest reports whether the padding, already part of the windows, leaves every maximum as it is: it is -Inf, or
// no more than any element and no window is without one.
func (b *builder) neverLargest(p *padding, ws []op.Window) bool {
	if math.IsInf(float64(p.value), -1) {
		return true
	}
	return p.value <= 0 && b.atLeastZero(p.x, 8) && !slices.ContainsFunc(ws, func(w op.Window) bool { return !touches(w) })
}

// touches reports whether every position of a window has an element.
func touches(w op.Window) bool {
	for o := range w.Out {
		inside := false
		for k := int64(0); k < w.Kernel && !inside; k++ {
			i := o*w.Stride + k*w.Dilation - w.Before
			inside = i >= 0 && i < w.In
		}
		if !inside {
			return false
		}
	}
	return true
}

// atLeastZero reports whether v is known to have no negative element, looking at so many operators in a row; NaN may be
// there.
func (b *builder) atLeastZero(v graph.Value, within int) bool {
	i := b.maker[v]
	if i == none || within == 0 {
		return false
	}
	n := &b.graph.Nodes[i]
	switch n.Op.Traits().Sign {
	case graph.NonNegative:
		return true
	case graph.NonNegativeIfAll:
		return !slices.ContainsFunc(n.In, func(x graph.Value) bool { return !b.atLeastZero(x, within-1) })
	case graph.NonNegativeIfFirst:
		return b.atLeastZero(n.In[0], within-1)
	}
	if _, clips := n.Op.(*op.Clip); clips {
		a, ok := b.clip(n)
		return ok && a.Alpha >= 0
	}
	return false
}

// shift turns windows over padded images into windows over the images themselves.
func (p *padding) shift(ws []op.Window, channelsLast bool) {
	first := 2
	if channelsLast {
		first = 1
	}
	for i := range ws {
		before, after := p.before[first+i], p.after[first+i]
		ws[i].In -= before + after
		ws[i].Before += before
		ws[i].After += after
	}
}

// padded makes the result of a padding that v stands for.
func (b *builder) padded(v graph.Value) {
	p := b.pads[v]
	if p == nil || b.values[v].plain != none || b.values[v].last != none {
		return
	}
	delete(b.pads, v)
	saved := b.node
	b.node = p.node
	defer func() { b.node = saved }()
	last := b.inLast(p.x)
	from, to, before, after := b.values[p.x].dims, b.values[v].dims, p.before, p.after
	if last {
		from, to, before, after = lastDims(from), lastDims(to), lastDims(before), lastDims(after)
	}
	t := boxTask{box: box{from: strides(from), to: strides(to)}, fill: true, with: p.value}
	for a, n := range from {
		t.box.size = append(t.box.size, int(n+min(before[a], 0)+min(after[a], 0)))
		t.box.fromAt += int(max(-before[a], 0)) * t.box.from[a]
		t.box.toAt += int(max(before[a], 0)) * t.box.to[a]
	}
	s := step{reads: []int{b.form(p.x, last)}}
	if slices.Min(t.box.size) <= 0 { // nothing of x is left
		t.box = box{size: []int{0, 0}, from: []int{0, 0}, to: []int{0, 0}}
	}
	s.writes = []int{b.make(v, last)}
	b.boxStep(s, t)
}

// settle makes v when that was put off.
func (b *builder) settle(v graph.Value) {
	b.padded(v)
	b.turnNow(v)
	b.decoded(v)
}

// foldWaiting notes the paddings and transpositions that every reader does without.
func (b *builder) foldWaiting() {
	for _, t := range b.turns {
		b.plan.fused = append(b.plan.fused, t.node)
	}
	for _, p := range b.pads {
		b.plan.fused = append(b.plan.fused, p.node)
	}
	slices.Sort(b.plan.fused)
}

// allFinite reports whether no value is infinite or NaN; false also when the sum is.
func allFinite(v []float32) bool { return finite(kernel.Sum(v)) }
