package hbucp

import (
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// fakeDriver is ctest/drivers' driver of this generation, nil where there is no C compiler.
var fakeDriver *drivertest.Driver

func TestMain(m *testing.M) { drivertest.Main(m, "", build) }

func build(dir string) (err error) {
	file, err := drivertest.Build(dir, "libhbucp.so", "hbucp", "bpu.h", "-DBPU_UCP")
	if err == nil {
		fakeDriver, err = drivertest.Open(file)
	}
	return err
}
