package lowering

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.ReLU:       each(&op.Relu{}),
		nnapi.ReLU1:      func(n *node) { n.put(0, n.activated(nnapi.FusedReLU1, n.in(0))) },
		nnapi.ReLU6:      func(n *node) { n.put(0, n.activated(nnapi.FusedReLU6, n.in(0))) },
		nnapi.Logistic:   each(&op.Sigmoid{}),
		nnapi.Tanh:       each(&op.Tanh{}),
		nnapi.HardSwish:  each(&op.HardSwish{}),
		nnapi.ELU:        func(n *node) { n.emit(&op.Elu{Alpha: n.float(1)}, n.in(0)) },
		nnapi.Floor:      each(&op.Floor{}),
		nnapi.Abs:        each(&op.Abs{}),
		nnapi.Exp:        each(&op.Exp{}),
		nnapi.Log:        each(&op.Log{}),
		nnapi.Neg:        each(&op.Neg{}),
		nnapi.Rsqrt:      each(&op.Rsqrt{}),
		nnapi.Sin:        each(&op.Sin{}),
		nnapi.Sqrt:       each(&op.Sqrt{}),
		nnapi.LogicalNot: each(&op.Not{}),
		nnapi.Dequantize: each(&op.Convert{}),
		nnapi.Quantize:   each(&op.Convert{}),
		nnapi.Cast:       lowerCast,
		nnapi.Rank:       each(&op.Rank{To: tensor.Int32}),

		nnapi.Add:          func(n *node) { lowerArithmetic(n, &op.Add{}) },
		nnapi.Sub:          func(n *node) { lowerArithmetic(n, &op.Sub{}) },
		nnapi.Mul:          func(n *node) { lowerArithmetic(n, &op.Mul{}) },
		nnapi.Div:          lowerDiv,
		nnapi.Maximum:      pair(&op.Max{}),
		nnapi.Minimum:      pair(&op.Min{}),
		nnapi.Pow:          pair(&op.Pow{}),
		nnapi.PReLU:        lowerPRelu,
		nnapi.Equal:        pair(&op.Equal{}),
		nnapi.NotEqual:     pair(&op.NotEqual{}),
		nnapi.Greater:      pair(&op.Greater{}),
		nnapi.GreaterEqual: pair(&op.GreaterEqual{}),
		nnapi.Less:         pair(&op.Less{}),
		nnapi.LessEqual:    pair(&op.LessEqual{}),
		nnapi.LogicalAnd:   pair(&op.And{}),
		nnapi.LogicalOr:    pair(&op.Or{}),
		nnapi.Select: func(n *node) {
			n.emit(&op.Where{SameShape: true}, n.in(0), n.in(1), n.in(2))
		},
	})
}

// each lowers an operation of one input.
func each(o graph.Op) func(n *node) { return func(n *node) { n.emit(o, n.in(0)) } }

// pair lowers an operation of two inputs, broadcast.
func pair(o graph.Op) func(n *node) { return func(n *node) { n.emit(o, n.in(0), n.in(1)) } }

func lowerArithmetic(n *node, o graph.Op) {
	if fused := n.fuse(2); fused != nnapi.FusedNone && n.result(0).Type == nnapi.TensorInt32 {
		n.fail(fault.Argument, "%s: integers have no fused activation, want 0, got %d "+
			"[nnapi-integers-no-fused]", n.term(2), fused)
	}
	n.emitFused(2, o, n.in(0), n.in(1))
}

// lowerDiv makes 0 of integers that are divided by 0: core fails a run there, the API leaves the value open.
func lowerDiv(n *node) {
	divide := &op.Div{Rounding: op.DivFloor}
	if n.result(0).Type != nnapi.TensorInt32 || n.noZero(n.in(1)) {
		lowerArithmetic(n, divide)
		return
	}
	if n.fuse(2) != nnapi.FusedNone {
		lowerArithmetic(n, divide) // which refuses it
		return
	}
	number := func(v int32) graph.Value { return n.b.Const("", tensor.T(tensor.Int32), tensor.Int32s(v)) }
	bad := n.add(&op.Equal{}, n.in(1), number(0))
	by := n.add(&op.Where{}, bad, number(1), n.in(1))
	n.put(0, n.add(&op.Where{}, bad, number(0), n.addAs(0, divide, n.in(0), by)))
}

// noZero reports whether v is known and no element of it is 0.
func (n *node) noZero(v graph.Value) bool {
	c := n.fact(v).Const
	if c == nil {
		return false
	}
	for i := 0; i+4 <= len(c.Data); i += 4 {
		if c.Data[i]|c.Data[i+1]|c.Data[i+2]|c.Data[i+3] == 0 {
			return false
		}
	}
	return true
}

// lowerCast converts stored numbers: scale and zero point mean nothing to the operation.
func lowerCast(n *node) {
	if n.operand(0).Type == n.result(0).Type && n.operand(0).Type == nnapi.TensorBool8 {
		n.emit(&op.Identity{}, n.in(0))
		return
	}
	n.emit(&op.Cast{To: n.outType(0).DType, OutOfRange: op.CastSaturate}, n.in(0))
}

// lowerPRelu broadcasts both ways; core's operator only the slope.
func lowerPRelu(n *node) {
	x, alpha := n.in(0), n.in(1)
	a, b := n.fact(x).Shape, n.fact(alpha).Shape
	both, err := tensor.Broadcast(a, b)
	if err != nil {
		n.fail(fault.Shape, "%s and %s: %v [nnapi-inputs-differ]", n.term(0), n.term(1), err)
		return
	}
	if !a.Ranked || !b.Ranked || !both.Equal(a) {
		x = n.add(&op.Expand{}, x, n.shape(alpha))
	}
	n.emit(&op.PRelu{}, x, alpha)
}
