package hbdnn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// The fake drivers of ctest/drivers, copies of one file, by version; none where there is no C compiler.
var fakeDrivers = map[string]*drivertest.Driver{}

// versions of the fake drivers, as C strings, which they keep.
var versions = []string{newest + "\x00", "1.14.1\x00", "1.9.7\x00"}

func TestMain(m *testing.M) { drivertest.Main(m, "", build) }

func build(dir string) error {
	first, err := drivertest.Build(dir, "libdnn.so", "hbdnn", "bpu.h")
	if err != nil {
		return err
	}
	data, err := os.ReadFile(first)
	if err != nil {
		return err
	}
	for i := range versions {
		name := strings.TrimSuffix(versions[i], "\x00")
		file := filepath.Join(dir, name+".so")
		if err := os.WriteFile(file, data, 0o755); err != nil {
			return err
		}
		d, err := drivertest.Open(file)
		if err != nil {
			return err
		}
		_, _, _ = purego.SyscallN(d.Lookup("fake_version"), uintptr(unsafe.Pointer(unsafe.StringData(versions[i]))))
		fakeDrivers[name] = d
	}
	return nil
}
