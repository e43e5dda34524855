package ir

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/mincut"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// maxFree bounds the nodes among which cheaper searches for better orders. A larger graph keeps those of its operands.
const maxFree = 4096

// Moved returns the bytes that layout conversions and transpositions write in one run, as long as no other layout of
// the program was made.
func (l *Layouter) Moved() int64 {
	sum := int64(0)
	for _, n := range l.list {
		if n.Kind == layoutKind || n.Kind == TransposeKind {
			sum += l.buffers[n.Writes[0]].Size
		}
	}
	return sum
}

// cheaper proposes an order for each node that takes any, so that conversions move the fewest bytes: the minimum cut
// between what is bound to NCHW and what is bound to NHWC, where a value that is made in one order and read in the
// other costs its size once. It returns nil when nothing is converted that such a node reads or writes.
func (l *Layouter) cheaper() map[*Node]run.Order {
	if len(l.free) > maxFree || !l.converts() {
		return nil
	}
	f := mincut.New()
	ids := map[*Node]int{}
	id := func(u use) int {
		switch {
		case u.by == nil && u.order == run.NCHW:
			return mincut.Source
		case u.by == nil:
			return mincut.Sink
		}
		k, ok := ids[u.by]
		if !ok {
			k = f.Vertex()
			ids[u.by] = k
		}
		return k
	}
	readers, writers := map[graph.Value][]int{}, map[graph.Value]int{}
	var values []graph.Value
	for _, u := range l.uses {
		if run.SameOrders(l.Net.Values[u.value].Dims) {
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
		x := &l.Net.Values[v]
		size, _ := x.Type.DType.ByteSize(int64(x.Count()))
		w, some, other := writers[v], f.Vertex(), f.Vertex()
		f.Edge(w, some, size)
		f.Edge(other, w, size)
		for _, r := range readers[v] {
			f.Edge(some, r, mincut.Unbounded)
			f.Edge(r, other, mincut.Unbounded)
		}
	}
	inNCHW := f.Cut()
	chosen := make(map[*Node]run.Order, len(ids))
	for n, k := range ids {
		if chosen[n] = run.NHWC; inNCHW[k] {
			chosen[n] = run.NCHW
		}
	}
	return chosen
}

// converts reports whether a value that a node in any order reads or writes is converted.
func (l *Layouter) converts() bool {
	both := map[graph.Value]bool{}
	for v, f := range l.Forms {
		rows, last := f.Elements[run.NCHW], f.Elements[run.NHWC]
		if rows != run.None && last != run.None && rows != last {
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
