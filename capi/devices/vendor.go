package devices

import (
	"github.com/anynpu/anynpu/backends/rknn"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
)

// driverDevices are the devices behind the drivers that are used.
func driverDevices() (list []device.Device) {
	if v := vendors["rknn"](); v != nil {
		d, err := rknn.New(rknn.Driver{Library: v.lib}, rknn.Config{ID: "rknn", Name: v.Name, Died: func(reason string) {
			boundary.Log(boundary.LevelError, "rknn", "the device has died, its driver is called no more", "file", v.File, "why",
				reason)
		}})
		if err != nil {
			boundary.Log(boundary.LevelWarn, "rknn", "the driver is no device", "file", v.File, "why", err)
			return nil
		}
		list = append(list, d)
	}
	return list
}
