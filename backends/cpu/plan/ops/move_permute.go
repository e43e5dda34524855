package ops

import (
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/tensor"
)

// permuteOp moves elements of size bytes.
type permuteOp struct {
	ir.InOrder
	size        int
	permutation permutation
}

func (q *permuteOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	size, moves := q.size, q.permutation
	return run.Step{Fast: true,
		Start: func(_ *run.State, st *run.Step) run.Process {
			return &permuteTask{st: st, size: size, permutation: moves}
		}}
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

// newPermutation merges dimensions that stay neighbours and picks the two that form matrices. Without elements there are
// no matrices: total is 0.
func newPermutation(dims []int64, perm []int) permutation {
	if slices.Contains(dims, 0) {
		return permutation{}
	}
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

type permuteTask struct {
	permutation
	st    *run.Step
	size  int // bytes of an element
	tiles int // of a matrix, along its columns
	per   int // matrices of a chunk, when a matrix is one tile
	x, y  []byte
	apart bool // columns are taken apart
	work  []float32
}

func (t *permuteTask) Run(s *run.State) error {
	if t.total == 0 {
		return nil
	}
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	t.tiles, t.per = 1, 1
	switch size := max(1, t.rows) * t.cols; {
	case size < run.BlockLen || t.straight:
		t.per = max(1, run.BlockLen/size)
	default:
		t.tiles = (t.cols + permuteTile - 1) / permuteTile
	}
	last := len(t.counts) - 1
	t.apart = !t.straight && t.rowFrom == t.cols && t.tiles == 1 && last >= 0 && t.permutation.from[last] > 0 &&
		t.to[last] > 0 && splits(t.size, t.cols)
	if t.apart {
		var err error
		if t.work, err = s.Borrow(max(1, s.Threads) * splitRoom); err != nil {
			return err
		}
	}
	s.Do((t.total+t.per-1)/t.per*t.tiles, t)
	return nil
}

// Chunk moves some matrices, or a tile of one.
func (t *permuteTask) Chunk(i, worker int) {
	tile := i % t.tiles
	m, end := i/t.tiles*t.per, min(t.total, (i/t.tiles+1)*t.per)
	last := len(t.counts) - 1
	for m < end {
		from, to, rest, n := 0, 0, m, 1
		if last >= 0 { // neighbours in the last dimension
			n = min(end-m, t.counts[last]-m%t.counts[last])
		}
		for d := last; d >= 0; d-- {
			k := rest % t.counts[d]
			rest /= t.counts[d]
			from += k * t.permutation.from[d]
			to += k * t.to[d]
		}
		m += n
		if t.straight && last >= 0 {
			y, x := t.y[to*t.size:], t.x[from*t.size:]
			kernel.CopyRows(y, t.to[last]*t.size, x, t.permutation.from[last]*t.size, n, t.cols*t.size)
			continue
		}
		if t.apart {
			g := groups{t.y[to*t.size:], t.x[from*t.size:], t.colTo * t.size, t.to[last] * t.size,
				t.permutation.from[last] * t.size, t.size, t.cols, t.rows, n}
			g.split(run.BytesOf(t.work[worker*splitRoom:][:splitRoom]))
			continue
		}
		for range n {
			switch c := tile * permuteTile; {
			case t.straight:
				kernel.Copy(t.y[to*t.size:][:t.cols*t.size], t.x[from*t.size:])
			case t.tiles == 1:
				t.transpose(to, from, t.cols)
			default:
				t.transpose(to+c*t.colTo, from+c, min(permuteTile, t.cols-c))
			}
			if last >= 0 {
				from, to = from+t.permutation.from[last], to+t.to[last]
			}
		}
	}
}

// transpose moves columns of a matrix, of which the first lies at element to of the destination and from of the source.
func (t *permuteTask) transpose(to, from, cols int) {
	y, x := t.y[to*t.size:], t.x[from*t.size:]
	switch t.size {
	case 1:
		kernel.TransposeBits(y, t.colTo, x, t.rowFrom, t.rows, cols)
	case 2:
		kernel.TransposeBits(wordsOf[uint16](y), t.colTo, wordsOf[uint16](x), t.rowFrom, t.rows, cols)
	case 4:
		kernel.Transpose(run.Floats(y), t.colTo, run.Floats(x), t.rowFrom, t.rows, cols)
	default:
		kernel.TransposeBits(wordsOf[uint64](y), t.colTo, wordsOf[uint64](x), t.rowFrom, t.rows, cols)
	}
}

// wordsOf returns bytes as words of another size.
func wordsOf[T uint16 | uint64](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// permuteTile is how many columns one chunk of a large matrix has.
const permuteTile = 64
