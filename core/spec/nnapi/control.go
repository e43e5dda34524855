package nnapi

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
)

// checkControl judges IF and WHILE, which take the arguments of the models that they refer to. The models must be set
// before the operation is added. Source: NeuralNetworksTypes.h, ANEURALNETWORKS_IF and ANEURALNETWORKS_WHILE.
func checkControl(m *Model, op Operation) error {
	if len(op.Inputs) < 3 || len(op.Outputs) < 1 {
		return fault.New(fault.Argument, "want at least 3 inputs and 1 output, got %d and %d", len(op.Inputs),
			len(op.Outputs))
	}
	c := &control{m, op}
	if op.Code == If {
		return c.checkIf()
	}
	return c.checkWhile()
}

type control struct {
	m  *Model
	op Operation
}

// model returns the model that input i refers to.
func (c *control) model(i int, what string) (*Model, error) {
	o := &c.m.Operands[c.op.Inputs[i]]
	if o.Type != ModelOperand {
		return nil, fault.New(fault.Argument, "input %d (%s), operand %d: want MODEL, got %v", i, what, c.op.Inputs[i],
			o.Type)
	}
	if o.Lifetime != Subgraph || o.Sub == nil {
		return nil, fault.New(fault.Argument, "input %d (%s), operand %d: it refers to no model yet", i, what,
			c.op.Inputs[i])
	}
	return o.Sub, nil
}

func (c *control) ins(from int) []place { return places(c.m, c.op.Inputs[from:], "input", from) }
func (c *control) outs() []place        { return places(c.m, c.op.Outputs, "output", 0) }

func (c *control) checkIf() error {
	cond := &c.m.Operands[c.op.Inputs[0]]
	if err := wantCondition(cond); err != nil {
		return fault.Wrap(err, "input 0 (condition), operand %d", c.op.Inputs[0])
	}
	for i, what := range []string{1: "then model", 2: "else model"} {
		if i == 0 {
			continue
		}
		sub, err := c.model(i, what)
		if err != nil {
			return err
		}
		if err := agreeing(places(sub, sub.Inputs, what+"'s input", 0), c.ins(3), what+" has", "inputs"); err != nil {
			return err
		}
		if err := agreeing(places(sub, sub.Outputs, what+"'s output", 0), c.outs(), what+" has", "outputs"); err != nil {
			return err
		}
	}
	return nil
}

func (c *control) checkWhile() error {
	cond, err := c.model(0, "condition model")
	if err != nil {
		return err
	}
	body, err := c.model(1, "body model")
	if err != nil {
		return err
	}
	args, outs := c.ins(2), c.outs()
	if len(cond.Outputs) != 1 {
		return fault.New(fault.Argument, "the condition model has %d outputs, want 1", len(cond.Outputs))
	}
	if err := wantCondition(&cond.Operands[cond.Outputs[0]]); err != nil {
		return fault.Wrap(err, "the condition model's output 0")
	}
	if err := agreeing(places(cond, cond.Inputs, "condition model's input", 0), args, "condition model has",
		"inputs"); err != nil {
		return err
	}
	bodyIn := places(body, body.Inputs, "body model's input", 0)
	bodyOut := places(body, body.Outputs, "body model's output", 0)
	if err := agreeing(bodyIn, args, "body model has", "inputs"); err != nil {
		return err
	}
	// Outputs of the operation are the first of the body's; the rest of these is state that stays inside.
	if len(bodyOut) < len(outs) || len(bodyOut) > len(args) {
		return fault.New(fault.Argument, "the body model has %d outputs, want %d to %d", len(bodyOut), len(outs), len(args))
	}
	if err := agreeing(bodyOut[:len(outs)], outs, "body model has", "outputs"); err != nil {
		return err
	}
	return agreeing(bodyOut, bodyIn[:len(bodyOut)], "body model has", "state")
}

func wantCondition(o *Operand) error {
	if o.Type != TensorBool8 {
		return fault.New(fault.Argument, "want TENSOR_BOOL8 of one element, got %v", o.Type)
	}
	if len(o.Dims) != 1 || o.Dims[0] != 1 {
		return fault.New(fault.Argument, "want dimensions [1], got %v", o.Dims)
	}
	return nil
}

// place is an operand with its name in messages.
type place struct {
	o    *Operand
	name string
}

func places(m *Model, list []uint32, word string, from int) []place {
	out := make([]place, len(list))
	for i, v := range list {
		out[i] = place{&m.Operands[v], fmt.Sprintf("%s %d, operand %d", word, from+i, v)}
	}
	return out
}

// agreeing wants as many operands on both sides, of equal types, scales and zero points, and of sizes that agree where
// both are known.
func agreeing(sub, outer []place, who, what string) error {
	if len(sub) != len(outer) {
		return fault.New(fault.Argument, "the %s %d %s, want %d", who, len(sub), what, len(outer))
	}
	for i, s := range sub {
		a, b := s.o, outer[i].o
		switch {
		case a.Type != b.Type:
			return fault.New(fault.Argument, "%s is %v, the %s is %v", outer[i].name, b.Type, s.name, a.Type)
		case a.Scale != b.Scale || a.ZeroPoint != b.ZeroPoint:
			return fault.New(fault.Argument, "%s has scale %v and zero point %d, the %s has %v and %d", outer[i].name, b.Scale,
				b.ZeroPoint, s.name, a.Scale, a.ZeroPoint)
		case !sameChannels(a.Channel, b.Channel):
			return fault.New(fault.Argument, "%s has other scales per channel than the %s", outer[i].name, s.name)
		case !sameDims(a.Dims, b.Dims):
			return fault.New(fault.Argument, "%s has dimensions %v, the %s has %v", outer[i].name, b.Dims, s.name, a.Dims)
		}
	}
	return nil
}

func sameChannels(a, b *PerChannel) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Dim != b.Dim || len(a.Scales) != len(b.Scales) {
		return false
	}
	for i, s := range a.Scales {
		if s != b.Scales[i] {
			return false
		}
	}
	return true
}

func sameDims(a, b []uint32) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i, d := range a {
		if d != 0 && b[i] != 0 && d != b[i] {
			return false
		}
	}
	return true
}
