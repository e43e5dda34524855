package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Islands: between QuantizeLinear and DequantizeLinear tensors stay codes of 8 bits, one byte per element, and the
// operators there compute with integers. A value is coded when its codes exist; who needs the numbers has them made
// from the codes.
//
// Exactness: sums of products are exact in int32, whatever the order. So an island's code is that of the real result of
// its node, halves to even, unless the result before rounding lies within 2^-12 of the middle between two codes (2^-21
// for each code that the bias is worth, when that is more than 512); there it may be the other of the two. The same
// graph in float32 errs by up to 2^-23 of the sum of the magnitudes of all products and rounds to the other code when
// that crosses a middle. So a node's code differs from float32 arithmetic by at most one, and only where the real
// result is that close to a middle. Quantizing, views, maxima and codes read as numbers do not differ at all.

// coded is where the codes of a value are: unsigned, those of int8 with 128 added.
type coded struct {
	plain, last int // buffers of the forms, none: not made. Each holds codedSlack more bytes than codes
	scale       float32
	zero        int32 // of the unsigned codes
	typ         tensor.DType
}

// codedSlack is how far beyond the last code kernels may read.
const codedSlack = kernel.IntDepth - 1

// byteCode returns the meaning of 8-bit codes that a QuantizeLinear or DequantizeLinear node gives them, nil when it is
// none that an island has.
func (b *builder) byteCode(n *graph.Node, typ tensor.DType) *coded {
	if typ != tensor.Int8 && typ != tensor.Uint8 || n.In[1] == graph.None || b.values[n.In[1]].data == nil {
		return nil
	}
	c, ok := b.code(n, typ)
	if !ok || !usableScale(c.scale) {
		return nil
	}
	d := &coded{plain: none, last: none, scale: c.scale, zero: int32(c.zero), typ: typ}
	if typ == tensor.Int8 {
		d.zero += 128
	}
	return d
}

// bytes makes a buffer for the codes of v in one form.
func (b *builder) bytes(v graph.Value, last bool) *int {
	c := b.coded[v]
	at := b.buffer(buffer{place: inArena, size: int64(b.values[v].count() + codedSlack)})
	if last {
		c.last = at
		return &c.last
	}
	c.plain = at
	return &c.plain
}

// setCoded notes what the codes of v are.
func (b *builder) setCoded(v graph.Value, c *coded) {
	if b.coded == nil {
		b.coded = map[graph.Value]*coded{}
	}
	b.coded[v] = c
}

// codesIn returns the buffer of v's codes in one form, making it when there is only the other.
func (b *builder) codesIn(v graph.Value, last bool) int {
	c := b.coded[v]
	have, want := &c.plain, &c.last
	if !last {
		have, want = want, have
	}
	if *want != none {
		return *want
	}
	dims := b.values[v].dims
	if sameForms(dims) {
		*want = *have
		return *want
	}
	channels, positions := int(dims[1]), product(dims[2:])
	t := turnTask{matrices: int(dims[0]), rows: channels, cols: positions}
	if !last {
		t.rows, t.cols = positions, channels
	}
	s := step{fast: true, reads: []int{*have}, writes: []int{*b.bytes(v, last)}}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.unnamed(s)
	return *want
}

// inCodedLast reports whether v's codes are channels-last.
func (b *builder) inCodedLast(v graph.Value) bool {
	c := b.coded[v]
	return c.last != none && c.plain == none
}

// decoded makes the numbers of a value that is coded, or its codes in the graph's form.
func (b *builder) decoded(v graph.Value) {
	c, x := b.coded[v], &b.values[v]
	if c == nil || x.plain != none || x.last != none {
		return
	}
	last := b.inCodedLast(v) && x.typ.DType == tensor.Float32
	t := decodeTask{coded: *c, n: x.count()}
	s := step{fast: true, reads: []int{b.codesIn(v, last)}}
	if x.typ.DType == tensor.Float32 {
		s.writes = []int{b.make(v, last)}
	} else {
		t.bytes = true
		x.plain = b.buffer(buffer{place: inArena, size: int64(x.count())})
		s.writes = []int{x.plain}
	}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.unnamed(s)
}

// turnTask transposes matrices of bytes.
type turnTask struct {
	st                   *step
	matrices, rows, cols int
	per                  int // rows of a chunk, or columns when there are more of them
	x, y                 []byte
}

// turnBytes is how many bytes one chunk transposes, about.
const turnBytes = 1 << 16

func (t *turnTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.mem[t.st.writes[0]]
	short, long := min(t.rows, t.cols), max(t.rows, t.cols)
	t.per = max(64, turnBytes/short&^63)
	s.do(t.matrices*((long+t.per-1)/t.per), t)
	return nil
}

// Chunk transposes some rows or columns.
func (t *turnTask) Chunk(i, _ int) {
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

// decodeTask makes numbers of codes, or the codes that the graph has.
type decodeTask struct {
	st    *step
	coded coded
	n     int
	bytes bool
	x     []byte
	y     []float32
	codes []byte
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
		kernel.DequantizeU8(t.y[from:to], x, t.coded.scale, t.coded.zero)
	case t.coded.typ == tensor.Uint8:
		copy(t.codes[from:to], x)
	default:
		kernel.FlipSigns(t.codes[from:to], x)
	}
}

// dequantize gives the result of a DequantizeLinear the codes of its input.
func (b *builder) dequantize(n *graph.Node) bool {
	x, y := n.In[0], n.Out[0]
	d := b.byteCode(n, b.values[x].typ.DType)
	if d == nil || !b.values[y].fast() || b.values[x].typ.Quant != nil {
		return false
	}
	if b.coded[x] == nil && !b.enter(x, *d) {
		return false
	}
	c := b.coded[x]
	d.plain, d.last = c.plain, c.last
	b.setCoded(y, d)
	b.fuseView()
	return true
}

// enter makes codes of an integer value that no island made, an input of the graph as a rule.
func (b *builder) enter(v graph.Value, c coded) bool {
	x := &b.values[v]
	if x.plain == none || x.data != nil || x.dims == nil || x.count() == 0 {
		return false
	}
	from := x.plain
	b.setCoded(v, &c)
	b.unsign(from, *b.bytes(v, false), x.count(), c.typ == tensor.Int8)
	return true
}

// codedView makes a value of another shape of the codes of its input.
func (b *builder) codedView(n *graph.Node) bool {
	x, y := n.In[0], n.Out[0]
	c := b.coded[x]
	if c == nil || b.values[y].dims == nil || b.values[x].count() != b.values[y].count() {
		return false
	}
	d := *c
	if _, same := n.Op.(*op.Identity); !same {
		if b.inCodedLast(x) && !sameForms(b.values[x].dims) {
			return false
		}
		d.plain, d.last = b.codesIn(x, false), none
	}
	b.setCoded(y, &d)
	b.fuseView()
	return true
}
