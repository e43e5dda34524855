package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tensors of quantized types are bytes as the graph has them, or codes as those of islands (coded.go) between operators
// that take them. Sums of products are those of codes (codedsums.go), which become codes exactly, halves away from zero
// (exactcodes.go), or are computed by the float32 kernels on integers that are small enough to be exact; what an
// element-wise operator does to one code, or to each pair of two, is looked up. So results equal the reference's to the
// bit.

// centring returns the value of v's codes minus the zero point as float values, and adds to x what makes it unless an
// earlier node has.
func centring(p *program, v graph.Value, x *patch) graph.Value {
	if c, ok := p.centred[v]; ok {
		return c
	}
	from := &p.net.values[v]
	c := extraValue(p, x, from.dims)
	x.centred = map[graph.Value]graph.Value{v: c}
	x.nodes = append(x.nodes, &node{at: none, kind: "centre", in: []graph.Value{v}, out: []graph.Value{c},
		op: &centreOp{task: centreTask{signed: from.typ.DType == tensor.Int8, zero: from.typ.Quant.ZeroAt(0),
			n: from.count()}}})
	return c
}

// extraValue adds to x a float32 value that the graph does not have.
func extraValue(p *program, x *patch, dims []int64) graph.Value {
	return extraConst(p, x, dims, nil, graph.None)
}

// extraConst is extraValue of a constant that is made from the constant v.
func extraConst(p *program, x *patch, dims []int64, data []byte, v graph.Value) graph.Value {
	x.extra = append(x.extra, value{typ: tensor.T(tensor.Float32, dims...), dims: dims, data: data,
		sized: v != graph.None && p.net.values[v].sized})
	return graph.Value(len(p.net.values) + len(x.extra) - 1)
}

// centreOp subtracts the zero point from codes.
type centreOp struct {
	inOrder
	task centreTask
}

func (q *centreOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// centreTask subtracts the zero point.
type centreTask struct {
	st     *step
	signed bool
	zero   int32
	n      int
	x      []byte
	y      []float32
}

func (t *centreTask) run(s *State) error {
	t.x, t.y = s.mem[t.st.reads[0]], s.f32(t.st.writes[0])
	s.do(blocks(t.n), t)
	return nil
}

// Chunk converts one block.
func (t *centreTask) Chunk(i, _ int) {
	from, to := block(i, t.n)
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
func tableOf(p *program, i int) (t tableTask, args []graph.Value) {
	g, n := p.net, &p.net.graph.Nodes[i]
	_, convert := n.Op.(*op.Convert)
	y := &g.values[n.Out[0]]
	if len(n.Out) != 1 || !(convert || graph.TraitsOf(n.Op).Elementwise) || y.dims == nil || y.count() == 0 {
		return t, nil
	}
	toFloat := convert && y.isFloat32()
	if !toFloat && !y.isQuant8() {
		return t, nil
	}
	in := make([]tensor.Tensor, len(n.In))
	for i, v := range n.In {
		if v == graph.None {
			continue
		}
		x := &g.values[v]
		switch {
		case x.data != nil && x.dims != nil && x.count() == 1:
			in[i] = tensor.Tensor{DType: x.typ.DType, Dims: []int64{}, Quant: x.typ.Quant, Data: x.data}
			continue
		case !x.isQuant8() || x.count() != y.count():
			return t, nil
		}
		size := []int64{1, 256}
		if len(args) == 1 {
			size = []int64{256, 1}
		}
		c := codes(x.typ, size...)
		for k := range c.Data {
			c.Data[k] = byte(k)
		}
		in[i], args = c, append(args, v)
	}
	if len(args) == 0 || len(args) > 2 || len(args) == 2 && y.count() < leastPairs {
		return t, nil
	}
	declared := y.typ
	declared.Shape = tensor.AnyShape()
	res, err := ref.ComputeContext(p.ctx, n.Op, in, []tensor.Type{declared})
	if err != nil || len(res) != 1 || res[0].DType != y.typ.DType || res[0].Count() != 1<<(8*len(args)) {
		return t, nil
	}
	t = tableTask{n: y.count(), table: res[0].Data}
	if toFloat {
		t.floats, t.table = floats(res[0].Data), nil
	}
	return t, args
}

// lookupOp looks up what a function makes of codes.
type lookupOp struct {
	inOrder
	task tableTask
}

func (q *lookupOp) lower(*lowering, *node) step {
	t := q.task
	return step{fast: true, inplace: t.floats == nil, start: func(_ *State, st *step) process {
		own := t
		own.st = st
		return &own
	}}
}

// tableTask looks codes up: of one operand, or with 65536 entries of two, the second being the high byte.
type tableTask struct {
	st     *step
	n      int
	table  []byte
	floats []float32 // instead of table
	x, z   []byte
	y      []byte
	real   []float32
}

func (t *tableTask) run(s *State) error {
	t.x, t.z = s.mem[t.st.reads[0]], nil
	if len(t.st.reads) > 1 {
		t.z = s.mem[t.st.reads[1]]
	}
	if t.floats != nil {
		t.real = s.f32(t.st.writes[0])
	} else {
		t.y = s.mem[t.st.writes[0]]
	}
	s.do(blocks(t.n), t)
	return nil
}

// Chunk looks up one block.
func (t *tableTask) Chunk(i, _ int) {
	from, to := block(i, t.n)
	x := t.x[from:to]
	switch {
	case t.floats != nil:
		y, table := t.real[from:to], (*[256]float32)(t.floats)
		for i, c := range x {
			y[i] = table[c]
		}
	case t.z == nil:
		y, table := t.y[from:to], (*[256]byte)(t.table)
		for i, c := range x {
			y[i] = table[c]
		}
	default:
		y, z, table := t.y[from:to], t.z[from:to], (*[1 << 16]byte)(t.table)
		for i, c := range x {
			y[i] = table[int(c)|int(z[i])<<8]
		}
	}
}
