//go:build drivers

package main

import (
	"os"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/hbdnn"
	"github.com/anynpu/anynpu/backends/rknn"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// openDevice opens the first driver of an API that can be used.
func openDevice(id string) (device.Device, error) {
	env := lookup(os.Environ())
	why := "anynpu drivers lists none that can be used"
	for _, d := range listDrivers(env, false) {
		if d.API != id || !d.Used {
			continue
		}
		opened, err := driver.Opening{Getenv: env}.Open(d.File)
		if err == nil {
			var dev device.Device
			if dev, err = newDevice(id, d.Name, d.File, opened); err == nil {
				return dev, nil
			}
		}
		why = err.Error()
	}
	return nil, fault.New(fault.Device, "no device %s: %s", id, why)
}

func newDevice(id, name, file string, opened *driver.Opened) (device.Device, error) {
	if id == hbdnn.Container {
		return hbdnn.New(hbdnn.Bind(file, opened.Lookup), hbdnn.Config{ID: id, Name: name})
	}
	return rknn.New(rknn.Bind(file, opened.Lookup), rknn.Config{ID: id, Name: name})
}
