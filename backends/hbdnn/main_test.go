package hbdnn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

// The fake drivers of ctest/drivers, copies of one file, by version; none where there is no C compiler.
var fakeDrivers = map[string]*driver.Opened{}

// versions of the fake drivers, as C strings.
var versions = []string{newest + "\x00", "1.14.1\x00", "1.9.7\x00"}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hbdnn")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the fake driver is not built:", err)
	}
	code := leak.Run(m, mem.LiveCounters)
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	drivers, err := filepath.Abs("../../ctest/drivers")
	if err != nil {
		return err
	}
	first := filepath.Join(dir, "libdnn.so")
	out, err := exec.Command("gcc", "-Wall", "-Wextra", "-g", "-O1", "-D_GNU_SOURCE", "-I"+drivers+"/../../include",
		"-I"+drivers+"/..", "-I"+drivers, "-shared", "-fPIC", `-DCALLS="zcalls_hbdnn.h"`, `-DCOMPUTE="bpu.h"`,
		drivers+"/fake.c", "-lpthread", "-lm", "-o", first).CombinedOutput()
	if err != nil {
		return fmt.Errorf("gcc: %w\n%s", err, out)
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
		d, err := driver.Opening{}.Open(file)
		if err != nil {
			return err
		}
		_, _, _ = purego.SyscallN(d.Lookup("fake_version"), uintptr(unsafe.Pointer(unsafe.StringData(versions[i]))))
		fakeDrivers[name] = d
	}
	return nil
}
