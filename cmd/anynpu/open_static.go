//go:build !drivers

package main

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// devicesProgram is this program with the code that opens drivers, which needs the system's dynamic loader. It lies in
// the folder of the stubs.
const devicesProgram = "anynpu-devices"

// openDevice has the program that opens drivers do what this one was asked for, in this process; it returns only where
// that cannot be.
func openDevice(id string) (device.Device, error) {
	path := filepath.Join(stubFolder(), devicesProgram)
	if !filepath.IsAbs(path) || !exists(path) {
		return nil, fault.New(fault.Device, "no device %s: %s, which opens drivers, is not beside the libraries "+
			"[tool-no-device-opens]", id,
			devicesProgram)
	}
	return nil, fault.As(fault.Device, syscall.Exec(path, os.Args, os.Environ()), "no device %s: %s "+
		"[tool-no-device]", id, path)
}
