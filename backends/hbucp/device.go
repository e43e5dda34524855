package hbucp

import (
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/hbdnn"
)

// New returns the device of a driver: that of hbDNN, with this generation's structs, tasks and memory. Errors come from
// hbdnn.New.
func New(d Driver, c driver.Config) (*hbdnn.Device, error) { return hbdnn.NewUCP(d.Library, d, c) }
