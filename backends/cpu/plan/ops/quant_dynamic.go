package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// dynamicOp makes codes whose scale and zero point follow from the numbers.
type dynamicOp struct {
	ir.InOrder
	op *op.DynamicQuantize
	n  int
}

func matchDynamicQuantize(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.DynamicQuantize)
	if !is || len(n.Out) != 3 || !g.IsFloat32(n.In[0]) || !plainElements(g, n.Out...) {
		return nil
	}
	return p.Plainly(i, &dynamicOp{op: o, n: g.Values[n.In[0]].Count()}, 1)
}

func (q *dynamicOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Room: 8 * int64(run.Blocks(q.n)), Start: func(_ *run.State, st *run.Step) run.Process {
		return &dynamicTask{q: q, st: st}
	}}
}

type dynamicTask struct {
	q      *dynamicOp
	st     *run.Step
	x      []float32
	y      []byte
	limits []float32 // per block, the least and the largest number
	scale  float32
	zero   int
	coding bool
}

func (t *dynamicTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.Mem[t.st.Writes[0]]
	blocks := run.Blocks(t.q.n)
	t.limits, t.coding = run.Floats(s.Mem[t.st.Scratch])[:2*blocks], false
	s.Do(blocks, t)
	var lo, hi float32
	for k := range blocks {
		lo, hi = min(lo, t.limits[2*k]), max(hi, t.limits[2*k+1])
	}
	if t.scale = (hi - lo) / 255; !finite(t.scale) {
		return t.byReference(s)
	}
	if hi == lo {
		t.scale = 1
	}
	if !ir.UsableScale(t.scale) {
		return t.byReference(s)
	}
	t.zero = int(math.RoundToEven(float64(-lo / t.scale)))
	t.coding = true
	s.Do(blocks, t)
	tensor.PutFloat(tensor.Float32, s.Mem[t.st.Writes[1]], 0, float64(t.scale), false)
	s.Mem[t.st.Writes[2]][0] = byte(t.zero)
	return nil
}

// byReference is for infinities, NaN, and scales that kernels do not take.
func (t *dynamicTask) byReference(s *run.State) error {
	x := tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(t.x))}, Data: run.BytesOf(t.x)}
	res, err := ref.ComputeContext(s.Ctx, t.q.op, []tensor.Tensor{x}, make([]tensor.Type, 3))
	if err != nil {
		return err
	}
	for k := range res {
		copy(s.Mem[t.st.Writes[k]], res[k].Data)
	}
	return nil
}

// Chunk looks for the limits of a block, or makes its codes.
func (t *dynamicTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.q.n)
	if t.coding {
		kernel.EncodeU8(t.y[from:to], t.x[from:to], t.scale, t.zero)
		return
	}
	t.limits[2*i], t.limits[2*i+1] = kernel.MinOf(t.x[from:to]), kernel.MaxOf(t.x[from:to])
}

// integerProduct is a product of codes, less their zero point, with a constant matrix of integers of 8 bits. The zero
// point may follow from the run.
type integerProduct struct {
	at               int
	w                *ir.Value
	rows, depth, n   int
	zero             int64 // unless the node reads it
	reads            bool
	zeroType         tensor.DType
	signed, asFloats bool
	conv             *convolution // whose filters w are, nil: a product of matrices
}

// centredCodes are the parts of an integer operand: quantized values, and the zero point to subtract.
type centredCodes struct {
	codes, zero graph.Value // graph.None: none, or known
	known       int64
	unread      []int // nodes that are not needed any more
}

// castFrom returns the operand of the conversion to int32 that v is, and the node if nothing else reads its result.
func castFrom(p *ir.Program, v graph.Value, reader int) (x graph.Value, unread []int, ok bool) {
	g := p.Net
	k := g.Maker[v]
	if k == run.None {
		return 0, nil, false
	}
	n := &g.Graph.Nodes[k]
	o, is := n.Op.(*op.Cast)
	if !is || o.To != tensor.Int32 {
		return 0, nil, false
	}
	if d := g.Values[n.In[0]].Type.DType; d != tensor.Uint8 && d != tensor.Int8 || g.Values[n.In[0]].Type.Quant != nil {
		return 0, nil, false
	}
	if !p.Taken(k) && g.OnlyUse(n.Out[0]) == reader {
		unread = []int{k}
	}
	return n.In[0], unread, true
}

