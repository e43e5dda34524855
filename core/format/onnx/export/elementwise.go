package export

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// plain makes output 0 by one operator.
func (n *node) plain(op string, in []string, attrs ...attr) error {
	return n.set(0, n.one(op, in, attrs...), n.resultType())
}

// resultType is the element type that an operator with operands x(0) has.
func (n *node) resultType() tensor.DType {
	if n.made(0).DType == tensor.Bool {
		return tensor.Bool
	}
	return n.dtype(0)
}

// wide is x(i), of small integers as int32, which every arithmetic operator takes and which keeps the low bits.
func (n *node) wide(i int) (string, tensor.DType) {
	d := n.dtype(i)
	if d.IsInt() && d.Bits() < 32 {
		return n.cast(n.x(i), tensor.Int32), tensor.Int32
	}
	return n.x(i), d
}

// truth is x(i) as bool: whether it is not 0.
func (n *node) truth(i int) string { return n.as(i, tensor.Bool) }

func logical[O graph.Op](name string) rule {
	return on(func(n *node, _ O) error {
		n.put(0, n.one(name, []string{n.truth(0), n.truth(1)}))
		return nil
	})
}

// whole is the rule of an operator that leaves integers as they are.
func whole[O graph.Op](name string) rule {
	return on(func(n *node, _ O) error {
		if n.dtype(0).IsInt() {
			n.put(0, n.code(0))
			return nil
		}
		return n.plain(name, n.xs())
	})
}

// ordered is the rule of a comparison, which ONNX does not have of bools.
func ordered[O graph.Op](name string) rule {
	return on(func(n *node, _ O) error {
		if n.dtype(0) == tensor.Bool {
			n.put(0, n.one(name, []string{n.as(0, tensor.Int32), n.as(1, tensor.Int32)}))
			return nil
		}
		return n.plain(name, n.xs())
	})
}

// overBools is the rule of an operator of two numbers that is a logical one of bools.
func overBools[O graph.Op](name, bools string) rule {
	return on(func(n *node, _ O) error {
		if n.dtype(0) == tensor.Bool {
			return n.plain(bools, n.xs())
		}
		return n.plain(name, n.xs())
	})
}

func elementwiseRules() []rule {
	return []rule{
		logical[*op.And]("And"), logical[*op.Or]("Or"), logical[*op.Xor]("Xor"),
		whole[*op.Ceil]("Ceil"), whole[*op.Floor]("Floor"),
		overBools[*op.Add]("Add", "Or"), overBools[*op.Mul]("Mul", "And"),
		on(func(n *node, _ *op.Not) error {
			if n.dtype(0) == tensor.Bool {
				return n.plain("Not", n.xs())
			}
			n.put(0, n.one("Equal", []string{n.x(0), n.number(n.dtype(0), 0)}))
			return nil
		}),
		on(func(n *node, o *op.Round) error {
			switch {
			case n.dtype(0).IsInt():
				n.put(0, n.code(0))
				return nil
			case o.Ties == op.RoundAway:
				return n.set(0, n.roundAway(n.x(0), n.dtype(0)), n.dtype(0))
			}
			return n.plain("Round", n.xs())
		}),
		on(exportExp),
		on(exportDiv),
		on(exportMod),
		on(func(n *node, o *op.Max) error { return n.extreme("Max", "Or", o.NaN) }),
		on(func(n *node, o *op.Min) error { return n.extreme("Min", "And", o.NaN) }),
		on(func(n *node, _ *op.Where) error {
			return n.move([]int{1, 2}, func(x []string) (string, error) {
				return n.one("Where", []string{n.code(0), x[0], x[1]}), nil
			})
		}),
		on(func(n *node, _ *op.Pow) error {
			x, d := n.wide(0)
			e := n.dtype(1)
			if d.IsInt() && e.IsFloat() {
				return n.truncated(func(x string) string {
					return n.one("Pow", []string{x, n.as(1, tensor.Float64)})
				})
			}
			if d == tensor.Uint32 || d == tensor.Uint64 {
				x, d = n.cast(x, tensor.Int64), tensor.Int64
			}
			y := n.x(1)
			if e.IsInt() && e.Bits() < 32 {
				y = n.cast(y, tensor.Int32)
			}
			return n.set(0, n.one("Pow", []string{x, y}), d)
		}),
		on(func(n *node, _ *op.PRelu) error {
			x, d := n.wide(0)
			slope, _ := n.wide(1)
			return n.set(0, n.one("PRelu", []string{x, slope}), d)
		}),
		on(func(n *node, _ *op.NotEqual) error {
			n.put(0, n.one("Not", []string{n.one("Equal", n.xs())}))
			return nil
		}),
		ordered[*op.Less]("Less"), ordered[*op.LessEqual]("LessOrEqual"), ordered[*op.Greater]("Greater"),
		ordered[*op.GreaterEqual]("GreaterOrEqual"),
		on(func(n *node, _ *op.Square) error { return n.plain("Mul", []string{n.x(0), n.x(0)}) }),
		on(func(n *node, _ *op.SquaredDifference) error {
			d := n.one("Sub", n.xs())
			return n.plain("Mul", []string{d, d})
		}),
		on(func(n *node, _ *op.Rsqrt) error {
			return n.plain("Reciprocal", []string{n.one("Sqrt", n.xs())})
		}),
		on(exportBitShift),
		on(func(n *node, o *op.IsInf) error {
			return n.plain("IsInf", n.xs(), flag("detect_negative", o.Negative), flag("detect_positive", o.Positive))
		}),
		on(func(n *node, _ *op.Det) error { return n.plain("Det", n.xs()) }),
	}
}

