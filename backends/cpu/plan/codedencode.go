package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// matchEncode finds a QuantizeLinear whose codes an integer operator reads, or whose input has codes already.
func matchEncode(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Quantize); !is {
		return nil
	}
	x, q := n.In[0], n.Out[0]
	c, ok := quantParamsOfNode(g, n, g.values[q].typ.DType)
	if !ok || !g.isFloat32(x) {
		return nil
	}
	if from, coded := p.params[x]; coded {
		if from.scale == c.scale && from.zero == c.zero {
			return p.codesPatch(i, qdqViewOp{same: true}, n.In[:1], q, c)
		}
		return p.codesPatch(i, newRecode(from, c, g.values[x].count()), n.In[:1], q, c)
	}
	read, last := integersRead(g, q)
	if !read {
		return nil
	}
	e := &encodeOp{task: encodeTask{params: c}}
	if last && !sameOrders(g.values[x].dims) {
		e.order = nhwc
	}
	return encoding(p, i, e)
}

// encoding is the patch of a node that quantizes float values.
func encoding(p *program, i int, q operation) *patch {
	n := &p.net.graph.Nodes[i]
	c, _ := quantParamsOfNode(p.net, n, p.net.values[n.Out[0]].typ.DType)
	found := p.codesPatch(i, q, n.In[:1], n.Out[0], c)
	found.nodes[0].codes = false
	return found
}

// matchEncodeType finds the making of codes of a quantized type that an operator reads as codes.
func matchEncodeType(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	if _, is := n.Op.(*op.Convert); !is || !g.isFloat32(n.In[0]) {
		return nil
	}
	y := &g.values[n.Out[0]]
	if !y.isQuant8() || g.values[n.In[0]].data != nil {
		return nil
	}
	read, e := false, &encodeOp{}
	for _, u := range g.uses[n.Out[0]] {
		r := &g.graph.Nodes[u]
		switch r.Op.(type) {
		case *op.Conv, *op.FullyConnected, *op.MatMul, *op.MaxPool, *op.Add:
			read = true
		case *op.Transpose:
			if perm, ok := g.ints(r.In, 1); ok {
				if last := channelsMoved(perm, len(y.dims)); last != nil && *last {
					read, e.order = true, nhwc
				}
			}
		}
	}
	to, ok := representationOf(y)
	if !read || !ok {
		return nil
	}
	c := quantParamsOfType(y.typ)
	e.task = encodeTask{params: c, exact: newRequantized(c, []float64{1}, []float64{0}), to: to}
	found := p.codesPatch(i, e, n.In[:1], n.Out[0], c)
	found.nodes[0].codes = false
	return found
}

// encodeOp quantizes float values, in an order of dimensions.
type encodeOp struct {
	order order
	task  encodeTask
}

func (q *encodeOp) layout(l *layouter, n *node) {
	x := n.in[0]
	dims := l.net.values[x].dims
	q.task.n = product(dims)
	q.task.planes = 0
	to := q.order
	if q.task.exact != nil && to == nhwc && l.best(x) == nchw && dims[1] != 3 {
		to = nchw // bytes are moved afterwards
	}
	from := to
	if to == nhwc && l.best(x) == nchw && dims[1] == 3 {
		q.task.planes = product(dims[2:])
		q.task.n = int(dims[0]) * q.task.planes
		from = nchw
	}
	l.read(n, x, from)
	n.writes = []int{l.makeCodes(n.out[0], to)}
}

