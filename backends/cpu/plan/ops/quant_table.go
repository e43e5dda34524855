package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tensors of quantized types are bytes as the graph has them, or codes as in islands (qdq_view.go) between operators
// that take them. Products of codes are summed (qdq_sum.go), and sums become codes exactly, halves away from zero
// (quant_exact.go), or float32 kernels compute with integers that are small enough to be exact; what an element-wise
// operator does to one code, or to each pair of two, is looked up. So results equal the reference's to the bit.

// centring returns the value of v's codes minus the zero point as float values, and adds to x what makes it unless an
// earlier node has.
func centring(p *ir.Program, v graph.Value, x *ir.Patch) graph.Value {
	if c, ok := p.Centred[v]; ok {
		return c
	}
	from := &p.Net.Values[v]
	c := extraValue(p, x, from.Dims)
	x.Centred = map[graph.Value]graph.Value{v: c}
	x.Nodes = append(x.Nodes, &ir.Node{At: run.None, Kind: "centre", In: []graph.Value{v}, Out: []graph.Value{c},
		Op: &centreOp{task: centreTask{signed: from.Type.DType == tensor.Int8, zero: from.Type.Quant.ZeroAt(0),
			n: from.Count()}}})
	return c
}

// extraValue adds to x a float32 value that the graph does not have.
func extraValue(p *ir.Program, x *ir.Patch, dims []int64) graph.Value {
	return extraConst(p, x, dims, nil, graph.None)
}

// extraConst is extraValue of a constant that is made from the constant v.
func extraConst(p *ir.Program, x *ir.Patch, dims []int64, data []byte, v graph.Value) graph.Value {
	x.Extra = append(x.Extra, ir.Value{Type: tensor.T(tensor.Float32, dims...), Dims: dims, Data: data,
		Sized: v != graph.None && p.Net.Values[v].Sized})
	return graph.Value(len(p.Net.Values) + len(x.Extra) - 1)
}

// centreOp subtracts the zero point from codes.
type centreOp struct {
	ir.InOrder
	task centreTask
}

func (q *centreOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// centreTask subtracts the zero point.
type centreTask struct {
	st     *run.Step
	signed bool
	zero   int32
	n      int
	x      []byte
	y      []float32
}

func (t *centreTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.F32(t.st.Writes[0])
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk converts one block.
func (t *centreTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.n)
	if t.signed {
		kernel.DequantizeS8(t.y[from:to], signedBytes(t.x[from:to]), 1, t.zero)
	} else {
		kernel.DequantizeU8(t.y[from:to], t.x[from:to], 1, t.zero)
	}
}

// codes returns all 256 elements of an 8-bit type in the order of their bits.
func codes(t tensor.Type, dims ...int64) tensor.Tensor {
	x := tensor.New(t.DType, dims...)
	x.Quant = t.Quant
	return x
}

// leastPairs is the number of elements below which the results of two operands are not looked up: the table has 65536.
const leastPairs = 1 << 12

// tableOf returns what the reference makes of all codes of the operands of an element-wise operator, and those that are
// no constants, one or two; nil when it has none.
func tableOf(p *ir.Program, i int) (t tableTask, args []graph.Value) {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	_, convert := n.Op.(*op.Convert)
	y := &g.Values[n.Out[0]]
	if len(n.Out) != 1 || !(convert || graph.TraitsOf(n.Op).Elementwise) || y.Dims == nil || y.Count() == 0 {
		return t, nil
	}
	toFloat := convert && y.IsFloat32()
	if !toFloat && !y.IsQuant8() {
		return t, nil
	}
	in := make([]tensor.Tensor, len(n.In))
	for i, v := range n.In {
		if v == graph.None {
			continue
		}
		x := &g.Values[v]
		switch {
		case x.Data != nil && x.Dims != nil && x.Count() == 1:
			in[i] = tensor.Tensor{DType: x.Type.DType, Dims: []int64{}, Quant: x.Type.Quant, Data: x.Data}
			continue
		case !x.IsQuant8() || x.Count() != y.Count():
			return t, nil
		}
		size := []int64{1, 256}
		if len(args) == 1 {
			size = []int64{256, 1}
		}
		c := codes(x.Type, size...)
		for k := range c.Data {
			c.Data[k] = byte(k)
		}
		in[i], args = c, append(args, v)
	}
	if len(args) == 0 || len(args) > 2 || len(args) == 2 && y.Count() < leastPairs {
		return t, nil
	}
	declared := y.Type
	declared.Shape = tensor.AnyShape()
	res, err := ref.ComputeContext(p.Ctx, n.Op, in, []tensor.Type{declared})
	if err != nil || len(res) != 1 || res[0].DType != y.Type.DType || res[0].Count() != 1<<(8*len(args)) {
		return t, nil
	}
	t = tableTask{n: y.Count(), table: res[0].Data}
	if toFloat {
		t.floats, t.table = run.Floats(res[0].Data), nil
	}
	return t, args
}

// lookupOp looks up what a function makes of codes.
type lookupOp struct {
	ir.InOrder
	task tableTask
}

func (q *lookupOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Inplace: t.floats == nil, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// tableTask looks codes up: of one operand, or with 65536 entries of two, the second being the high byte.
type tableTask struct {
	st     *run.Step
	n      int
	table  []byte
	floats []float32 // instead of table
	x, z   []byte
	y      []byte
	real   []float32
}

func (t *tableTask) Run(s *run.State) error {
	t.x, t.z = s.Mem[t.st.Reads[0]], nil
	if len(t.st.Reads) > 1 {
		t.z = s.Mem[t.st.Reads[1]]
	}
	if t.floats != nil {
		t.real = s.F32(t.st.Writes[0])
	} else {
		t.y = s.Mem[t.st.Writes[0]]
	}
	s.Do(run.Blocks(t.n), t)
	return nil
}

// Chunk looks up one block.
func (t *tableTask) Chunk(i, _ int) {
	from, to := run.Block(i, t.n)
	x := t.x[from:to]
	switch {
	case t.floats != nil:
		y, table := t.real[from:to], (*[256]float32)(t.floats)
		for i, c := range x {
			y[i] = table[c]
		}
	case t.z == nil:
		kernel.LookupU8(t.y[from:to], x, (*[256]byte)(t.table))
	default:
		y, z, table := t.y[from:to], t.z[from:to], (*[1 << 16]byte)(t.table)
		for i, c := range x {
			y[i] = table[int(c)|int(z[i])<<8]
		}
	}
}
