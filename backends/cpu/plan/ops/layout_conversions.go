package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/tensor"
)

// LayoutConversions are put by the layout pass between the forms of a value.
var LayoutConversions = ir.Conversions{Elements: newConversion, Codes: newByteConversion, Decode: newDecode,
	Unsign: newUnsign}

// newByteConversion is the change of the order of dimensions of bytes to o.
func newByteConversion(dims []int64, o run.Order) ir.Operation {
	channels, positions := int(dims[1]), run.Product(dims[2:])
	t := byteTransposeTask{matrices: int(dims[0]), rows: channels, cols: positions}
	if o == run.NCHW {
		t.rows, t.cols = positions, channels
	}
	return &byteTransposeOp{task: t}
}

// byteTransposeOp transposes matrices of bytes.
type byteTransposeOp struct {
	ir.InOrder
	task byteTransposeTask
}

func (q *byteTransposeOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// byteTransposeTask transposes matrices of bytes.
type byteTransposeTask struct {
	st                   *run.Step
	matrices, rows, cols int
	per                  int // rows of a chunk, or columns when there are more of them
	x, y                 []byte
}

func (t *byteTransposeTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	short, long := min(t.rows, t.cols), max(t.rows, t.cols)
	t.per = max(64, transposeBytes/short&^63)
	s.Do(t.matrices*((long+t.per-1)/t.per), t)
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
	ir.InOrder
	task decodeTask
}

func newDecode(c ir.QuantParams, v *ir.Value) ir.Operation {
	return &decodeOp{task: decodeTask{params: c, n: v.Count(), bytes: v.Type.DType != tensor.Float32}}
}

func (q *decodeOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// decodeTask dequantizes codes, or gives them the signs that they have in the graph.
type decodeTask struct {
	st     *run.Step
	params ir.QuantParams
	n      int
	bytes  bool
	x      []byte
	y      []float32
	codes  []byte
}

func (t *decodeTask) Run(s *run.State) error {
	t.x = s.Mem[t.st.Reads[0]]
	if t.bytes {
		t.codes = s.Mem[t.st.Writes[0]]
	} else {
		t.y = s.F32(t.st.Writes[0])
	}
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk converts one block.
func (t *decodeTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.n)
	switch x := t.x[from:to]; {
	case !t.bytes:
		kernel.DequantizeU8(t.y[from:to], x, t.params.Scale, t.params.Zero)
	case t.params.DType == tensor.Uint8:
		copy(t.codes[from:to], x)
	default:
		kernel.FlipSigns(t.codes[from:to], x)
	}
}

// transposeBytes is how many bytes one chunk transposes, about.
const transposeBytes = 1 << 16

// unsignOp copies codes to where kernels may read past the last; flip says that they are signed.
type unsignOp struct {
	ir.InOrder
	n    int
	flip bool
}

func newUnsign(elements int, flip bool) ir.Operation { return &unsignOp{n: elements, flip: flip} }

func (q *unsignOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := unsignTask{n: q.n, flip: q.flip}
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// unsignTask copies codes, adding 128 to signed ones.
type unsignTask struct {
	st   *run.Step
	n    int
	flip bool
	x, y []byte
}

func (t *unsignTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk copies one block.
func (t *unsignTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.n)
	if x, y := t.x[from:to], t.y[from:to]; t.flip {
		kernel.FlipSigns(y, x)
	} else {
		kernel.Copy(y, x)
	}
}

// newConversion is the change of the order of v's dimensions to o.
func newConversion(v *ir.Value, o run.Order) ir.Operation {
	dims, rank := v.Dims, len(v.Dims)
	perm := append(append([]int{0}, run.Seq(2, rank)...), 1)
	if o == run.NCHW {
		dims, perm = run.SizesIn(dims, run.NHWC), append([]int{0, rank - 1}, run.Seq(1, rank-1)...)
	}
	return &permuteOp{size: v.Type.DType.Bits() / 8, permutation: newPermutation(dims, perm)}
}
