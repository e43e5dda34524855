package plan

import "github.com/anynpu/anynpu/core/graph"

// maxFree bounds the nodes among which cheaper searches for better orders. A larger graph keeps those of its operands.
const maxFree = 4096

// moved returns the bytes that layout conversions and transpositions write in one run, as long as no other layout of
// the program was made.
func (l *layouter) moved() int64 {
	sum := int64(0)
	for _, n := range l.list {
		if n.kind == layoutKind || n.kind == transposeKind {
			sum += l.buffers[n.writes[0]].size
		}
	}
	return sum
}

// cheaper proposes an order for each node that takes any, so that conversions move the fewest bytes: the minimum cut
// between what is bound to NCHW and what is bound to NHWC, where a value that is made in one order and read in the
// other costs its size once. It returns nil when nothing is converted that such a node reads or writes.
func (l *layouter) cheaper() map[*node]order {
	if len(l.free) > maxFree || !l.converts() {
		return nil
	}
	f := newFlow()
	ids := map[*node]int{}
	id := func(u use) int {
		switch {
		case u.by == nil && u.order == nchw:
			return flowSource
		case u.by == nil:
			return flowSink
		}
		k, ok := ids[u.by]
		if !ok {
			k = f.vertex()
			ids[u.by] = k
		}
		return k
	}
	readers, writers := map[graph.Value][]int{}, map[graph.Value]int{}
	var values []graph.Value
	for _, u := range l.uses {
		if sameOrders(l.net.values[u.value].dims) {
			continue
		}
		if u.write {
			writers[u.value] = id(u)
			values = append(values, u.value)
		} else {
			readers[u.value] = append(readers[u.value], id(u))
		}
	}
	for _, v := range values {
		x := &l.net.values[v]
		size, _ := x.typ.DType.ByteSize(int64(x.count()))
		w, some, other := writers[v], f.vertex(), f.vertex()
		f.edge(w, some, size)
		f.edge(other, w, size)
		for _, r := range readers[v] {
			f.edge(some, r, flowUnbounded)
			f.edge(r, other, flowUnbounded)
		}
	}
	inNCHW := f.cut()
	chosen := make(map[*node]order, len(ids))
	for n, k := range ids {
		if chosen[n] = nhwc; inNCHW[k] {
			chosen[n] = nchw
		}
	}
	return chosen
}

// converts reports whether a value that a node in any order reads or writes is converted.
func (l *layouter) converts() bool {
	both := map[graph.Value]bool{}
	for v, f := range l.forms {
		if f.elements[nchw] != none && f.elements[nhwc] != none && f.elements[nchw] != f.elements[nhwc] {
			both[graph.Value(v)] = true
		}
	}
	for _, u := range l.uses {
		if u.by != nil && both[u.value] {
			return true
		}
	}
	return false
}
