package nnapi

import (
	"os"
	"slices"
	"testing"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/op/opcase"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// libraryVariable names the library that stands in for a vendor's in a child of this test.
const libraryVariable = "ANYNPU_TEST_NNAPI_LIBRARY"

// TestLowerings_byThisLibrary has AnyNPU's own library of NNAPI, which knows every operation, stand in for a driver:
// what a node becomes and what the façade makes of that must be what the node was.
func TestLowerings_byThisLibrary(t *testing.T) {
	if os.Getenv(libraryVariable) == "" {
		dt.InChild(t, libraryVariable, "libneuralnetworks.so", "ANYNPU_NNAPI=cpu", "ANYNPU_NNAPI_DEVICES=npu:as-accelerator")
		return
	}
	left := map[string]bool{}
	for name := range lowerings {
		left[name] = true
	}
	dt.Lowerings(t, os.Getenv(libraryVariable), graphs.Cases, openOwn, slices.Concat(opcase.Shared(), opcase.NNAPI()),
		left)
}

// openOwn opens the library that stands in for a vendor's.
func openOwn(file string, lookup func(symbol string) uintptr) (device.Device, error) {
	all, err := Open(Bind(file, lookup), driver.Config{ID: "own", Name: "AnyNPU"})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}
