package plan

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// layout gives the nodes of a program their buffers and adds conversions between NCHW and NHWC. A node that takes any
// order takes that of its operand at first, which suits chains. Where values are converted all the same, the orders
// that move the fewest bytes take their place. inNHWC marks the inputs that come in NHWC.
func layout(p *program, inNHWC []bool, with conversions) (*placed, error) {
	first, err := layoutBy(p, inNHWC, with, nil)
	if err != nil {
		return nil, err
	}
	chosen, most := first.cheaper(), first.moved()
	if chosen == nil {
		return first.placed, nil
	}
	second, err := layoutBy(p, inNHWC, with, chosen) // nodes hold what the last layout gave them
	if err == nil && second.moved() >= most {
		second, err = layoutBy(p, inNHWC, with, nil)
	}
	if err != nil {
		return nil, err
	}
	return second.placed, nil
}

// layoutBy is layout with an order for each node that takes any. A form of a value is made when a node wants it, and is
// kept.
func layoutBy(p *program, inNHWC []bool, with conversions, chosen map[*node]order) (*layouter, error) {
	own := *p
	own.waiting = maps.Clone(p.waiting)
	p = &own
	l := &layouter{placed: &placed{program: p, fused: slices.Clone(p.fused)}, with: with,
		forms: make([]forms, len(p.net.values)), chosen: chosen, free: map[*node]bool{}}
	for v := range l.forms {
		l.forms[v] = forms{[2]int{none, none}, [2]int{none, none}}
	}
	for i, v := range p.net.graph.In {
		size, _ := p.net.inputs[i].ByteSize()
		o := nchw
		if x := &p.net.values[v]; i < len(inNHWC) && inNHWC[i] && !sameOrders(x.dims) && x.count() > 0 {
			o = nhwc
		}
		l.forms[v].elements[o] = l.buffer(buffer{place: isInput, index: i, size: size,
			form: bufferForm{value: v, order: o}})
		l.uses = append(l.uses, use{value: v, order: o, write: true})
	}
	for _, n := range p.nodes() {
		if !n.waits {
			l.put(n)
		}
	}
	for i, v := range p.net.graph.Out {
		x := &p.net.values[v]
		o := output{buf: l.want(v, nchw), typ: x.typ, dims: x.dims}
		l.uses = append(l.uses, use{value: v, order: nchw})
		if o.buf == none {
			return nil, fault.New(fault.Internal, "graph output %d is never made", i)
		}
		l.outputs = append(l.outputs, o)
		if f := &l.buffers[o.buf]; f.place == inArena && f.output == none {
			f.output = i
		}
	}
	for _, n := range p.waiting { // every reader does without
		l.fused = append(l.fused, n.at)
	}
	slices.Sort(l.fused)
	return l, nil
}

// put places a node after those that it needs.
func (l *layouter) put(n *node) {
	n.reads, n.writes, n.none = nil, nil, false
	n.op.layout(l, n)
	if !n.none {
		l.list = append(l.list, n)
		return
	}
	if n.at != none {
		l.fused = append(l.fused, n.at)
	}
}

// settle places the node that v waits for, and makes elements when there are only codes.
func (l *layouter) settle(v graph.Value) {
	if n := l.waiting[v]; n != nil {
		delete(l.waiting, v)
		l.put(n)
	}
	x, f := &l.net.values[v], &l.forms[v]
	if f.elements != [2]int{none, none} {
		return
	}
	if x.data != nil {
		f.elements[nchw] = l.buffer(buffer{place: isConst, data: x.data, form: bufferForm{value: v}})
		return
	}
	if f.codes != [2]int{none, none} {
		o := nchw
		if x.typ.DType == tensor.Float32 {
			o = l.codeOrder(v)
		}
		from := l.codes(v, o)
		l.convert("decode", l.with.decode(l.params[v], x), from, l.make(v, o))
	}
}

// best returns the order in which v is best read.
func (l *layouter) best(v graph.Value) order {
	l.settle(v)
	x := &l.net.values[v]
	if f := &l.forms[v]; x.isFloat32() && f.elements[nhwc] != none && (f.elements[nchw] == none || sameOrders(x.dims)) {
		return nhwc
	}
	return nchw
}

// order returns the order in which n, which takes any, reads some of its operands: the one chosen for it, otherwise
// NHWC when one of them is best read so.
func (l *layouter) order(n *node, operands ...graph.Value) order {
	best := nchw
	for _, v := range operands {
		best = max(best, l.best(v))
		if x := &l.net.values[v]; x.isFloat32() && !sameOrders(x.dims) {
			l.free[n] = true
		}
	}
	if o, ok := l.chosen[n]; ok && l.free[n] {
		return o
	}
	return best
}

