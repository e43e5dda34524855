package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// A sum of products of codes that becomes codes by way of other numbers: values that are there as codes are added to
// it, or it has a function that is no clamp. It multiplies integers; the rest is computed in float32, some rows at a
// time, and rounded to codes once. It errs by some 2^-22 of the largest number on the way.

// realEpilogue is the way from a sum to its codes.
type realEpilogue struct {
	q      graph.Value // that holds the codes
	params ir.QuantParams
	add    []float32     // per output, nil: zeros
	terms  []graph.Value // codes that are added
	after  bool          // they are added to the result of act
	act    kernel.Act
	nodes  []int // on the way
}

// mostTerms is how many values with codes are added to a sum.
const mostTerms = 3

// realEpilogueOf follows v, outputs along axis, to a QuantizeLinear; nil when it does not get there.
func realEpilogueOf(p *ir.Program, v graph.Value, axis int) *realEpilogue {
	g, e := p.Net, &realEpilogue{}
	dims, active := g.Values[v].Dims, false
	for {
		if !active {
			if gate := gateOf(p, v); gate != nil {
				e.act, v, active, e.nodes = gate.act, gate.out, true, append(e.nodes, gate.nodes...)
				continue
			}
		}
		i := g.OnlyUse(v)
		if p.Taken(i) || slices.Contains(e.nodes, i) {
			return nil
		}
		n := &g.Graph.Nodes[i]
		if len(n.Out) != 1 || !slices.Equal(g.Values[n.Out[0]].Dims, dims) {
			return nil
		}
		e.nodes = append(e.nodes, i)
		switch n.Op.(type) {
		case *op.Quantize:
			var ok bool
			e.params, ok = ir.QuantParamsOfNode(g, n, g.Values[n.Out[0]].Type.DType)
			if e.q = n.Out[0]; !ok || n.In[0] != v {
				return nil
			}
			return e
		case *op.Add:
			if !e.plus(p, n, v, axis, active) {
				return nil
			}
		default:
			a, ok := activation(g, n)
			if !ok || active || n.In[0] != v {
				return nil
			}
			e.act, active = a, true
		}
		if v = n.Out[0]; !g.IsFloat32(v) {
			return nil
		}
	}
}

// plus takes over what node n adds to v; ok is false when e has no place for it.
func (e *realEpilogue) plus(p *ir.Program, n *graph.Node, v graph.Value, axis int, active bool) (ok bool) {
	other := n.In[0]
	if other == v {
		other = n.In[1]
	}
	if other == v {
		return false
	}
	if c := perChannel(p.Net, other, p.Net.Values[v].Dims, axis); c != nil {
		ok = e.add == nil && !active
		e.add = c
		return ok
	}
	terms, nodes := codedTerms(p, other, p.Net.Values[v].Dims)
	if len(terms) == 0 || len(e.terms)+len(terms) > mostTerms || len(e.terms) > 0 && active {
		return false
	}
	e.terms, e.nodes, e.after = append(e.terms, terms...), append(e.nodes, nodes...), active
	return true
}

// codedTerms are the values with codes whose sum is v, and the nodes that add them; none when it is no such sum.
func codedTerms(p *ir.Program, v graph.Value, dims []int64) (terms []graph.Value, nodes []int) {
	g := p.Net
	if !slices.Equal(g.Values[v].Dims, dims) {
		return nil, nil
	}
	if p.HasCodes(v) {
		return []graph.Value{v}, nil
	}
	at := g.Maker[v]
	if p.Taken(at) || g.OnlyUse(v) == run.None {
		return nil, nil
	}
	n := &g.Graph.Nodes[at]
	if _, is := n.Op.(*op.Add); !is {
		return nil, nil
	}
	nodes = append(nodes, at)
	for _, x := range n.In {
		own, more := codedTerms(p, x, dims)
		if len(own) == 0 {
			return nil, nil
		}
		terms, nodes = append(terms, own...), append(nodes, more...)
	}
	return terms, nodes
}

// realSum is the patch at node at of the sum that node i computes; at is i, or a node on the way to its codes.
func realSum(p *ir.Program, at, i int, c *coded) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	e := realEpilogueOf(p, n.Out[0], c.axis)
	if e == nil || at != i && !slices.Contains(e.nodes, at) {
		return nil
	}
	c.real = true
	q := &qdqRealOp{after: e.after, act: e.act, params: e.params}
	if !realSums(c.qdqSum, q, e.add) {
		return nil
	}
	if q.gemm = c.gemm(); q.gemm == nil {
		return nil
	}
	for _, v := range e.terms {
		q.terms = append(q.terms, p.Params[v])
	}
	in := append([]graph.Value{n.In[0]}, e.terms...)
	found := p.CodesPatch(at, q, in, e.q, e.params, ir.Without(append(e.nodes, i), at)...)
	found.Unread = append(found.Unread, c.held(p)...)
	return found
}

