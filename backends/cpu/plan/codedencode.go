package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// encode makes the codes of a quantized value when an island reads them.
func (b *builder) encode(n *graph.Node) bool {
	x, q := n.In[0], n.Out[0]
	c := b.byteCode(n, b.values[q].typ.DType)
	if c == nil || !b.values[x].fast() {
		return false
	}
	if from := b.coded[x]; from != nil {
		if from.scale == c.scale && from.zero == c.zero {
			c.plain, c.last = from.plain, from.last
			b.setCoded(q, c)
			b.fuseView()
			return true
		}
		return b.recode(q, x, c)
	}
	read, last := b.islandReads(q)
	if !read {
		return false
	}
	b.encodeTo(q, x, c, last && !sameForms(b.values[x].dims))
	return true
}

// encodeLast makes the codes of numbers that are channels-last there: to turn bytes afterwards costs less than to turn
// numbers before.
func (b *builder) encodeLast(n *graph.Node) bool {
	x, q := n.In[0], n.Out[0]
	c := b.byteCode(n, b.values[q].typ.DType)
	if c == nil || !b.values[x].fast() || !b.inLast(x) || sameForms(b.values[x].dims) {
		return false
	}
	b.encodeTo(q, x, c, true)
	return true
}

// encodeTo adds the step that makes the codes of q from the numbers of x.
func (b *builder) encodeTo(q, x graph.Value, c *coded, last bool) {
	b.setCoded(q, c)
	t := encodeTask{coded: *c, n: b.values[x].count()}
	dims := b.values[x].dims
	switch {
	case last && !b.inLast(x) && dims[1] == 3:
		t.planes = product(dims[2:])
		t.n = int(dims[0]) * t.planes
	case last:
		b.wantLast(x)
	}
	s := step{fast: true, reads: []int{b.form(x, last && t.planes == 0)}}
	s.writes = []int{*b.bytes(q, last)}
	s.start = func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}
	b.add(s)
}

// islandReads reports whether an operator that computes with codes reads q's, and whether it wants them channels-last.
func (b *builder) islandReads(q graph.Value) (yes, last bool) {
	for _, u := range b.uses[q] {
		d := &b.graph.Nodes[u]
		if _, is := d.Op.(*op.Dequantize); !is || d.In[0] != q || !b.values[d.Out[0]].fast() ||
			b.byteCode(d, b.values[q].typ.DType) == nil {
			continue
		}
		for _, r := range b.uses[d.Out[0]] {
			switch n := &b.graph.Nodes[r]; o := n.Op.(type) {
			case *op.Conv:
				if n.In[0] == d.Out[0] && b.filter(n.In[1]) != nil && !o.ChannelsLast {
					return true, true
				}
			case *op.MatMul:
				if n.In[0] == d.Out[0] && b.filter(n.In[1]) != nil {
					yes = true
				}
			}
		}
	}
	return yes, false
}

// encodeTask quantizes.
type encodeTask struct {
	st     *step
	coded  coded
	n      int
	planes int // not 0: x are images of three planes of that many values, which become channels
	x      []float32
	y      []byte
	work   []float32
}

const encodeBlock = 1 << 10

func (t *encodeTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.mem[t.st.writes[0]]
	var err error
	if t.work, err = s.borrow(max(1, s.threads) * 3 * encodeBlock); err != nil {
		return err
	}
	s.do(blocks(t.n), t)
	return nil
}

// Chunk quantizes one block. NaN becomes the zero point, as does what is rounded to it.
func (t *encodeTask) Chunk(i, worker int) {
	from, to := block(i, t.n)
	work := t.work[worker*3*encodeBlock:][:3*encodeBlock]
	for from < to {
		n := to - from
		src, y, length := t.x[from:], t.y[from:], n
		if t.planes > 0 {
			image, p := from/t.planes, from%t.planes
			n = min(n, encodeBlock, t.planes-p)
			at := t.x[image*3*t.planes+p:]
			src, y, length = work[:3*n], t.y[3*from:], 3*n
			kernel.Interleave3(src, at[:n], at[t.planes:][:n], at[2*t.planes:][:n])
		}
		kernel.EncodeU8(y, src[:length], t.coded.scale, int(t.coded.zero))
		from += n
	}
}

// recode makes codes of one meaning from those of another.
func (b *builder) recode(q, x graph.Value, c *coded) bool {
	from := b.coded[x]
	var table [256]byte
	for i := range table {
		v := float32(int32(i)-from.zero) * from.scale
		table[i] = c.of(v)
	}
	last := b.inCodedLast(x)
	b.setCoded(q, c)
	s := step{fast: true, reads: []int{b.codesIn(x, last)}}
	s.writes = []int{*b.bytes(q, last)}
	n := b.values[x].count()
	s.start = func(_ *State, st *step) process { return &tableTask{st: st, n: n, table: table[:]} }
	b.add(s)
	return true
}