// has reports whether v is made in an order.
func (l *layouter) has(v graph.Value, o order) bool {
	l.settle(v)
	return l.forms[v].elements[o] != none
}

// want returns the buffer of v in an order, converting it when there is only the other; none when v is never made.
func (l *layouter) want(v graph.Value, o order) int {
	l.settle(v)
	f, x := &l.forms[v], &l.net.values[v]
	from := f.elements[1-o]
	switch {
	case f.elements[o] != none || from == none:
	case sameOrders(x.dims):
		f.elements[o] = from
	default:
		l.convert(layoutKind, l.with.elements(x, o), from, l.make(v, o))
	}
	return f.elements[o]
}

// make returns a new buffer for v in an order.
func (l *layouter) make(v graph.Value, o order) int {
	x := &l.net.values[v]
	size, _ := x.typ.DType.ByteSize(int64(x.count()))
	at := l.buffer(buffer{place: inArena, size: size})
	l.forms[v].elements[o] = at
	l.buffers[at].form = bufferForm{value: v, order: o}
	return at
}

// result returns a buffer for what a reference step makes of v.
func (l *layouter) result(v graph.Value) int {
	at := l.buffer(buffer{place: isResult})
	l.forms[v].elements[nchw] = at
	l.buffers[at].form.value = v
	return at
}

// codeOrder is the order in which v's codes are best read.
func (l *layouter) codeOrder(v graph.Value) order {
	if f := &l.forms[v]; f.codes[nhwc] != none && f.codes[nchw] == none {
		return nhwc
	}
	return nchw
}

// codes returns the buffer of v's unsigned codes in an order, making it of the other, or of v's elements.
func (l *layouter) codes(v graph.Value, o order) int {
	l.enter(v)
	f, x := &l.forms[v], &l.net.values[v]
	from := f.codes[1-o]
	switch {
	case f.codes[o] != none:
	case sameOrders(x.dims):
		f.codes[o] = from
	default:
		l.convert(layoutKind, l.with.codes(x.dims, o), from, l.makeCodes(v, o))
	}
	return f.codes[o]
}

// enter makes codes of v's elements, in the order in which these are, when there are none.
func (l *layouter) enter(v graph.Value) {
	f, x := &l.forms[v], &l.net.values[v]
	if f.codes != [2]int{none, none} {
		return
	}
	o := nchw
	if f.elements[nchw] == none && f.elements[nhwc] != none {
		o = nhwc
	}
	op := l.with.unsign(x.count(), x.typ.DType == tensor.Int8)
	l.convert("unsign", op, l.want(v, o), l.makeCodes(v, o))
}

// makeCodes returns a new buffer for v's codes in an order.
func (l *layouter) makeCodes(v graph.Value, o order) int {
	at := l.buffer(buffer{place: inArena, size: int64(l.net.values[v].count() + codeSlack)})
	l.forms[v].codes[o] = at
	l.buffers[at].form = bufferForm{v, o, true}
	return at
}

// read makes v in an order the next operand of n.
func (l *layouter) read(n *node, v graph.Value, o order) {
	n.reads = append(n.reads, l.want(v, o))
	l.uses = append(l.uses, use{v, l.either(n), o, false})
}

// write makes v in an order the next result of n.
func (l *layouter) write(n *node, v graph.Value, o order) {
	n.writes = append(n.writes, l.make(v, o))
	l.uses = append(l.uses, use{v, l.either(n), o, true})
}

// either returns n when it takes any order.
func (l *layouter) either(n *node) *node {
	if l.free[n] {
		return n
	}
	return nil
}

// convert adds a node that makes one form of a value of another.
func (l *layouter) convert(kind string, op operation, from, to int) {
	l.list = append(l.list, &node{at: none, kind: kind, op: op, reads: []int{from}, writes: []int{to}})
}

func (l *layouter) buffer(x buffer) int {
	x.output = none
	if x.place == isConst {
		x.size = int64(len(x.data))
	}
	l.buffers = append(l.buffers, x)
	return len(l.buffers) - 1
}

// inOrder is the layout of operations that take operands and results in one order.
type inOrder struct{ order order }

func (q inOrder) layout(l *layouter, n *node) {
	for _, v := range n.in {
		if v != graph.None {
			l.read(n, v, q.order)
		}
	}
	for _, v := range n.out {
		if v != graph.None {
			l.write(n, v, q.order)
		}
	}
}

// asFirst is the layout of operations that take any order, that of the first operand.
type asFirst struct{}

func (asFirst) layout(l *layouter, n *node) { inOrder{l.order(n, n.in[0])}.layout(l, n) }
