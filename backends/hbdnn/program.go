package hbdnn

import (
	"encoding/binary"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// maxPorts bounds the inputs and the outputs of a model, and the models of a file.
const maxPorts = 256

// program is a compiled model, which executions run tasks of.
type program struct {
	driver.ModelProgram
	dev         *Device
	pack, model uintptr
	in, out     []*port
}

// describe asks the driver for the inputs and outputs.
func (p *program) describe() (err error) {
	d := p.dev.driver
	if p.in, p.In, err = p.ports("input", d.DnnGetInputCount, d.DnnGetInputName,
		d.DnnGetInputTensorProperties); err != nil {
		return err
	}
	p.out, p.Out, err = p.ports("output", d.DnnGetOutputCount, d.DnnGetOutputName, d.DnnGetOutputTensorProperties)
	if err == nil && len(p.out) == 0 {
		err = fault.New(fault.Device, "the driver says that the model has 0 outputs")
	}
	return err
}

// ports returns the ports of one side, from the driver's functions for them.
func (p *program) ports(side string, count func(unsafe.Pointer, uintptr) (int32, error), name,
	describe func(unsafe.Pointer, uintptr, int32) (int32, error)) (list []*port, ports []device.Port, err error) {
	const most = 512 // bytes of hbDNNTensorProperties, of whatever generation the driver is
	a, err := newArguments(8 + most)
	if err != nil {
		return nil, nil, err
	}
	defer a.release()
	code, err := count(a.at(0), p.model)
	if err = refused("the number of "+side+"s", code, err); err != nil {
		return nil, nil, err
	}
	n := a.word(0)
	if n < 0 || n > maxPorts {
		return nil, nil, fault.New(fault.Device, "the driver says that the model has %d %ss", n, side)
	}
	for i := range n {
		a.setAddress(0, 0)
		code, err := name(a.at(0), p.model, i)
		if err = refused("the name of "+side, code, err); err != nil {
			return nil, nil, err
		}
		text, err := driver.Text(a.address(0))
		if err != nil {
			return nil, nil, fault.Wrap(err, "the name of %s %d", side, i)
		}
		clear(a.data[8:])
		code, err = describe(a.at(8), p.model, i)
		if err = refused("the properties of "+side, code, err); err != nil {
			return nil, nil, err
		}
		raw := append([]byte(nil), a.data[8:][:p.dev.generation.size()]...)
		one, err := portOf(p.dev.generation, text, raw)
		if err != nil {
			return nil, nil, fault.Wrap(err, "%s %d, as the driver says", side, i)
		}
		list, ports = append(list, one), append(ports, one.Port)
	}
	return list, ports, nil
}

// namesAt reads a driver's list of strings; first is the address of the first.
func namesAt(list uintptr, n int) (names []string, first uintptr, err error) {
	data, err := driver.Peek(list, 8*n)
	if err != nil {
		return nil, 0, err
	}
	for i := range n {
		at := uintptr(binary.NativeEndian.Uint64(data[8*i:]))
		text, err := driver.Text(at)
		if err != nil {
			return nil, 0, err
		}
		if names = append(names, text); i == 0 {
			first = at
		}
	}
	return names, first, nil
}

func (p *program) end() {
	if p.pack != 0 && p.dev.Life.Alive() == nil {
		_, _ = p.dev.driver.DnnRelease(p.pack) // nothing is left to do with an error
	}
}
