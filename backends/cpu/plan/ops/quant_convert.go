package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"

	_ "github.com/anynpu/anynpu/backends/cpu/fastconvert"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// the kernels of convert

// Conversions of tensors from one element type to another, as they stand at the borders of a network. Their operands
// and results are as the model has them.

// matchCast finds a change of element type.
func matchCast(p *ir.Program, i int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Cast)
	if !is {
		return nil
	}
	x, y := &p.Net.Values[n.In[0]], &p.Net.Values[n.Out[0]]
	if !x.Convertible() || !y.Convertible() {
		return nil
	}
	from, to, saturate := x.Type.DType, y.Type.DType, o.OutOfRange == op.CastSaturate
	sizeTo, sizeFrom := to.Bits()/8, from.Bits()/8
	if cast := truthCast(from, to); cast != nil {
		found := conversion(p, i, cast)
		found.Nodes[0].Op.(*conversionOp).any = true
		return found
	}
	found := conversion(p, i, func(y, x []byte, first, k int, work []float32) {
		convert.Cast(y[first*sizeTo:], to, x[first*sizeFrom:], from, k, saturate, work)
	})
	found.Nodes[0].Op.(*conversionOp).any = true
	return found
}

// noNumber says which float32 value counts as false.
var noNumber = []float32{0}

// truthCast casts between float32 and Bool, nil: between other types.
func truthCast(from, to tensor.DType) func(y, x []byte, first, k int, _ []float32) {
	switch {
	case from == tensor.Float32 && to == tensor.Bool:
		return func(y, x []byte, first, k int, _ []float32) {
			kernel.CompareVS(kernel.NotEqual, y[first:first+k], run.Floats(x)[first:first+k], noNumber)
		}
	case from == tensor.Bool && to == tensor.Float32:
		return func(y, x []byte, first, k int, _ []float32) {
			scratch := borrowLines()
			line := mem.Bytes(scratch[:])
			for k > 0 {
				n := min(k, len(line))
				kernel.IntegersVS(kernel.AndBool, line[:n], x[first:first+n], trueByte)
				kernel.DequantizeU8(run.Floats(y)[first:first+n], line[:n], 1, 0)
				first, k = first+n, k-n
			}
			returnLines(scratch)
		}
	}
	return nil
}

// codesOf returns what the scale and zero point of a node say about the elements of a tensor of these sizes; ok is
// false when they are no constants.
func codesOf(g *ir.Network, n *graph.Node, dims []int64, axis int64) (c convert.Codes, ok bool) {
	s := &g.Values[n.In[1]]
	if s.Data == nil || !s.IsFloat() {
		return c, false
	}
	zero, known := g.Ints(n.In, 2)
	if !known || ir.Given(n.In, 2) && len(zero) != s.Count() {
		return c, false
	}
	c.Inner = 1
	if s.Count() > 1 || len(s.Dims) > 1 {
		a, err := op.Axis(axis, len(dims))
		if err != nil || len(s.Dims) != 1 || s.Dims[0] != dims[a] {
			return c, false
		}
		c.Inner = run.Product(dims[a+1:])
	}
	scale := make([]float32, s.Count())
	convert.Floats(scale, s.Type.DType, s.Data)
	for i, v := range scale {
		c.Of = append(c.Of, convert.Code{Scale: v})
		if zero != nil {
			c.Of[i].Zero = zero[i]
		}
	}
	return c, true
}

// matchQuantizeAny finds the making of codes whose scales are constants.
func matchQuantizeAny(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Quantize)
	if !is || o.Block != 0 {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if !x.IsFloat() && !(x.Convertible() && x.Type.DType == tensor.Int32) || !y.Convertible() ||
		!convert.Codable(y.Type.DType) {
		return nil
	}
	c, ok := codesOf(g, n, x.Dims, o.Axis)
	if !ok {
		return nil
	}
	from, to := x.Type.DType, y.Type.DType
	return lines(p, i, func(v []float32, x []byte, first int) []float32 { return asFloats(v, from, x, first) },
		func(y []byte, v []float32, first int) { convert.Quantize(y[first*to.Bits()/8:], to, v, &c, first) })
}

// matchDequantizeAny finds the dequantization of codes whose scales are constants.
func matchDequantizeAny(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block != 0 {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if !x.Convertible() || !convert.Codable(x.Type.DType) || !y.IsFloat() {
		return nil
	}
	c, ok := codesOf(g, n, x.Dims, o.Axis)
	if !ok {
		return nil
	}
	from, to := x.Type.DType, y.Type.DType
	if to == tensor.Float32 {
		return conversion(p, i, func(y, x []byte, first, k int, _ []float32) {
			convert.Dequantize(run.Floats(y)[first:first+k], from, x[first*from.Bits()/8:], &c, first)
		})
	}
	return lines(p, i, func(v []float32, x []byte, first int) []float32 {
		convert.Dequantize(v, from, x[first*from.Bits()/8:], &c, first)
		return v
	}, func(y []byte, v []float32, first int) { convert.Put(y[first*to.Bits()/8:], to, v, false) })
}

// matchConvert finds a change between representations of real values.
func matchConvert(p *ir.Program, i int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Convert); !is {
		return nil
	}
	from, ok := representationOf(&p.Net.Values[n.In[0]])
	if !ok {
		return nil
	}
	y := &p.Net.Values[n.Out[0]]
	to, ok := representationOf(y)
	switch {
	case !ok:
		return nil
	case y.IsQuant8() && from.codes == nil:
		return convertBytes(p, i, from, to)
	}
	return lines(p, i, from.read, to.write)
}

