// Command operatortable writes docs/operators.md: which operators of core each device computes. It compiles the fake
// drivers of ctest/drivers for the devices behind drivers. It runs in the root of the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/hbdnn"
	"github.com/anynpu/anynpu/backends/nnapi"
	"github.com/anynpu/anynpu/backends/ohnn"
	"github.com/anynpu/anynpu/backends/rknn"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/rewrite"
	"github.com/anynpu/anynpu/internal/devicecheck"
	"github.com/anynpu/anynpu/internal/drivertest"
)

func main() {
	runtime.LockOSThread()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "operatortable:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fault.New(fault.Argument, "want the file to write, got %d arguments", len(args))
	}
	dir, err := os.MkdirTemp("", "operatortable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	columns, err := devices(dir)
	if err != nil {
		return err
	}
	checks, err := devicecheck.Checks()
	if err != nil {
		return err
	}
	for i := range columns {
		c := &columns[i]
		if c.results, err = devicecheck.Run(context.Background(), c.device, checks, devicecheck.Options{}); err != nil {
			return fault.Wrap(err, "%s", c.name)
		}
		for _, r := range c.results {
			if r.Outcome != devicecheck.Pass && r.Outcome != devicecheck.Refused {
				return fault.New(fault.Internal, "%s: %s %s %s: %s: %s", c.name, r.Op, r.Types, r.Form, r.Outcome, r.Why)
			}
		}
	}
	return rewrite.File(args[0], []byte(render(columns)))
}

// column is a device of the table.
type column struct {
	name    string
	device  device.Device
	results []devicecheck.Result
}

// devices opens the devices; fake drivers are compiled into dir.
func devices(dir string) (list []column, err error) {
	for _, reference := range []bool{false, true} {
		name := "cpu"
		if reference {
			name = "cpu reference"
		}
		d, err := cpu.New(cpu.Config{Threads: 1, Reference: reference})
		if err != nil {
			return nil, err
		}
		list = append(list, column{name: name, device: d})
	}
	for _, f := range []struct {
		api, file, compute string
		open               func(file string, lookup func(string) uintptr) (device.Device, error)
	}{
		{"ohnn", "libneural_network_runtime.so", "nnrt.h", func(file string, lookup func(string) uintptr) (device.Device,
			error) {
			return first(ohnn.Open(ohnn.Bind(file, lookup), driver.Config{ID: "ohnn", Name: "fake"}))
		}},
		{"nnapi", "libneuralnetworks.so", "nnapi.h", func(file string, lookup func(string) uintptr) (device.Device, error) {
			return first(nnapi.Open(nnapi.Bind(file, lookup), driver.Config{ID: "nnapi", Name: "fake"}))
		}},
		{"hbdnn", "libdnn.so", "bpu.h", func(file string, lookup func(string) uintptr) (device.Device, error) {
			return hbdnn.New(hbdnn.Bind(file, lookup), driver.Config{ID: "hbdnn", Name: "fake"})
		}},
		{"rknn", "librknnrt.so", "npu.h", func(file string, lookup func(string) uintptr) (device.Device, error) {
			return rknn.New(rknn.Bind(file, lookup), driver.Config{ID: "rknn", Name: "fake"})
		}},
	} {
		if err := os.Mkdir(filepath.Join(dir, f.api), 0o755); err != nil {
			return nil, err
		}
		fake, err := drivertest.BuildAs(filepath.Join(dir, f.api), f.file, f.api, f.compute)
		if err != nil {
			return nil, err
		}
		d, err := f.open(fake.File, fake.Lookup)
		if err != nil {
			return nil, err
		}
		list = append(list, column{name: f.api, device: d})
	}
	return list, nil
}

// first is the first device of a driver.
func first[D device.Device](all []D, err error) (device.Device, error) {
	if err != nil || len(all) == 0 {
		return nil, fault.Wrap(err, "no device")
	}
	return all[0], nil
}
