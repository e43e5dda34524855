package ops

import (
	"bytes"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
)

// tableOp copies elements of any type: each index of a result's dimension stands for one of the operand's, or for none,
// where the result has a number of its own.
type tableOp struct {
	index [][]int // per dimension of the result, -1: none
	dims  []int64 // of the operand
	fill  []byte  // an element
	moves tableMoves
}

// tableMoves are the copies in an order of dimensions, in units of some elements that lie side by side.
type tableMoves struct {
	unit, size int     // bytes of a unit and of an element
	outer      [][]int // per dimension but the last: where in the operand, in units, -1: outside
	segments   []tableSegment
	places     []int // of the last dimension, where it has too many segments, each of few elements
	twice      bool  // places are those of each element twice
	length     int   // units of a row
	rows, per  int
	pattern    []byte // fill, again and again
	zeros      bool   // fill is 0
	enlarged   bool   // rows follow each other, each twice, and each of their elements is twice
	middle     int    // the segment that has most of a row in one piece; -1: none
	framed     bool   // a row has one segment of the operand, in one piece, and nothing of it twice
}

// tableSegment is a part of a row: n units at a distance of step units from at on, or outside of the operand.
type tableSegment struct {
	at, step, n int
	outside     bool
}

// movable reports whether elements of x are moved to y as they are.
func movable(g *ir.Network, x, y graph.Value) bool {
	a, b := &g.Values[x], &g.Values[y]
	return a.Convertible() && b.Convertible() && a.Type.DType == b.Type.DType && sameCodes(a.Type.Quant, b.Type.Quant)
}

// tablePatch lets node i move elements of its first input; fill is an element for indices that are -1.
func tablePatch(p *ir.Program, i int, index [][]int, fill []byte) *ir.Patch {
	return p.Plainly(i, &tableOp{index: index, dims: p.Net.Values[p.Net.Graph.Nodes[i].In[0]].Dims, fill: fill}, 1)
}

// upTo lists the numbers from first on at a distance.
func upTo(first, step, n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = first + k*step
	}
	return list
}

// Layout takes any order that the result can have too.
func (q *tableOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if len(q.index) == len(l.Net.Values[n.Out[0]].Dims) {
		o = l.Order(n, n.In[0])
	}
	ir.InOrder{Order: o}.Layout(l, n)
	q.moves = newTableMoves(run.SizesIn(q.index, o), run.SizesIn(q.dims, o),
		l.Net.Values[n.In[0]].Type.DType.Bits()/8, q.fill)
}

// newTableMoves are the copies of indices of an operand of sizes dims.
func newTableMoves(index [][]int, dims []int64, size int, fill []byte) tableMoves {
	last := len(dims) - 1
	same := func(d int) bool {
		for k, x := range index[d] {
			if x != k {
				return false
			}
		}
		return len(index[d]) == int(dims[d])
	}
	unit := 1
	for last > 0 && same(last) {
		unit *= int(dims[last])
		last--
	}
	m := tableMoves{unit: unit * size, size: size, rows: 1, pattern: bytes.Repeat(fill, 64/size),
		zeros: bytes.Count(fill, []byte{0}) == len(fill)}
	stride := 1
	for d := last; d >= 0; d-- {
		if d == last {
			m.segments, m.length = segmentsOf(index[d]), len(index[d])
			if unit == 1 && 4*len(m.segments) > m.length && !slices.Contains(index[d], -1) {
				m.places, m.twice = index[d], eachTwice(index[d])
			}
		} else {
			list := make([]int, len(index[d]))
			for k, x := range index[d] {
				if list[k] = -1; x >= 0 {
					list[k] = x * stride
				}
			}
			m.outer = append([][]int{list}, m.outer...)
			m.rows *= len(list)
		}
		stride *= int(dims[d])
	}
	m.per = max(1, 4*run.BlockLen/max(1, m.length*m.unit))
	m.enlarged = m.twice && m.rows%2 == 0 && m.length%2 == 0 && enlargedRows(m.outer, m.length/2)
	if m.enlarged {
		m.per += m.per & 1
	}
	inside := 0
	m.middle = -1
	for k, s := range m.segments {
		if !s.outside && s.step == 1 && 2*s.n > m.length && len(m.segments) > 1 && m.places == nil && m.unit == m.size {
			m.middle = k
		}
	}
	for _, s := range m.segments {
		if !s.outside {
			inside++
			m.framed = s.step == 1
		}
	}
	m.framed = m.framed && inside == 1 && len(m.segments) > 1
	return m
}

