package rknn

import (
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// maxPorts bounds the inputs and the outputs of a model.
const maxPorts = 256

// program is a compiled model: a context that executions are duplicated from.
type program struct {
	driver.ModelProgram
	dev     *Device
	in, out []*port

	mu      sync.Mutex // of calls on the context
	context uintptr
}

// describe asks the driver for the inputs and outputs.
func (p *program) describe() error {
	var n spec.InOutNum
	code, err := p.dev.driver.Query(p.context, uint32(spec.QueryInOutNum), unsafe.Pointer(&n), uint32(unsafe.Sizeof(n)))
	if err = call("rknn_query of the number of inputs and outputs", code, err); err != nil {
		return err
	}
	if n.Inputs > maxPorts || n.Outputs == 0 || n.Outputs > maxPorts {
		return fault.New(fault.Device, "the driver says that the model has %d inputs and %d outputs", n.Inputs, n.Outputs)
	}
	if p.in, p.In, err = p.ports("input", spec.QueryInputAttr, n.Inputs); err != nil {
		return err
	}
	p.out, p.Out, err = p.ports("output", spec.QueryOutputAttr, n.Outputs)
	return err
}

func (p *program) ports(side string, query spec.QueryCmd, n uint32) (list []*port, ports []device.Port, err error) {
	for i := range n {
		a := &spec.TensorAttr{Index: i}
		code, err := p.dev.driver.Query(p.context, uint32(query), unsafe.Pointer(a), uint32(unsafe.Sizeof(*a)))
		if err = call("rknn_query of "+side+" attributes", code, err); err != nil {
			return nil, nil, err
		}
		if a.Index != i {
			return nil, nil, fault.New(fault.Device, "%s %d: the driver answers for %d", side, i, a.Index)
		}
		one, err := portOf(a)
		if err != nil {
			return nil, nil, fault.Wrap(err, "%s %d, as the driver says", side, i)
		}
		list, ports = append(list, one), append(ports, one.Port)
	}
	return list, ports, nil
}

// duplicate makes a context for an execution. A driver that cannot duplicate one loads the model again.
func (p *program) duplicate() (uintptr, error) {
	d := p.dev
	if !d.driver.Has("rknn_dup_context") {
		return d.open(p.Blob)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var context uintptr
	from := p.context
	code, err := d.driver.DupContext(unsafe.Pointer(&from), unsafe.Pointer(&context))
	if err = call("rknn_dup_context", code, err); err != nil {
		return 0, err
	}
	if context == 0 || context == p.context {
		return 0, fault.New(fault.Device, "rknn_dup_context succeeds without another context")
	}
	return context, nil
}

func (p *program) end() {
	if p.context != 0 && p.dev.Life.Alive() == nil {
		_, _ = p.dev.driver.Destroy(p.context) // nothing is left to do with an error
	}
}
