package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// matchEncode finds a QuantizeLinear whose codes an integer operator reads, or whose input has codes already.
func matchEncode(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Quantize); !is {
		return nil
	}
	x, q := n.In[0], n.Out[0]
	c, ok := ir.QuantParamsOfNode(g, n, g.Values[q].Type.DType)
	if !ok || !g.IsFloat32(x) {
		return nil
	}
	if from, coded := p.Params[x]; coded {
		if from.Scale == c.Scale && from.Zero == c.Zero {
			return p.CodesPatch(i, qdqViewOp{same: true}, n.In[:1], q, c)
		}
		return p.CodesPatch(i, newRecode(from, c, g.Values[x].Count()), n.In[:1], q, c)
	}
	read, last := integersRead(g, q)
	if !read {
		return nil
	}
	e := &encodeOp{task: encodeTask{params: c}}
	if last && !run.SameOrders(g.Values[x].Dims) {
		e.order = run.NHWC
	}
	return encoding(p, i, e)
}

// encoding is the patch of a node that quantizes float values.
func encoding(p *ir.Program, i int, q ir.Operation) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	c, _ := ir.QuantParamsOfNode(p.Net, n, p.Net.Values[n.Out[0]].Type.DType)
	found := p.CodesPatch(i, q, n.In[:1], n.Out[0], c)
	found.Nodes[0].Codes = false
	return found
}

// matchEncodeType finds the making of codes of a quantized type that an operator reads as codes.
func matchEncodeType(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Convert); !is || !g.IsFloat32(n.In[0]) {
		return nil
	}
	y := &g.Values[n.Out[0]]
	if !y.IsQuant8() || g.Values[n.In[0]].Data != nil {
		return nil
	}
	read, e := false, &encodeOp{}
	for _, u := range g.Uses[n.Out[0]] {
		r := &g.Graph.Nodes[u]
		switch r.Op.(type) {
		case *op.Conv, *op.FullyConnected, *op.MatMul, *op.MaxPool, *op.Add:
			read = true
		case *op.Transpose:
			if perm, ok := g.Ints(r.In, 1); ok {
				if last := channelsMoved(perm, len(y.Dims)); last != nil && *last {
					read, e.order = true, run.NHWC
				}
			}
		}
	}
	to, ok := representationOf(y)
	if !read || !ok {
		return nil
	}
	c := ir.QuantParamsOfType(y.Type)
	e.task = encodeTask{params: c, exact: newRequantized(c, []float64{1}, []float64{0}), to: to}
	found := p.CodesPatch(i, e, n.In[:1], n.Out[0], c)
	found.Nodes[0].Codes = false
	return found
}

// encodeOp quantizes float values, in an order of dimensions.
type encodeOp struct {
	order run.Order
	task  encodeTask
}

func (q *encodeOp) Layout(l *ir.Layouter, n *ir.Node) {
	x := n.In[0]
	dims := l.Net.Values[x].Dims
	q.task.n = run.Product(dims)
	q.task.planes = 0
	to := q.order
	if q.task.exact != nil && to == run.NHWC && l.Best(x) == run.NCHW && dims[1] != 3 {
		to = run.NCHW // bytes are moved afterwards
	}
	from := to
	if to == run.NHWC && l.Best(x) == run.NCHW && dims[1] == 3 {
		q.task.planes = run.Product(dims[2:])
		q.task.n = int(dims[0]) * q.task.planes
		from = run.NCHW
	}
	l.Read(n, x, from)
	n.Writes = []int{l.MakeCodes(n.Out[0], to)}
}

func (q *encodeOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// encodeBestOp quantizes float values in the graph's order, or in NHWC when they are: transposing the bytes afterwards
// costs less than transposing the values before.
type encodeBestOp struct {
	encode     *encodeOp
	conversion ir.Operation
	chosen     ir.Operation
}

func matchEncodeBest(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	plain := matchQuantizeAny(p, i)
	if plain == nil || !g.IsFloat32(n.In[0]) {
		return plain
	}
	c, ok := ir.QuantParamsOfNode(g, n, g.Values[n.Out[0]].Type.DType)
	if !ok {
		return plain
	}
	return encoding(p, i, &encodeBestOp{encode: &encodeOp{order: run.NHWC, task: encodeTask{params: c}},
		conversion: plain.Nodes[0].Op})
}

func (q *encodeBestOp) Layout(l *ir.Layouter, n *ir.Node) {
	q.chosen = q.conversion
	if l.Best(n.In[0]) == run.NHWC && !run.SameOrders(l.Net.Values[n.In[0]].Dims) {
		q.chosen = q.encode
	}
	q.chosen.Layout(l, n)
}

func (q *encodeBestOp) Lower(w *ir.Lowering, n *ir.Node) run.Step { return q.chosen.Lower(w, n) }

// integersRead reports whether an operator that computes with codes reads q's, and whether it wants them in NHWC.
func integersRead(g *ir.Network, q graph.Value) (yes, last bool) {
	for _, u := range g.Uses[q] {
		d := &g.Graph.Nodes[u]
		if _, is := d.Op.(*op.Dequantize); !is || d.In[0] != q || !g.IsFloat32(d.Out[0]) {
			continue
		}
		if _, ok := ir.QuantParamsOfNode(g, d, g.Values[q].Type.DType); !ok {
			continue
		}
		for _, r := range g.Uses[d.Out[0]] {
			switch n := &g.Graph.Nodes[r]; o := n.Op.(type) {
			case *op.Conv:
				if n.In[0] == d.Out[0] && filterOf(g, n.In[1]) != nil && !o.ChannelsLast {
					return true, true
				}
			case *op.ConvTranspose:
				if f := filterOf(g, n.In[1]); n.In[0] == d.Out[0] && f != nil && sideBySide(g, n, f) != nil {
					return true, true
				}
			case *op.Concat:
				if quantizedAfter(g, n.Out[0]) != run.None {
					if a, err := op.Axis(o.Axis, len(g.Values[n.Out[0]].Dims)); err == nil && a == 1 { // channels
						return true, true
					}
					yes = true
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
	st     *run.Step
	params ir.QuantParams
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

func (t *encodeTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * encodeWork); err != nil {
		return err
	}
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk quantizes one block. NaN becomes the zero point, as does what is rounded to it.
func (t *encodeTask) Chunk(i, worker int) {
	from, to := run.Block(i, t.n)
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
			kernel.EncodeU8(y, src[:length], t.params.Scale, int(t.params.Zero))
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
		if t.params.Flip() != 0 {
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

func newRecode(from, to ir.QuantParams, n int) *recodeOp {
	q := &recodeOp{n: n, table: make([]byte, 256)}
	for i := range q.table {
		q.table[i] = to.Of(float32(int32(i)-from.Zero) * from.Scale)
	}
	return q
}

func (q *recodeOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.CodeOrder(n.In[0])
	n.Reads = []int{l.Codes(n.In[0], o)}
	n.Writes = []int{l.MakeCodes(n.Out[0], o)}
}

func (q *recodeOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	n, table := q.n, q.table
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &tableTask{st: st, n: n, table: table}
	}}
}