func exportExp(n *node, o *op.Exp) error {
	x, d := n.x(0), n.dtype(0)
	if o.Scale != 0 && o.Scale != 1 {
		x = n.one("Mul", []string{x, n.number(d, float64(o.Scale))})
	}
	if o.Shift != 0 {
		x = n.one("Add", []string{x, n.number(d, float64(o.Shift))})
	}
	if o.Base != 0 {
		return n.plain("Pow", []string{n.number(d, float64(o.Base)), x})
	}
	return n.plain("Exp", []string{x})
}

// exportDiv: ONNX truncates the quotients of integers.
func exportDiv(n *node, o *op.Div) error {
	if o.Rounding == op.DivTrunc || !n.dtype(0).IsSigned() {
		return n.plain("Div", n.xs())
	}
	return n.set(0, n.floored(n.x(0), n.x(1), n.dtype(0)), n.dtype(0))
}

// floored is the quotient of integers of type d, rounded down.
func (n *node) floored(a, b string, d tensor.DType) string {
	q := n.one("Div", []string{a, b})
	less := n.one("And", []string{n.remains(n.one("Sub", []string{a, n.one("Mul", []string{q, b})}), d),
		n.one("Xor", []string{n.one("Less", []string{a, n.number(d, 0)}), n.one("Less", []string{b, n.number(d, 0)})})})
	return n.one("Sub", []string{q, n.cast(less, d)})
}

// remains reports where a remainder is not 0.
func (n *node) remains(r string, d tensor.DType) string {
	return n.one("Not", []string{n.one("Equal", []string{r, n.number(d, 0)})})
}

// exportMod: before opset 28 the remainder of floats has the sign of the dividend.
func exportMod(n *node, o *op.Mod) error {
	d := n.dtype(0)
	if o.Sign == op.ModDividend {
		return n.plain("Mod", n.xs(), number("fmod", 1))
	}
	if !d.IsFloat() {
		return n.plain("Mod", n.xs())
	}
	r, b := n.one("Mod", n.xs(), number("fmod", 1)), n.x(1)
	zero := n.number(d, 0)
	other := n.one("And", []string{n.remains(r, d), n.one("Xor", []string{n.one("Less", []string{r, zero}),
		n.one("Less", []string{b, zero})})})
	return n.set(0, n.one("Where", []string{other, n.one("Add", []string{r, b}), r}), d)
}

// extreme is Max or Min; of bools a logical operator.
func (n *node) extreme(name, bools string, rule op.NaNRule) error {
	d := n.dtype(0)
	if d == tensor.Bool {
		name = bools
	}
	y := n.one(name, n.xs())
	if rule == op.NaNLoses && d.IsFloat() {
		y = n.one("Where", []string{n.one("IsNaN", []string{n.x(0)}), n.x(1),
			n.one("Where", []string{n.one("IsNaN", []string{n.x(1)}), n.x(0), y})})
	}
	return n.set(0, y, d)
}

// truncated computes an integer operator in double and drops the fractions; what is beyond the type becomes its limit.
func (n *node) truncated(f func(x string) string) error {
	y := f(n.as(0, tensor.Float64))
	y = n.one("Where", []string{n.one("IsNaN", []string{y}), n.number(tensor.Float64, 0), y})
	y = n.one("Mul", []string{n.one("Floor", []string{n.one("Abs", []string{y})}), n.one("Sign", []string{y})})
	n.put(0, n.saturate(y, tensor.Float64, n.dtype(0)))
	return nil
}

// exportBitShift: ONNX shifts unsigned integers; for others a shift is a product with, or a floored quotient by, a
// power of two.
func exportBitShift(n *node, o *op.BitShift) error {
	d := n.dtype(0)
	direction := "LEFT"
	if o.Right {
		direction = "RIGHT"
	}
	if d == tensor.Uint64 || d == tensor.Int64 {
		if d == tensor.Int64 {
			n.needs(28)
		}
		return n.plain("BitShift", n.xs(), text("direction", direction))
	}
	const most = 62
	long := tensor.Int64
	a, by := n.cast(n.x(0), long), n.cast(n.x(1), long)
	out := n.one("Or", []string{n.one("Less", []string{by, n.number(long, 0)}), n.one("GreaterOrEqual",
		[]string{by, n.number(long, float64(d.Bits()))})})
	by = n.one("Where", []string{out, n.number(long, most), by})
	power := n.one("Pow", []string{n.number(long, 2), by})
	if o.Right {
		return n.set(0, n.floored(a, power, long), long)
	}
	y := n.one("Where", []string{out, n.number(long, 0), n.one("Mul", []string{a, power})})
	return n.set(0, y, long)
}
