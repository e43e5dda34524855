package rules

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// file writes a file into the case's directory and returns its path.
func (t *T) file(name string, data []byte) string {
	path := filepath.Join(t.Dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Failf("%v", err)
	}
	return path
}

// works demands that a context of relu(1, 4) computes.
func (t *T) works(ctx uintptr) {
	t.Set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
	t.Computes(ctx, 0, 2, 0, 4)
}

// setenv sets a variable of the process as C code sees it until the case ends.
func (t *T) setenv(name, value string) {
	set := func(v string) {
		symbol, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
		t.Check(err == nil, "%v", err)
		n, p := append([]byte(name), 0), append([]byte(v), 0)
		purego.SyscallN(symbol, cmem.First(n), cmem.First(p), 1)
		runtime.KeepAlive([][]byte{n, p})
	}
	set(value)
	t.Later(func() { set("") })
}
