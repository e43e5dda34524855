package ohnn

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/device"
)

// npu is one entry of the device list (section 2): a core device under a name. Entries live as long as the process.
type npu struct {
	device.Device
	guise devices.Guise // what it lacks of the core device under this name
	info  device.Info
	name  string // <device>_<vendor>_v<major>_<minor>
	id    uint64 // hash of the name, never 0
	cName boundary.Block
}

// deviceTable is the list of devices in the order in which programs see it.
type deviceTable struct {
	list []*npu
	ids  boundary.Block
}

// interfaceVersion is the version of the device interface that names carry.
const interfaceVersion = "v2_0"

var (
	tableMu sync.Mutex
	table   *deviceTable
)

// deviceList returns the devices, listed once when they are first asked for.
func deviceList() *deviceTable {
	tableMu.Lock()
	defer tableMu.Unlock()
	if table == nil {
		list, err := devices.List()
		if err != nil {
			boundary.Log(boundary.LevelError, "ohnn", "no device [ohnn-no-device]", "error", err)
		}
		table = newDeviceTable(list, settings().devices)
	}
	return table
}

// newDeviceTable names the devices. guises replace the name of the CPU, or of the first device where there is none. A
// name can stand for one device only.
func newDeviceTable(all []device.Device, guises []devices.Guise) *deviceTable {
	t := &deviceTable{}
	own := max(0, slices.IndexFunc(all, devices.IsProcessor))
	for i, d := range all {
		if i != own || len(guises) == 0 {
			t.add(d, devices.Guise{Name: deviceName(d.Info(), t)}.With(withRest(all)))
			continue
		}
		for _, g := range guises {
			if !g.Offline && !t.add(d, g) {
				warn("name ignored [ohnn-name-ignored]", "ANYNPU_OHNN_DEVICES", g.Name, "reason", "it is there already")
			}
		}
	}
	ids := make([]uint64, len(t.list))
	for i, n := range t.list {
		ids[i] = n.id
	}
	boundary.SetSlice(&t.ids, ids)
	t.ids.Keep()
	return t
}

// withRest gives a device what the CPU can that computes what the device does not, unless ANYNPU_FALLBACK=off: sizes
// that are known at run time, and priorities.
func withRest(all []device.Device) func(*device.Info) {
	own := slices.IndexFunc(all, devices.IsProcessor)
	return func(i *device.Info) {
		if own < 0 || settings().strict {
			return
		}
		rest := all[own].Info()
		if i.ID == rest.ID {
			return
		}
		if i.Priority = i.Priority || rest.Priority; !i.Dynamic {
			i.Dynamic, i.DimMin, i.DimMax = rest.Dynamic, rest.DimMin, rest.DimMax
		}
	}
}

func (t *deviceTable) add(d device.Device, g devices.Guise) bool {
	n := &npu{Device: d, guise: g, info: guised(d, &g), name: g.Name, id: deviceID(g.Name)}
	for _, e := range t.list {
		if e.id == n.id {
			return false
		}
	}
	n.cName.SetString(g.Name)
	n.cName.Keep()
	t.list = append(t.list, n)
	return true
}

// deviceID is FNV-1a of the name; programs may rely on nothing but that it is the same in every process.
func deviceID(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return max(h.Sum64(), 1)
}

// deviceName forms the documented kind of name, with the device's own id in it when the plain one is taken.
func deviceName(info device.Info, t *deviceTable) string {
	kind := map[device.Kind]string{device.CPU: "CPU", device.GPU: "GPU", device.Accelerator: "NPU"}[info.Kind]
	if kind == "" {
		kind = "Other"
	}
	vendor := info.Vendor
	if vendor == "" {
		vendor = "AnyNPU"
	}
	name := fmt.Sprintf("Device-%s_%s_%s", kind, vendor, interfaceVersion)
	for _, e := range t.list {
		if e.name == name {
			return fmt.Sprintf("Device-%s-%s_%s_%s", kind, info.ID, vendor, interfaceVersion)
		}
	}
	return name
}

// deviceByID returns nil for an unknown id; 0 is the first device.
func deviceByID(id uint64) *npu {
	for _, n := range deviceList().list {
		if id == 0 || n.id == id {
			return n
		}
	}
	return nil
}

// noSuchDevice completes a message about an unknown device id.
func noSuchDevice() string {
	var have []string
	for _, n := range deviceList().list {
		have = append(have, fmt.Sprintf("%d (%s)", n.id, n.name))
	}
	if len(have) == 0 {
		return "there is no device at all"
	}
	return "there is no such device: want 0 for the first one, or one of " + strings.Join(have, ", ")
}

// deviceGetAllDevicesID gives an array that lives as long as the process, NULL and 0 when there is no device.
func deviceGetAllDevicesID(ids *uintptr, n *uint32) error {
	t := deviceList()
	*ids, *n = t.ids.Addr(), uint32(len(t.list))
	return nil
}

// deviceGetName gives a string that lives as long as the process. An unknown id is Failed with NULL.
func deviceGetName(id uint64, name *uintptr) error {
	n := deviceByID(id)
	if n == nil {
		*name = 0
		return refuse(Failed, "deviceID: %d: %s [ohnn-device-id-device-get-name]", id, noSuchDevice())
	}
	*name = n.cName.Addr()
	return nil
}

// deviceGetType refuses an unknown id as an invalid parameter, unlike deviceGetName.
func deviceGetType(id uint64, deviceType *DeviceType) error {
	n := deviceByID(id)
	if n == nil {
		return invalid("deviceID: %d: %s [ohnn-device-id-device-get-name]", id, noSuchDevice())
	}
	switch n.Info().Kind {
	case device.CPU:
		*deviceType = DeviceCPU
	case device.GPU:
		*deviceType = DeviceGPU
	case device.Accelerator:
		*deviceType = DeviceAccelerator
	default:
		*deviceType = DeviceOthers
	}
	return nil
}

// guised is device d's description of itself, with the first range of ANYNPU_OHNN_DIM_RANGE, less what the guise hides.
func guised(d device.Device, g *devices.Guise) device.Info {
	info := d.Info()
	c := settings()
	if s, ok := c.span(0); ok {
		info.DimMin, info.DimMax = int64(s.lo), int64(s.hi)
	}
	g.Hide(&info)
	return info
}

// Info hides the core device's.
func (n *npu) Info() device.Info { return n.info }
