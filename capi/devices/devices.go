// Package devices registers the devices that the library comes with. Façades ask it for the list.
package devices

import (
	"sync"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
)

// List returns all registered devices, the built-in CPU first. The first call registers it.
func List() ([]device.Device, error) {
	if err := register(); err != nil {
		return nil, err
	}
	return device.Devices.List(), nil
}

var register = sync.OnceValue(func() error {
	d, err := cpu.New(cpu.Config{})
	if err != nil {
		return err
	}
	return device.Devices.Register(d)
})
