package nnapi

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/nnapi/lowering"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// readKey reads from the bindings what decides on the plan: which inputs are there, and the values of the scalars that
// plans depend on, after one another.
func (e *Execution) readKey() error {
	e.key = e.key[:0]
	for i := range e.inputs {
		mark := byte(isThere)
		if e.inputs[i].buf == nil {
			mark = leftOut
		}
		e.key = append(e.key, mark)
	}
	for _, i := range e.values {
		b, p := &e.inputs[i], &e.in[i]
		if b.buf == nil {
			continue
		}
		if _, err := b.held(); err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		at := len(e.key)
		e.key = append(e.key, make([]byte, p.element)...)
		err := guarded("the memory", func() error { return mem.Read(e.key[at:], b.buf, b.off) })
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		if p.operand.Type == nnapi.Bool {
			normalize(e.key[at:])
		}
	}
	return nil
}

// choose gives the execution the plan for the bound shapes, in e.plan.
func (e *Execution) choose(until time.Time) error {
	if e.whole != nil && !slices.ContainsFunc(e.inputs, func(b binding) bool { return b.buf == nil }) {
		e.plan = e.whole
		e.plan.refs.Add(1)
		return nil
	}
	if err := e.readKey(); err != nil {
		return err
	}
	p, err := e.others.get(e.key, func() (*plan, error) { return e.make(e.key, until) })
	if err != nil {
		return err
	}
	e.plan = p
	return nil
}

// outdated reports whether scalars have other values than the execution's plan was made for.
func (e *Execution) outdated() (bool, error) {
	if err := e.readKey(); err != nil {
		return false, err
	}
	return !bytes.Equal(e.key, e.plan.key), nil
}

// make compiles the model for a key.
func (c *compiled) make(key []byte, until time.Time) (*plan, error) {
	ctx := context.Background()
	if !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	spec, feeds := only(&c.model.spec, key, c.values)
	if err := stillFit(spec, &c.model.spec); err != nil {
		return nil, err
	}
	g, err := lowering.Graph(spec)
	if err == nil {
		err = g.Infer()
	}
	if err != nil {
		return nil, refuseFor(modelCode(err), err, "execution")
	}
	p, err := compile.Compile(ctx, g, core(c.devices, spec), compile.Options{Options: c.options, Strict: devices.Strict()})
	if err == nil && ctx.Err() != nil {
		p.Release()
		err = ctx.Err()
	}
	if fault.KindOf(err) == fault.Unsupported {
		return nil, refuseFor(BadData, err, "execution: devices %v [nnapi-execution-devices]", names(c.devices))
	}
	if err != nil {
		return nil, err
	}
	return newPlan(p, feeds), nil
}

// stillFit refuses operations of m that need an operand that m leaves out and before did not.
func stillFit(m, before *nnapi.Model) error {
	for i, op := range m.Operations {
		for _, v := range op.Inputs {
			if m.Operands[v].Lifetime == before.Operands[v].Lifetime || m.Operands[v].Lifetime != nnapi.NoValue {
				continue
			}
			if err := nnapi.Check(m, op, settings().level); err != nil {
				return refuseFor(OpFailed, err, "execution: operation %d [nnapi-execution-operation]", i)
			}
			break
		}
	}
	return nil
}
