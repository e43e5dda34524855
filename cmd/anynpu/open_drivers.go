//go:build drivers

package main

import (
	"os"
	"slices"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/hbdnn"
	"github.com/anynpu/anynpu/backends/hbucp"
	"github.com/anynpu/anynpu/backends/nnapi"
	"github.com/anynpu/anynpu/backends/ohnn"
	"github.com/anynpu/anynpu/backends/rknn"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// openDevice opens the device with an id of the first driver of its API that can be used.
func openDevice(id string) (device.Device, error) {
	env := lookup(os.Environ())
	why := "anynpu drivers lists none that can be used"
	for _, d := range listDrivers(env, false) {
		if d.API != driverAPI(id) || !d.Used {
			continue
		}
		open := openIn
		if d.API == dl.RuntimeAPI {
			if !slices.ContainsFunc(d.Devices, func(p dl.Device) bool { return p.ID == id }) {
				continue
			}
			open = openProvider
		}
		dev, err := open(driver.Opening{Getenv: env}, d, id)
		if err == nil {
			return dev, nil
		}
		why = err.Error()
	}
	return nil, fault.New(fault.Device, "no device %s: %s [tool-no-device]", id, why)
}

// openIn is a device of a driver.
func openIn(o driver.Opening, d driverInfo, id string) (device.Device, error) {
	opened, err := o.Open(d.File)
	if err != nil {
		return nil, err
	}
	a, _ := dl.Find(d.API)
	lookup, _, err := o.Functions(opened, a)
	if err != nil {
		return nil, err
	}
	return newDevice(id, d.Name, d.File, lookup)
}

func newDevice(id, name, file string, lookup func(symbol string) uintptr) (device.Device, error) {
	switch api := driverAPI(id); {
	case id == "hbdnn":
		return hbdnn.New(hbdnn.Bind(file, lookup), driver.Config{ID: id, Name: name})
	case id == "hbucp":
		return hbucp.New(hbucp.Bind(file, lookup), driver.Config{ID: id, Name: name})
	case id == "rknn":
		return rknn.New(rknn.Bind(file, lookup), driver.Config{ID: id, Name: name})
	case api == "ohnn":
		all, err := ohnn.Open(ohnn.Bind(file, lookup), driver.Config{ID: api, Name: name})
		return called(id, all, err)
	case api == "nnapi":
		all, err := nnapi.Open(nnapi.Bind(file, lookup), driver.Config{ID: api, Name: name})
		return called(id, all, err)
	}
	return nil, fault.New(fault.Device, "its driver has one device [tool-driver-device]")
}

// called is the device with an id among those of a driver.
func called[D device.Device](id string, all []D, err error) (device.Device, error) {
	for _, d := range all {
		if d.Info().ID == id {
			return d, nil
		}
	}
	if err == nil {
		err = fault.New(fault.Device, "its driver has %d [tool-driver]", len(all))
	}
	return nil, err
}
