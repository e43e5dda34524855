package nnapi

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

// The fake driver of ctest/drivers, nil where there is no C compiler.
var fakeDriver *driver.Opened

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nnapi")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the fake driver is not built:", err)
	}
	if os.Getenv(libraryVariable) != "" {
		code := m.Run()
		os.RemoveAll(dir)
		os.Exit(code)
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
	file := filepath.Join(dir, "libneuralnetworks.so")
	out, err := exec.Command("gcc", "-Wall", "-Wextra", "-g", "-O1", "-D_GNU_SOURCE", "-I"+drivers+"/../../include",
		"-I"+drivers+"/..", "-I"+drivers, "-shared", "-fPIC", `-DCALLS="zcalls_nnapi.h"`, `-DCOMPUTE="nnapi.h"`,
		drivers+"/fake.c", "-Wl,-soname,libneuralnetworks.so", "-lpthread", "-lm", "-o", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("gcc: %w\n%s", err, out)
	}
	fakeDriver, err = driver.Opening{}.Open(file)
	return err
}
