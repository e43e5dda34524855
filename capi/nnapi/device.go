package nnapi

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Device is one entry of the device list (section 1): a core device under a name. A program's pointer to it is the
// address of the name. Entries live as long as the process.
type Device struct {
	device.Device
	guise   devices.Guise // what it lacks of the core device under this name
	info    device.Info
	name    string
	kind    int32 // of DeviceTypeCode
	cName   boundary.Block
	version boundary.Block
}

// Names of the processor. Every runtime of the API has the first. Clients that want more than a reference look for
// another device and skip that name, TFLite's delegate for one: they find the second, which computes as the first does.
const (
	referenceName = "nnapi-reference"
	processorName = "anynpu-cpu"
)

var deviceList = sync.OnceValue(func() []*Device {
	list, err := devices.List()
	if err != nil {
		boundary.Log(boundary.LevelError, "nnapi", "no device [nnapi-no-device]", "error", err)
	}
	return newDevices(list, settings().devices)
})

// everyDevice is the list for compilations for all devices.
var everyDevice = sync.OnceValue(func() []*Device { return onceEach(deviceList()) })

// onceEach leaves the processor in a list under its first name alone.
func onceEach(list []*Device) []*Device {
	return slices.DeleteFunc(slices.Clone(list), func(d *Device) bool { return d.name == processorName })
}

// newDevices names the devices: the processor comes last under both of its names, its guises before it. A name can
// stand for one device only.
func newDevices(list []device.Device, guises []devices.Guise) (out []*Device) {
	add := func(d device.Device, g devices.Guise) {
		info := d.Info()
		info.ID = g.Name
		g.Hide(&info)
		n := &Device{Device: d, guise: g, info: info, name: g.Name, kind: kinds[info.Kind]}
		n.cName.SetString(n.name)
		n.cName.Keep()
		n.version.SetString(fmt.Sprintf("%d.%d", info.Major, info.Minor))
		n.version.Keep()
		out = append(out, n)
	}
	var processor device.Device
	for _, d := range list {
		if devices.IsProcessor(d) {
			processor = d
		} else {
			add(d, devices.Guise{Name: d.Info().ID})
		}
	}
	if processor == nil {
		return out
	}
	for _, g := range guises {
		if g.Name == referenceName || g.Name == processorName || slices.ContainsFunc(out,
			func(d *Device) bool { return d.name == g.Name }) {
			warn("name ignored [nnapi-name-ignored]", "ANYNPU_NNAPI_DEVICES", g.Name, "reason", "it is there already")
			continue
		}
		add(processor, g)
	}
	add(processor, devices.Guise{Name: processorName})
	add(processor, devices.Guise{Name: referenceName})
	return out
}

// deviceAt returns the device that a program's pointer is the address of.
func deviceAt(name string, p unsafe.Pointer) (*Device, error) {
	if p == nil {
		return nil, null(name)
	}
	for _, d := range deviceList() {
		if d.cName.Addr() == uintptr(p) {
			return d, nil
		}
	}
	return nil, badData("%s: %p: it is no device: want one that ANeuralNetworks_getDevice gave "+
		"[nnapi-no-device-get]", name, p)
}

// devicesAt reads an array of devices, none of them twice.
func devicesAt(p unsafe.Pointer, n uint32) ([]*Device, error) {
	if p == nil {
		return nil, null("devices")
	}
	if n == 0 {
		return nil, badData("numDevices: 0: want the number of devices [nnapi-num-devices-number]")
	}
	if all := len(deviceList()); uint64(n) > uint64(all) { // of more than there are, one is NULL, none or named twice
		if err := nullDevice(p, all+1); err != nil {
			return nil, err
		}
		return nil, badData("numDevices: %d: there are %d devices, and none is named twice "+
			"[nnapi-num-devices-named]", n, all)
	}
	given, err := elements((*unsafe.Pointer)(p), uint64(n), "devices")
	if err != nil {
		return nil, err
	}
	var out []*Device
	for i, p := range given {
		name := fmt.Sprintf("devices[%d]", i)
		d, err := deviceAt(name, p)
		if err != nil {
			return nil, err
		}
		for k := range out {
			if out[k] == d {
				return nil, badData("%s: %s: it is devices[%d] too [nnapi-devices-devices]", name, d.name, k)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// nullDevice refuses the first NULL among n entries of an array, which may end before.
func nullDevice(p unsafe.Pointer, n int) error {
	var missing error
	guarded("devices", func() error { // an array that ends is refused by its count
		given, err := elements((*unsafe.Pointer)(p), uint64(n), "devices")
		if i := slices.Index(given, nil); err == nil && i >= 0 {
			missing = null(fmt.Sprintf("devices[%d]", i))
		}
		return nil
	})
	return missing
}

func getDeviceCount(n *uint32) error {
	*n = uint32(len(deviceList()))
	return nil
}

func getDevice(index uint32, p *uintptr) error {
	list := deviceList()
	if uint64(index) >= uint64(len(list)) {
		*p = 0
		return badData("devIndex: %d: there are %d devices [nnapi-dev-index-devices]", index, len(list))
	}
	*p = list[index].cName.Addr()
	return nil
}

func deviceGetName(p unsafe.Pointer, name *uintptr) error {
	d, err := deviceAt("device", p)
	if err == nil {
		*name = d.cName.Addr()
	}
	return err
}

// kinds are the values of DeviceTypeCode.
var kinds = map[device.Kind]int32{device.Other: nnapi.DeviceOther, device.CPU: nnapi.DeviceCPU,
	device.GPU: nnapi.DeviceGPU, device.Accelerator: nnapi.DeviceAccelerator}

func deviceGetType(p unsafe.Pointer, kind *int32) error {
	d, err := deviceAt("device", p)
	if err == nil {
		*kind = d.kind
	}
	return err
}

func deviceGetVersion(p unsafe.Pointer, version *uintptr) error {
	d, err := deviceAt("device", p)
	if err == nil {
		*version = d.version.Addr()
	}
	return err
}

func deviceGetFeatureLevel(p unsafe.Pointer, level *int64) error {
	_, err := deviceAt("device", p)
	if err == nil {
		*level = int64(settings().level)
	}
	return err
}

// deviceWait returns at once: devices in this process are ready.
func deviceWait(p unsafe.Pointer) error {
	_, err := deviceAt("device", p)
	return err
}

func getRuntimeFeatureLevel() (int64, error) { return int64(settings().level), nil }
