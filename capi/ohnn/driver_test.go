package ohnn

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An ONNX model, in a file and in memory, is one that the library loads where a driver does not; other files, and
// memory that is not there, are not, and reading them does not fault.
func TestLifts(t *testing.T) {
	onnx, err := os.ReadFile("../../examples/digits/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) unsafe.Pointer { // as C has it: what looks for its end may read the rest of the page
		page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Munmap(page) })
		copy(page, s)
		return unsafe.Pointer(unsafe.SliceData(page))
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("RKNN and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := *(*unsafe.Pointer)(unsafe.Pointer(&[]uintptr{1 << 20}[0])) // below what the system maps
	for _, c := range []struct {
		name string
		got  bool
		want bool
	}{
		{"an ONNX file", liftsFile(text("../../examples/digits/digits.onnx")), true},
		{"its bytes", liftsBuffer(unsafe.Pointer(&onnx[0]), uint64(len(onnx))), true},
		{"what this library wrote", liftsBuffer(text(storedMagic), uint64(len(storedMagic))), true},
		{"another file", liftsFile(text(other)), false},
		{"a folder", liftsFile(text(t.TempDir())), false},
		{"no file", liftsFile(text(other + ".not")), false},
		{"an empty path", liftsFile(text("")), false},
		{"no path", liftsFile(nil), false},
		{"a path nowhere", liftsFile(nowhere), false},
		{"no bytes", liftsBuffer(nil, 8), false},
		{"0 bytes", liftsBuffer(unsafe.Pointer(&onnx[0]), 0), false},
		{"bytes nowhere", liftsBuffer(nowhere, 1<<16), false},
		{"more bytes than an address has", liftsBuffer(unsafe.Pointer(&onnx[0]), math.MaxUint64), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
