package plan

import (
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// view lets the output of a node that moves no element share its input's memory.
func (b *builder) view(n *graph.Node) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if x.dims == nil || y.dims == nil || !sameCodes(x.typ.Quant, y.typ.Quant) || x.typ.DType != y.typ.DType ||
		x.count() != y.count() {
		return false
	}
	if _, ok := b.ints(n.In, 1); !ok {
		return false
	}
	b.settle(n.In[0])
	if x.plain == none && x.last == none {
		return false
	}
	if _, same := n.Op.(*op.Identity); same {
		y.plain, y.last = x.plain, x.last
	} else {
		y.plain = b.wantPlain(n.In[0])
	}
	b.fuseView()
	return true
}

// sameCodes reports whether tensors of any shapes mean the same by the same integers.
func sameCodes(q, r *tensor.Quant) bool {
	return q == nil && r == nil || q.IsPerTensor() && r.IsPerTensor() && q.Scale[0] == r.Scale[0] &&
		q.ZeroAt(0) == r.ZeroAt(0)
}

// fuseView notes a node that needs no step.
func (b *builder) fuseView() { b.plan.fused = append(b.plan.fused, b.node) }

func (b *builder) transpose(n *graph.Node) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	perm, ok := b.ints(n.In, 1)
	if !ok || x.dims == nil {
		return false
	}
	axes, err := op.Permutation(perm, len(x.dims))
	if err != nil {
		return false
	}
	if !x.fast() || !y.fast() {
		return b.transposeBits(n, axes)
	}
	rank := len(axes)
	if rank > 2 {
		toLast := append(append([]int{0}, seq(2, rank)...), 1)
		fromLast := append([]int{0, rank - 1}, seq(1, rank-1)...)
		b.settle(n.In[0])
		switch {
		case slices.Equal(axes, toLast) && b.inLast(n.In[0]):
			y.plain = x.last
			b.fuseView()
			return true
		case slices.Equal(axes, fromLast) && x.plain != none:
			y.last = x.plain
			b.fuseView()
			return true
		}
	}
	if b.turn(n, axes) {
		return true
	}
	from := b.wantPlain(n.In[0])
	b.permuteFor(b.node, b.make(n.Out[0], false), from, x.dims, axes)
	return true
}

// transposeBits adds a transposition of elements of another type than float32.
func (b *builder) transposeBits(n *graph.Node, axes []int) bool {
	x, y := &b.values[n.In[0]], &b.values[n.Out[0]]
	if !x.convertible() || !y.convertible() || x.typ.DType != y.typ.DType || !sameCodes(x.typ.Quant, y.typ.Quant) {
		return false
	}
	size := x.typ.DType.Bits() / 8
	from := b.wantPlain(n.In[0])
	y.plain = b.buffer(buffer{place: inArena, size: int64(size * y.count())})
	b.permuteBits(b.node, y.plain, from, size, x.dims, axes)
	return true
}

// permute adds a change of layout: dst gets dimension perm[i] of src, of sizes dims, as dimension i.
func (b *builder) permute(dst, src int, dims []int64, perm []int) {
	b.permuteFor(none, dst, src, dims, perm)
}

func (b *builder) permuteFor(node, dst, src int, dims []int64, perm []int) {
	b.permuteBits(node, dst, src, 4, dims, perm)
}

// permuteBits is permuteFor of elements of size bytes.
func (b *builder) permuteBits(node, dst, src, size int, dims []int64, perm []int) {
	p := newPermutation(dims, perm)
	s := step{fast: true, reads: []int{src}, writes: []int{dst}}
	s.start = func(_ *State, st *step) process { return &permuteTask{st: st, size: size, permutation: p} }
	saved := b.node
	b.node = node
	b.add(s)
	b.node = saved
}

// permutation moves matrices: all dimensions but two count the matrices.
type permutation struct {
	counts     []int // of matrices, outermost first
	from, to   []int // stride of each count in the source and in the destination
	rows, cols int   // of a matrix: rows lie next to each other in the destination, columns in the source
	rowFrom    int   // stride of rows in the source
	colTo      int   // stride of columns in the destination
	straight   bool  // a matrix is one row of cols values that stay neighbours
	total      int
}

