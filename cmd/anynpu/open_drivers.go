//go:build drivers

package main

import (
	"os"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/rknn"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// openRKNN opens the first driver of its API that can be used.
func openRKNN() (device.Device, error) {
	env := lookup(os.Environ())
	why := "anynpu drivers lists none that can be used"
	for _, d := range listDrivers(env, false) {
		if d.API != rknnDevice || !d.Used {
			continue
		}
		opened, err := driver.Opening{Getenv: env}.Open(d.File)
		if err == nil {
			var dev *rknn.Device
			if dev, err = rknn.New(rknn.Bind(d.File, opened.Lookup), rknn.Config{ID: rknnDevice, Name: d.Name}); err == nil {
				return dev, nil
			}
		}
		why = err.Error()
	}
	return nil, fault.New(fault.Device, "no device %s: %s", rknnDevice, why)
}
