package lower

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Plain is an operator whose definitions in ONNX and in core are one: no attributes, the same inputs in the same order,
// one node for one node. Import and export both follow this table.
type Plain struct {
	Name  string // of ai.onnx
	Since int64  // as in Operator
	New   func() graph.Op
}

// Plains lists the plain operators.
var Plains = []Plain{
	plain[op.Abs]("Abs", 6),
	plain[op.Acos]("Acos", 7),
	plain[op.Acosh]("Acosh", 9),
	plain[op.Asin]("Asin", 7),
	plain[op.Asinh]("Asinh", 9),
	plain[op.Atan]("Atan", 7),
	plain[op.Atanh]("Atanh", 9),
	plain[op.Ceil]("Ceil", 6),
	plain[op.Cos]("Cos", 7),
	plain[op.Cosh]("Cosh", 9),
	plain[op.Erf]("Erf", 9),
	plain[op.Exp]("Exp", 6),
	plain[op.Floor]("Floor", 6),
	plain[op.IsNaN]("IsNaN", 9),
	plain[op.Log]("Log", 6),
	plain[op.Neg]("Neg", 6),
	plain[op.Not]("Not", 1),
	plain[op.Reciprocal]("Reciprocal", 6),
	plain[op.Relu]("Relu", 6),
	plain[op.Round]("Round", 11),
	plain[op.Sigmoid]("Sigmoid", 6),
	plain[op.Sign]("Sign", 9),
	plain[op.Sin]("Sin", 7),
	plain[op.Sinh]("Sinh", 9),
	plain[op.Softplus]("Softplus", 1),
	plain[op.Softsign]("Softsign", 1),
	plain[op.Sqrt]("Sqrt", 6),
	plain[op.Tan]("Tan", 7),
	plain[op.Tanh]("Tanh", 6),
	plain[op.Mish]("Mish", 18),
	plain[op.HardSwish]("HardSwish", 14),
	plain[op.BitwiseNot]("BitwiseNot", 18),
	plain[op.Det]("Det", 11),
	plain[op.Add]("Add", 7),
	plain[op.Sub]("Sub", 7),
	plain[op.Mul]("Mul", 7),
	plain[op.Div]("Div", 7),
	plain[op.Pow]("Pow", 7),
	plain[op.PRelu]("PRelu", 7),
	plain[op.And]("And", 7),
	plain[op.Or]("Or", 7),
	plain[op.Xor]("Xor", 7),
	plain[op.Equal]("Equal", 7),
	plain[op.Less]("Less", 7),
	plain[op.LessEqual]("LessOrEqual", 12),
	plain[op.Greater]("Greater", 7),
	plain[op.GreaterEqual]("GreaterOrEqual", 12),
	plain[op.BitwiseAnd]("BitwiseAnd", 18),
	plain[op.BitwiseOr]("BitwiseOr", 18),
	plain[op.BitwiseXor]("BitwiseXor", 18),
	plain[op.Where]("Where", 9),
	plain[op.Tile]("Tile", 6),
	plain[op.Expand]("Expand", 8),
	plain[op.Identity]("Identity", 1),
	plain[op.Size]("Size", 1),
	plain[op.NonZero]("NonZero", 9),
	plain[op.MatMul]("MatMul", 1),
	plain[op.DynamicQuantize]("DynamicQuantizeLinear", 11),
}

func plain[T any, P interface {
	*T
	graph.Op
}](name string, since int64) Plain {
	return Plain{name, since, func() graph.Op { return P(new(T)) }}
}

// plainOperators are the rows of Plains.
func plainOperators() []Operator {
	rows := make([]Operator, len(Plains))
	for i, p := range Plains {
		rows[i] = Operator{"", p.Name, p.Since, one(p.New)}
	}
	return rows
}
