package nnapi

import (
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// The fake driver of ctest/drivers, nil where there is no C compiler.
var fakeDriver *drivertest.Driver

func TestMain(m *testing.M) {
	drivertest.Main(m, libraryVariable, func(dir string) (err error) {
		fakeDriver, err = drivertest.BuildAs(dir, "libneuralnetworks.so", "nnapi", "nnapi.h")
		return err
	})
}