// representation is how a tensor holds real values: floats, or codes.
type representation struct {
	typ   tensor.DType
	codes *convert.Codes // nil: floats
}

func representationOf(v *ir.Value) (r representation, ok bool) {
	r.typ = v.Type.DType
	q := v.Type.Quant
	if q == nil {
		return r, v.IsFloat()
	}
	if !v.Convertible() || !convert.Codable(r.typ) || q.Block > 0 {
		return r, false
	}
	r.codes = &convert.Codes{Inner: 1}
	if !q.IsPerTensor() {
		if q.Axis < 0 || q.Axis >= len(v.Dims) || int64(len(q.Scale)) != v.Dims[q.Axis] {
			return r, false
		}
		r.codes.Inner = run.Product(v.Dims[q.Axis+1:])
	}
	for i, s := range q.Scale {
		r.codes.Of = append(r.codes.Of, convert.Code{Scale: s, Zero: int64(q.ZeroAt(i))})
	}
	return r, true
}

func (r representation) read(v []float32, x []byte, first int) []float32 {
	if r.codes == nil {
		return asFloats(v, r.typ, x, first)
	}
	convert.Dequantize(v, r.typ, x[first*r.typ.Bits()/8:], r.codes, first)
	return v
}

func (r representation) write(y []byte, v []float32, first int) {
	y = y[first*r.typ.Bits()/8:]
	if r.codes == nil {
		convert.Put(y, r.typ, v, false)
		return
	}
	convert.QuantizeAway(y, r.typ, v, r.codes, first)
}

// convertBytes finds the making of 8-bit codes of one scale, whose rounding float32 can decide.
func convertBytes(p *ir.Program, i int, from, to representation) *ir.Patch {
	q := newRequantized(ir.QuantParamsOfType(p.Net.Values[p.Net.Graph.Nodes[i].Out[0]].Type), []float64{1}, []float64{0})
	return conversion(p, i, func(y, x []byte, first, k int, work []float32) {
		for end := first + k; first < end; first += convert.Line {
			m := min(convert.Line, end-first)
			v := from.read(work[:m], x, first)
			if hasNaN(v) {
				to.write(y, v, first)
				continue
			}
			q.store(y[first:][:m], v, work[convert.Line:])
		}
	})
}

// hasNaN reports whether v has a value that is not finite; sums that are too large count as such.
func hasNaN(v []float32) bool {
	sum := kernel.Sum(v)
	return sum-sum != 0
}

// asFloats returns len(v) elements of x from first on as float32, decoded to v unless they are.
func asFloats(v []float32, d tensor.DType, x []byte, first int) []float32 {
	if d == tensor.Float32 {
		return run.Floats(x)[first:][:len(v)]
	}
	convert.Floats(v, d, x[first*d.Bits()/8:])
	return v
}

// lines is a conversion by way of lines of float values: read decodes elements from first on and returns where they
// are, v or elsewhere.
func lines(p *ir.Program, i int, read func(v []float32, x []byte, first int) []float32,
	write func(y []byte, v []float32, first int)) *ir.Patch {
	return conversion(p, i, func(y, x []byte, first, k int, work []float32) {
		for end := first + k; first < end; first += convert.Line {
			write(y, read(work[:min(convert.Line, end-first)], x, first), first)
		}
	})
}

// conversion computes the elements of node i's result from those at the same places of its first input.
func conversion(p *ir.Program, i int, f func(y, x []byte, first, k int, work []float32)) *ir.Patch {
	return p.Plainly(i, &conversionOp{n: p.Net.Values[p.Net.Graph.Nodes[i].Out[0]].Count(), f: f}, 1)
}

// conversionOp converts elements one by one.
type conversionOp struct {
	n   int
	f   func(y, x []byte, first, k int, work []float32)
	any bool // in any order of dimensions
}

// Layout takes NHWC where the operand is made in no other order.
func (q *conversionOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := run.NCHW
	if q.any && l.Has(n.In[0], run.NHWC) && !l.Has(n.In[0], run.NCHW) {
		o = run.NHWC
	}
	ir.InOrder{Order: o}.Layout(l, n)
}

func (q *conversionOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	n, f := q.n, q.f
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &conversionTask{st: st, n: n, f: f}
	}}
}

// conversionTask converts k elements from first on.
type conversionTask struct {
	st   *run.Step
	n    int
	f    func(y, x []byte, first, k int, work []float32)
	x, y []byte
	work []float32
}

func (t *conversionTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * convert.Work); err != nil {
		return err
	}
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk converts one block.
func (t *conversionTask) Chunk(i, worker int) {
	from, to := run.Block(i, t.n)
	t.f(t.y, t.x, from, to-from, t.work[worker*convert.Work:][:convert.Work])
}
