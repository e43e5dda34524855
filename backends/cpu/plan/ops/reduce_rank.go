package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// topOp finds the best elements of each line.
type topOp struct {
	ir.InOrder
	axisLines
	keys
	k              int
	byIndex, last  bool
	size           int
	to             tensor.DType
	values, places int // among the results, run.None: not read
}

func matchTopK(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.TopK)
	if !is || !plainElements(g, n.In[0]) || !ranks(g.Values[n.In[0]].Type.DType) {
		return nil
	}
	x := &g.Values[n.In[0]]
	q := &topOp{byIndex: o.Order == op.TopKByIndex, last: o.SelectLast, size: x.Type.DType.Bits() / 8, values: run.None,
		places: run.None}
	q.from, q.smallest = x.Type.DType, o.Smallest
	written := 0
	for k, v := range n.Out {
		if v == graph.None {
			continue
		}
		if !plainElements(g, v) {
			return nil
		}
		lines, ok := alongAxis(g.Values[v].Dims, o.Axis)
		if q.k = lines.count; !ok {
			return nil
		}
		if k == 0 {
			q.values = written
		} else {
			q.places, q.to = written, g.Values[v].Type.DType
		}
		written++
	}
	var ok bool
	if q.axisLines, ok = alongAxis(x.Dims, o.Axis); !ok || q.k > q.count || written == 0 {
		return nil
	}
	return p.Plainly(i, q, 1)
}

func (q *topOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return &topTask{topOp: q, st: st} }}
}

type topTask struct {
	*topOp
	st       *run.Step
	x, y, at []byte
	work     []float32
}

// room is how many values of scratch memory a thread needs: keys of a line, the best so far, and sorted ones.
func (q *topOp) room() int {
	n := (q.count+2*q.k+2)&^1 + 2
	if q.most() {
		n += 4 * q.count
	}
	return n
}

// most reports whether so many are wanted that all are sorted.
func (q *topOp) most() bool { return q.k > q.count/8 && q.k > 256 }

func (t *topTask) Run(s *run.State) error {
	t.x, t.y, t.at = s.Mem[t.st.Reads[0]], nil, nil
	if t.values != run.None {
		t.y = s.Mem[t.st.Writes[t.values]]
	}
	if t.places != run.None {
		t.at = s.Mem[t.st.Writes[t.places]]
	}
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	s.Do(t.outer*t.inner, t)
	return nil
}

// Chunk finds the best of one line.
func (t *topTask) Chunk(i, worker int) {
	work := t.work[worker*t.room():][:t.room()]
	heap := mem.Elements[int64](run.BytesOf(work))[:t.k]
	line := intsOfFloats(work[2*t.k:])[:t.count]
	first, to := i/t.inner*t.count*t.inner+i%t.inner, i/t.inner*t.k*t.inner+i%t.inner
	switch rows := t.from == tensor.Float32 && !t.most() && t.inner == 1 && t.k > 0; {
	case rows && t.k == 1:
		heap[0] = t.bestFloat(mem.Elements[float32](t.x)[first:][:t.count])
	case rows:
		t.bestFloats(heap, mem.Elements[float32](t.x)[first:][:t.count], line)
	case t.most():
		t.of(line, t.x, first, t.inner)
		pairs := mem.Elements[int64](run.BytesOf(work[(2*t.k+t.count+1)&^1:]))
		copy(heap, sortedKeys(line, pairs[:t.count], pairs[t.count:2*t.count], t.last))
	default:
		t.of(line, t.x, first, t.inner)
		t.best(heap, line)
	}
	if t.byIndex {
		for j, v := range heap {
			heap[j] = int64(t.index(v))
		}
		slices.Sort(heap)
	} else {
		slices.Sort(heap)
		slices.Reverse(heap)
	}
	for j, v := range heap {
		at := int(v)
		if !t.byIndex {
			at = t.index(v)
		}
		if t.y != nil {
			copy(t.y[(to+j*t.inner)*t.size:][:t.size], t.x[(first+at*t.inner)*t.size:])
		}
		if t.at != nil {
			tensor.PutInt(t.to, t.at, to+j*t.inner, int64(at))
		}
	}
}

// pair is a key with the index, such that of equal keys the one that ranks first has the larger pair.
func (q *topOp) pair(key int32, index int) int64 { return rankedPair(key, index, q.last) }

func (q *topOp) index(pair int64) int {
	low := uint32(pair)
	if !q.last {
		low = ^low
	}
	return int(low)
}