// centredOf recognizes codes less a zero point of one element, read by node i.
func centredOf(p *ir.Program, v graph.Value, i int) (c centredCodes, ok bool) {
	g := p.Net
	c.zero = graph.None
	k := g.Maker[v]
	if k == run.None {
		return c, false
	}
	if _, is := g.Graph.Nodes[k].Op.(*op.Sub); !is {
		c.codes, c.unread, ok = castFrom(p, v, i)
		return c, ok
	}
	n := &g.Graph.Nodes[k]
	reader := i
	if !p.Taken(k) && g.OnlyUse(n.Out[0]) == i {
		c.unread, reader = []int{k}, k
	} else {
		reader = run.None
	}
	var unread []int
	if c.codes, unread, ok = castFrom(p, n.In[0], reader); !ok {
		return c, false
	}
	if reader != run.None {
		c.unread = append(c.unread, unread...)
	}
	zero := &g.Values[n.In[1]]
	if zero.Dims == nil || zero.Count() != 1 {
		return c, false
	}
	if zero.Data != nil {
		c.known = tensor.IntAt(zero.Type.DType, zero.Data, 0)
		return c, c.known >= -128 && c.known <= 255
	}
	if c.zero, unread, ok = castFrom(p, n.In[1], reader); !ok {
		return c, false
	}
	if reader != run.None {
		c.unread = append(c.unread, unread...)
	}
	return c, g.Values[c.zero].Type.DType == g.Values[c.codes].Type.DType
}

// matchIntegerProduct finds the product that MatMulInteger is, with the conversion of its sums to float32 if nothing
// else reads them.
func matchIntegerProduct(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.MatMul)
	if !is || o.TransposeA || o.TransposeB || ir.Given(n.In, 2) || !plainElements(g, n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	x, w := &g.Values[n.In[0]], &g.Values[n.In[1]]
	if x.Type.DType != tensor.Int32 || w.Type.DType != tensor.Int32 || w.Data == nil || len(w.Dims) != 2 ||
		len(x.Dims) < 2 {
		return nil
	}
	q := &integerProduct{at: i, w: w, depth: int(w.Dims[0]), n: int(w.Dims[1])}
	q.rows = x.Count() / q.depth
	return q.patch(p, i)
}

// patch finds the codes that q multiplies, nil when there are none, or when sums may not be exact.
func (q *integerProduct) patch(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	c, ok := centredOf(p, n.In[0], i)
	if !ok {
		return nil
	}
	q.zero, q.reads = c.known, c.zero != graph.None
	q.signed = g.Values[c.codes].Type.DType == tensor.Int8
	if q.reads {
		q.zeroType = g.Values[c.zero].Type.DType
	} else if q.signed && q.zero > 127 || q.conv != nil && !q.signed && q.zero < 0 { // no code
		return nil
	}
	most, fits := q.bound()
	if !fits || q.depth > 1<<15 {
		return nil
	}
	var fused []int
	out := n.Out
	if k := g.OnlyUse(n.Out[0]); !p.Taken(k) {
		if o, is := g.Graph.Nodes[k].Op.(*op.Cast); is && o.To == tensor.Float32 && g.IsFloat32(g.Graph.Nodes[k].Out[0]) {
			q.asFloats, fused, out = true, []int{k}, g.Graph.Nodes[k].Out
		}
	}
	if !q.asFloats && 255*most >= 1<<24 {
		return nil
	}
	in := []graph.Value{c.codes}
	if q.reads {
		in = append(in, c.zero)
	}
	found := ir.One(i, q, in, slices.Clone(out), fused...)
	found.Nodes[0].Codes = true
	found.Unread = c.unread
	return found
}

// bound is the largest sum of the absolute values of a column; ok is false when a number has more than 8 bits.
func (q *integerProduct) bound() (most int64, ok bool) {
	sums := make([]int64, q.n)
	for k, v := range mem.Elements[int32](q.w.Data)[:q.depth*q.n] {
		if v < -128 || v > 127 {
			return 0, false
		}
		j := k % q.n
		if q.conv != nil {
			j = k / q.depth
		}
		sums[j] += int64(max(v, -v))
	}
	return slices.Max(sums), true
}

