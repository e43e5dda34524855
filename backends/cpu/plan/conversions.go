package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/tensor"
)

// layoutConversions are what the layout pass puts between the forms of a value.
var layoutConversions = conversions{elements: newConversion, codes: newByteConversion, decode: newDecode,
	unsign: newUnsign}

// newByteConversion is the change of the order of dimensions of bytes to o.
func newByteConversion(dims []int64, o order) operation {
	channels, positions := int(dims[1]), product(dims[2:])
	t := byteTransposeTask{matrices: int(dims[0]), rows: channels, cols: positions}
	if o == nchw {
		t.rows, t.cols = positions, channels
	}
	return &byteTransposeOp{task: t}
}

// byteTransposeOp transposes matrices of bytes.
type byteTransposeOp struct {
	inOrder
	task byteTransposeTask
}

func (q *byteTransposeOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// byteTransposeTask transposes matrices of bytes.
type byteTransposeTask struct {
	st                   *step
	matrices, rows, cols int
	per                  int // rows of a chunk, or columns when there are more of them
	x, y                 []byte
}

func (t *byteTransposeTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	short, long := min(t.rows, t.cols), max(t.rows, t.cols)
	t.per = max(64, transposeBytes/short&^63)
	s.do(t.matrices*((long+t.per-1)/t.per), t)
	return nil
}

// Chunk transposes some rows or columns.
func (t *byteTransposeTask) Chunk(i, _ int) {
	chunks := (max(t.rows, t.cols) + t.per - 1) / t.per
	x, y := t.x[i/chunks*t.rows*t.cols:], t.y[i/chunks*t.rows*t.cols:]
	from, rows, cols := i%chunks*t.per, t.rows, t.cols
	if t.rows > t.cols {
		x, y, rows = x[from*t.cols:], y[from:], min(t.per, t.rows-from)
	} else {
		x, y, cols = x[from:], y[from*t.rows:], min(t.per, t.cols-from)
	}
	if t.rows <= 4 {
		for r := range rows {
			for c, v := range x[r*t.cols:][:cols] {
				y[c*t.rows+r] = v
			}
		}
		return
	}
	kernel.TransposeBits(y, t.rows, x, t.cols, rows, cols)
}

// decodeOp makes the elements of a value of its codes.
type decodeOp struct {
	inOrder
	task decodeTask
}

func newDecode(c quantParams, v *value) operation {
	return &decodeOp{task: decodeTask{params: c, n: v.count(), bytes: v.typ.DType != tensor.Float32}}
}

func (q *decodeOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// decodeTask dequantizes codes, or gives them the signs that they have in the graph.
type decodeTask struct {
	st     *step
	params quantParams
	n      int
	bytes  bool
	x      []byte
	y      []float32
	codes  []byte
}

func (t *decodeTask) run(s *State) error {
	t.x = s.mem[t.st.reads[0]]
	if t.bytes {
		t.codes = s.mem[t.st.writes[0]]
	} else {
		t.y = s.f32(t.st.writes[0])
	}
	s.do(blocks(t.n), t)
	return nil
}

// Chunk converts one block.
func (t *decodeTask) Chunk(i, _ int) {
	from, to := block(i, t.n)
	switch x := t.x[from:to]; {
	case !t.bytes:
		kernel.DequantizeU8(t.y[from:to], x, t.params.scale, t.params.zero)
	case t.params.typ == tensor.Uint8:
		copy(t.codes[from:to], x)
	default:
		kernel.FlipSigns(t.codes[from:to], x)
	}
}

// transposeBytes is how many bytes one chunk transposes, about.
const transposeBytes = 1 << 16

// unsignOp copies codes to where kernels may read behind them; flip says that they are signed.
type unsignOp struct {
	inOrder
	n    int
	flip bool
}

func newUnsign(elements int, flip bool) operation { return &unsignOp{n: elements, flip: flip} }

func (q *unsignOp) lower(*lowering, *node) step {
	t := unsignTask{n: q.n, flip: q.flip}
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// unsignTask copies codes, adding 128 to signed ones.
type unsignTask struct {
	st   *step
	n    int
	flip bool
	x, y []byte
}

func (t *unsignTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	s.do(blocks(t.n), t)
	return nil
}

// Chunk copies one block.
func (t *unsignTask) Chunk(i, _ int) {
	from, to := block(i, t.n)
	if x, y := t.x[from:to], t.y[from:to]; t.flip {
		kernel.FlipSigns(y, x)
	} else {
		copy(y, x)
	}
}

// newConversion is the change of the order of v's dimensions to o.
func newConversion(v *value, o order) operation {
	dims, rank := v.dims, len(v.dims)
	perm := append(append([]int{0}, seq(2, rank)...), 1)
	if o == nchw {
		dims, perm = sizesIn(dims, nhwc), append([]int{0, rank - 1}, seq(1, rank-1)...)
	}
	return &permuteOp{size: v.typ.DType.Bits() / 8, permutation: newPermutation(dims, perm)}
}