// newPermutation merges dimensions that stay neighbours and picks the two that form matrices.
func newPermutation(dims []int64, perm []int) permutation {
	stride := tensor.RowMajor(dims)
	var size, from []int // in the destination's order
	for _, a := range perm {
		n, s := int(dims[a]), int(stride[a])
		if n == 1 {
			continue
		}
		if k := len(size) - 1; k >= 0 && from[k] == n*s {
			size[k], from[k] = size[k]*n, s
			continue
		}
		size, from = append(size, n), append(from, s)
	}
	if len(size) == 0 {
		size, from = []int{1}, []int{1}
	}
	to := make([]int, len(size))
	for i, n := len(size)-1, 1; i >= 0; i-- {
		to[i] = n
		n *= size[i]
	}
	p := permutation{total: 1}
	end := len(size) - 1
	inner := slices.Index(from, 1)
	p.straight = inner == end
	p.cols, p.colTo = size[inner], to[inner]
	if !p.straight {
		p.rows, p.rowFrom = size[end], from[end]
	}
	for i := range size {
		if i != inner && i != end {
			p.counts, p.from, p.to = append(p.counts, size[i]), append(p.from, from[i]), append(p.to, to[i])
			p.total *= size[i]
		}
	}
	return p
}

const permuteTile = 64

type permuteTask struct {
	permutation
	st    *step
	size  int // bytes of an element
	tiles int // of a matrix, along its columns
	per   int // matrices of a chunk, when a matrix is one tile
	x, y  []byte
}

func (t *permuteTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	t.tiles, t.per = 1, 1
	switch size := max(1, t.rows) * t.cols; {
	case size < blockLen || t.straight:
		t.per = max(1, blockLen/size)
	default:
		t.tiles = (t.cols + permuteTile - 1) / permuteTile
	}
	s.do((t.total+t.per-1)/t.per*t.tiles, t)
	return nil
}

// Chunk moves some matrices, or a tile of one.
func (t *permuteTask) Chunk(i, _ int) {
	tile := i % t.tiles
	first := i / t.tiles * t.per
	for m := first; m < min(t.total, first+t.per); m++ {
		from, to, rest := 0, 0, m
		for d := len(t.counts) - 1; d >= 0; d-- {
			k := rest % t.counts[d]
			rest /= t.counts[d]
			from += k * t.permutation.from[d]
			to += k * t.to[d]
		}
		switch {
		case t.straight:
			copy(t.y[to*t.size:][:t.cols*t.size], t.x[from*t.size:])
		case t.tiles == 1:
			t.turn(to, from, t.cols)
		default:
			c := tile * permuteTile
			t.turn(to+c*t.colTo, from+c, min(permuteTile, t.cols-c))
		}
	}
}

// turn transposes columns of a matrix, of which the first lies at element to of the destination and from of the source.
func (t *permuteTask) turn(to, from, cols int) {
	y, x := t.y[to*t.size:], t.x[from*t.size:]
	switch t.size {
	case 1:
		kernel.TransposeBits(y, t.colTo, x, t.rowFrom, t.rows, cols)
	case 2:
		kernel.TransposeBits(wordsOf[uint16](y), t.colTo, wordsOf[uint16](x), t.rowFrom, t.rows, cols)
	case 4:
		kernel.Transpose(floats(y), t.colTo, floats(x), t.rowFrom, t.rows, cols)
	default:
		kernel.TransposeBits(wordsOf[uint64](y), t.colTo, wordsOf[uint64](x), t.rowFrom, t.rows, cols)
	}
}