// Layout reads codes as they are in memory, those of images with channels last.
func (q *integerProduct) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if q.conv != nil {
		o = run.NHWC
	}
	n.Reads = append(n.Reads, l.Codes(n.In[0], o))
	if q.reads {
		n.Reads = append(n.Reads, l.Want(n.In[1], run.NCHW))
	}
	l.Write(n, n.Out[0], o)
}

func (q *integerProduct) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	taps := 1
	if q.conv != nil {
		taps = q.conv.taps
	}
	k := q.depth / taps
	size := (kernel.PackedInt8Len(taps, k, q.n) + 3) / 4
	data := mem.Elements[int32](q.w.Data)
	p := ir.Packed{Value: w.Graph.Nodes[q.at].In[1], Kind: "integers", Len: size + q.n, Parts: kernel.IntPanels(q.n)}
	p.Fill = func(dst []float32, part int) {
		codes, sums := bytesAsInt8(dst[:size]), intsOf(dst[size:])
		from, to := part*kernel.IntCols, min(q.n, (part+1)*kernel.IntCols)
		cols := make([]int8, (to-from)*q.depth)
		for d := range q.depth {
			for j := range to - from {
				at := d*q.n + from + j
				if q.conv != nil {
					at = (from+j)*q.depth + d
				}
				cols[j*q.depth+d] = int8(data[at])
				sums[from+j] += data[at]
			}
		}
		for j, s := range sums[from:to] {
			sums[from+j] = kernel.RowPair(s) // the larger of the two that are multiplied
		}
		kernel.PackInt8(codes[part*kernel.IntCols*(kernel.PackedInt8Len(taps, k, 16)/16):], cols, taps, k, to-from, q.depth)
	}
	form := w.Packer.Order(q.at, p)
	gemm := kernel.GemmInt8{M: q.rows, N: q.n, K: k, LDA: k, LDC: q.n, SumsOnly: true,
		B: bytesAsInt8(form[:size]), Factors: intsOf(form[size:])}
	var table *run.WindowTable
	if q.conv != nil && !q.conv.pointwise() {
		table = w.Window(q.conv.win, q.conv.batch, n.Reads[0], k)
	}
	return run.Step{Fast: true, Room: 4 * int64(q.rows), Start: func(_ *run.State, st *run.Step) run.Process {
		t := &integerProductTask{q: q, st: st, gemm: gemm, table: table}
		if table != nil {
			t.gemm.Zero = make([]uint8, k+ir.CodeSlack)
		}
		t.per = max(1, min((1<<17)/(4*q.n), (q.rows+3)/4)/24) * 24
		return t
	}}
}

type integerProductTask struct {
	q     *integerProduct
	st    *run.Step
	gemm  kernel.GemmInt8
	table *run.WindowTable // nil: every row is one of the operand
	per   int              // rows of a chunk
	y     []float32
}

func (t *integerProductTask) Run(s *run.State) error {
	q := t.q
	zero := q.zero
	if q.reads {
		zero = tensor.IntAt(q.zeroType, s.Mem[t.st.Reads[1]], 0)
	}
	if q.signed {
		zero += 128
	}
	var err error
	if t.gemm.Ind, err = t.table.Get(s); err != nil {
		return err
	}
	for k := range t.gemm.Zero {
		t.gemm.Zero[k] = uint8(zero)
	}
	t.gemm.A, t.y = s.Mem[t.st.Reads[0]], s.F32(t.st.Writes[0])
	t.gemm.Rows = intsOf(run.Floats(s.Mem[t.st.Scratch]))[:q.rows]
	for k := range t.gemm.Rows {
		t.gemm.Rows[k] = kernel.FactorPair(-int(zero))
	}
	t.gemm.Plan(1)
	s.Do((q.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *integerProductTask) Chunk(i, _ int) {
	from, to := i*t.per, min(t.q.rows, (i+1)*t.per)
	sums := t.y[from*t.q.n : to*t.q.n]
	t.gemm.Sums(sums, from, to)
	if !t.q.asFloats {
		for k, v := range sums {
			intsOf(sums)[k] = int32(v)
		}
	}
}
