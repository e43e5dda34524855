package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// padOp is a Pad: readers that can do without its result read x.
type padOp struct {
	x             graph.Value
	value         float32
	before, after []int64
	moves         tableMoves
}

// matchPad finds a constant padding; the first reader that needs the result makes it.
func matchPad(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Pad)
	if !is || !movable(g, n.In[0], n.Out[0]) {
		return nil
	}
	plainly := o.Mode == op.PadConstant && g.IsFloat32(n.In[0])
	pads, ok := g.Ints(n.In, 1)
	if !ok {
		return nil
	}
	rank := len(g.Values[n.In[0]].Dims)
	axes := make([]int64, rank)
	for i := range axes {
		axes[i] = int64(i)
	}
	if ir.Given(n.In, 3) {
		if axes, ok = g.Ints(n.In, 3); !ok {
			return nil
		}
	}
	q := &padOp{x: n.In[0], before: make([]int64, rank), after: make([]int64, rank)}
	if plainly && ir.Given(n.In, 2) {
		v := g.Constant(n.In[2])
		if len(v) != 1 {
			return nil
		}
		q.value = v[0]
	}
	if len(pads) != 2*len(axes) {
		return nil
	}
	for i, axis := range axes {
		a, err := op.Axis(axis, rank)
		if err != nil {
			return nil
		}
		q.before[a], q.after[a] = pads[i], pads[i+len(axes)]
	}
	if !plainly {
		return padByTables(p, i, o, q.before, q.after)
	}
	found := p.Plainly(i, q, 1)
	found.Nodes[0].Waits = true
	return found
}

// padByTables is a padding in any mode, of elements of any type.
func padByTables(p *ir.Program, i int, o *op.Pad, before, after []int64) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	x := &g.Values[n.In[0]]
	fill := make([]byte, x.Type.DType.Bits()/8)
	if ir.Given(n.In, 2) && o.Mode == op.PadConstant {
		v := &g.Values[n.In[2]]
		if v.Data == nil || v.Type.DType != x.Type.DType || v.Type.Quant != nil || len(v.Data) < len(fill) {
			return nil
		}
		copy(fill, v.Data)
	} else if x.Type.Quant != nil && o.Mode == op.PadConstant {
		return nil
	}
	index := padTables(o, x.Dims, before, after)
	if index == nil {
		return nil
	}
	return tablePatch(p, i, index, fill)
}

// Layout makes the result in the order of the operand.
func (q *padOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.Order(n, q.x)
	ir.InOrder{Order: o}.Layout(l, n)
	dims := run.SizesIn(l.Net.Values[q.x].Dims, o)
	index := padTables(&op.Pad{}, dims, run.SizesIn(q.before, o), run.SizesIn(q.after, o))
	if index == nil { // nothing of x is left
		for _, n := range run.SizesIn(l.Net.Values[n.Out[0]].Dims, o) {
			index = append(index, slices.Repeat([]int{-1}, int(n)))
		}
	}
	q.moves = newTableMoves(index, dims, 4, mem.Bytes([]float32{q.value}))
}

func (q *padOp) Lower(*ir.Lowering, *ir.Node) run.Step { return q.moves.step() }

// zerosAround returns the padding that v is the result of, when it puts zeros around the spatial dimensions only and
// its result is not made.
func zerosAround(p *ir.Program, v graph.Value, channelsLast bool) *padOp {
	if q := padAround(p, v, channelsLast); q != nil && q.value == 0 {
		return q
	}
	return nil
}

// padAround is zerosAround for any value.
func padAround(p *ir.Program, v graph.Value, channelsLast bool) *padOp {
	q, is := p.Pending(v).(*padOp)
	if !is {
		return nil
	}
	channels := 1
	if channelsLast {
		channels = len(q.before) - 1
	}
	for a := range q.before {
		if q.before[a] < 0 || q.after[a] < 0 || (a == 0 || a == channels) && q.before[a]+q.after[a] != 0 {
			return nil
		}
	}
	return q
}

// neverLargest reports whether the padding, already part of the windows, leaves every maximum as it is: it is -Inf, or
// no more than any element and no window is without one.
func neverLargest(g *ir.Network, p *padOp, ws []op.Window) bool {
	if math.IsInf(float64(p.value), -1) {
		return true
	}
	return p.value <= 0 && atLeastZero(g, p.x, 8) &&
		!slices.ContainsFunc(ws, func(w op.Window) bool { return !touches(w) })
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
func atLeastZero(g *ir.Network, v graph.Value, within int) bool {
	i := g.Maker[v]
	if i == run.None || within == 0 {
		return false
	}
	n := &g.Graph.Nodes[i]
	switch graph.TraitsOf(n.Op).Sign {
	case graph.NonNegative:
		return true
	case graph.NonNegativeIfAll:
		return !slices.ContainsFunc(n.In, func(x graph.Value) bool { return !atLeastZero(g, x, within-1) })
	case graph.NonNegativeIfFirst:
		return atLeastZero(g, n.In[0], within-1)
	}
	if _, clips := n.Op.(*op.Clip); clips {
		a, ok := clip(g, n)
		return ok && a.Alpha >= 0
	}
	return false
}

// shift turns windows over padded images into windows over the images themselves.
func (p *padOp) shift(ws []op.Window, channelsLast bool) {
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

// allFinite reports whether no value is infinite or NaN; false also when the sum is.
func allFinite(v []float32) bool { return finite(kernel.Sum(v)) }
