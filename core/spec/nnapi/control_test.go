package nnapi

import (
	"strings"
	"testing"
)

// bodyOf is a model with operands of the given types as its inputs, then as its outputs.
func bodyOf(ins, outs []Operand) *Model {
	m := &Model{}
	for _, o := range ins {
		m.Inputs = append(m.Inputs, uint32(len(m.Operands)))
		m.Operands = append(m.Operands, o)
	}
	for _, o := range outs {
		m.Outputs = append(m.Outputs, uint32(len(m.Operands)))
		m.Operands = append(m.Operands, o)
	}
	return m
}

func TestControl(t *testing.T) {
	f := func(dims ...uint32) Operand { return Operand{Type: TensorFloat32, Dims: dims} }
	b := func(dims ...uint32) Operand { return Operand{Type: TensorBool8, Dims: dims} }
	sub := func(m *Model) Operand { return Operand{Type: ModelOperand, Lifetime: Subgraph, Sub: m} }
	list := func(o ...Operand) []Operand { return o }
	yes := bodyOf(list(f(2), f(0)), list(f(2)))
	cond := bodyOf(list(f(2), f(3)), list(b(1)))
	scaled := Operand{Type: TensorQuant8Asymm, Dims: []uint32{2}, Scale: 1}
	for _, c := range []struct {
		name string
		code OperationCode
		ins  []Operand
		outs []Operand
		want string
	}{
		{"if", If, list(b(1), sub(yes), sub(yes), f(2), f(7)), list(f(2)), ""},
		{"if: condition of two", If, list(b(2), sub(yes), sub(yes), f(2), f(7)), list(f(2)), "want dimensions [1]"},
		{"if: condition of type", If, list(f(1), sub(yes), sub(yes), f(2), f(7)), list(f(2)), "want TENSOR_BOOL8"},
		{"if: no model", If, list(b(1), sub(yes), f(1), f(2), f(7)), list(f(2)), "want MODEL"},
		{"if: not set", If, list(b(1), sub(yes), Operand{Type: ModelOperand}, f(2), f(7)), list(f(2)), "no model yet"},
		{"if: fewer inputs", If, list(b(1), sub(yes), sub(yes), f(2)), list(f(2)), "then model has 2 inputs, want 1"},
		{"if: other size", If, list(b(1), sub(yes), sub(yes), f(3), f(7)), list(f(2)), "dimensions [3]"},
		{"if: other type", If, list(b(1), sub(yes), sub(yes), b(2), f(7)), list(f(2)), "is TENSOR_BOOL8"},
		{"if: other output", If, list(b(1), sub(yes), sub(yes), f(2), f(7)), list(f(4)), "output 0"},
		{"if: else differs", If, list(b(1), sub(yes), sub(bodyOf(list(f(2), f(0)), list(scaled))), f(2), f(7)), list(f(2)),
			"else model's output 0"},
		{"while", While, list(sub(cond), sub(yes), f(2), f(3)), list(f(2)), ""},
		{"while: state", While, list(sub(cond), sub(bodyOf(list(f(2), f(3)), list(f(2), f(3)))), f(2), f(3)), list(f(2)), ""},
		{"while: state of a size", While, list(sub(cond), sub(bodyOf(list(f(2), f(3)), list(f(2), f(4)))), f(2), f(3)),
			list(f(2)), "body model's output 1"},
		{"while: too many", While, list(sub(cond), sub(bodyOf(list(f(2), f(3)), list(f(2), f(3), f(1)))), f(2), f(3)),
			list(f(2)), "3 outputs, want 1 to 2"},
		{"while: condition", While, list(sub(yes), sub(yes), f(2), f(3)), list(f(2)), "want TENSOR_BOOL8"},
		{"while: scale", While, list(sub(bodyOf(list(scaled), list(b(1)))), sub(bodyOf(list(scaled), list(scaled))),
			Operand{Type: TensorQuant8Asymm, Dims: []uint32{2}, Scale: 2}), list(scaled), "scale 2"},
		{"while: two inputs", While, list(sub(cond), sub(yes)), list(f(2)), "at least 3 inputs"},
	} {
		m := bodyOf(c.ins, c.outs)
		err := Check(m, Operation{c.code, m.Inputs, m.Outputs}, Level8)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
