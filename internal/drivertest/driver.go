// Package drivertest is what the tests of devices behind drivers have in common: the fake drivers of ctest/drivers and
// what they are told, checks that every such device passes beside core/devicetest, and graphs that are split
// over a device and the CPU. It is for tests, and for the table of operators in docs.
package drivertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

// Driver is an open fake driver.
type Driver struct {
	*driver.Opened
	lie   func(what *byte, offset uint32, data *byte, count uint32)
	block func(on int32)
	live  func() int32
	calls func() int32
	count func(what *byte) int32
	noted func(what *byte) string
}

// Build compiles a fake driver of ctest/drivers into a folder: calls is the name of the API whose functions it has,
// compute the header by which it computes. It expects to be called in the tree's root or a folder below.
func Build(dir, file, calls, compute string, flags ...string) (string, error) {
	root, err := treeRoot()
	if err != nil {
		return "", err
	}
	drivers := filepath.Join(root, "ctest/drivers")
	file = filepath.Join(dir, file)
	arguments := append([]string{"-Wall", "-Wextra", "-g", "-O1", "-D_GNU_SOURCE", "-I" + drivers + "/../../include",
		"-I" + drivers + "/..", "-I" + drivers, "-shared", "-fPIC", fmt.Sprintf("-DCALLS=%q", "zcalls_"+calls+".h"),
		fmt.Sprintf("-DCOMPUTE=%q", compute), drivers + "/fake.c"}, flags...)
	out, err := exec.Command("gcc", append(arguments, "-lpthread", "-lm", "-o", file)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return file, nil
}

// treeRoot is the folder of go.mod.
func treeRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// BuildAs is Build and Open of a driver with a vendor's SONAME.
func BuildAs(dir, soname, calls, compute string) (*Driver, error) {
	file, err := Build(dir, soname, calls, compute, "-Wl,-soname,"+soname)
	if err != nil {
		return nil, err
	}
	return Open(file)
}

// Open opens a fake driver.
func Open(file string) (*Driver, error) {
	opened, err := driver.Opening{}.Open(file)
	if err != nil {
		return nil, err
	}
	d := &Driver{Opened: opened}
	purego.RegisterFunc(&d.lie, opened.Lookup("fake_lie"))
	purego.RegisterFunc(&d.block, opened.Lookup("fake_block"))
	purego.RegisterFunc(&d.live, opened.Lookup("fake_live"))
	purego.RegisterFunc(&d.calls, opened.Lookup("fake_calls"))
	if at := opened.Lookup("fake_count"); at != 0 {
		purego.RegisterFunc(&d.count, at)
		purego.RegisterFunc(&d.noted, opened.Lookup("fake_noted"))
	}
	return d, nil
}

// Main runs the tests of a package. build compiles its fake drivers in a folder; where it cannot, as there is no C
// compiler, tests skip. What is left behind is told, except in a child, which has the variable child set.
func Main(m *testing.M, child string, build func(dir string) error) {
	dir, err := os.MkdirTemp("", "driver")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the fake driver is not built:", err)
	}
	var code int
	if child != "" && os.Getenv(child) != "" {
		code = m.Run()
	} else {
		code = leak.Run(m, mem.LiveCounters)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// Need skips a test if a driver was not built. The driver answers right and does not block.
func (d *Driver) Need(t testing.TB) {
	t.Helper()
	if d == nil {
		t.Skip("SKIP: there is no C compiler for the fake driver")
	}
	d.Honest()
	d.Block(false)
}

// Lie has the driver answer with bytes at an offset from now on.
func (d *Driver) Lie(what string, offset int, data []byte) {
	name, bytes := append([]byte(what), 0), append(append([]byte{}, data...), 0)
	d.lie(&name[0], uint32(offset), &bytes[0], uint32(len(data)))
}

// Honest takes all lies back.
func (d *Driver) Honest() { d.lie(nil, 0, nil, 0) }

// Block has runs not end until it is taken back.
func (d *Driver) Block(on bool) { d.block(int32(driver.Bool(on))) }

// Calls is how many calls there were.
func (d *Driver) Calls() int64 { return int64(d.calls()) }

// Count is how often a driver that counts has done something.
func (d *Driver) Count(what string) int64 { return int64(d.count(&append([]byte(what), 0)[0])) }

// Noted is what a driver that counts was told last.
func (d *Driver) Noted(what string) string { return d.noted(&append([]byte(what), 0)[0]) }

// Live is the number of objects that the driver has.
func (d *Driver) Live() int64 { return int64(d.live()) }
