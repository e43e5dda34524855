package ops

import (
	"cmp"

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
	swap    bool   // the operands are exchanged
	divides string // what is refused of a divisor of 0, "": nothing
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
		q.loop = compareLoop(d, isLess)
	case *op.LessEqual:
		q.loop = compareLoop(d, isLessEqual)
	case *op.Greater:
		q.loop, q.swap = compareLoop(d, isLess), true
	case *op.GreaterEqual:
		q.loop, q.swap = compareLoop(d, isLessEqual), true
	case *op.Equal:
		q.loop = compareLoop(d, isEqual)
	case *op.NotEqual:
		q.loop = compareLoop(d, isNotEqual)
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

// comparison is a way to compare two numbers.
type comparison uint8

const (
	isLess comparison = iota
	isLessEqual
	isEqual
	isNotEqual
)

// compareLoop is the loop of a comparison of elements, nil when there is none.
func compareLoop(d tensor.DType, c comparison) pairLoop {
	by := [...]kernel.Comparison{isLess: kernel.Less, isLessEqual: kernel.LessEqual, isEqual: kernel.Equal,
		isNotEqual: kernel.NotEqual}[c]
	switch d {
	case tensor.Float32:
		return comparesOf[float32](by)
	case tensor.Float64:
		return compareAs[float64](c)
	case tensor.Int8:
		return compareAs[int8](c)
	case tensor.Int16:
		return compareAs[int16](c)
	case tensor.Int32:
		return comparesOf[int32](by)
	case tensor.Int64:
		return comparesOf[int64](by)
	case tensor.Uint8, tensor.Bool:
		return compareAs[uint8](c)
	case tensor.Uint16:
		return compareAs[uint16](c)
	case tensor.Uint32:
		return compareAs[uint32](c)
	case tensor.Uint64:
		return compareAs[uint64](c)
	}
	return nil
}

func compareAs[T cmp.Ordered](c comparison) pairLoop {
	return pairsOf([...]func(y []uint8, a, b []T){lessEach[T], lessEqualEach[T], equalEach[T], notEqualEach[T]}[c])
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

// integerKernel is the loop of a function that is a kernel, nil when there is none.
func integerKernel(d tensor.DType, f arithmetic) pairLoop {
	switch f {
	case ands, ors, xors:
		op := [...]kernel.IntegerOp{ands: kernel.AndBits, ors: kernel.OrBits, xors: kernel.XorBits}[f]
		switch d.Bits() {
		case 8:
			return integersOf[uint8](op)
		case 16:
			return integersOf[uint16](op)
		case 32:
			return integersOf[uint32](op)
		case 64:
			return integersOf[uint64](op)
		}
		return nil
	case adds, subtracts, multiplies, least, most:
		switch d {
		case tensor.Int32:
			return integersOf[int32]([...]kernel.IntegerOp{adds: kernel.AddI32, subtracts: kernel.SubI32,
				multiplies: kernel.MulI32, least: kernel.MinI32, most: kernel.MaxI32}[f])
		case tensor.Int64:
			if f != multiplies {
				return integersOf[int64]([...]kernel.IntegerOp{adds: kernel.AddI64, subtracts: kernel.SubI64,
					least: kernel.MinI64, most: kernel.MaxI64}[f])
			}
		}
	}
	return nil
}

func integersAs[T whole](f arithmetic, floor bool) pairLoop {
	list := [...]func(y, a, b []T){adds: addEach[T], subtracts: subEach[T], multiplies: mulEach[T], least: minEach[T],
		most: maxEach[T], divides: divEach[T], remains: modEach[T], shiftsLeft: leftEach[T],
		shiftsRight: rightEach[T]}
	switch {
	case f == divides && floor:
		return pairsOf(divFloorEach[T])
	case f == remains && floor:
		return pairsOf(modFloorEach[T])
	}
	return pairsOf(list[f])
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
		size := t.q.from.Bits() / 8
		for k := range len(t.b) / size {
			if tensor.IntAt(t.q.from, t.b, k) == 0 {
				return fault.New(fault.Data, "input 1: element %d: %s", k, t.q.divides)
			}
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
	q.each(i, func(r, first, n int) {
		a, b := q.at(0, r)+first*as, q.at(1, r)+first*bs
		q.loop(t.y[(r*length+first)*q.to:], t.a[a*size:], t.b[b*size:], n, as, bs)
	})
}