// best leaves the pairs of the best keys of a line in heap, the least of them first.
func (q *topOp) best(heap []int64, line []int32) {
	for i, key := range line[:len(heap)] {
		heap[i] = q.pair(key, i)
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	if len(heap) == 0 {
		return
	}
	least := int32(heap[0] >> 32)
	for i := len(heap); i < len(line); i++ {
		if line[i] < least {
			continue
		}
		if v := q.pair(line[i], i); v > heap[0] {
			heap[0] = v
			sink(heap, 0)
			least = int32(heap[0] >> 32)
		}
	}
}

// bestFloat is the pair of the best of numbers side by side.
func (q *topOp) bestFloat(x []float32) int64 {
	at := kernel.BestOf(x, q.smallest, q.last)
	best := q.pair(q.float(x[at]), at)
	if q.smallest && x[at] != x[at] { // a NaN, which is the largest number
		for i, v := range x {
			best = max(best, q.pair(q.float(v), i))
		}
	}
	return best
}

// bestFloats is best for float32 side by side. Most of them are passed over by vectors: no more than those that are not
// worse than the least of the heap can be among the best. line is scratch memory.
func (q *topOp) bestFloats(heap []int64, x []float32, line []int32) {
	for i, v := range x[:len(heap)] {
		heap[i] = q.pair(q.float(v), i)
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	worse := kernel.Less
	if q.smallest {
		worse = kernel.Greater
	}
	for from := len(heap); from < len(x); from += rankBlock {
		n, least := min(rankBlock, len(x)-from), q.index(heap[0])
		mask := mem.Bytes(line)[:n]
		kernel.CompareVS(worse, mask, x[from:from+n], x[least:least+1])
		for i := 0; i < n; i += 8 {
			part := mask[i:min(i+8, n)]
			if len(part) == 8 && mem.Elements[uint64](part)[0] == 0x0101010101010101 {
				continue
			}
			for j, out := range part {
				if out != 0 {
					continue
				}
				if v := q.pair(q.float(x[from+i+j]), from+i+j); v > heap[0] {
					heap[0] = v
					sink(heap, 0)
				}
			}
		}
	}
}

// sink puts element i of a heap, whose children are heaps, in its place; the least is on top.
func sink(heap []int64, i int) {
	v := heap[i]
	for {
		c := 2*i + 1
		if c >= len(heap) {
			break
		}
		if c+1 < len(heap) && heap[c+1] < heap[c] {
			c++
		}
		if v <= heap[c] {
			break
		}
		heap[i] = heap[c]
		i = c
	}
	heap[i] = v
}

// runningOp adds up lines.
type runningOp struct {
	ir.InOrder
	axisLines
	exclusive, reverse bool
	of                 tensor.DType
}

func matchCumSum(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.CumSum)
	if !is || !plainElements(g, n.In[0], n.Out[0]) || g.Values[n.In[0]].Type.DType != g.Values[n.Out[0]].Type.DType {
		return nil
	}
	q := &runningOp{exclusive: o.Exclusive, reverse: o.Reverse, of: g.Values[n.In[0]].Type.DType}
	axis, known := g.Ints(n.In, 1)
	if !known || len(axis) != 1 || q.of != tensor.Float32 && q.of != tensor.Int32 && q.of != tensor.Int64 {
		return nil
	}
	var ok bool
	if q.axisLines, ok = alongAxis(g.Values[n.In[0]].Dims, axis[0]); !ok {
		return nil
	}
	return p.Plainly(i, q, 1)
}

func (q *runningOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &runningTask{runningOp: q, st: st}
	}}
}

type runningTask struct {
	*runningOp
	st   *run.Step
	x, y []byte
}

func (t *runningTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do(t.outer*((t.inner+rankBlock-1)/rankBlock), t)
	return nil
}

// Chunk adds up some neighbouring lines, or one.
func (t *runningTask) Chunk(i, _ int) {
	blocks := (t.inner + rankBlock - 1) / rankBlock
	first := i/blocks*t.count*t.inner + i%blocks*rankBlock
	n := min(rankBlock, t.inner-i%blocks*rankBlock)
	size := t.of.Bits() / 8
	switch {
	case t.inner == 1 && t.of == tensor.Float32:
		runningLine[float32, float64](t.runningOp, t.y, t.x, first)
	case t.inner == 1 && size == 4:
		runningLine[int32, int32](t.runningOp, t.y, t.x, first)
	case t.inner == 1:
		runningLine[int64, int64](t.runningOp, t.y, t.x, first)
	case t.of == tensor.Float32:
		t.floats(first, n)
	default:
		t.integers(first, n, size)
	}
}

// place is where element k of lines is in the order of the sum.
func (q *runningOp) place(first, k int) int {
	if q.reverse {
		k = q.count - 1 - k
	}
	return first + k*q.inner
}

// floats adds up n neighbouring lines of float32.
func (t *runningTask) floats(first, n int) {
	scratch := borrowLines()
	sums := mem.Elements[float64](mem.Bytes(scratch[:]))[:n]
	clear(sums)
	y, x := run.Floats(t.y), run.Floats(t.x)
	for k := range t.count {
		at := t.place(first, k)
		kernel.Running(y[at:][:n], x[at:][:n], sums, t.exclusive)
	}
	returnLines(scratch)
}

// integers adds up n neighbouring lines of integers: to the results before it an element.
func (t *runningTask) integers(first, n, size int) {
	add, n := kernel.AddI8.Sized(size), n*size
	for k := range t.count {
		at := t.place(first, k) * size
		y, x := t.y[at:][:n], t.x[at:][:n]
		before := t.place(first, max(k-1, 0)) * size
		switch {
		case k == 0 && t.exclusive:
			clear(y)
		case k == 0:
			copy(y, x)
		case t.exclusive:
			kernel.IntegersVV(add, y, t.y[before:][:n], t.x[before:][:n])
		default:
			kernel.IntegersVV(add, y, t.y[before:][:n], x)
		}
	}
}

// runningLine adds up the elements of one line.
func runningLine[T float32 | int32 | int64, S float64 | int32 | int64](q *runningOp, y, x []byte, first int) {
	u, v := mem.Elements[T](y)[first:][:q.count], mem.Elements[T](x)[first:][:q.count]
	var sum S
	switch {
	case q.reverse:
		for k := len(u) - 1; k >= 0; k-- {
			before := sum
			sum += S(v[k])
			if u[k] = T(sum); q.exclusive {
				u[k] = T(before)
			}
		}
	case q.exclusive:
		for k := range u {
			before := sum
			sum += S(v[k])
			u[k] = T(before)
		}
	default:
		for k := range u {
			sum += S(v[k])
			u[k] = T(sum)
		}
	}
}
