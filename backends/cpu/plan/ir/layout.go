package ir

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Layout gives the nodes of a program their buffers and adds conversions between NCHW and NHWC. A node that takes any
// order takes that of its operand at first, which suits chains. Where values are converted all the same, the orders
// that move the fewest bytes take their place. inNHWC marks the inputs that come in NHWC.
func Layout(p *Program, inNHWC []bool, with Conversions) (*Placed, error) {
	first, err := LayoutBy(p, inNHWC, with, nil)
	if err != nil {
		return nil, err
	}
	chosen, most := first.cheaper(), first.Moved()
	if chosen == nil {
		return first.Placed, nil
	}
	second, err := LayoutBy(p, inNHWC, with, chosen) // nodes hold what the last layout gave them
	if err == nil && second.Moved() >= most {
		second, err = LayoutBy(p, inNHWC, with, nil)
	}
	if err != nil {
		return nil, err
	}
	return second.Placed, nil
}

// LayoutBy is layout with an order for each node that takes any. A form of a value is made when a node wants it, and is
// kept.
func LayoutBy(p *Program, inNHWC []bool, with Conversions, chosen map[*Node]run.Order) (*Layouter, error) {
	own := *p
	own.Waiting = maps.Clone(p.Waiting)
	p = &own
	l := &Layouter{Placed: &Placed{Program: p, fused: slices.Clone(p.Fused)}, with: with,
		Forms: make([]Forms, len(p.Net.Values)), chosen: chosen, free: map[*Node]bool{}}
	for v := range l.Forms {
		l.Forms[v] = Forms{[2]int{run.None, run.None}, [2]int{run.None, run.None}}
	}
	for i, v := range p.Net.Graph.In {
		size, _ := p.Net.Inputs[i].ByteSize()
		o := run.NCHW
		if x := &p.Net.Values[v]; i < len(inNHWC) && inNHWC[i] && !run.SameOrders(x.Dims) && x.Count() > 0 {
			o = run.NHWC
		}
		l.Forms[v].Elements[o] = l.Buffer(run.Buffer{Place: run.IsInput, Index: i, Size: size,
			Form: run.BufferForm{Value: v, Order: o}})
		l.uses = append(l.uses, use{value: v, order: o, write: true})
	}
	for _, n := range p.nodes() {
		if !n.Waits {
			l.put(n)
		}
	}
	for i, v := range p.Net.Graph.Out {
		x := &p.Net.Values[v]
		o := run.Output{Buf: l.Want(v, run.NCHW), Type: x.Type, Dims: x.Dims}
		l.uses = append(l.uses, use{value: v, order: run.NCHW})
		if o.Buf == run.None {
			return nil, fault.New(fault.Internal, "graph output %d is never made", i)
		}
		l.outputs = append(l.outputs, o)
		if f := &l.buffers[o.Buf]; f.Place == run.InArena && f.Output == run.None {
			f.Output = i
		}
	}
	for _, n := range p.Waiting { // every reader does without
		l.fused = append(l.fused, n.At)
	}
	slices.Sort(l.fused)
	return l, nil
}

// put places a node after those that it needs.
func (l *Layouter) put(n *Node) {
	n.Reads, n.Writes, n.None = nil, nil, false
	n.Op.Layout(l, n)
	if !n.None {
		l.list = append(l.list, n)
		return
	}
	if n.At != run.None {
		l.fused = append(l.fused, n.At)
	}
}

// Settle places the node that v waits for, and makes elements when there are only codes.
func (l *Layouter) Settle(v graph.Value) {
	if n := l.Waiting[v]; n != nil {
		delete(l.Waiting, v)
		l.put(n)
	}
	x, f := &l.Net.Values[v], &l.Forms[v]
	if f.Elements != [2]int{run.None, run.None} {
		return
	}
	if x.Data != nil {
		f.Elements[run.NCHW] = l.Buffer(run.Buffer{Place: run.IsConst, Data: x.Data, Form: run.BufferForm{Value: v}})
		return
	}
	if f.Codes != [2]int{run.None, run.None} {
		o := run.NCHW
		if x.Type.DType == tensor.Float32 {
			o = l.CodeOrder(v)
		}
		from := l.Codes(v, o)
		l.convert("decode", l.with.Decode(l.Params[v], x), from, l.make(v, o))
	}
}

// Best returns the order in which v is best read.
func (l *Layouter) Best(v graph.Value) run.Order {
	l.Settle(v)
	x := &l.Net.Values[v]
	if f := &l.Forms[v]; x.IsFloat32() && f.Elements[run.NHWC] != run.None &&
		(f.Elements[run.NCHW] == run.None || run.SameOrders(x.Dims)) {
		return run.NHWC
	}
	return run.NCHW
}

// Order returns the order in which n, which takes any, reads some of its operands: the one chosen for it, otherwise
// NHWC when one of them is best read so.
func (l *Layouter) Order(n *Node, operands ...graph.Value) run.Order {
	best := run.NCHW
	for _, v := range operands {
		best = max(best, l.Best(v))
		if x := &l.Net.Values[v]; x.IsFloat32() && !run.SameOrders(x.Dims) {
			l.free[n] = true
		}
	}
	if o, ok := l.chosen[n]; ok && l.free[n] {
		return o
	}
	return best
}

