package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// pairOp is a function of two elements of any type, which are broadcast.
type pairOp struct {
	ir.InOrder
	walk
	loop    pairLoop
	byRow   rowsLoop // nil: none
	swap    bool     // the operands are exchanged
	divides string   // what is refused of a divisor of 0, "": nothing
	from    tensor.DType
	to      int // bytes of an element of the result
}

// matchPair finds comparisons, logic, and arithmetic of integers.
func matchPair(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if len(n.In) != 2 || !plainElements(g, n.In[0], n.In[1], n.Out[0]) {
		return nil
	}
	x, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if g.Values[n.In[1]].Type.DType != x.Type.DType {
		return nil
	}
	q := &pairOp{from: x.Type.DType, to: y.Type.DType.Bits() / 8}
	if !q.find(n.Op, x.Type.DType) || y.Type.DType != tensor.Bool && y.Type.DType != x.Type.DType {
		return nil
	}
	a, b := x.Dims, g.Values[n.In[1]].Dims
	if q.swap {
		a, b = b, a
	}
	q.walk = newWalk(y.Dims, a, b)
	return p.Plainly(i, q, 2)
}

// find sets what computes an operator, ok false when nothing does.
func (q *pairOp) find(o graph.Op, d tensor.DType) bool {
	switch o := o.(type) {
	case *op.Less:
		q.loop, q.byRow = compareLoop(d, kernel.Less)
	case *op.LessEqual:
		q.loop, q.byRow = compareLoop(d, kernel.LessEqual)
	case *op.Greater:
		q.swap = true
		q.loop, q.byRow = compareLoop(d, kernel.Less)
	case *op.GreaterEqual:
		q.swap = true
		q.loop, q.byRow = compareLoop(d, kernel.LessEqual)
	case *op.Equal:
		q.loop, q.byRow = compareLoop(d, kernel.Equal)
	case *op.NotEqual:
		q.loop, q.byRow = compareLoop(d, kernel.NotEqual)
	case *op.And:
		q.loop = logicLoop(d, kernel.AndBool)
	case *op.Or:
		q.loop = logicLoop(d, kernel.OrBool)
	case *op.Xor:
		q.loop = logicLoop(d, kernel.XorBool)
	case *op.Div:
		q.divides = "integer division by 0"
		q.loop = integerLoop(d, divides, o.Rounding == op.DivFloor)
	case *op.Mod:
		if d == tensor.Float32 && o.Sign != op.ModDivisor {
			q.loop = dividing(kernel.ModTrunc, fmodEach, nil)
			return true
		}
		q.divides = "integer remainder by 0"
		q.loop = integerLoop(d, remains, o.Sign == op.ModDivisor)
	case *op.Min:
		q.loop = integerLoop(d, least, false)
	case *op.Max:
		q.loop = integerLoop(d, most, false)
	case *op.Add:
		q.loop = integerLoop(d, adds, false)
	case *op.Sub:
		q.loop = integerLoop(d, subtracts, false)
	case *op.Mul:
		q.loop = integerLoop(d, multiplies, false)
	case *op.BitShift:
		q.loop = integerLoop(d, shiftsLeft, false)
		if o.Right {
			q.loop = integerLoop(d, shiftsRight, false)
		}
	case *op.BitwiseAnd:
		q.loop = integerLoop(d, ands, false)
	case *op.BitwiseOr:
		q.loop = integerLoop(d, ors, false)
	case *op.BitwiseXor:
		q.loop = integerLoop(d, xors, false)
	}
	return q.loop != nil
}

// compareLoop is the loop of a comparison of elements, and that of rows; nil when there is none.
func compareLoop(d tensor.DType, c kernel.Comparison) (pairLoop, rowsLoop) {
	switch d {
	case tensor.Float32:
		return comparesOf[float32](c), rowsCompared[float32](c)
	case tensor.Float64:
		return comparesOf[float64](c), rowsCompared[float64](c)
	case tensor.Int8:
		return comparesOf[int8](c), rowsCompared[int8](c)
	case tensor.Int16:
		return comparesOf[int16](c), rowsCompared[int16](c)
	case tensor.Int32:
		return comparesOf[int32](c), rowsCompared[int32](c)
	case tensor.Int64:
		return comparesOf[int64](c), rowsCompared[int64](c)
	case tensor.Uint8, tensor.Bool:
		return comparesOf[uint8](c), rowsCompared[uint8](c)
	case tensor.Uint16:
		return comparesOf[uint16](c), rowsCompared[uint16](c)
	case tensor.Uint32:
		return comparesOf[uint32](c), rowsCompared[uint32](c)
	case tensor.Uint64:
		return comparesOf[uint64](c), rowsCompared[uint64](c)
	}
	return nil, nil
}

// logicLoop is the loop of a logical function, nil when elements are no bytes.
func logicLoop(d tensor.DType, f kernel.IntegerOp) pairLoop {
	if d != tensor.Bool && d != tensor.Uint8 && d != tensor.Int8 {
		return nil
	}
	return integersOf[uint8](f)
}

// arithmetic is a function of two integers.
type arithmetic uint8

const (
	adds arithmetic = iota
	subtracts
	multiplies
	least
	most
	divides
	remains
	ands
	ors
	xors
	shiftsLeft
	shiftsRight
)