// enlargedRows says that rows of cols elements follow each other, each twice.
func enlargedRows(outer [][]int, cols int) bool {
	at := cols
	for d := len(outer) - 1; d >= 0; d-- {
		n := len(outer[d])
		for k, place := range outer[d] {
			if d == len(outer)-1 {
				k /= 2
			}
			if place != k*at {
				return false
			}
		}
		if d == len(outer)-1 {
			if n%2 != 0 {
				return false
			}
			n /= 2
		}
		at *= n
	}
	return len(outer) > 0
}

// segmentsOf divides a list of places into parts of one step.
func segmentsOf(list []int) []tableSegment {
	var s []tableSegment
	for k := 0; k < len(list); {
		part := tableSegment{at: list[k], step: 1, n: 1, outside: list[k] < 0}
		if k+1 < len(list) && !part.outside && list[k+1] >= 0 {
			part.step = list[k+1] - list[k]
		}
		for k+part.n < len(list) {
			next := list[k+part.n]
			if part.outside && next >= 0 || !part.outside && next != part.at+part.n*part.step {
				break
			}
			part.n++
		}
		if part.n == 1 && !part.outside {
			part.step = 1
		}
		s = append(s, part)
		k += part.n
	}
	return s
}

func (q *tableOp) Lower(*ir.Lowering, *ir.Node) run.Step { return q.moves.step() }

// step returns the step that makes the copies.
func (t *tableMoves) step() run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &tableMoveTask{tableMoves: t, st: st}
	}}
}

type tableMoveTask struct {
	*tableMoves
	st   *run.Step
	x, y []byte
}

