package nnapi

import (
	"sync/atomic"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// port is an input or output of a compiled model.
type port struct {
	operand *nnapi.Operand
	core    tensor.Type
	size    uint64 // bytes, 0: not known before an execution
	element uint64 // bytes of an element
}

// compiled is the result of a compilation, which executions share: it lives as long as one of them.
type compiled struct {
	refs     atomic.Int64
	model    *Model
	devices  []*Device
	explicit bool
	priority device.Priority
	options  device.Options
	in, out  []port

	whole  *plan // for executions that leave nothing out; nil: each asks for one
	others plans
	values []int // inputs on whose values plans depend
}

func (c *compiled) retain() { c.refs.Add(1) }

func (c *compiled) release() {
	if c.refs.Add(-1) > 0 {
		return
	}
	if c.whole != nil {
		c.whole.release()
	}
	c.others.release()
}

// single refuses what is only for compilations for exactly one device.
func (c *compiled) single(what string) error {
	if c.explicit && len(c.devices) == 1 {
		return nil
	}
	return notSingle(what)
}

func notSingle(what string) error {
	return badData("compilation: %s is for compilations for exactly one device: use "+
		"ANeuralNetworksCompilation_createForDevices [nnapi-compilation-compilations-exactly]", what)
}
