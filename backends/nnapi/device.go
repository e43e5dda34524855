package nnapi

import (
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// needed are the functions without which the driver is no device.
var needed = []string{"ANeuralNetworks_getDeviceCount", "ANeuralNetworks_getDevice", "ANeuralNetworksDevice_getName",
	"ANeuralNetworksDevice_getFeatureLevel", "ANeuralNetworksModel_create", "ANeuralNetworksModel_free",
	"ANeuralNetworksModel_addOperand", "ANeuralNetworksModel_setOperandValue",
	"ANeuralNetworksModel_setOperandSymmPerChannelQuantParams", "ANeuralNetworksModel_addOperation",
	"ANeuralNetworksModel_identifyInputsAndOutputs", "ANeuralNetworksModel_finish",
	"ANeuralNetworksModel_getSupportedOperationsForDevices", "ANeuralNetworksCompilation_createForDevices",
	"ANeuralNetworksCompilation_finish", "ANeuralNetworksCompilation_free", "ANeuralNetworksExecution_create",
	"ANeuralNetworksExecution_free", "ANeuralNetworksExecution_setInput", "ANeuralNetworksExecution_setOutput",
	"ANeuralNetworksExecution_compute", "ANeuralNetworksExecution_getOutputOperandRank",
	"ANeuralNetworksExecution_getOutputOperandDimensions"}

// Device is a device behind a driver of the API NNAPI. It computes nodes that are operations of the API, of the feature
// level that the driver has.
type Device struct {
	driver.Device
	driver Driver
	at     uintptr
	level  spec.FeatureLevel
	fenced chan struct{} // an element for each run that waits for fences in the driver
}

var _ device.Device = (*Device)(nil)

// Open returns the devices of a driver, in its order; those that are a CPU are left out. Kinds: fault.Unsupported when
// the driver lacks functions that they take, or has no device; fault.Device for answers that cannot be; fault.File when
// the driver's file cannot be read.
func Open(d Driver, c driver.Config) ([]*Device, error) {
	all, err := d.Devices(c, needed)
	if err != nil {
		return nil, err
	}
	var n uint32
	code, err := d.GetDeviceCount(unsafe.Pointer(&n))
	if err = call("ANeuralNetworks_getDeviceCount", code, err); err != nil {
		return nil, err
	}
	if n > driver.MaxDevices {
		return nil, fault.New(fault.Device, "the driver says that it has %d devices", n)
	}
	var out []*Device
	var seen []uintptr
	for i := range n {
		one := &Device{driver: d, fenced: make(chan struct{}, maxFenced)}
		info := device.Info{Vendor: c.Name, Float16: device.Honours, Performance: device.Honours, Priority: true, Cache: true}
		if err := one.identify(i, &info); err != nil {
			return nil, fault.Wrap(err, "device %d of the driver", i)
		}
		if slices.Contains(seen, one.at) {
			return nil, fault.New(fault.Device, "device %d of the driver is there twice", i)
		}
		seen = append(seen, one.at)
		if info.Kind == device.CPU {
			continue
		}
		one.Device = all.Next(info)
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Unsupported, "the driver has no device but processors")
	}
	return out, nil
}

// identify asks for a device's name, kind and feature level. An unknown level above those of this library counts as the
// last one that is known.
func (d *Device) identify(i uint32, info *device.Info) error {
	code, err := d.driver.GetDevice(i, unsafe.Pointer(&d.at))
	if err = made("ANeuralNetworks_getDevice", code, err, d.at); err != nil {
		return err
	}
	var name uintptr
	code, err = d.driver.DeviceGetName(driver.Pointer(d.at), unsafe.Pointer(&name))
	if err = call("ANeuralNetworksDevice_getName", code, err); err == nil {
		info.Name, err = driver.Text(name)
	}
	if err != nil {
		return fault.Wrap(err, "its name")
	}
	var level int64
	code, err = d.driver.DeviceGetFeatureLevel(driver.Pointer(d.at), unsafe.Pointer(&level))
	if err = call("ANeuralNetworksDevice_getFeatureLevel", code, err); err != nil {
		return err
	}
	n := spec.FeatureLevel(level).Number()
	if n == 0 || level > maxLevel {
		return fault.New(fault.Device, "its feature level is %d", level)
	}
	d.level, info.Major = spec.Levels[n-1], n
	if !d.driver.Has("ANeuralNetworksDevice_getType") {
		return nil
	}
	var t int32
	code, err = d.driver.DeviceGetType(driver.Pointer(d.at), unsafe.Pointer(&t))
	if err = call("ANeuralNetworksDevice_getType", code, err); err != nil {
		return err
	}
	kinds := map[int32]device.Kind{spec.DeviceUnknown: device.Other, spec.DeviceOther: device.Other,
		spec.DeviceCPU: device.CPU, spec.DeviceGPU: device.GPU, spec.DeviceAccelerator: device.Accelerator}
	kind, known := kinds[t]
	if !known {
		return fault.New(fault.Device, "its type is %d", t)
	}
	info.Kind = kind
	return nil
}

// maxLevel is above every feature level that the API can come to: its levels go up by 1 from 1000006.
const maxLevel = 1_100_000

// Support implements device.Device: what the API has an operation for at the driver's feature level, and the driver
// says it computes. Each node is asked for in a model of its own.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	return d.Ask(g, func(i int) (refused, err error) {
		t := newTranslation(g, d.level)
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
	m, err := d.write(describe(t.Ops, in, out), false)
	if err != nil {
		return nil, err
	}
	defer m.destroy(d)
	can := make([]byte, len(t.Ops))
	code, err := d.driver.ModelGetSupportedOperationsForDevices(m.at, unsafe.Pointer(&d.at), 1, unsafe.Pointer(&can[0]))
	if err = judged("ANeuralNetworksModel_getSupportedOperationsForDevices", code, err); err != nil {
		return nil, err
	}
	for k, o := range t.Ops {
		if can[k] == 0 {
			return refuse("the driver does not compute %v of %v", o.code, o.out[0].typ), nil
		}
	}
	return nil, nil
}