// realSums finds how the sums of c become numbers, apart from their start; ok is false when int32 does not hold them.
func realSums(c *qdqSum, q *qdqRealOp, add []float32) (ok bool) {
	c.add(add)
	reach := 255 * 128 * float64(c.taps*c.ic)
	if c.raw {
		reach *= 3
	}
	if reach >= 1<<30 {
		return false
	}
	q.scale, q.shift, c.whole = make([]float32, c.n), make([]float32, c.n), make([]int32, c.n)
	for j := range c.n {
		far := c.bias[j] / c.unit[j]
		if r := math.Round(far); math.Abs(far-r) <= math.Abs(far)/(1<<22) && math.Abs(r) < 1<<30 {
			c.whole[j] = int32(r)
		} else {
			q.shift[j] = float32(c.bias[j])
		}
		if q.scale[j] = float32(c.unit[j]); !ir.UsableScale(q.scale[j]) || !finite(q.shift[j]) {
			return false
		}
	}
	return true
}

// matchQDQSumOfTerms finds the sum of values with codes and of a sum of products of codes, maybe of a function of it,
// that could not be computed before the others were there.
func matchQDQSumOfTerms(p *ir.Program, i int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Add); !is {
		return nil
	}
	for _, v := range n.In {
		at := productBehind(p, v, 3)
		if at == run.None {
			continue
		}
		if c := codedSum(p, at); c != nil {
			if found := realSum(p, i, at, c); found != nil {
				return found
			}
		}
	}
	return nil
}

// productBehind is the node of a convolution or a product that v is, or is an element-wise function of, by some nodes
// at most that are not taken.
func productBehind(p *ir.Program, v graph.Value, most int) int {
	g := p.Net
	at := g.Maker[v]
	if most == 0 || p.HasCodes(v) || p.Taken(at) {
		return run.None
	}
	n := &g.Graph.Nodes[at]
	switch n.Op.(type) {
	case *op.Conv, *op.MatMul:
		return at
	}
	if !graph.TraitsOf(n.Op).Elementwise {
		return run.None
	}
	for _, x := range n.In {
		if x != graph.None {
			if found := productBehind(p, x, most-1); found != run.None {
				return found
			}
		}
	}
	return run.None
}

// qdqRealOp makes codes of sums of products, of the codes that its other operands are, and of a function.
type qdqRealOp struct {
	gemm         *qdqGemmOp
	scale, shift []float32 // per output, by which a sum becomes a number; of some rows
	terms        []ir.QuantParams
	after        bool
	act          kernel.Act
	params       ir.QuantParams
}

func (q *qdqRealOp) Layout(l *ir.Layouter, n *ir.Node) { inCodes(l, n, q.gemm.order) }

func (q *qdqRealOp) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	prepared, s := q.gemm.prepare(w, n)
	t := qdqRealTask{qdqGemmTask: prepared, with: q}
	if rows := min(t.M, 512/t.N); rows > 1 { // a call for several
		q.scale, q.shift = slices.Repeat(q.scale[:t.N], rows), slices.Repeat(q.shift[:t.N], rows)
	}
	t.per = max(1, min(realBlock/t.N, (t.M+3)/4)/24) * 24
	s.Start = func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.qdqGemmTask = t.start(st)
		return &own
	}
	return s
}

// realBlock is how many numbers are on their way at once.
const realBlock = 1 << 12

// qdqRealTask computes rows of sums and what becomes of them.
type qdqRealTask struct {
	qdqGemmTask
	with  *qdqRealOp
	per   int // rows of a chunk
	terms [mostTerms][]byte
	work  []float32
}

// size counts the numbers of a chunk and its addends.
func (t *qdqRealTask) size() int { return 2 * t.per * t.N }

func (t *qdqRealTask) Run(s *run.State) error {
	if err := t.begin(s); err != nil {
		return err
	}
	for k := range t.with.terms {
		t.terms[k] = s.Mem[t.st.Reads[1+k]]
	}
	t.Plan(1)
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.size()); err != nil {
		return err
	}
	s.Do((t.M+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some rows.
func (t *qdqRealTask) Chunk(i, worker int) {
	q, n := t.with, t.N
	from, to := i*t.per, min(t.M, (i+1)*t.per)
	work := t.work[worker*t.size():][:t.size()]
	y, other := work[:(to-from)*n], work[t.per*n:][:(to-from)*n]
	t.Sums(y, from, to)
	whole, cols := len(y)/len(q.scale)*len(q.scale), len(q.scale)
	kernel.ScaleShiftRows(y[:whole], y[:whole], q.scale, q.shift, whole/cols, cols)
	if rest := y[whole:]; len(rest) > 0 {
		kernel.ScaleShiftRows(rest, rest, q.scale, q.shift, 1, len(rest))
	}
	add := func() {
		for k, c := range q.terms {
			kernel.DequantizeU8(other, t.terms[k][from*n:to*n], c.Scale, c.Zero)
			kernel.BinaryVV(kernel.Add, y, y, other)
		}
	}
	if !q.after {
		add()
	}
	if q.act.Op != kernel.Identity {
		kernel.Unary(q.act.Op, y, y, q.act.Alpha, q.act.Beta)
	}
	if q.after {
		add()
	}
	kernel.EncodeU8(t.C[from*n:to*n], y, q.params.Scale, int(q.params.Zero))
}