// wordsOf returns bytes as words of another size.
func wordsOf[T uint16 | uint64](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// strip is one operand of a concatenation or one piece of a split: its rows lie in rows of the whole.
type strip struct {
	buf      int // index in reads or writes
	at, cols int
}

type stripTask struct {
	st     *step
	split  bool
	rows   int
	cols   int // of the whole
	strips []strip
	per    int
	s      *State
}

// axisForm returns where axis lies in the form that is used, and the sizes there.
func axisForm(dims []int64, axis int, last bool) (int, []int64) {
	switch {
	case !last:
		return axis, dims
	case axis == 1:
		return len(dims) - 1, lastDims(dims)
	case axis == 0:
		return 0, lastDims(dims)
	}
	return axis - 1, lastDims(dims)
}

func (b *builder) concat(n *graph.Node, axis int64) bool {
	y := &b.values[n.Out[0]]
	if !y.fast() {
		return false
	}
	a, err := op.Axis(axis, len(y.dims))
	if err != nil {
		return false
	}
	last := false
	var in []graph.Value
	for _, v := range n.In {
		x := &b.values[v]
		if x.dims == nil || x.typ.DType != tensor.Float32 || x.typ.Quant != nil {
			return false
		}
		if x.count() > 0 {
			in = append(in, v)
			last = last || b.inLast(v)
		}
	}
	s := step{}
	var strips []strip
	at := 0
	for i, v := range in {
		k, dims := axisForm(b.values[v].dims, a, last)
		cols := product(dims[k:])
		s.reads = append(s.reads, b.form(v, last))
		strips = append(strips, strip{i, at, cols})
		at += cols
	}
	s.writes = []int{b.make(n.Out[0], last)}
	b.strips(s, stripTask{rows: y.count() / at, cols: at, strips: strips})
	return true
}

func (b *builder) split(n *graph.Node, axis int64) bool {
	x := &b.values[n.In[0]]
	if _, ok := b.ints(n.In, 1); !ok || !x.fast() {
		return false
	}
	a, err := op.Axis(axis, len(x.dims))
	if err != nil {
		return false
	}
	for _, v := range n.Out {
		if v == graph.None || b.values[v].dims == nil || b.values[v].typ.DType != tensor.Float32 ||
			b.values[v].typ.Quant != nil {
			return false
		}
	}
	last := b.inLast(n.In[0])
	s := step{reads: []int{b.form(n.In[0], last)}}
	k, dims := axisForm(x.dims, a, last)
	whole := product(dims[k:])
	var strips []strip
	at := 0
	for i, v := range n.Out {
		k, dims := axisForm(b.values[v].dims, a, last)
		cols := product(dims[k:])
		s.writes = append(s.writes, b.make(v, last))
		strips = append(strips, strip{i, at, cols})
		at += cols
	}
	if at != whole {
		return false
	}
	b.strips(s, stripTask{split: true, rows: x.count() / whole, cols: whole, strips: strips})
	return true
}

func (b *builder) strips(s step, t stripTask) {
	t.per = max(1, blockLen/t.cols)
	s.fast, s.strips = true, &t
	whole, parts := []int{t.cols}, make([]int, len(t.strips))
	for _, p := range t.strips {
		parts[p.buf] = p.cols
	}
	s.inCols, s.outCols = parts, whole
	if t.split {
		s.inCols, s.outCols = whole, parts
	}
	s.start = func(state *State, st *step) process {
		own := t
		own.st, own.s = st, state
		return &own
	}
	b.add(s)
}

func (t *stripTask) run(s *State) error {
	s.do((t.rows+t.per-1)/t.per*len(t.strips), t)
	return nil
}

// Chunk moves some rows of one operand.
func (t *stripTask) Chunk(i, _ int) {
	p := t.strips[i%len(t.strips)]
	from := i / len(t.strips) * t.per
	rows := min(t.rows-from, t.per)
	if p.cols == 0 {
		return
	}
	if t.split {
		y, ldy := t.s.rows(t.st.writes[p.buf], p.cols)
		x, ldx := t.s.rows(t.st.reads[0], t.cols)
		kernel.CopyRows(y[from*ldy:], ldy, x[from*ldx+p.at:], ldx, rows, p.cols)
		return
	}
	y, ldy := t.s.rows(t.st.writes[0], t.cols)
	x, ldx := t.s.rows(t.st.reads[p.buf], p.cols)
	kernel.CopyRows(y[from*ldy+p.at:], ldy, x[from*ldx:], ldx, rows, p.cols)
}