// Has reports whether v is made in an order.
func (l *Layouter) Has(v graph.Value, o run.Order) bool {
	l.Settle(v)
	return l.Forms[v].Elements[o] != run.None
}

// Want returns the buffer of v in an order, converting it when there is only the other; None when v is never made.
func (l *Layouter) Want(v graph.Value, o run.Order) int {
	l.Settle(v)
	f, x := &l.Forms[v], &l.Net.Values[v]
	from := f.Elements[1-o]
	switch {
	case f.Elements[o] != run.None || from == run.None:
	case run.SameOrders(x.Dims):
		f.Elements[o] = from
	default:
		l.convert(layoutKind, l.with.Elements(x, o), from, l.make(v, o))
	}
	return f.Elements[o]
}

// make returns a new buffer for v in an order.
func (l *Layouter) make(v graph.Value, o run.Order) int {
	x := &l.Net.Values[v]
	size, _ := x.Type.DType.ByteSize(int64(x.Count()))
	at := l.Buffer(run.Buffer{Place: run.InArena, Size: size})
	l.Forms[v].Elements[o] = at
	l.buffers[at].Form = run.BufferForm{Value: v, Order: o}
	return at
}

// Result returns a buffer for the result v of a reference step.
func (l *Layouter) Result(v graph.Value) int {
	at := l.Buffer(run.Buffer{Place: run.IsResult})
	l.Forms[v].Elements[run.NCHW] = at
	l.buffers[at].Form.Value = v
	return at
}

// CodeOrder is the order in which v's codes are best read.
func (l *Layouter) CodeOrder(v graph.Value) run.Order {
	if f := &l.Forms[v]; f.Codes[run.NHWC] != run.None && f.Codes[run.NCHW] == run.None {
		return run.NHWC
	}
	return run.NCHW
}

// Codes returns the buffer of v's unsigned codes in an order, making it of the other, or of v's elements.
func (l *Layouter) Codes(v graph.Value, o run.Order) int {
	l.Enter(v)
	f, x := &l.Forms[v], &l.Net.Values[v]
	from := f.Codes[1-o]
	switch {
	case f.Codes[o] != run.None:
	case run.SameOrders(x.Dims):
		f.Codes[o] = from
	default:
		l.convert(layoutKind, l.with.Codes(x.Dims, o), from, l.MakeCodes(v, o))
	}
	return f.Codes[o]
}

// Enter makes codes of v's elements, in the order in which these are, when there are none.
func (l *Layouter) Enter(v graph.Value) {
	f, x := &l.Forms[v], &l.Net.Values[v]
	if f.Codes != [2]int{run.None, run.None} {
		return
	}
	o := run.NCHW
	if f.Elements[run.NCHW] == run.None && f.Elements[run.NHWC] != run.None {
		o = run.NHWC
	}
	op := l.with.Unsign(x.Count(), x.Type.DType == tensor.Int8)
	l.convert("unsign", op, l.Want(v, o), l.MakeCodes(v, o))
}

// MakeCodes returns a new buffer for v's codes in an order.
func (l *Layouter) MakeCodes(v graph.Value, o run.Order) int {
	at := l.Buffer(run.Buffer{Place: run.InArena, Size: int64(l.Net.Values[v].Count() + CodeSlack)})
	l.Forms[v].Codes[o] = at
	l.buffers[at].Form = run.BufferForm{Value: v, Order: o, Codes: true}
	return at
}

// Read makes v in an order the next operand of n.
func (l *Layouter) Read(n *Node, v graph.Value, o run.Order) {
	n.Reads = append(n.Reads, l.Want(v, o))
	l.uses = append(l.uses, use{v, l.either(n), o, false})
}

// Write makes v in an order the next result of n.
func (l *Layouter) Write(n *Node, v graph.Value, o run.Order) {
	n.Writes = append(n.Writes, l.make(v, o))
	l.uses = append(l.uses, use{v, l.either(n), o, true})
}

// either returns n when it takes any order.
func (l *Layouter) either(n *Node) *Node {
	if l.free[n] {
		return n
	}
	return nil
}

// convert adds a node that makes one form of a value of another.
func (l *Layouter) convert(kind string, op Operation, from, to int) {
	l.list = append(l.list, &Node{At: run.None, Kind: kind, Op: op, Reads: []int{from}, Writes: []int{to}})
}

// Buffer adds a buffer and returns its number.
func (l *Layouter) Buffer(x run.Buffer) int {
	x.Output = run.None
	if x.Place == run.IsConst {
		x.Size = int64(len(x.Data))
	}
	l.buffers = append(l.buffers, x)
	return len(l.buffers) - 1
}

// InOrder is the layout of operations that take operands and results in one order.
type InOrder struct{ Order run.Order }

func (q InOrder) Layout(l *Layouter, n *Node) {
	for _, v := range n.In {
		if v != graph.None {
			l.Read(n, v, q.Order)
		}
	}
	for _, v := range n.Out {
		if v != graph.None {
			l.Write(n, v, q.Order)
		}
	}
}

// AsFirst is the layout of operations that take any order, that of the first operand.
type AsFirst struct{}

func (AsFirst) Layout(l *Layouter, n *Node) { InOrder{l.Order(n, n.In[0])}.Layout(l, n) }