// integerLoop is the loop of a function of integers, nil when elements are none; floor says how quotients are rounded.
func integerLoop(d tensor.DType, f arithmetic, floor bool) pairLoop {
	if loop := integerKernel(d, f); loop != nil {
		return loop
	}
	if loop := divisions(d, f, floor); loop != nil {
		return loop
	}
	switch d {
	case tensor.Int8:
		return integersAs[int8](f, floor)
	case tensor.Int16:
		return integersAs[int16](f, floor)
	case tensor.Int32:
		return integersAs[int32](f, floor)
	case tensor.Int64:
		return integersAs[int64](f, floor)
	case tensor.Uint8:
		return integersAs[uint8](f, false)
	case tensor.Uint16:
		return integersAs[uint16](f, false)
	case tensor.Uint32:
		return integersAs[uint32](f, false)
	case tensor.Uint64:
		return integersAs[uint64](f, false)
	}
	return nil
}

// divisions is the loop of quotients or remainders of integers, nil when there are no kernels of their type.
func divisions(d tensor.DType, f arithmetic, floor bool) pairLoop {
	switch d {
	case tensor.Int32:
		return divisionsOf[int32](f, floor)
	case tensor.Int64:
		return divisionsOf[int64](f, floor)
	}
	return nil
}

func divisionsOf[T int32 | int64](f arithmetic, floor bool) pairLoop {
	switch {
	case f == divides && floor:
		return dividing(kernel.DivFloor, divFloorEach[T], nil)
	case f == divides:
		return dividing(kernel.DivTrunc, divEach[T], byDivisor[T])
	case f == remains && floor:
		return dividing(kernel.ModFloor, modFloorEach[T], nil)
	case f == remains:
		return dividing(kernel.ModTrunc, modEach[T], nil)
	}
	return nil
}

// integerKernel is the loop of a function that is a kernel, nil when there is none.
func integerKernel(d tensor.DType, f arithmetic) pairLoop {
	size := d.Bits() / 8
	if !d.IsInt() || size == 0 {
		return nil
	}
	var op kernel.IntegerOp
	switch f {
	case ands, ors, xors:
		op = [...]kernel.IntegerOp{ands: kernel.AndBits, ors: kernel.OrBits, xors: kernel.XorBits}[f]
	case adds, subtracts, multiplies:
		op = [...]kernel.IntegerOp{adds: kernel.AddI8, subtracts: kernel.SubI8, multiplies: kernel.MulI8}[f].Sized(size)
	case least, most:
		op = leastOf(d)
		if f == most {
			op = mostOf(d)
		}
	case shiftsLeft:
		op = kernel.ShlI8.Sized(size)
	case shiftsRight:
		if d.IsSigned() {
			return nil
		}
		op = kernel.ShrU8.Sized(size)
	default:
		return nil
	}
	switch size {
	case 1:
		return integersOf[uint8](op)
	case 2:
		return integersOf[uint16](op)
	case 4:
		return integersOf[uint32](op)
	}
	return integersOf[uint64](op)
}

// leastOf is the kernel of the smaller of two integers, or Bools.
func leastOf(d tensor.DType) kernel.IntegerOp {
	if d.IsSigned() {
		return kernel.MinI8.Sized(d.Bits() / 8)
	}
	return kernel.LeastU8.Sized(d.Bits() / 8)
}

// mostOf is the kernel of the larger of two integers, or Bools.
func mostOf(d tensor.DType) kernel.IntegerOp {
	if d.IsSigned() {
		return kernel.MaxI8.Sized(d.Bits() / 8)
	}
	return kernel.MostU8.Sized(d.Bits() / 8)
}

func integersAs[T whole](f arithmetic, floor bool) pairLoop {
	switch {
	case f == divides && floor:
		return pairsOf(divFloorEach[T])
	case f == divides:
		return pairsOf(divEach[T])
	case f == remains && floor:
		return pairsOf(modFloorEach[T])
	case f == remains:
		return pairsOf(modEach[T])
	case f == shiftsRight:
		return pairsOf(rightEach[T])
	}
	return nil
}

func (q *pairOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process { return &pairTask{q: q, st: st} }}
}

type pairTask struct {
	q       *pairOp
	st      *run.Step
	a, b, y []byte
}

func (t *pairTask) Run(s *run.State) error {
	t.a, t.b, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Reads[1]], s.Mem[t.st.Writes[0]]
	if t.q.divides != "" {
		if k := zeroOf(t.b, t.q.from.Bits()/8); k >= 0 {
			return fault.New(fault.Data, "input 1: element %d: %s", k, t.q.divides)
		}
	}
	if t.q.swap {
		t.a, t.b = t.b, t.a
	}
	s.Do(t.q.chunks(), t)
	return nil
}

// Chunk computes some runs.
func (t *pairTask) Chunk(i, _ int) {
	q := t.q
	size, length, last := q.from.Bits()/8, q.length(), len(q.dims)-1
	as, bs := q.strides[0][last], q.strides[1][last]
	if q.byRow != nil && as == 1 && bs == 0 && last > 0 && q.strides[0][last-1] == length && q.strides[1][last-1] == 1 &&
		length <= run.BlockLen {
		q.neighbours(i, func(at, _ places, r, rows, _, n int) {
			q.byRow(t.y[r*length*q.to:], t.a[at[0]*size:], t.b[at[1]*size:], n, rows)
		})
		return
	}
	q.each(i, func(at places, r, first, n int) {
		a, b := at[0]+first*as, at[1]+first*bs
		q.loop(t.y[(r*length+first)*q.to:], t.a[a*size:], t.b[b*size:], n, as, bs)
	})
}
