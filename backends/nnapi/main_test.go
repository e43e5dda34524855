package nnapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// The fake driver of ctest/drivers, nil where there is no C compiler. fakeTable has a table beside its exports,
// fakeLibrary instead of them.
var fakeDriver, fakeTable, fakeLibrary *drivertest.Driver

func TestMain(m *testing.M) {
	drivertest.Main(m, libraryVariable, func(dir string) (err error) {
		fakeDriver, err = drivertest.BuildAs(dir, "libneuralnetworks.so", "nnapi", "nnapi.h")
		if err == nil {
			fakeTable, err = drivertest.BuildAs(dir, "libtable.so", "nnapi", "nnapi_table.h")
		}
		if err == nil {
			fakeLibrary, err = buildLibrary(dir)
		}
		return err
	})
}

// buildLibrary is a driver that exports no function of the API, but its table.
func buildLibrary(dir string) (*drivertest.Driver, error) {
	exports := filepath.Join(dir, "exports")
	err := os.WriteFile(exports, []byte("{ global: ANeuralNetworks_getSLDriverImpl; fake_*; local: *; };"), 0o644)
	if err != nil {
		return nil, err
	}
	file, err := drivertest.Build(dir, "libdriver.so", "nnapi", "nnapi_table.h", "-Wl,--version-script="+exports)
	if err != nil {
		return nil, err
	}
	return drivertest.Open(file)
}
