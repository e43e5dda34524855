package ohnn

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// needed are the functions without which the driver is no device.
var needed = []string{"OH_NNDevice_GetAllDevicesID", "OH_NNTensorDesc_Create", "OH_NNTensorDesc_Destroy",
	"OH_NNTensorDesc_SetDataType", "OH_NNTensorDesc_SetFormat", "OH_NNTensorDesc_SetShape", "OH_NNTensor_Create",
	"OH_NNTensor_Destroy", "OH_NNTensor_GetDataBuffer", "OH_NNTensor_GetSize", "OH_NNModel_Construct",
	"OH_NNModel_Destroy", "OH_NNModel_AddTensorToModel", "OH_NNModel_SetTensorType", "OH_NNModel_SetTensorData",
	"OH_NNModel_AddOperation", "OH_NNModel_SpecifyInputsAndOutputs", "OH_NNModel_Finish",
	"OH_NNModel_GetAvailableOperations", "OH_NNCompilation_Construct", "OH_NNCompilation_SetDevice",
	"OH_NNCompilation_Build", "OH_NNCompilation_Destroy", "OH_NNExecutor_Construct", "OH_NNExecutor_Destroy",
	"OH_NNExecutor_GetInputCount", "OH_NNExecutor_GetOutputCount", "OH_NNExecutor_GetOutputShape",
	"OH_NNExecutor_RunSync"}

// Device is a device behind a driver of the API OH_NN. It computes nodes that are operators of the API, one by one.
type Device struct {
	driver.Device
	driver Driver
	id     uint64
}

var _ device.Device = (*Device)(nil)

// Open returns the devices of a driver, in its order. Kinds: fault.Unsupported when the driver lacks functions that
// they take, or has no device; fault.Device for answers that cannot be; fault.File when the driver's file cannot be
// read.
func Open(d Driver, c driver.Config) ([]*Device, error) {
	all, err := d.Devices(c, needed)
	if err != nil {
		return nil, err
	}
	ids, err := d.devices()
	if err != nil {
		return nil, err
	}
	var out []*Device
	for i, id := range ids {
		info := device.Info{Vendor: c.Name, Major: 2, Float16: device.Honours, Performance: device.Honours, Priority: true,
			Cache: true}
		if info.Name, info.Kind, err = d.identify(id); err != nil {
			return nil, fault.Wrap(err, "device %d of the driver", i)
		}
		out = append(out, &Device{all.Next(info), d, id})
	}
	return out, nil
}

// devices are the ids of the driver's devices.
func (d Driver) devices() ([]uint64, error) {
	var at uintptr
	var n uint32
	code, err := d.DeviceGetAllDevicesID(unsafe.Pointer(&at), unsafe.Pointer(&n))
	if err = call("OH_NNDevice_GetAllDevicesID", code, err); err != nil {
		return nil, err
	}
	switch {
	case n == 0:
		return nil, fault.New(fault.Unsupported, "the driver has no device")
	case n > driver.MaxDevices:
		return nil, fault.New(fault.Device, "the driver says that it has %d devices", n)
	}
	data, err := driver.Peek(at, int(8*n))
	if err != nil {
		return nil, fault.Wrap(err, "the ids of %d devices", n)
	}
	var ids []uint64
	for i := range n {
		id := binary.LittleEndian.Uint64(data[8*i:])
		if slices.Contains(ids, id) {
			return nil, fault.New(fault.Device, "the driver has two devices with id %d", id)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// identify asks for a device's name and kind. A CPU of the driver's is none of this library's.
func (d Driver) identify(id uint64) (name string, kind device.Kind, err error) {
	if d.Has("OH_NNDevice_GetName") {
		var at uintptr
		code, err := d.DeviceGetName(id, unsafe.Pointer(&at))
		if err = call("OH_NNDevice_GetName", code, err); err == nil {
			name, err = driver.Text(at)
		}
		if err != nil {
			return "", 0, fault.Wrap(err, "its name")
		}
	}
	if d.Has("OH_NNDevice_GetType") {
		var t uint32
		code, err := d.DeviceGetType(id, unsafe.Pointer(&t))
		if err = call("OH_NNDevice_GetType", code, err); err != nil {
			return "", 0, err
		}
		kinds := []device.Kind{device.Other, device.Other, device.GPU, device.Accelerator}
		if int64(t) >= int64(len(kinds)) {
			return "", 0, fault.New(fault.Device, "its type is %d", t)
		}
		kind = kinds[t]
	}
	return name, kind, nil
}

// Support implements device.Device: what the API has an operator for, and the driver says it computes. Each node is
// asked for in a model of its own.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	return d.Ask(g, func(i int) (refused, err error) {
		t := newTranslation(g)
		if err := t.node(i); err != nil {
			return err, nil
		}
		if refused, err = d.computes(t); err != nil {
			return driver.Refusal(err)
		}
		return refused, nil
	})
}

// computes asks the driver for the operations of a node; refused says what stands against them.
func (d *Device) computes(t *translation) (refused, err error) {
	in, out := t.Ports((*operand).fixed)
	m, err := d.write(t.Ops, in, out)
	if err != nil {
		return nil, err
	}
	defer m.destroy()
	var flags uintptr
	var n uint32
	code, err := d.driver.ModelGetAvailableOperations(m.at, d.id, unsafe.Pointer(&flags), unsafe.Pointer(&n))
	if err = judged("OH_NNModel_GetAvailableOperations", code, err); err != nil {
		return nil, err
	}
	if int64(n) != int64(len(t.Ops)) {
		return nil, fault.New(fault.Device, "OH_NNModel_GetAvailableOperations answers for %d operations of %d", n,
			len(t.Ops))
	}
	can, err := driver.Peek(flags, int(n))
	if err != nil {
		return nil, fault.Wrap(err, "OH_NNModel_GetAvailableOperations")
	}
	for k, o := range t.Ops {
		if can[k] == 0 {
			return refuse("the driver does not compute %v of %v", o.Op, o.in[0].typ), nil
		}
	}
	return nil, nil
}
