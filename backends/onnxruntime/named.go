package onnxruntime

import (
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/core/device"
)

// Patience is how long a run that was given up may go on until the device counts as dead. Providers do not stop within
// fused nodes: an emulation of a network takes many seconds.
const Patience = 5 * time.Minute

// Named is the provider that a manifest names, whose plug-in has been looked at.
func Named(d dl.Device) Provider {
	kinds := map[string]device.Kind{"cpu": device.CPU, "gpu": device.GPU, "accelerator": device.Accelerator}
	return Provider{Name: d.Provider, Plugin: d.File, Hash: d.Identity(), Kind: kinds[d.Kind], Vendor: d.Vendor,
		Options: d.Options}
}

// Version is the version of the library, such as "1.32.0".
func (l *Library) Version() string { return l.version }
