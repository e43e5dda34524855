package devices

import (
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/hbdnn"
	"github.com/anynpu/anynpu/backends/hbucp"
	"github.com/anynpu/anynpu/backends/nnapi"
	"github.com/anynpu/anynpu/backends/ohnn"
	"github.com/anynpu/anynpu/backends/rknn"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
)

// driverDevices are the devices behind the drivers that are used.
func driverDevices() (list []device.Device) {
	if v := vendors["rknn"](); v != nil {
		d, err := rknn.New(rknn.Driver{Library: v.lib}, driver.Config{ID: "rknn", Name: v.Name, Died: v.died})
		if v.device(err) {
			list = append(list, d)
		}
	}
	if v := vendors["hbdnn"](); v != nil {
		d, err := hbdnn.New(hbdnn.Driver{Library: v.lib}, driver.Config{ID: "hbdnn", Name: v.Name, Died: v.died})
		if v.device(err) {
			list = append(list, d)
		}
	}
	if v := vendors["hbucp"](); v != nil {
		d, err := hbucp.New(hbucp.Driver{Library: v.lib}, driver.Config{ID: "hbucp", Name: v.Name, Died: v.died})
		if v.device(err) {
			list = append(list, d)
		}
	}
	if v := vendors["ohnn"](); v != nil {
		all, err := ohnn.Open(ohnn.Driver{Library: v.lib}, driver.Config{ID: "ohnn", Name: v.Name, Died: v.died})
		if v.device(err) {
			for _, d := range all {
				list = append(list, d)
			}
		}
	}
	if v := vendors["nnapi"](); v != nil {
		all, err := nnapi.Open(nnapi.Driver{Library: v.lib}, driver.Config{ID: "nnapi", Name: v.Name, Died: v.died})
		if v.device(err) {
			for _, d := range all {
				list = append(list, d)
			}
		}
	}
	return append(list, runtimeDevices()...)
}

// device tells why a driver is no device.
func (v *vendor) device(err error) bool {
	if err != nil {
		boundary.Log(boundary.LevelWarn, v.API, "the driver is no device "+
			"[device-driver-no]", "file", v.File, "why", err)
	}
	return err == nil
}

func (v *vendor) died(reason string) {
	boundary.Log(boundary.LevelError, v.API, "the device has died, its driver is called no more "+
		"[device-died-driver-called]", "file", v.File, "why",
		reason)
}
