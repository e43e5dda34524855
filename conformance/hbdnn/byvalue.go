package hbdnn

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

//go:embed byvalue.c.txt
var byValue string

// shims is a library of C functions that take the address of a function and of the structs that it wants by value. The
// C compiler knows how such structs are passed.
var shims = sync.OnceValues(func() (uintptr, error) {
	dir, err := os.MkdirTemp("", "anynpu-hbdnn-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	source, file := filepath.Join(dir, "byvalue.c"), filepath.Join(dir, "byvalue.so")
	if err := os.WriteFile(source, []byte(byValue), 0o600); err != nil {
		return 0, err
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", source, "-o", file).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("cc: %w: %s", err, out)
	}
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
})

// ByValue demands a return code of a function that takes shapes by value; args have their addresses.
func (t *T) ByValue(want int, function string, args ...any) { t.through("via_", want, function, args) }

// Former demands a return code of a function that had other parameters up to 1.9, given those.
func (t *T) Former(want int, function string, args ...any) {
	t.through("former_", want, function, args)
}

func (t *T) through(shim string, want int, function string, args []any) {
	lib, err := shims()
	t.Check(err == nil, "%v", err)
	via, err := purego.Dlsym(lib, shim+strings.TrimPrefix(function, "DNN"))
	t.Check(err == nil, "%v", err)
	t.IsThrough(want, via, function, args...)
}