func (q *encodeOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// encodeBestOp quantizes float values in the graph's order, or in NHWC when they are: transposing the bytes afterwards
// costs less than transposing the values before.
type encodeBestOp struct {
	encode     *encodeOp
	conversion operation
	chosen     operation
}

func matchEncodeBest(p *program, i int) *patch {
	g, n := p.net, &p.net.graph.Nodes[i]
	plain := matchQuantizeAny(p, i)
	if plain == nil || !g.isFloat32(n.In[0]) {
		return plain
	}
	c, ok := quantParamsOfNode(g, n, g.values[n.Out[0]].typ.DType)
	if !ok {
		return plain
	}
	return encoding(p, i, &encodeBestOp{encode: &encodeOp{order: nhwc, task: encodeTask{params: c}},
		conversion: plain.nodes[0].op})
}

func (q *encodeBestOp) layout(l *layouter, n *node) {
	q.chosen = q.conversion
	if l.best(n.in[0]) == nhwc && !sameOrders(l.net.values[n.in[0]].dims) {
		q.chosen = q.encode
	}
	q.chosen.layout(l, n)
}

func (q *encodeBestOp) lower(w *lowering, n *node) step { return q.chosen.lower(w, n) }

// integersRead reports whether an operator that computes with codes reads q's, and whether it wants them in NHWC.
func integersRead(g *network, q graph.Value) (yes, last bool) {
	for _, u := range g.uses[q] {
		d := &g.graph.Nodes[u]
		if _, is := d.Op.(*op.Dequantize); !is || d.In[0] != q || !g.isFloat32(d.Out[0]) {
			continue
		}
		if _, ok := quantParamsOfNode(g, d, g.values[q].typ.DType); !ok {
			continue
		}
		for _, r := range g.uses[d.Out[0]] {
			switch n := &g.graph.Nodes[r]; o := n.Op.(type) {
			case *op.Conv:
				if n.In[0] == d.Out[0] && filterOf(g, n.In[1]) != nil && !o.ChannelsLast {
					return true, true
				}
			case *op.MatMul:
				if n.In[0] == d.Out[0] && filterOf(g, n.In[1]) != nil {
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
	params quantParams
	n      int
	planes int            // not 0: x are images of three planes of that many values, which become channels
	exact  *requantized   // of a quantized type, nil: halves go to even
	to     representation // with exact
	x      []float32
	y      []byte
	work   []float32
}

const (
	encodeBlock = 1 << 10
	encodeWork  = 3*encodeBlock + 256
)

func (t *encodeTask) run(s *State) error {
	t.x, t.y = s.f32(t.st.reads[0]), s.mem[t.st.writes[0]]
	var err error
	if t.work, err = s.borrow(max(1, s.threads) * encodeWork); err != nil {
		return err
	}
	s.do(blocks(t.n), t)
	return nil
}

// Chunk quantizes one block. NaN becomes the zero point, as does what is rounded to it.
func (t *encodeTask) Chunk(i, worker int) {
	from, to := block(i, t.n)
	work := t.work[worker*encodeWork:][:encodeWork]
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
		if t.exact != nil {
			t.encode(y[:length], src, work[3*encodeBlock:])
		} else {
			kernel.EncodeU8(y, src[:length], t.params.scale, int(t.params.zero))
		}
		from += n
	}
}

// encode makes codes of a quantized type.
func (t *encodeTask) encode(y []byte, x, work []float32) {
	for len(y) > 0 {
		n := min(len(y), t.exact.rows)
		if hasNaN(x[:n]) {
			t.to.write(y, x[:n], 0)
		} else {
			t.exact.store(y[:n], x, work)
		}
		if t.params.flip() != 0 {
			kernel.FlipSigns(y[:n], y[:n])
		}
		x, y = x[n:], y[n:]
	}
}

// recodeOp makes codes of one meaning of those of another.
type recodeOp struct {
	n     int
	table []byte
}

func newRecode(from, to quantParams, n int) *recodeOp {
	q := &recodeOp{n: n, table: make([]byte, 256)}
	for i := range q.table {
		q.table[i] = to.of(float32(int32(i)-from.zero) * from.scale)
	}
	return q
}

func (q *recodeOp) layout(l *layouter, n *node) {
	o := l.codeOrder(n.in[0])
	n.reads = []int{l.codes(n.in[0], o)}
	n.writes = []int{l.makeCodes(n.out[0], o)}
}

func (q *recodeOp) lower(*lowering, *node) step {
	n, table := q.n, q.table
	return step{fast: true, start: func(_ *State, st *step) process { return &tableTask{st: st, n: n, table: table} }}
}