func (t *tableMoveTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk makes some rows.
func (t *tableMoveTask) Chunk(i, _ int) {
	if t.enlarged {
		first, end := i*t.per, min(t.rows, (i+1)*t.per)
		kernel.Enlarge(t.y[first*t.length*t.size:], t.x[first/2*(t.length/2)*t.size:], t.size, t.length/2, (end-first)/2)
		return
	}
	if row := t.length * t.unit; t.framed {
		t.put(t.y[i*t.per*row : min(t.rows, (i+1)*t.per)*row])
	}
	last := len(t.outer) - 1
	before := -1 // where the row before comes from
	for r, end := i*t.per, min(t.rows, (i+1)*t.per); r < end; {
		if last < 0 {
			t.make(r, 0, &before)
			return
		}
		base, k, rest, outside := 0, r%len(t.outer[last]), r/len(t.outer[last]), false
		for d := last - 1; d >= 0; d-- {
			at := t.outer[d][rest%len(t.outer[d])]
			outside = outside || at < 0
			base += at
			rest /= len(t.outer[d])
		}
		list := t.outer[last][k:]
		list = list[:min(len(list), end-r)]
		if (t.framed || t.middle >= 0) && !outside {
			t.frames(r, base, list)
			r += len(list)
			continue
		}
		for _, at := range list {
			if outside || at < 0 {
				at = -1
			} else {
				at += base
			}
			t.make(r, at, &before)
			r++
		}
	}
}

// frames copies the middles of the rows from r on, of the operand's at places beside base, and makes what is around
// them unless that is there.
func (t *tableMoveTask) frames(r, base int, list []int) {
	row, at, mid := t.length*t.unit, 0, max(t.middle, 0)
	for ; t.framed && t.segments[mid].outside; mid++ {
	}
	for _, s := range t.segments[:mid] {
		at += s.n * t.unit
	}
	s := &t.segments[mid]
	for k := 0; k < len(list); {
		if list[k] < 0 {
			if !t.framed {
				t.put(t.y[(r+k)*row:][:row])
			}
			k++
			continue
		}
		n, step := 1, 0 // rows at one distance
		for ; k+n < len(list) && list[k+n] >= 0 && (n == 1 || list[k+n]-list[k+n-1] == step); n++ {
			step = list[k+n] - list[k+n-1]
		}
		if step < 0 {
			n, step = 1, 0
		}
		y, x := t.y[(r+k)*row+at:], t.x[(base+list[k]+s.at)*t.unit:]
		if n == 1 {
			copy(y[:s.n*t.unit], x)
		} else {
			kernel.CopyRows(y, row, x, step*t.unit, n, s.n*t.unit)
		}
		if !t.framed {
			t.besides(r+k, base, list[k:k+n], mid)
		}
		k += n
	}
}

// besides makes the segments but one of rows from r on, one for each place in list. Those of words go down the rows: an
// edge is a few elements of each.
func (t *tableMoveTask) besides(r, base int, list []int, but int) {
	row := t.length * t.unit
	if t.size != 4 || t.unit != 4 || slices.ContainsFunc(t.segments, func(s tableSegment) bool { return s.outside }) {
		for j, at := range list {
			t.around(t.y[(r+j)*row:][:row], base+at, but)
		}
		return
	}
	x, y, first := mem.Elements[uint32](t.x), mem.Elements[uint32](t.y), r*t.length
	for k := range t.segments {
		s := &t.segments[k]
		if k != but {
			for j, at := range list {
				from := base + at + s.at
				part := y[first+j*t.length:][:s.n]
				if s.step == 0 {
					for i, v := 0, x[from]; i < len(part); i++ {
						part[i] = v
					}
					continue
				}
				for i := range part {
					part[i] = x[from]
					from += s.step
				}
			}
		}
		first += s.n
	}
}

// around makes the segments of a row but one.
func (t *tableMoveTask) around(y []byte, at, but int) {
	for k := range t.segments {
		s := &t.segments[k]
		part := y[:s.n*t.unit]
		y = y[len(part):]
		switch {
		case k == but:
		case s.outside:
			t.put(part)
		case t.size == 4:
			u, x, from := mem.Elements[uint32](part), mem.Elements[uint32](t.x), at+s.at
			for i := range u {
				u[i] = x[from]
				from += s.step
			}
		default:
			strided(part, t.x, at+s.at, s.step, t.size)
		}
	}
}

// make makes row r of the one at a place, -1: outside of the operand.
func (t *tableMoveTask) make(r, at int, before *int) {
	row := t.length * t.unit
	y := t.y[r*row:][:row]
	switch same := *before == at; {
	case at < 0 && t.framed:
		*before = -1
		return
	case at < 0:
		t.put(y)
		*before = -1
		return
	case same:
		kernel.Copy(y, t.y[(r-1)*row:r*row])
		return
	}
	*before = at
	if t.places != nil {
		x, k := t.x[at*t.size:], 0
		if t.twice {
			k = doubled(y, x, t.size)
		}
		gathered(y[k*t.size:], x, t.places[k:], t.size)
		return
	}
	for k := range t.segments {
		s := &t.segments[k]
		part := y[:s.n*t.unit]
		y = y[len(part):]
		switch from := (at + s.at) * t.unit; {
		case s.outside && t.framed:
		case s.outside:
			t.put(part)
		case s.step == 1:
			kernel.Copy(part, t.x[from:])
		case s.step == 0 && len(part) > 64:
			kernel.Copy(part[:t.unit], t.x[from:])
			kernel.Repeat(part, t.unit)
		case t.unit == t.size:
			strided(part, t.x, at+s.at, s.step, t.size)
		default:
			for j := range s.n {
				copy(part[j*t.unit:][:t.unit], t.x[from+j*s.step*t.unit:])
			}
		}
	}
}

// put writes elements that are not the operand's.
func (t *tableMoves) put(y []byte) {
	switch {
	case len(y) <= len(t.pattern):
		copy(y, t.pattern)
	case t.zeros:
		clear(y)
	default:
		kernel.Repeat(y, copy(y, t.pattern))
	}
}

// eachTwice says that a list has each number from 0 on twice.
func eachTwice(list []int) bool {
	for k, at := range list {
		if at != k/2 {
			return false
		}
	}
	return true
}

// doubled fills y with each element of x twice and returns how many elements it wrote.
func doubled(y, x []byte, size int) int {
	n := len(y) / size / 2
	x = x[:n*size]
	kernel.Merge(y[:2*n*size], x, x, size)
	return 2 * n
}

// gathered fills y with elements of size bytes of x at places.
func gathered(y, x []byte, places []int, size int) {
	switch size {
	case 1:
		gatheredOf[uint8](y, x, places)
	case 2:
		gatheredOf[uint16](y, x, places)
	case 4:
		gatheredOf[uint32](y, x, places)
	default:
		gatheredOf[uint64](y, x, places)
	}
}

func gatheredOf[T uint8 | uint16 | uint32 | uint64](y, x []byte, places []int) {
	v, w := mem.Elements[T](y), mem.Elements[T](x)
	places = places[:len(v)]
	for k := range v {
		v[k] = w[places[k]]
	}
}

// strided fills y with elements of size bytes of x at a distance of step elements, from element first on.
func strided(y, x []byte, first, step, size int) {
	if step > 1 {
		kernel.Thin(y, x[first*size:], size, step, len(y)/size)
		return
	}
	switch size {
	case 1:
		stridedOf[uint8](y, x, first, step)
	case 2:
		stridedOf[uint16](y, x, first, step)
	case 4:
		stridedOf[uint32](y, x, first, step)
	default:
		stridedOf[uint64](y, x, first, step)
	}
}

func stridedOf[T uint8 | uint16 | uint32 | uint64](y, x []byte, first, step int) {
	v, w, at := mem.Elements[T](y), mem.Elements[T](x), first
	if step == 0 {
		one := w[at]
		for k := range v {
			v[k] = one
		}
		return
	}
	for k := range v {
		v[k] = w[at]
		at += step
	}
}

// padTables are the indices of a padding in any mode; nil where it cuts away everything.
func padTables(o *op.Pad, dims, before, after []int64) [][]int {
	var index [][]int
	for d, whole := range dims {
		cutBefore := max(-before[d], 0)
		n := whole - cutBefore - max(-after[d], 0)
		if n <= 0 {
			return nil
		}
		list := make([]int, n+max(before[d], 0)+max(after[d], 0))
		for k := range list {
			if src, inside := padIndex(o, int64(k)-max(before[d], 0), n); inside {
				list[k] = int(cutBefore + src)
			} else {
				list[k] = -1
			}
		}
		index = append(index, list)
	}
	return index
}

// padIndex is the cell of a dimension of n cells that stands at index i, which may lie outside.
func padIndex(o *op.Pad, i, n int64) (src int64, inside bool) {
	modulo := func(n int64) int64 { return ((i % n) + n) % n }
	switch {
	case i >= 0 && i < n:
		return i, true
	case o.Mode == op.PadReflect && o.ClampMirror && i < 0:
		return min(-i, n-1), true
	case o.Mode == op.PadReflect && o.ClampMirror:
		return max(2*(n-1)-i, 0), true
	case o.Mode == op.PadReflect && n == 1:
		return 0, true
	case o.Mode == op.PadReflect:
		k := modulo(2 * (n - 1))
		return min(k, 2*(n-1)-k), true
	case o.Mode == op.PadSymmetric && o.ClampMirror && i < 0:
		return min(-1-i, n-1), true
	case o.Mode == op.PadSymmetric && o.ClampMirror:
		return max(2*n-1-i, 0), true
	case o.Mode == op.PadSymmetric:
		k := modulo(2 * n)
		return min(k, 2*n-1-k), true
	case o.Mode == op.PadEdge:
		return min(max(i, 0), n-1), true
	case o.Mode == op.PadWrap:
		return modulo(n), true
	}
	return 0, false
}

// matchCenterCropPad finds cutting and padding around the middle.
func matchCenterCropPad(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.CenterCropPad); !is || !movable(g, n.In[0], n.Out[0]) || g.Values[n.In[0]].Type.Quant != nil {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	var index [][]int
	for d, n := range x.Dims {
		first := -((y.Dims[d] - n) / 2)
		if n >= y.Dims[d] {
			first = (n - y.Dims[d]) / 2
		}
		list := upTo(int(first), 1, int(y.Dims[d]))
		for k, at := range list {
			if at >= int(n) || at < 0 {
				list[k] = -1
			}
		}
		index = append(index, list)
	}
	return tablePatch(p, i, index, make([]byte, x.Type.DType.Bits()/8))
}
