package hbdnn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

// The fake drivers of ctest/drivers that tests have asked for, by version.
var (
	fakeDrivers = map[string]*driver.Opened{}
	folder      string // of their files
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "hbdnn"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := leak.Run(m, mem.LiveCounters)
	os.RemoveAll(folder)
	os.Exit(code)
}

// fakeDriver builds the driver of a version when it is first asked for.
func fakeDriver(version string) (*driver.Opened, error) {
	if d := fakeDrivers[version]; d != nil {
		return d, nil
	}
	drivers, err := filepath.Abs("../../ctest/drivers")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, version+".so")
	out, err := exec.Command("gcc", "-Wall", "-Wextra", "-g", "-O1", "-D_GNU_SOURCE", "-I"+drivers+"/../../include",
		"-I"+drivers+"/..", "-I"+drivers, "-shared", "-fPIC", `-DCALLS="zcalls_hbdnn.h"`, `-DCOMPUTE="bpu.h"`,
		`-DBPU_VERSION="`+version+`"`, drivers+"/fake.c", "-Wl,-soname,libdnn.so", "-lpthread", "-lm", "-o",
		file).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	fakeDrivers[version], err = driver.Opening{}.Open(file)
	return fakeDrivers[version], err
}
